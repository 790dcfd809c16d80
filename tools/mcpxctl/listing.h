/*
 * listing.h - the lists that MCP servers give: tools, resources, templates, prompts; and asking the
 * servers of a topic for one.
 */
#ifndef MCPXCTL_LISTING_H
#define MCPXCTL_LISTING_H

#include "tools/common/command.h"
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

/** Is given a page, lent. Returns STATUS_OK, or the exit code that ends the survey. */
typedef int (*survey_taker)(void *context, struct mcpx_slice from, struct mcpx_slice result);

/**
 * Joins the topic of a command line and asks those that --to names, or all that could answer, for
 * the pages of a list, until --timeout. A list without end (pages_follow) is complained of, and
 * ends it where --to named its server.
 *
 * patience_ms   as for live_join; then also in place of --timeout
 *
 * Returns STATUS_OK or an exit code, having complained; STATUS_ABSENT when nobody answers.
 */
int survey_servers(const struct arguments *arguments, const struct listing *listing,
                   int64_t patience_ms, survey_taker taker, void *context);

#endif
