/*
 * context.h - the context of a call: where it stands, one that is made, one that is written where
 * the server looks for it.
 */
#ifndef MX_CONTEXT_H
#define MX_CONTEXT_H

#include "lib/contract/terms.h"

/**
 * The context in a call's params; absent when there is none. Where the server looks for it in
 * `arguments` it may stand in `_meta` too: that of `arguments` comes first.
 */
struct mcpx_slice mx_context_find(const struct mx_context_terms *terms,
                                  struct mcpx_slice params);

/**
 * Appends the context of a call that has none.
 *
 * request_id, trace_id   unless the terms have other values
 */
void mx_context_make(struct mcpx_text *out, const struct mcpx_terms *terms,
                     struct mcpx_slice request_id, struct mcpx_slice trace_id);

/**
 * The context where the server looks for it, in params that it is given; absent if not there.
 */
struct mcpx_slice mx_context_given(const struct mx_context_terms *terms,
                                   struct mcpx_slice params);

/** False when two readers could find two different contexts in params. */
bool mx_context_is_clear(const struct mx_context_terms *terms, struct mcpx_slice params);

/** The member of params that the context is a part of: "_meta" or "arguments". */
const char *mx_context_place(const struct mx_context_terms *terms);

/**
 * Appends the new value of that member, with the context in it.
 *
 * params   as they are: the member is an object in them, or absent
 */
void mx_context_put(struct mcpx_text *out, const struct mx_context_terms *terms,
                    struct mcpx_slice params, struct mcpx_slice context);

#endif
