/*
 * outcome.h - what became of a call, in one word, whatever dress the answer came in.
 */
#ifndef MCPXCTL_GATE_OUTCOME_H
#define MCPXCTL_GATE_OUTCOME_H

#include <mcpx/json.h>

/**
 * The word: "ok"; the canonical code of an error, which stands in the `data` of a JSON-RPC error,
 * in the error of a response.v1 or in the first one of an mcp.envelope.v0.1; "error" for one
 * without.
 *
 * response   a JSON-RPC response, well-formed
 *
 * Returns static text.
 */
const char *outcome_of(struct mcpx_slice response);

#endif
