/*
 * derive.h - completes a short kind from the envelope its correlation_id names.
 */
#ifndef HUB_DERIVE_H
#define HUB_DERIVE_H

#include <mcpx/envelope.h>
#include <mcpx/text.h>

struct topic;

/**
 * Completes `mcp/response:METHOD` from an accepted `mcp/request:METHOD:CONTEXT` whose sender is
 * among the response's addressees, or that has none; and `mcp/request:METHOD` from an accepted
 * `mcp/proposal:METHOD:CONTEXT` that its sender, or everybody it addresses, was to act on. What was
 * accepted is retained in the topic's log, or pending.
 *
 * sender      who says it
 * envelope    in: as sent; out: its kind completed, with slices of `text`
 * text        receives the completed kind
 *
 * Returns true when the kind was completed. False, with the kind untouched, when nothing is to be
 * derived: unknown id, another request than was meant, other method, short original, other type, or
 * a result over MCPX_KIND_MAX.
 * Protocol: section 4.
 */
bool derive_kind(const struct topic *topic, struct mcpx_slice sender,
                 struct mcpx_envelope *envelope, struct mcpx_text *text);

#endif
