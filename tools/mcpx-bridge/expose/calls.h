/*
 * calls.h - our requests and proposals under way in the topic. Each has a number: its JSON-RPC
 * id there, its progress token, and the tag of its draft.
 */
#ifndef MCPX_BRIDGE_EXPOSE_CALLS_H
#define MCPX_BRIDGE_EXPOSE_CALLS_H

#include "lib/base/map.h"
#include "tools/mcpx-bridge/expose/servers/catalog.h"

struct mcpx_call;

/** The receiver of the answer: the client, the catalogue, or none. */
enum expose_purpose {
    EXPOSE_FOR_CLIENT,
    EXPOSE_FOR_HELLO, /* initialize */
    EXPOSE_FOR_LIST,  /* one page */
    EXPOSE_FOR_NOBODY
};

/** REQUESTED, or PROPOSED until somebody acts on it: APPROVED. */
enum expose_stage { EXPOSE_REQUESTED, EXPOSE_PROPOSED, EXPOSE_APPROVED };

/**
 * One call.
 *
 * number        > 0, never used again
 * id            the client's JSON-RPC id, raw; empty for ours
 * token         the client's progress token, raw; empty when there is none
 * params        raw, with the participant's own name of the tool or resource; empty = none
 * context       the participant's own name of the tool or resource; empty = none
 * envelope      id of the envelope under way; empty = none
 * is_again      the envelope under way is not the first: the router refused that as too fast
 * modern        the client spoke 2026-07-28
 * due_ms        when we stop waiting for it; INT64_MAX = never
 * heartbeat_ms  when the next heartbeat is due; INT64_MAX = none
 * resend_ms     when to send it again, because the router refused it as too fast; INT64_MAX =
 *               never
 * progress      last value told
 * admitted      it is between the two doors of its terms; NULL: it is not, or there are none
 */
struct expose_call {
    struct expose_call *previous, *next;
    int64_t number;
    enum expose_purpose purpose;
    enum expose_stage stage;
    enum expose_list list;
    bool modern;
    bool is_again;
    struct mcpx_slice id, token, method, participant, context, params;
    struct mcpx_text envelope;
    int64_t due_ms;
    int64_t heartbeat_ms;
    int64_t resend_ms;
    int64_t progress;
    struct mcpx_call *admitted;
};

/** All calls, the oldest first; zero-initialised is empty and ready. */
struct expose_calls {
    struct expose_call *first, *last;
    struct mx_map by_number; /* private */
    int64_t last_number;
};

/** Frees every call. */
void expose_calls_fini(struct expose_calls *calls);

/** Adds a copy of a call and of its texts; it gets a number, is due never, and has no heartbeat. */
struct expose_call *expose_calls_add(struct expose_calls *calls,
                                     const struct expose_call *from);

/** The call whose draft has that tag; NULL when it has ended, or the draft is of no call. */
struct expose_call *expose_calls_of_tag(const struct expose_calls *calls, const void *tag);

/** The call with that number; NULL when it has ended. */
struct expose_call *expose_calls_find(const struct expose_calls *calls, int64_t number);

/** The client's call with this JSON-RPC id; NULL when there is none. */
struct expose_call *expose_calls_find_id(const struct expose_calls *calls,
                                         struct mcpx_slice id);

/** Ends a call and frees it. */
void expose_calls_remove(struct expose_calls *calls, struct expose_call *call);

/** Whether the answer is for the catalogue. */
bool expose_call_is_probe(const struct expose_call *call);

#endif
