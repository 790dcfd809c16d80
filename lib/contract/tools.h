/*
 * tools.h - what a call asks of the tools of its server beyond mcpx/schema.h.
 */
#ifndef MX_TOOLS_H
#define MX_TOOLS_H

#include "lib/contract/digest.h"

#include <mcpx/schema.h>

/** True when a tool has exactly this name. */
bool mx_tools_has(const struct mcpx_tools *tools, struct mcpx_slice name);

/** The digest of all pages that were added: what is made of the same tools has the same. Lent. */
const unsigned char *mx_tools_digest(const struct mcpx_tools *tools);

#endif
