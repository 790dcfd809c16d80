/*
 * embedded.h - the contracts' schemas as the build put them into the library: embed.cmake makes the
 * table from schemas/.
 */
#ifndef MX_EMBEDDED_H
#define MX_EMBEDDED_H

#include <mcpx/base.h>

/** A contract's name and schema. */
struct mx_embedded {
    const char *name;
    struct mcpx_slice text;
};

/** All of them; ends with a row without name. */
extern const struct mx_embedded mx_embedded[];

#endif
