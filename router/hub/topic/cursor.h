/*
 * cursor.h - what does a peer read next: a page of history, or a run of envelopes and presence?
 */
#ifndef HUB_CURSOR_H
#define HUB_CURSOR_H

#include "router/hub/topic/peer_state.h"

/** The largest page of history, unless one envelope is larger. Protocol: section 5. */
enum { CURSOR_PAGE_MAX = 262144 };

/**
 * Places the cursor of a joiner: at the place it names with ?epoch=, ?serial= and ?after=, else at
 * the start of the history it gets, else at the head. Everything appended later is live traffic.
 * Fills what its welcome will say of that; resumed: it named a place, and all that came after is
 * retained.
 */
void cursor_start(struct peer *peer, const struct admission *admission);

/**
 * A joiner that awaits its welcome does without the envelopes up to `until` (tail..head) that came
 * before its live traffic. It gets less history; when it was to resume, history in place of what
 * it missed. Its welcome will say so. False when it is past all that already.
 */
bool cursor_do_without(struct peer *peer, uint64_t until);

/** True when there are envelopes for this peer to read. Skips what is not for it. */
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

/**
 * The next run of what goes out as it is: envelopes, and published presence in its place between
 * them. There has to be any.
 *
 * batch   filled with the last batch in it; NULL when it holds no presence
 */
struct log_run cursor_run(const struct peer *peer, struct batch **batch);

/** Moves the cursor along the log, and its hold on the log's memory with it. */
void cursor_move(struct peer *peer, uint64_t next);

#endif
