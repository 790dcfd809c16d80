/*
 * import_state.h - the insides of an import, shared by the files it is made of.
 * Includes import.h, its parts, and bridge.h only.
 */
#ifndef MCPX_BRIDGE_IMPORT_STATE_H
#define MCPX_BRIDGE_IMPORT_STATE_H

#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/import.h"
#include "tools/mcpx-bridge/import_ask.h"
#include "tools/mcpx-bridge/import_calls.h"
#include "tools/mcpx-bridge/import_subs.h"

/*
 *   DOWN --started--> PROBING --not of 2026--> INITIALIZING ----> LEGACY
 *      \                 |                      ^ | a late answer to the probe
 *       \                +----------------------|-+-------------> MODERN
 *        +--started, it does not bear the probe-+
 *
 * Every death leads back to DOWN.
 */
enum import_era {
    IMPORT_DOWN,
    IMPORT_PROBING,
    IMPORT_INITIALIZING,
    IMPORT_LEGACY,
    IMPORT_MODERN
};

/**
 * era_at         mono_ms at which the probe is given up, INT64_MAX when none runs
 * handshake_at   mono_ms at which a server that is not ready is killed, INT64_MAX when it is
 * version        protocol version spoken with the server
 * setup          which server it is, and whose
 * probed         this process was asked server/discover
 * unready        it was started and is not ready yet
 * again          it ended, or shall, and the next one is greeted in another way
 * retried        the version was already taken from the server's own list
 * greeting       raw result for participants' initialize
 * starts         how often the server became ready
 * over           there will be no server any more
 * trouble        why there is no server now; trouble_data is the raw object that goes with it
 * failure        see import_failure; empty = none
 * notice_err     what the last notification met; the same again is not logged again
 * line, text     scratch: what goes to the child, what goes to the topic
 */
struct import {
    struct import_config config;
    struct import_port port;
    struct import_calls calls;
    struct import_asks asks;
    struct import_subs subs;
    enum import_era era;
    int64_t era_at;
    int64_t handshake_at;
    struct import_setup setup;
    bool probed, unready, again;
    char version[32];
    bool retried;
    struct mcpx_text greeting;
    size_t starts;
    bool over;
    struct mcpx_text trouble;
    struct mcpx_text trouble_data;
    char failure[320];
    enum mcpx_err notice_err;
    struct mcpx_text line;
    struct mcpx_text text;
};

/* ---- import.c ---- */

/** True when the server takes requests. */
static inline bool import_is_ready(const struct import *import)
{
    return import->era == IMPORT_LEGACY || import->era == IMPORT_MODERN;
}

/** Gives import->line to the child. Returns as import_port.write, and MCPX_ENOMEM. */
enum mcpx_err import_write(struct import *import);

/** Writes a request of a participant to the server, or answers it; it may be gone afterwards. */
void import_forward(struct import *import, struct import_call *call, struct mcpx_now now);

/** Answers a participant's call with a message that has its id, and drops it. */
void import_answer(struct import *import, struct import_call *call, struct mcpx_slice message);

/** Drops a participant's call, which is not answered. */
void import_abandon(struct import *import, struct import_call *call);

/** Answers it with an error of ours, and drops it. `data` is raw, or absent. */
void import_refuse(struct import *import, struct import_call *call, int code,
                   const char *message, struct mcpx_slice data);

/** Answers it with import->trouble, and drops it. */
void import_refuse_for_trouble(struct import *import, struct import_call *call);

/** There is no hope for this server: import_failure() tells so from now on. */
void import_give_up(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Requests of a participant that is no longer heard (its whole topic, when `id` is absent). */
void import_left(struct import *import, struct import_who who);

/* ---- import_server.c ---- */

/** Tells the server that nobody waits for a call any more. */
void import_cancel(struct import *import, const struct import_call *call, const char *reason);

/* ---- import_tell.c ---- */

/** Logs a sentence, cut at 500 bytes, control characters replaced. */
void import_say(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Announces a sentence in every topic as chat, where we may; not for a server with an owner. */
void import_announce(struct import *import, const char *text);

/** Sends a notification of the server to its owner, or to everybody in every topic. */
void import_tell(struct import *import, struct mcpx_draft *draft);

/** Sends a notification of the server to those of a topic whom the draft names. */
void import_tell_topic(struct import *import, size_t topic, struct mcpx_draft *draft);

/** Answers an envelope that nobody reads with an error of ours. */
void import_turn_away(const struct import_port *port, size_t topic,
                      const struct mcpx_event *event, const char *message);

/* ---- import_rewrite.c ---- */

/**
 * Why the params of a request cannot be rewritten, as a static sentence; NULL when they can. The
 * request was read by mcpx_rpc_read, so nothing in them means two things.
 */
const char *import_params_fault(struct mcpx_slice params);

/**
 * Appends a participant's request as the server is to read it: another id, another progress token
 * where there is one, and for a server of 2026 what that needs in _meta, where absent.
 *
 * payload        the request as it came
 * id             the number on the pipe
 * version        protocol version of a server of 2026; NULL for others
 * capabilities   client capabilities, raw
 */
void import_add_request(struct mcpx_text *out, struct mcpx_slice payload, int64_t id,
                        const char *version, const char *capabilities);

/** Appends the members of _meta that a server of 2026 wants, without braces. */
void import_add_meta(struct mcpx_text *out, const char *version, const char *capabilities);

/**
 * Appends a message with one member of its params changed, and "jsonrpc" where it is missing.
 * `params` is the message's, an object.
 */
void import_add_with_param(struct mcpx_text *out, struct mcpx_slice message,
                           struct mcpx_slice params, const char *name,
                           struct mcpx_slice value);

/** Appends a message, with "jsonrpc" where it is missing. */
void import_add_with_jsonrpc(struct mcpx_text *out, struct mcpx_slice message);

/* ---- import_era.c ---- */

/** The process runs: first contact. */
void import_era_start(struct import *import, struct mcpx_now now);

/** The server answered DISCOVER or INITIALIZE; the call is dropped. */
void import_era_answered(struct import *import, struct import_call *call,
                         const struct mcpx_rpc *rpc, struct mcpx_now now);

/** Deadlines of first contact. */
void import_era_tick(struct import *import, struct mcpx_now now);

/** The process is gone. */
void import_era_down(struct import *import);

/**
 * Writes a request of our own.
 *
 * params   members without braces, may be empty
 */
struct import_call *import_era_request(struct import *import, enum import_purpose purpose,
                                       const char *method, struct mcpx_slice params);

/* ---- import_ask.c ---- */

/** The server asks for something; `line` is its request. */
void import_ask(struct import *import, struct mcpx_slice line, const struct mcpx_rpc *rpc);

/** The participant answered the question with that tag. */
void import_ask_answered(struct import *import, void *tag, struct mcpx_slice payload);

/** Nobody will. */
void import_ask_failed(struct import *import, void *tag, int code, const char *message);

/** Its requester left (all of a topic, when `id` is absent): nobody will. */
void import_ask_left(struct import *import, struct import_who who);

/** The server takes a question back. Returns false when `params` names none. */
bool import_ask_cancelled(struct import *import, struct mcpx_slice line,
                          struct mcpx_slice params);

/** The server is gone and its questions with it. */
void import_ask_down(struct import *import);

#endif
