/*
 * semver.h - versions of tools.
 */
#ifndef MX_SEMVER_H
#define MX_SEMVER_H

#include <mcpx/base.h>

/** True for a version of SemVer 2.0.0, such as 1.0.0-rc.1+build.7. */
bool mx_is_semver(struct mcpx_slice text);

#endif
