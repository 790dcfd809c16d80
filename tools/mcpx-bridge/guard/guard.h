/*
 * guard.h - one connection of the agent through the guard, without sockets: bytes from both sides
 * go in, bytes for both sides come out; and the judge. It checks messages from the topic for an
 * agent without checks of its own.
 */
#ifndef MCPX_BRIDGE_GUARD_GUARD_H
#define MCPX_BRIDGE_GUARD_GUARD_H

#include "lib/wire/frames.h"
#include "lib/wire/http_head.h"
#include "tools/mcpx-bridge/calls.h"

#include <mcpx/base.h>
#include <mcpx/envelope.h>
#include <mcpx/rpc.h>

/**
 * The open requests of an agent, of all its connections, at most `max` (1 or more); beyond, the
 * oldest is forgotten. `who`: the agent; `params`: the addressees, a JSON array; absent: everyone.
 */
struct guard_asked {
    size_t max;
    struct bridge_calls calls;
};

/*
 * X(constant, name, sentence, routine): why a message is left out. Where session.h has the same
 * case, the names are equal. Routine cases happen all the time in a topic where everybody gets
 * everything; they are counted, but not logged one by one.
 */
#define GUARD_VERDICTS(X)                                                                     \
    X(GUARD_PASS, "pass", "it is as it should be", true)                                      \
    X(GUARD_ECHO, "echo", "the agent's own message came back", true)                          \
    X(GUARD_ADDRESS, "not_addressed", "it is addressed to another participant", true)         \
    X(GUARD_TEXT, "malformed", "it is not a valid envelope", false)                           \
    X(GUARD_BINARY, "binary", "it is a binary message", false)                                \
    X(GUARD_LONG, "too_long", "it is too long to be judged", false)                           \
    X(GUARD_ROUTER, "not_router", "a system message does not come from the router", false)    \
    X(GUARD_RPC, "not_json_rpc", "its payload is not a JSON-RPC message", false)              \
    X(GUARD_KIND, "kind_mismatch", "its kind and its payload disagree", false)                \
    X(GUARD_PROPOSAL, "proposal_with_id", "a proposal would be executed: it has an id",       \
      false)                                                                                  \
    X(GUARD_DISGUISE, "disguised", "its payload could be taken for an MCP message", false)    \
    X(GUARD_UNSOLICITED, "unsolicited", "it answers nothing the agent has asked", false)      \
    X(GUARD_SENDER, "other_sender", "its sender was not asked", false)                        \
    X(GUARD_OPERATION, "other_operation", "the request was for another operation", false)

#define GUARD_VERDICT_CONSTANT(constant, name, sentence, routine) constant,
enum guard_verdict { GUARD_VERDICTS(GUARD_VERDICT_CONSTANT) GUARD_VERDICT_COUNT };
#undef GUARD_VERDICT_CONSTANT

/** The other parts of a verdict's row. */
extern const struct guard_verdict_row {
    const char *name;
    const char *text;
    bool routine;
} guard_verdicts[GUARD_VERDICT_COUNT];

/** The judge of one connection. */
struct guard_judge {
    struct guard_asked *asked; /* borrowed */
    /* The agent's participant id, from the router's welcome; empty before it. */
    struct mcpx_text self;
    /* The last message read, for log lines; its `from` and `kind` are absent when it could not
     * be read. */
    struct mcpx_envelope envelope;
    /* Its fault, for GUARD_TEXT, GUARD_RPC and GUARD_KIND; otherwise its reason is NULL. */
    struct mcpx_fault fault;
    struct mcpx_rpc rpc; /* private */
};

/** Begins and ends a judge in the caller's memory. */
void guard_judge_init(struct guard_judge *judge, struct guard_asked *asked);
void guard_judge_fini(struct guard_judge *judge);

/**
 * Reads a whole text message of the agent, once `self` is known, and remembers its request. Other
 * messages are ignored: the router refuses wrong ones.
 */
void guard_judge_sent(struct guard_judge *judge, struct mcpx_slice text);

/**
 * Judges a message for the agent. It passes when it is:
 *
 *   system/...     from `system:gateway`; to the agent, or for all where that is usual
 *   anything else  not from the agent; addressed to it or to everyone
 *   mcp/request    as its kind says; about a request of the agent (correlation_id): from an
 *                  addressee of that request
 *   mcp/response   the answer to an open request of the agent, from an addressee of it, with its
 *                  METHOD, and its CONTEXT where there is one. The JSON-RPC id is not compared,
 *                  because existing agents answer with one of their own. Of one addressee only the
 *                  first passes
 *   mcp/proposal   as its kind says, without an id: agents execute payloads with method and id
 *   other kinds    without method or without id; under mcp/... without jsonrpc, id, method, result
 *                  and error
 *
 * text   a whole text message; borrowed until the next call
 *
 * Returns GUARD_PASS, or why it is left out. Protocol: sections 1, 2 and 5.
 */
enum guard_verdict guard_judge_message(struct guard_judge *judge, struct mcpx_slice text);

/* ---- a connection ---- */

/** Settings of a connection. */
struct guard_connection_config {
    struct guard_asked *asked; /* borrowed */
    /* Longest message from the router that is held back to be judged, in bytes. */
    size_t message_max;
    /* Called for every message left out; `judge` has the message. May be NULL. */
    void (*on_left_out)(void *user, enum guard_verdict verdict,
                        const struct guard_judge *judge);
    void *user; /* passed to it */
};

/*
 * A connection is in one of these phases, and only moves down this list:
 *
 *     HEAD      the agent's request is not complete
 *     ANSWER    it asked for a WebSocket; the router's answer is not complete
 *     PLAIN     it asked for something else; likewise
 *     WELCOME   frames; the router has not told the agent's id yet
 *     FRAMES    frames; those for the agent are judged, those of the agent are read
 *     REST      no frames, and the answer's head has passed: all else passes
 */
enum guard_phase {
    GUARD_HEAD,
    GUARD_ANSWER,
    GUARD_PLAIN,
    GUARD_WELCOME,
    GUARD_FRAMES,
    GUARD_REST
};

/** A connection. */
struct guard_connection {
    struct guard_connection_config config;
    enum guard_phase phase;
    /* Bytes to write to either side. The caller empties them. */
    struct mcpx_text to_agent, to_router;
    /* Why the connection must end after everything was written: a static sentence. NULL while it
     * goes on. */
    const char *end;

    /* private */
    uint64_t body; /* PLAIN, REST: bytes of the request that have not come yet */
    struct guard_judge judge;
    struct mx_frames heard;   /* from the agent */
    struct mx_frames told;    /* from the router */
    struct mx_http_scan scan; /* of the present head */
    struct mcpx_text early;   /* what the agent sent before its welcome */
    struct mcpx_text head;    /* the received part of the router's answer */
};

/** Makes a connection before its first byte. */
struct guard_connection *guard_connection_new(const struct guard_connection_config *config);
void guard_connection_free(struct guard_connection *connection);

/**
 * Bytes came from the agent. They pass unchanged, with two exceptions. Until the router has
 * welcomed the agent, only the request's head passes, because the judge needs the agent's id.
 * And a connection carries one request, as at the router.
 */
void guard_connection_from_agent(struct guard_connection *connection, struct mcpx_slice bytes);

/**
 * Bytes came from the router. The answer's head passes unchanged; after it, frames pass message by
 * message as they came, or not at all; without frames everything passes.
 */
void guard_connection_from_router(struct guard_connection *connection,
                                  struct mcpx_slice bytes);

/**
 * False when enough bytes of the agent are kept: the caller then reads no more from it. Some are
 * read even while they can only be kept, because this shows the end of the agent's side.
 */
bool guard_connection_wants_agent(const struct guard_connection *connection);

/** True until the agent is welcomed or, without frames, answered. The caller limits this time. */
bool guard_connection_is_waiting(const struct guard_connection *connection);

/** True while the connection would be useless if the agent's side ended now. */
bool guard_connection_needs_agent(const struct guard_connection *connection);

/** Ends a connection that has waited too long, and answers the agent if it has no answer yet. */
void guard_connection_give_up(struct guard_connection *connection);

/* ---- addresses of the command line ---- */

/** An address to listen on or to connect to. */
struct guard_address {
    char host[256]; /* a name or address, without the brackets of IPv6 */
    int port;       /* 0..65535 */
    char path[256]; /* of a URL, with its "/", or empty */
};

/**
 * Read ws://HOST[:PORT][/PATH], or the same with http, and HOST:PORT. Return NULL with `out`
 * filled, or a sentence about the error. wss and https are errors, because the guard must read the
 * messages.
 */
const char *guard_address_read_url(const char *url, struct guard_address *out);
const char *guard_address_read_listen(const char *text, struct guard_address *out);

/* ---- log lines about messages that the guard has left out. ---- */

/**
 * Appends one line, newline included, about a message left out. Texts of the message come from its
 * sender: for people they are quoted, cut and made visible, in JSON they are escaped.
 *
 * json   one JSON object instead of a sentence: event "left_out", reason, text, and, when they
 *        are known, detail, from, kind, id
 */
void guard_log_left_out(struct mcpx_text *out, bool json, enum guard_verdict verdict,
                        const struct guard_judge *judge);

/**
 * Appends one line, newline included, with all counts that are not zero. JSON: event "summary",
 * left_out: an object from reason to count.
 */
void guard_log_summary(struct mcpx_text *out, bool json,
                       const size_t counts[GUARD_VERDICT_COUNT]);

/** One line about any other event, newline included; takes `text`. JSON: the event, and text. */
struct mcpx_text guard_log_note(bool json, const char *event, struct mcpx_text text);

/** Prints a line, which is taken, made visible to standard error. */
void guard_log_print(struct mcpx_text line);

#endif
