/*
 * asked.h - requests of the guarded agent that have no answer yet. The judge needs this list to
 * know whether an answer was asked for.
 */
#ifndef MCPX_BRIDGE_GUARD_ASKED_H
#define MCPX_BRIDGE_GUARD_ASKED_H

#include <mcpx/envelope.h>
#include <mcpx/rpc.h>

struct guard_asked;

/**
 * One request under way. Slices are lent until the table changes.
 *
 * to           its addressees, to_count names; none = everyone
 * method       as in its kind
 * context      the CONTEXT of its kind and payload; absent when they name none
 */
struct guard_question {
    const struct mcpx_slice *to;
    size_t to_count;
    struct mcpx_slice method;
    struct mcpx_slice context;
};

/**
 * Makes a table for `max` requests (at least 1); when it is full the oldest is forgotten.
 * Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err guard_asked_new(size_t max, struct guard_asked **out);

/** Frees the table. NULL is allowed. */
void guard_asked_free(struct guard_asked *asked);

/**
 * Remembers a request: `self` sent `envelope`, whose payload is `rpc`. It replaces an earlier
 * request of the same participant with the same id.
 *
 * Returns MCPX_OK or MCPX_ENOMEM, then nothing has changed.
 */
enum mcpx_err guard_asked_add(struct guard_asked *asked, struct mcpx_slice self,
                              const struct mcpx_envelope *envelope,
                              const struct mcpx_rpc *rpc);

/** The request of `self` with that id. Returns false when there is none. */
bool guard_asked_find(const struct guard_asked *asked, struct mcpx_slice self,
                      struct mcpx_slice id, struct guard_question *out);

/** Forgets the request, if there is one. */
void guard_asked_remove(struct guard_asked *asked, struct mcpx_slice self,
                        struct mcpx_slice id);

#endif
