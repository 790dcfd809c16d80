/*
 * grants.h - what we may send, as the welcome says.
 */
#ifndef MX_GRANTS_H
#define MX_GRANTS_H

#include "lib/participant/string_list.h"
#include <mcpx/capability.h>

/**
 * Our grants. Zero-initialised is "not known".
 *
 * capabilities   the patterns as told
 * capset         compiled with their conditions; NULL when they are not known, or this library
 *                cannot read them
 */
struct mx_grants {
    struct mx_string_list capabilities;
    struct mcpx_capset *capset;
};

/**
 * Reads the `you` of a welcome: `capabilities`, and where there is one, `grants` with the
 * conditions. Returns MCPX_OK; MCPX_EINVALID when `capabilities` is no list of strings;
 * MCPX_ENOMEM. `out` is untouched on failure. Protocol: section 5.
 */
enum mcpx_err mx_grants_read(struct mcpx_slice you, struct mx_grants *out);

/** Frees them. Afterwards they are not known. */
void mx_grants_fini(struct mx_grants *grants);

/** True when the grants cover this, or are not known. */
bool mx_grants_may(const struct mx_grants *grants, const struct mcpx_question *question);

#endif
