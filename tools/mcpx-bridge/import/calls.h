/*
 * calls.h - requests under way on the server's pipe. Each has a number on the pipe, which leads
 * back to its requester.
 */
#ifndef MCPX_BRIDGE_IMPORT_CALLS_H
#define MCPX_BRIDGE_IMPORT_CALLS_H

#include "tools/mcpx-bridge/import/config.h"

#include <mcpx/text.h>

struct mcpx_call;

/** Who or what a request is made for. All but PARTICIPANT are the bridge's own. */
enum import_purpose {
    IMPORT_PARTICIPANT,
    IMPORT_DISCOVER,
    IMPORT_INITIALIZE,
    IMPORT_TOOLS,
    IMPORT_HOUSEKEEPING /* its result is ignored: listen, subscribe again */
};

/**
 * What one participant has under way, all its instances together, in one topic.
 *
 * identity   as mcpx_identity_of; behind the struct
 * calls      how many
 * held       bytes of their payloads
 * longest    bytes of the longest answer since it has any
 */
struct import_holder {
    size_t topic;
    struct mcpx_slice identity;
    size_t calls, held, longest;
};

/**
 * A request. Slices point into the call itself.
 *
 * id            JSON-RPC id on the pipe, and progress token there
 * written       the server has it; until then `payload` waits for the server to be ready
 * deadline_ms   mono_ms after which it is answered with an error
 * envelope      id of the envelope it came in
 * requester     who sent that
 * rpc_id        raw JSON-RPC id there
 * token         raw progress token there; absent when there was none
 * method        its method
 * context       its context; absent when it has none
 * fulfils       id of the proposal it fulfils; absent when it fulfils none
 * holder        whose share it takes from; NULL for the bridge's own
 * admitted      it is between the two doors of its terms; NULL: it is not, or there are none
 * was_asked     the server has asked somebody about it since its deadline was set
 */
struct import_call {
    int64_t id;
    enum import_purpose purpose;
    bool written;
    int64_t deadline_ms;
    struct import_who requester;
    struct mcpx_slice envelope, rpc_id, token, method, context, fulfils;
    struct import_holder *holder;
    struct mcpx_call *admitted;
    bool was_asked;
    struct mcpx_text payload;
};

/** The requests under way, oldest first. Zero-initialised is empty. */
struct import_calls {
    struct import_call **rows;
    size_t count, size;
    int64_t last_id;
    int64_t deadline_ms;            /* no call is due before */
    size_t held;                    /* bytes of all payloads */
    struct import_holder **holders; /* those with calls under way */
    size_t holder_count, holder_size;
};

/** Frees all. */
void import_calls_fini(struct import_calls *calls);

/** Adds a call with the next number. Copies slices of `draft`; ignores its id and payload. */
struct import_call *import_calls_add(struct import_calls *calls,
                                     const struct import_call *draft);

/** Keeps the payload of a call until import_calls_release. */
void import_calls_hold(struct import_calls *calls, struct import_call *call,
                       struct mcpx_slice payload);

/** Frees the payload of a call. */
void import_calls_release(struct import_calls *calls, struct import_call *call);

/** What a participant has under way; NULL: nothing. Lent until the next change. */
struct import_holder *import_calls_holder(const struct import_calls *calls,
                                          struct import_who who);

/** The call with that number; NULL when there is none. */
struct import_call *import_calls_find(const struct import_calls *calls, int64_t id);

/** The oldest call with a higher number; NULL when there is none. */
struct import_call *import_calls_after(const struct import_calls *calls, int64_t id);

/**
 * The call a participant means: by the envelope's id when that is present, and by the raw
 * JSON-RPC id when that is. NULL when there is none of that requester.
 */
struct import_call *import_calls_meant(const struct import_calls *calls,
                                       struct import_who requester, struct mcpx_slice envelope,
                                       struct mcpx_slice rpc_id);

/** The oldest call of a participant of that topic; NULL when there is none. */
struct import_call *import_calls_of_topic(const struct import_calls *calls, size_t topic);

/**
 * How to choose the call that a question of the server is about, when several participants have
 * one under way.
 */
enum import_asked {
    IMPORT_ASKED_SOLE,  /* none: it cannot be known */
    IMPORT_ASKED_NEWEST /* the newest: for rooms whose participants trust each other */
};

/**
 * The call a question of the server is about: the newest one the server has of tools/call,
 * prompts/get or resources/read, which are those MCP lets a server ask about. NULL when there is
 * none, or when that is not clear.
 */
struct import_call *import_calls_asked(const struct import_calls *calls,
                                       enum import_asked asked);

/** The oldest call that is due; NULL when none is. `deadline_ms` is then exact. */
struct import_call *import_calls_due(struct import_calls *calls, int64_t mono_ms);

/** Gives a call another deadline. */
void import_calls_defer(struct import_calls *calls, struct import_call *call,
                        int64_t deadline_ms);

/** Drops all calls with that purpose. */
void import_calls_drop_purpose(struct import_calls *calls, enum import_purpose purpose);

/** Removes and frees a call. */
void import_calls_drop(struct import_calls *calls, struct import_call *call);

#endif
