/*
 * cursor.h - what does a peer read next: a page of history, or a run of the log?
 * Includes peer.h.
 */
#ifndef HUB_CURSOR_H
#define HUB_CURSOR_H

#include "router/hub/peer.h"

/** The largest page of history, unless one envelope is larger. Protocol: section 5. */
enum { CURSOR_PAGE_MAX = 262144 };

/**
 * Places the cursor of a joiner: at the id it names with ?after=, else at the start of the
 * history it gets, else at the head. Everything appended later is live traffic.
 *
 * count      filled with the number of envelopes it will get as history
 * resumed    filled: ?after= was given and is retained
 */
void cursor_start(struct peer *peer, const struct admission *admission, size_t *count,
                  bool *resumed);

/** True when peer_peek would find something in the log for this peer. Skips what is not for it. */
bool cursor_has_more(struct peer *peer);

/**
 * Builds the next page of history into the hub's scratch, as one frame.
 *
 * next     filled with the serial behind the page
 * count    filled with the envelopes in it
 * page     filled; lent until the scratch is used again
 *
 * False when memory runs out.
 */
bool cursor_page(struct peer *peer, uint64_t *next, size_t *count, struct mcpx_slice *page);

/** The next run of live entries, after cursor_has_more said true. */
struct log_run cursor_run(const struct peer *peer);

/** Moves the cursor, and its hold on the log's memory with it. */
void cursor_move(struct peer *peer, uint64_t next);

#endif
