/*
 * listing.h - the lists that MCP servers give: tools, resources, templates, prompts.
 */
#ifndef MCPXCTL_LISTING_H
#define MCPXCTL_LISTING_H

#include "tools/common/nearest.h"
#include "tools/mcpxctl/message.h"

/**
 * A kind of list.
 *
 * name       as on the command line
 * method     that asks for it
 * response   kind of the answer
 * member     of the result that holds the items
 * key        member of an item that names it
 */
struct listing {
    const char *name;
    const char *method;
    const char *response;
    const char *member;
    const char *key;
};

/** The list of that name; NULL when there is none. */
const struct listing *listing_find(const char *name);

/** Appends the request for a page; `cursor` is JSON, absent = the first page. */
void listing_write_request(struct mcpx_text *out, const struct listing *listing,
                           struct mcpx_slice cursor);

/**
 * Appends the items of a page, one per line: "FROM  NAME  DESCRIPTION", made visible, or with json
 * {"participant":FROM,"item":ITEM} with the item's own bytes.
 */
void listing_write(struct mcpx_text *out, const struct listing *listing,
                   struct mcpx_slice from, struct mcpx_slice result, bool json);

/**
 * Finds a tool in a page, and has a search for its name consider those of all others. Returns false
 * when it is not there.
 */
bool listing_find_tool(struct mcpx_slice result, const char *name, struct nearest *nearest,
                       struct mcpx_slice *tool);

/**
 * Appends a tool: "FROM  NAME", its description and its schemas, made visible; or with json as
 * listing_write does.
 */
void listing_write_tool(struct mcpx_text *out, struct mcpx_slice from, struct mcpx_slice tool,
                        bool json);

#endif
