/*
 * builtin.h - the meta-schemas of both dialects, compiled into the program. One per file of meta/.
 */
#ifndef MX_BUILTIN_H
#define MX_BUILTIN_H

#include <mcpx/schema.h>

/** A built-in document. The URI has no fragment. */
struct mx_builtin {
    struct mcpx_slice uri;
    struct mcpx_slice text;
};

/** All of them; the last has no URI. */
extern const struct mx_builtin mx_builtins[];

/** The built-in document of this URI; NULL when there is none. */
const struct mx_builtin *mx_builtin_find(struct mcpx_slice uri);

/** The meta-schema of a dialect. */
const struct mx_builtin *mx_builtin_meta(enum mcpx_dialect dialect);

#endif
