/*
 * state.h - the state that the parts of the server share: everything remembered about the
 * client and the topic. And what they say: messages to the client, words for the log, how the
 * bridge introduces itself, what the client watches, and what servers ask it.
 */
#ifndef MCPX_BRIDGE_EXPOSE_STATE_H
#define MCPX_BRIDGE_EXPOSE_STATE_H

#include "lib/base/bucket.h"
#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/calls.h"
#include "tools/mcpx-bridge/expose/expose.h"
#include "tools/mcpx-bridge/expose/servers/catalog.h"
#include "tools/mcpx-bridge/output.h"

/** The receiver of the answer: the client, the catalogue, or none. */
enum expose_purpose {
    EXPOSE_FOR_CLIENT,
    EXPOSE_FOR_HELLO, /* initialize */
    EXPOSE_FOR_LIST,  /* one page */
    EXPOSE_FOR_NOBODY
};

/** Whether the answer is for the catalogue. */
static inline bool expose_call_is_probe(const struct bridge_call *call)
{
    return call->purpose == EXPOSE_FOR_HELLO || call->purpose == EXPOSE_FOR_LIST;
}

/** REQUESTED, or PROPOSED until somebody acts on it: APPROVED. Or it may be none of these. */
enum expose_stage { EXPOSE_REQUESTED, EXPOSE_PROPOSED, EXPOSE_APPROVED, EXPOSE_REFUSED };

/** A participant that does not answer within this time counts as no server. */
enum { EXPOSE_PATIENCE_MS = 2000 };

/** One --only, and whether it fitted anything so far. */
struct expose_only {
    struct mcpx_slice pattern; /* with a NUL behind it */
    bool fitted;
};

/** The client. */
struct expose_client {
    bool greeted;     /* it has sent something; until then no server is asked */
    bool initialized; /* its "initialize" was answered: notifications may be sent */
    /* The capabilities in it, raw; only requests that they allow reach the client. */
    struct mcpx_text capabilities;
    struct mcpx_text info;   /* its name and version, raw */
    struct mcpx_text level;  /* the logging level it set, raw params */
    struct mcpx_text listen; /* JSON-RPC id of its subscriptions/listen, raw; empty = none */
    bool wants[EXPOSE_LIST_COUNT]; /* the lists whose changes it wants there */
};

struct expose {
    struct expose_config config;
    struct expose_only *only;
    struct expose_view view;
    struct bridge_output output;
    struct mcpx_now now; /* of the call under way */
    bool joined;
    bool is_away; /* the log says so */
    bool was_joined;
    /* Until when a topic that was never reached is waited for; 0 = nobody waits. */
    int64_t reach_ms;
    bool is_refused;       /* not joined so far, and the router has said why */
    struct mcpx_text away; /* why we are not there */
    struct expose_names names;
    size_t renamed_count;    /* names that were others before */
    struct expose_names ids; /* of tasks and questions */
    struct expose_catalog catalog;
    struct mx_buckets reading; /* bytes of lists, per participant */
    struct bridge_calls calls;
    struct expose_client client;
    struct bridge_calls held; /* lines of the client that wait for the topic's servers */
    struct bridge_doors doors;
    struct expose_shelf no_tools; /* of nobody */
    struct bridge_calls asks;     /* of servers */
    /* Answers of ours that nobody here has given, per participant. */
    struct mx_buckets answered;
    struct mx_bucket answered_all;
    struct bridge_calls watches; /* resources: `token` is how the client calls them */
    uint64_t
        told[EXPOSE_LIST_COUNT]; /* hash of each list as the client knows it; 0: it does not */
    bool is_warned;              /* that proposals cannot be withdrawn, if they cannot */
    bool has_baseline;           /* all lists were compared once */
    size_t untold;               /* notifications since the client was behind */
    int64_t compared_ms;         /* when changes were looked for last */
    int64_t changed_ms;          /* when to look for changes; INT64_MAX = none known */
};

/** mono_ms in so many milliseconds; 0 = INT64_MAX, never. */
static inline int64_t expose_in(const struct expose *x, int64_t ms)
{
    return ms ? x->now.mono_ms + ms : INT64_MAX;
}

/** A request of the client. */
struct expose_request {
    const struct mcpx_rpc *rpc;
    bool modern;   /* it speaks 2026-07-28 */
    bool may_wait; /* it may be put off until the servers are known */
    bool is_over;  /* it is not served any more */
    int list;      /* the list that it is about; -1 = all, or none */
    /* What the client sent, where `rpc` was made of it; else absent. */
    struct mcpx_slice payload;
    /* Why it is no request, although a call was meant; NULL: it is one. */
    const struct mcpx_fault *fault;
};

/* ---- messages to the client, and how the bridge introduces itself ---- */

/** One message: takes it. Line breaks between tokens become spaces. */
void expose_tell(struct expose *x, struct mcpx_text message);

/**
 * An answer; for a modern client a result gets what 2026-07-28 asks.
 *
 * request   of it: id, method, and whether the client is modern
 * message   whose other members stay as they are; absent: none
 */
void expose_tell_answer(struct expose *x, const struct expose_request *request,
                        struct mcpx_call_answer answer, struct mcpx_slice message);

/** A result of ours: a JSON object, taken. */
void expose_tell_result(struct expose *x, const struct expose_request *request,
                        struct mcpx_text result);

/**
 * An error. `data` is JSON; NULL: none. The second takes a text that was made for it; the third
 * makes that as mx_format does.
 */
void expose_tell_error(struct expose *x, struct mcpx_slice id, int code,
                       struct mcpx_slice message, const struct mcpx_text *data);
void expose_tell_error_made(struct expose *x, struct mcpx_slice id, int code,
                            struct mcpx_text message);
#define expose_tell_error_text(x, id, code, ...)                                              \
    expose_tell_error_made((x), (id), (code), mx_formatted(__VA_ARGS__))

/** False for messages that a client can do without, when it hears answers only or is behind. */
bool expose_may_tell(struct expose *x);

/** A notification. Takes `params`: JSON, or empty for none. */
void expose_tell_notice(struct expose *x, const char *method, struct mcpx_text params);

/** One sentence for the log, in the same three ways. */
void expose_note(struct expose *x, struct mcpx_slice sentence);
void expose_note_made(struct expose *x, struct mcpx_text sentence);
#define expose_note_text(x, ...) expose_note_made((x), mx_formatted(__VA_ARGS__))

/** A text in quotes for people: 'text', cut at 200 bytes. Lent until the block ends. */
#define expose_quoted(text) expose_quote((char[EXPOSE_QUOTED_MAX]){0}, (text))

enum { EXPOSE_QUOTED_MAX = 208 };

/** The function behind expose_quoted; writes into `buf`, which has EXPOSE_QUOTED_MAX bytes. */
struct mcpx_slice expose_quote(char *buf, struct mcpx_slice text);

/** The revisions of MCP that the client is served in: today's, and the newest with "initialize". */
#define EXPOSE_MODERN "2026-07-28"
#define EXPOSE_LEGACY "2025-11-25"

/** Gives name, title and version, a JSON object. */
struct mcpx_text expose_self(const struct expose *x);

/** Remembers, or forgets, that the client watches a resource. */
void expose_watch_set(struct expose *x, const struct expose_thing *thing,
                      struct mcpx_slice shown, bool on);

/** Passes notifications/resources/updated on when the client watches that. */
void expose_watch_updated(struct expose *x, struct mcpx_slice participant,
                          const struct mcpx_rpc *rpc);

/**
 * A call failed. When it was to watch a resource, that is not watched; other calls are ignored.
 */
void expose_unwatch(struct expose *x, const struct bridge_call *call);

/** A participant has come back: tells it what the client watches. */
void expose_watch_renew(struct expose *x, struct mcpx_slice participant);

/** Handles subscriptions/listen of 2026-07-28; and ends it, true when `id` names it. */
bool expose_listen(struct expose *x, const struct expose_request *request);
bool expose_listen_end(struct expose *x, struct mcpx_slice id);

/** Tells the client that a list changed, in the way that the client chose. */
void expose_tell_changed(struct expose *x, enum expose_list list);

/** A request for us. */
void expose_ask(struct expose *x, const struct mcpx_event *event);

/** An answer, the RESPOND in that row, could not be given. */
void expose_ask_unanswered(struct expose *x, const struct bridge_row *row, enum mcpx_err err);

/** The client answered. */
void expose_ask_answered(struct expose *x, const struct mcpx_rpc *rpc);

/** The server takes its request back. */
void expose_ask_cancelled(struct expose *x, struct mcpx_slice participant,
                          struct mcpx_slice params);

/** A call ends. When it is the participant's last, so do its questions. */
void expose_ask_over(struct expose *x, const struct bridge_call *call);

/**
 * Ends what a participant asked, of which the client is told, or with an absent slice anybody.
 * `reason` is the answer to that; NULL = none.
 */
void expose_ask_end(struct expose *x, struct mcpx_slice participant, const char *reason);

#endif
