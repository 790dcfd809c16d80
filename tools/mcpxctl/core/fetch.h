/*
 * fetch.h - reads the history of a topic from the router's HTTP API, without joining it.
 */
#ifndef MCPXCTL_FETCH_H
#define MCPXCTL_FETCH_H

#include "tools/common/connect.h"
#include "tools/mcpxctl/core/snapshot.h"

/** Most bytes of pages that are kept. */
enum { PAGES_BYTES_MAX = 256 << 20 };

/**
 * How far the pages of a list were followed, so that nobody's pages can go on for ever; pages_fini
 * in every case. All but `bytes_max` is private, and zero before the first page.
 */
struct pages {
    uint64_t bytes_max;
    uint64_t bytes;
    size_t count;
    struct mcpx_text mark;
};

/**
 * Counts a page of so many bytes, which another one follows at `cursor`. Returns NULL when that may
 * be asked for; else why not, a static sentence: the pages repeat themselves, or they are more than
 * 100,000, or more than `bytes_max`.
 */
const char *pages_follow(struct pages *pages, size_t bytes, struct mcpx_slice cursor);

void pages_fini(struct pages *pages);

/** Is given an envelope, which it frees. */
typedef void (*fetch_taker)(void *context, struct entry *entry);

/** What is to be read of a history, and for whom. */
struct fetch_order {
    size_t limit;        /* most envelopes; SIZE_MAX = all that are retained */
    int64_t deadline_ms; /* when that has to be done, as live_deadline makes it */
    uint64_t bytes_max;  /* most bytes of pages */
    fetch_taker take;
    void *context;
};

/**
 * Reads the newest retained envelopes of the topic, the newest first, page by page: no more than a
 * page is held at a time. Fails at the bounds of pages_follow.
 *
 * Returns STATUS_OK or an exit code, having complained; STATUS_TIMEOUT at the deadline, when some
 * of them have been taken.
 */
int fetch_each(const struct connection *where, const struct fetch_order *order);

/**
 * Fetches the newest retained envelopes of the topic, page by page, oldest first in the snapshot,
 * which is sealed. Fails at the bounds of pages_follow, with PAGES_BYTES_MAX.
 *
 * limit   most envelopes; SIZE_MAX = all that are retained
 * out     empty; snapshot_fini in every case
 *
 * Returns STATUS_OK or an exit code, having complained.
 */
int fetch_history(const struct connection *where, size_t limit, struct snapshot *out);

/**
 * Finds the envelope that a word on the command line means, complaining when there is none or
 * when there are several. Returns STATUS_OK, STATUS_ABSENT or STATUS_USAGE.
 */
int fetch_find(const struct connection *where, const struct snapshot *snapshot,
               const char *word, const struct entry **out);

/** True for ID@DIGEST, as proposals are listed. */
bool proposal_word_is_bound(const char *word);

/**
 * Fetches the topic's history and finds the proposal that a word means. One that is decided
 * already is complained about; one that lies is found, so that it can be rejected.
 *
 * word     an id or its beginning; with @DIGEST behind it, only the proposal that has that digest
 * snapshot   empty; holds the proposal; snapshot_fini in every case
 *
 * Returns STATUS_OK; STATUS_ABSENT; STATUS_FAILED when it is decided, or another one stands in its
 * place; STATUS_USAGE when it is no proposal; or the exit code of what went wrong.
 */
int proposal_find(const struct connection *where, const char *word, struct snapshot *snapshot,
                  const struct entry **out);

#endif
