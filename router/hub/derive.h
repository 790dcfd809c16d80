/*
 * derive.h - completes a short kind from the envelope its correlation_id names.
 * Includes layers 0 and 1, log.h.
 */
#ifndef HUB_DERIVE_H
#define HUB_DERIVE_H

#include "router/hub/log.h"
#include <mcpx/text.h>

/**
 * Completes `mcp/response:METHOD` from a retained `mcp/request:METHOD:CONTEXT`, and
 * `mcp/request:METHOD` from a retained `mcp/proposal:METHOD:CONTEXT`.
 *
 * kind           in: as sent; out: completed, with slices of `text`
 * correlation    the envelope's correlation_id; may be absent
 * text           receives the completed kind
 *
 * Returns true when the kind was completed. False, with `kind` untouched, when nothing is to be
 * derived: unknown id, other method, short original, other type, or a result over MCPX_KIND_MAX.
 * Protocol: section 4.
 */
bool derive_kind(const struct log *log, struct mcpx_slice correlation, struct mcpx_kind *kind,
                 struct mcpx_text *text);

#endif
