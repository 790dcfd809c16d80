/*
 * builtin.c - finding a meta-schema. There are nine; most references name none of them.
 */
#include "lib/contract/builtin.h"

const struct mx_builtin *mx_builtin_find(struct mcpx_slice uri)
{
    for (const struct mx_builtin *builtin = mx_metas; builtin->uri.text; builtin++) {
        if (mcpx_slice_equal(builtin->uri, uri))
            return builtin;
    }
    return NULL;
}

const struct mx_builtin *mx_builtin_meta(enum mcpx_dialect dialect)
{
    return mx_builtin_find(dialect == MCPX_DIALECT_DRAFT_07
                               ? MCPX_SLICE("http://json-schema.org/draft-07/schema")
                               : MCPX_SLICE("https://json-schema.org/draft/2020-12/schema"));
}
