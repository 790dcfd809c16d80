/*
 * survey.h - asks the servers of a topic for a list.
 */
#ifndef MCPXCTL_SURVEY_H
#define MCPXCTL_SURVEY_H

#include "tools/common/command.h"
#include "tools/mcpxctl/listing.h"

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
