/*
 * alias.h - other names of tools.
 */
#ifndef MX_ALIAS_H
#define MX_ALIAS_H

#include "lib/contract/terms.h"

/**
 * The tool that a name stands for, by the name that its server has for it: a tool of this name,
 * else the tool that it is an alias of. An alias of an alias is none.
 *
 * tools   of the server
 *
 * Absent when there is none. Lent by the terms or by `name`.
 */
struct mcpx_slice mx_alias_find(const struct mcpx_terms *terms, const struct mcpx_tools *tools,
                                struct mcpx_slice name);

/**
 * All aliases that work, in no order.
 *
 * out   filled with a list that is taken from the arena, as its names are
 *
 * Returns false when memory runs out.
 */
bool mx_alias_list(struct mx_arena *arena, const struct mcpx_terms *terms,
                   const struct mcpx_tools *tools, struct mcpx_handshake *out);

/** Appends what a person should know about aliases: see mcpx_terms_doubts_add. */
void mx_alias_doubts_add(struct mcpx_text *out, const struct mcpx_terms *terms,
                         const struct mcpx_tools *tools);

#endif
