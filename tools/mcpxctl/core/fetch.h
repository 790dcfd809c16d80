/* fetch.h - reads the history of a topic from the router's HTTP API, without joining it. */
#ifndef MCPXCTL_FETCH_H
#define MCPXCTL_FETCH_H

#include "tools/common/connect.h"
#include "tools/mcpxctl/core/snapshot.h"

/**
 * Progress through the pages of a list, which must not be endless; pages_fini in every case. All
 * but `any_size` is private, and zero before the first page.
 */
struct pages {
    bool any_size; /* for pages that are not kept */
    uint64_t bytes;
    size_t count;
    struct mcpx_text mark;
};

/**
 * Counts a page of `bytes` bytes; the next page is at `cursor`. Returns NULL when the next one may
 * be fetched; else the reason, a static sentence: the pages repeat themselves, or they are more
 * than 100,000, or have more than 256 MiB.
 */
const char *pages_follow(struct pages *pages, size_t bytes, struct mcpx_slice cursor);

void pages_fini(struct pages *pages);

struct fetch_order {
    size_t limit;        /* maximum of envelopes; SIZE_MAX = all that are retained */
    int64_t deadline_ms; /* end of the reading, as live_deadline makes it */
    bool any_size;       /* as in struct pages */
    void (*take)(void *context, struct entry *entry); /* receives an envelope, and frees it */
    void *context;
};

/**
 * Reads the newest retained envelopes of the topic, the newest first, page by page. Holds one page
 * at a time. Fails at the bounds of pages_follow.
 *
 * Returns STATUS_OK or an exit code, having complained; STATUS_TIMEOUT at the deadline, after some
 * of them were taken.
 */
int fetch_each(const struct connection *where, const struct fetch_order *order);

/**
 * The same into a sealed snapshot, oldest first, without a deadline.
 *
 * limit   as in an order
 * out     empty; snapshot_fini in every case
 */
int fetch_history(const struct connection *where, size_t limit, struct snapshot *out);

/**
 * The envelope of a word on the command line, an id or its beginning. Without a match, or with
 * several, ends the program: STATUS_ABSENT, STATUS_USAGE.
 */
const struct entry *fetch_find(const struct connection *where, const struct snapshot *snapshot,
                               const char *word);

/** True for ID@DIGEST, as proposals are listed. */
bool proposal_word_is_bound(const char *word);

/**
 * Fetches the topic's history and finds the open proposal of a word. Also finds one with a kind
 * that contradicts its payload: it can be rejected.
 *
 * word       as for fetch_find; with @DIGEST behind it, only the proposal with that digest
 * snapshot   empty; holds the proposal; snapshot_fini in every case
 *
 * Otherwise ends the program: STATUS_FAILED when it is not open, or the digest differs;
 * STATUS_USAGE when it is not a proposal; else as fetch_history and fetch_find.
 */
const struct entry *proposal_find(const struct connection *where, const char *word,
                                  struct snapshot *snapshot);

#endif
