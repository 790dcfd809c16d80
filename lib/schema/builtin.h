/*
 * builtin.h - schemas that are compiled into the program by embed.cmake: the meta-schemas of both
 * dialects, one per file of meta/, and the contracts, one per file of schemas/.
 */
#ifndef MX_BUILTIN_H
#define MX_BUILTIN_H

#include <mcpx/schema.h>

/** A built-in document. The URI has no fragment. */
struct mx_builtin {
    struct mcpx_slice uri;
    struct mcpx_slice text;
};

/** All meta-schemas; the last row has no URI. */
extern const struct mx_builtin mx_metas[];

/** All contracts; the last row has no URI. Schemas of others cannot refer to them. */
extern const struct mx_builtin mx_contracts[];

/** The meta-schema of this URI; NULL when there is none. */
const struct mx_builtin *mx_builtin_find(struct mcpx_slice uri);

/** The meta-schema of a dialect. */
const struct mx_builtin *mx_builtin_meta(enum mcpx_dialect dialect);

#endif
