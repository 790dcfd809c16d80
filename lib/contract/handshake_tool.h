/*
 * handshake_tool.h - the tool that answers with the handshake.
 */
#ifndef MX_HANDSHAKE_TOOL_H
#define MX_HANDSHAKE_TOOL_H

#include "lib/contract/terms.h"

/**
 * Its entry in `tools/list`. It has no arguments but the context, where terms say that this is one.
 * Static.
 */
const char *mx_handshake_tool(const struct mcpx_terms *terms);

/**
 * Appends its result.
 *
 * tools         of the server
 * participant   that the edge is
 *
 * Returns MCPX_OK or MCPX_ENOMEM; on failure `out` keeps its content.
 */
enum mcpx_err mx_handshake_result(struct mcpx_text *out, const struct mcpx_terms *terms,
                                  const struct mcpx_tools *tools,
                                  struct mcpx_slice participant);

#endif
