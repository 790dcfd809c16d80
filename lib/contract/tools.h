/*
 * tools.h - what a call asks of the tools of its server beyond mcpx/schema.h.
 */
#ifndef MX_TOOLS_H
#define MX_TOOLS_H

#include <mcpx/schema.h>

/** True when a tool has exactly this name. */
bool mx_tools_has(const struct mcpx_tools *tools, struct mcpx_slice name);

#endif
