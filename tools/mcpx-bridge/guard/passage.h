/*
 * passage.h - one connection of the agent through the guard, without sockets: bytes from both
 * sides go in, bytes for both sides come out.
 */
#ifndef MCPX_BRIDGE_GUARD_PASSAGE_H
#define MCPX_BRIDGE_GUARD_PASSAGE_H

#include "lib/wire/http_head.h"
#include "tools/mcpx-bridge/guard/judge.h"

/**
 * A request's head.
 *
 * upgrade   it asks for a WebSocket
 * body      bytes of the body that follows; 0 without one
 */
struct guard_request {
    bool upgrade;
    uint64_t body;
};

/**
 * Reads a whole head, as mx_http_scan found it. Returns NULL, or what is wrong with it:
 * anything that mx_http_request_read refuses, or a body after a request for a WebSocket.
 */
const char *guard_http_request(struct mcpx_slice head, struct guard_request *out);

/**
 * Reads the head of the router's answer, as mx_http_scan found it.
 *
 * status   filled: 100 to 999; below 200 another head follows, or after 101 frames
 *
 * Returns NULL, or what is wrong with it: anything that mx_http_answer_read refuses, or an
 * extension, because frames would then have another meaning.
 */
const char *guard_http_answer(struct mcpx_slice head, int *status);

struct guard_passage;

/**
 * Settings of a passage.
 *
 * asked        the agent's open requests, of all its connections; borrowed
 * message_max  longest message from the router that is held back to be judged, in bytes
 * on_left_out  called for every message left out; `judge` has the message. May be NULL
 * user         passed to it
 */
struct guard_passage_config {
    struct guard_asked *asked;
    size_t message_max;
    void (*on_left_out)(void *user, enum guard_verdict verdict,
                        const struct guard_judge *judge);
    void *user;
};

/** Makes a passage before its first byte. */
struct guard_passage *guard_passage_new(const struct guard_passage_config *config);

/** Frees the passage. NULL is allowed. */
void guard_passage_free(struct guard_passage *passage);

/**
 * Bytes came from the agent. They pass unchanged, with two exceptions. Until the router has
 * welcomed the agent, only the request's head passes, because the judge needs the agent's id.
 * And a connection carries one request, as at the router.
 */
void guard_passage_from_agent(struct guard_passage *passage, struct mcpx_slice bytes);

/**
 * Bytes came from the router. The answer's head passes unchanged; after it, frames pass message by
 * message as they came, or not at all; without frames everything passes.
 */
void guard_passage_from_router(struct guard_passage *passage, struct mcpx_slice bytes);

/** Bytes to write to the agent. The caller empties it. */
struct mcpx_text *guard_passage_to_agent(struct guard_passage *passage);

/** Bytes to write to the router. The caller empties it. */
struct mcpx_text *guard_passage_to_router(struct guard_passage *passage);

/**
 * False when enough bytes of the agent are kept: the caller then reads no more from it. Some
 * are read even while they can only be kept, because the end of the agent's side shows in this
 * way.
 */
bool guard_passage_wants_agent(const struct guard_passage *passage);

/**
 * True until the agent is welcomed or, without frames, answered. The caller limits this time.
 */
bool guard_passage_is_waiting(const struct guard_passage *passage);

/** True while the connection would be useless if the agent's side ended now. */
bool guard_passage_needs_agent(const struct guard_passage *passage);

/** Ends a passage that has waited too long, and answers the agent if it has no answer yet. */
void guard_passage_give_up(struct guard_passage *passage);

/**
 * Why the connection must end after everything was written: a static sentence. NULL while it
 * goes on.
 */
const char *guard_passage_end(const struct guard_passage *passage);

#endif
