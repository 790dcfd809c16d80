/*
 * dialect.h - what `$schema` means: which keywords there are, and which meta-schema a schema has to
 * keep.
 */
#ifndef MX_DIALECT_H
#define MX_DIALECT_H

#include "lib/contract/builtin.h"
#include "lib/contract/keyword.h"
#include "lib/contract/tree.h"

/**
 * A dialect.
 *
 * manner   of its schemas
 * meta     built-in meta-schema, or NULL
 * text     of a meta-schema that is not built in
 */
struct mx_dialect {
    struct mx_manner manner;
    const struct mx_builtin *meta;
    struct mcpx_slice uri;
    struct mcpx_slice text;
};

/** The dialect where a schema names none. */
struct mx_dialect mx_dialect_default(enum mcpx_dialect dialect);

/**
 * The dialect that a `$schema` names. A meta-schema that is not built in is asked for.
 *
 * uri       as it stands there, unescaped; borrowed for as long as `out` is used
 * options   how to ask, and what a meta-schema is written in that does not say so
 * reason    filled on failure, static
 *
 * Returns false when there is no such dialect here.
 */
bool mx_dialect_find(struct mcpx_slice uri, const struct mcpx_schema_options *options,
                     struct mx_dialect *out, const char **reason);

#endif
