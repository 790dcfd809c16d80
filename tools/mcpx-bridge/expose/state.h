/*
 * state.h - the state that the parts of the server share: everything remembered about the
 * client and the topic.
 */
#ifndef MCPX_BRIDGE_EXPOSE_STATE_H
#define MCPX_BRIDGE_EXPOSE_STATE_H

#include "lib/base/bucket.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/expose/calls.h"
#include "tools/mcpx-bridge/expose/expose.h"
#include "tools/mcpx-bridge/output.h"

/** A participant that does not answer within this time counts as no server. */
enum { EXPOSE_PATIENCE_MS = 2000 };

/** One --only, and whether it fitted anything so far. */
struct expose_only {
    struct mcpx_text pattern;
    bool fitted;
};

/**
 * The client.
 *
 * greeted        it has sent something; until then no server is asked
 * initialized    its "initialize" was answered: notifications may be sent
 * capabilities   the capabilities in it, raw; only requests that they allow reach the client
 * info           its name and version, raw
 * level          the logging level it set, raw params
 * listen         JSON-RPC id of its subscriptions/listen, raw; empty = none
 * wants          the lists whose changes it wants there
 */
struct expose_client {
    bool greeted;
    bool initialized;
    struct mcpx_text capabilities;
    struct mcpx_text info;
    struct mcpx_text level;
    struct mcpx_text listen;
    bool wants[EXPOSE_LIST_COUNT];
};

struct expose {
    struct expose_config config; /* nonce and topic point into texts below; only is ours */
    struct mcpx_text topic, nonce;
    struct expose_only *only;
    struct expose_view view;
    struct bridge_output output;
    struct mcpx_now now; /* of the call under way */
    bool is_behind;      /* the client, when the call under way began */
    bool joined;
    bool is_away; /* the log says so */
    bool was_joined;
    int64_t
        reach_ms; /* until when a topic that was never reached is waited for; 0 = nobody waits */
    bool is_refused;       /* not joined so far, and the router has said why */
    struct mcpx_text away; /* why we are not there */
    struct expose_names names;
    size_t renamed_count;    /* names that were others before */
    struct expose_names ids; /* of tasks and questions */
    struct expose_catalog catalog;
    struct mx_buckets reading; /* bytes of lists, per participant */
    struct expose_calls calls;
    struct expose_client client;
    struct expose_held *held;
    struct mcpx_calls *under_terms; /* NULL before the first call of a tool */
    struct expose_shelf no_tools;   /* of nobody */
    struct expose_ask *asks;
    size_t ask_count;
    struct mx_buckets
        answered; /* answers of ours that nobody here has given, per participant */
    struct mx_bucket answered_all;
    int64_t last_ask;
    struct expose_watch *watches; /* kept for who may come back */
    size_t watch_count;
    uint64_t told[EXPOSE_LIST_COUNT]; /* hash of each list as the client knows it */
    bool is_told[EXPOSE_LIST_COUNT];  /* `told` means something */
    bool is_warned;                   /* that proposals cannot be withdrawn, if they cannot */
    bool has_baseline;                /* all lists were compared once */
    size_t untold;                    /* notifications since the client was behind */
    int64_t compared_ms;              /* when changes were looked for last */
    int64_t changed_ms;               /* when to look for changes; INT64_MAX = none known */
};

/** mono_ms in so many milliseconds; 0 = INT64_MAX, never. */
static inline int64_t expose_in(const struct expose *x, int64_t ms)
{
    return ms ? x->now.mono_ms + ms : INT64_MAX;
}

/**
 * A request of the client.
 *
 * modern     it speaks 2026-07-28
 * may_wait   it may be put off until the servers are known
 * list       the list that it is about; -1 = all, or none
 * is_over    it is not served any more
 * payload    what the client sent, where `rpc` was made of it; else absent
 * fault      why it is no request, although a call was meant; NULL: it is one
 */
struct expose_request {
    const struct mcpx_rpc *rpc;
    bool modern;
    bool may_wait;
    bool is_over;
    int list;
    struct mcpx_slice payload;
    const struct mcpx_fault *fault;
};

#endif
