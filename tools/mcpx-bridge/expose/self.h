/*
 * self.h - what the bridge tells about itself: as a server to the client, and as a client to
 * servers.
 */
#ifndef MCPX_BRIDGE_EXPOSE_SELF_H
#define MCPX_BRIDGE_EXPOSE_SELF_H

#include <mcpx/text.h>

struct expose;

/** The revisions of MCP that the client is served in: today's, and the newest with "initialize". */
#define EXPOSE_MODERN "2026-07-28"
#define EXPOSE_LEGACY "2025-11-25"

/** Gives name, title and version, a JSON object. */
struct mcpx_text expose_self(const struct expose *x);

/** Gives the params of the "initialize" for servers of the topic. */
struct mcpx_text expose_self_introduce(const struct expose *x);

#endif
