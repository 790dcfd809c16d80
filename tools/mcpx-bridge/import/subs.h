/*
 * subs.h - what participants want to hear of the server: updates of resources, and log messages.
 */
#ifndef MCPX_BRIDGE_IMPORT_SUBS_H
#define MCPX_BRIDGE_IMPORT_SUBS_H

#include "lib/base/bucket.h"
#include "tools/mcpx-bridge/calls.h"

#include <mcpx/rpc.h>

/* ---- participants that subscribed to updates of a resource ---- */

struct import;

/** One participant's subscription to one resource, or to log messages of a level. */
struct import_sub {
    struct mcpx_slice uri; /* log messages: the participant's id */
    struct bridge_who who;
    unsigned level; /* of log messages */
};

/** Subscriptions in the order of URIs. Zero-initialised is empty. */
struct import_subs {
    struct import_sub **rows;
    size_t count, size;
};

/** Frees all. */
void import_subs_fini(struct import_subs *subs);

/** The subscription of a participant; NULL: none. */
struct import_sub *import_subs_find(const struct import_subs *subs, struct mcpx_slice uri,
                                    struct bridge_who who);

/** Adds a subscription, once. NULL: a participant has a quarter of the limit, or all have it. */
struct import_sub *import_subs_add(struct import_subs *subs, struct mcpx_slice uri,
                                   struct bridge_who who);

/** True when somebody has subscribed to the resource; and appends all of them, "URI","URI". */
bool import_subs_have(const struct import_subs *subs, struct mcpx_slice uri);
void import_subs_add_uris(const struct import_subs *subs, struct mcpx_text *out);

/**
 * The server agreed to a participant's request, and subscriptions follow from that. False when the
 * limit is reached: the requester must then get an error, not the server's answer.
 */
bool import_subs_agreed(struct import *import, const struct bridge_call *call);

/**
 * True for the end of a subscription that other participants share: the server sees one client, so
 * it must not get the request.
 */
bool import_subs_left_to_others(const struct import *import, const struct bridge_call *call);

/** Ends all of a participant in one of its tables, or of the whole topic when `id` is absent. */
void import_subs_ended(struct import *import, struct import_subs *subs, struct bridge_who who);

/** Subscribes again, at a new process. */
void import_subs_again(struct import *import);

/**
 * Passes an update on to the subscribers of the resource. When no topic has any, these are the
 * subscribers of a resource whose URI is the beginning of this one.
 */
void import_subs_updated(struct import *import, const struct mcpx_rpc *rpc);

/**
 * What becomes of a request, and the `stage` of one KEPT: PASSED to the server, answered with {},
 * refused, or kept until the server has agreed.
 */
enum import_taken { IMPORT_PASSED, IMPORT_AGREED, IMPORT_REFUSED, IMPORT_KEPT };

/* ---- what a server of 2026-07-28 is asked to report ---- */

/** Numbers of our subscriptions/listen, 0: none. */
struct import_listen {
    int64_t number; /* of the acknowledged one: its notifications count */
    int64_t next;   /* of the one that is not acknowledged yet */
    bool tries; /* that one names resources for the first time, and may be refused for them */
    int64_t due_at; /* mono_ms at which there is another one; INT64_MAX: nothing has changed */
    struct mx_bucket asked;
};

/** Writes a request that is due; and the mono_ms at which it is. */
void import_listen_tick(struct import *import, struct mcpx_now now);
int64_t import_listen_deadline(const struct import *import);

/** The server acknowledges a request: sets the stages of subscriptions that it covers. */
void import_listen_acknowledged(struct import *import, struct mcpx_slice params);

/** The request with that number ended. The same, when it was not acknowledged. */
void import_listen_ended(struct import *import, int64_t number);

/** True for params of a notification of a request that another one has replaced. */
bool import_listen_is_former(const struct import *import, struct mcpx_slice params);

/** Takes a participant's subscription to a resource, or its end. */
enum import_taken import_listen_takes(struct import *import, struct bridge_call *call,
                                      struct mcpx_now now);

/* ---- log messages ---- */

/** As import_subs_agreed, for logging/setLevel as well. */
bool import_agreed(struct import *import, const struct bridge_call *call);

/** Takes logging/setLevel, unless an older server must get it. */
enum import_taken import_logs_takes(struct import *import, const struct bridge_call *call);

/**
 * A request goes to the server: an older one is told the level that it wants; for a server of 2026
 * it has the level that its participant set.
 */
void import_logs_note(struct import *import, struct bridge_call *call);

/** There is a new process: it gets the level of the former one. */
void import_logs_again(struct import *import);

/** Passes a log message on. */
void import_log(struct import *import, const struct mcpx_rpc *rpc);

#endif
