/*
 * passage.h - one connection of the agent through the guard, without its sockets: bytes of
 * either side go in, bytes for both sides come out.
 */
#ifndef MCPX_BRIDGE_GUARD_PASSAGE_H
#define MCPX_BRIDGE_GUARD_PASSAGE_H

#include "tools/mcpx-bridge/guard/judge.h"

struct guard_passage;

/**
 * Settings of a passage.
 *
 * asked        what the agent has asked, over all its connections; borrowed
 * message_max  longest message from the router that is held back to be judged, in bytes
 * on_left_out  told of every message left out; `judge` says what it was. May be NULL
 * user         handed to it
 */
struct guard_passage_config {
    struct guard_asked *asked;
    size_t message_max;
    void (*on_left_out)(void *user, enum guard_verdict verdict,
                        const struct guard_judge *judge);
    void *user;
};

/** Makes a passage before its first byte. Returns MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err guard_passage_new(const struct guard_passage_config *config,
                                struct guard_passage **out);

/** Frees the passage. NULL is allowed. */
void guard_passage_free(struct guard_passage *passage);

/**
 * Bytes came from the agent. They pass unchanged, with two exceptions: until the router has
 * welcomed the agent nothing after the request's head passes, because until then nobody knows for
 * whom to judge; and a connection carries one request, as the router's do.
 */
void guard_passage_from_agent(struct guard_passage *passage, struct mcpx_slice bytes);

/**
 * Bytes came from the router. The answer's head passes unchanged; after it, frames pass message by
 * message as they came, or not at all; without frames everything passes.
 */
void guard_passage_from_router(struct guard_passage *passage, struct mcpx_slice bytes);

/** What is to be written to the agent; emptied by the caller once taken. */
struct mcpx_text *guard_passage_to_agent(struct guard_passage *passage);

/** What is to be written to the router; emptied by the caller once taken. */
struct mcpx_text *guard_passage_to_router(struct guard_passage *passage);

/**
 * False when more bytes of the agent could only be kept, and enough are: then better not read any.
 * Some are read although they are kept, because that is how an agent that leaves is noticed.
 */
bool guard_passage_wants_agent(const struct guard_passage *passage);

/** True until the agent is welcomed or, without frames, answered. That must not take for ever. */
bool guard_passage_is_waiting(const struct guard_passage *passage);

/** True while nothing could come of the connection any more if the agent's side ended now. */
bool guard_passage_needs_agent(const struct guard_passage *passage);

/** It took too long: ends a passage that waits, and answers the agent if nobody has. */
void guard_passage_give_up(struct guard_passage *passage);

/**
 * Why the connection must end once what is to be written was written; NULL while it goes on. A
 * static sentence.
 */
const char *guard_passage_end(const struct guard_passage *passage);

#endif
