/*
 * calls.h - requests under way, in either direction: those of participants on a server's pipe,
 * those of a client in a topic, and the questions that servers ask about them. We send each under a
 * number of ours. The number in the answer leads back to the requester.
 *
 * A tool call has two checks under contract settings (--contracts). lib/contract decides; this file
 * reports what became of a call, and puts the answer into a message.
 */
#ifndef MCPX_BRIDGE_CALLS_H
#define MCPX_BRIDGE_CALLS_H

#include "lib/base/map.h"
#include "tools/common/command.h"

#include <mcpx/terms.h>

/** `topic` is the number of one of our topics, from 0. */
struct bridge_who {
    size_t topic;
    struct mcpx_slice id;
};

/**
 * True when both are the same participant in the same topic: equal names in two topics may be
 * different participants.
 */
static inline bool bridge_who_is(struct bridge_who one, struct bridge_who other)
{
    return one.topic == other.topic && mcpx_slice_equal(one.id, other.id);
}

/** The requests under way of one participant in one topic, all its instances together. */
struct bridge_holder {
    size_t topic;
    struct mcpx_slice identity; /* as mcpx_identity_of; behind the struct */
    size_t calls;               /* how many */
    size_t payload_bytes;       /* bytes of their payloads */
    size_t longest;             /* bytes of the longest answer since it has any */
};

/**
 * One exchange, from its request to the last message about it; also a row of another table: a line
 * that waits, a subscription, a task, a message of the topic. An absent or empty text is none. Its
 * table's owner defines `purpose`, `stage`, `list`, `task`, `written`, `progress` and `bound`.
 */
struct bridge_call {
    struct bridge_call *previous, *next;

    /* Who asked; or of whom we ask. Without id: we ourselves. */
    struct bridge_who who;
    struct bridge_holder *holder; /* of that participant; NULL without id */
    unsigned purpose;             /* 0: the answer goes to the other side */

    /* What: `id` and progress `token` where it came from, `params` as they are sent, and `can`,
     * the capabilities of its client of 2026-07-28, are raw JSON. `context`: the name of the tool
     * or resource; `came_in`: id of its envelope; `fulfils`: id of a proposal of `proposer`. */
    union {
        struct {
            struct mcpx_slice id, token, method, context, params, came_in, fulfils, proposer,
                can;
        };
        struct mcpx_slice texts[9]; /* the same; the call has copies of them */
    };
    bool modern;     /* the client speaks 2026-07-28 */
    bool by_channel; /* a permission prompt: notifications ask and answer it */
    unsigned list;
    unsigned level; /* of the log messages that its client wants; 0: none */
    uint64_t bound; /* keyed hash of what must be the same when it is called again */
    /* Set between admission and completion under contract settings; else NULL. */
    struct mcpx_call *admitted;

    /* By which id: > 0, never used again. Where it goes it is the JSON-RPC id, and the progress
     * token or part of it; here it is the tag of its draft. */
    int64_t number;
    int64_t about;                /* number of the exchange that it belongs to */
    struct mcpx_text sent_in;     /* id of its envelope, once that is known */
    struct mcpx_text approved_in; /* id of the request that fulfils it; if it is a proposal */

    /* What may still come. */
    int stage;
    unsigned task;
    bool written;     /* the server has it; until then `payload` waits for the server */
    bool wants_input; /* the server waits for answers, and then gets the call once more */
    bool was_asked;   /* the server has asked about it since it was due last */
    unsigned rounds;  /* how often it was answered with questions */
    int64_t progress; /* last value told; of a subscription: servers that may still agree */
    /* While no request of the client waits for the answer: its next one's "requestState", raw, or
     * the id of its task. At an import: the id of the task that the call has become. */
    struct mcpx_text state;
    int64_t began_ms; /* of a client's task, wall_ms */
    /* The message, while it must be sent, perhaps again; of a question, its answer that waits for
     * others; with `state`, the answer to the call that waits for its client. */
    struct mcpx_text payload;

    /* What ends it, and when it is looked at before. mono_ms; INT64_MAX: never. */
    int64_t due_ms;
    int64_t heartbeat_ms; /* its client is told, or asked; the end of its task */
    int64_t resend_ms;    /* it is sent again: the router refused it as too fast */
    bool is_again;        /* it was; or the server refused the answers for its task */
};

/** Requests under way, the oldest first. Zero-initialised is empty. */
struct bridge_calls {
    struct bridge_call *first, *last;
    size_t count;
    int64_t last_number;
    size_t payload_bytes;           /* bytes of all payloads */
    int64_t due_ms;                 /* no call is due before */
    struct mx_map by_number;        /* private */
    struct bridge_holder **holders; /* private: those with calls under way */
    size_t holder_count, holder_size;
    size_t held; /* calls that have a holder */
};

/** Frees all. */
void bridge_calls_fini(struct bridge_calls *calls);

/**
 * Adds a copy of a call and of its slices; its texts are empty. It gets the next number, unless it
 * has one that no other call will get, and no heartbeat.
 */
struct bridge_call *bridge_calls_add(struct bridge_calls *calls,
                                     const struct bridge_call *from);

/** Gives a call the next number. */
void bridge_calls_renumber(struct bridge_calls *calls, struct bridge_call *call);

/** Replaces a call by `from`, a copy of it with other slices. The payload is lost. */
struct bridge_call *bridge_calls_replace(struct bridge_calls *calls, struct bridge_call *call,
                                         struct bridge_call *from);

/** Keeps the payload of a call until bridge_calls_release. */
void bridge_calls_hold(struct bridge_calls *calls, struct bridge_call *call,
                       struct mcpx_slice payload);
void bridge_calls_release(struct bridge_calls *calls, struct bridge_call *call);

/** The requests under way of a participant; NULL: none. Lent until the next change. */
struct bridge_holder *bridge_calls_holder(const struct bridge_calls *calls,
                                          struct bridge_who who);

/** The call with that number; NULL when there is none any more. */
struct bridge_call *bridge_calls_find(const struct bridge_calls *calls, int64_t number);

/** The call whose draft has that tag; NULL when there is none any more. */
static inline struct bridge_call *bridge_calls_of_tag(const struct bridge_calls *calls,
                                                      const void *tag)
{
    return bridge_calls_find(calls, (int64_t)(uintptr_t)tag);
}

/** The oldest call that is due; NULL: none is, and `due_ms` of the table is found anew. `passed`,
 * at first 0, is the number of the last one that was not due: the search goes on behind it. */
struct bridge_call *bridge_calls_due(struct bridge_calls *calls, int64_t mono_ms,
                                     int64_t *passed);

/** Sets when a call is due. */
void bridge_calls_defer(struct bridge_calls *calls, struct bridge_call *call, int64_t due_ms);

/** A loop over all, the oldest first, in which the call at hand may end. */
#define BRIDGE_EACH_CALL(one, calls)                                                          \
    for (struct bridge_call * (one) = (calls)->first, *one##_next;                            \
         (one) && ((one##_next = (one)->next), true); (one) = one##_next)

/** Removes and frees a call. */
void bridge_calls_drop(struct bridge_calls *calls, struct bridge_call *call);

/** A core's calls under contract settings. Zero-initialised: no settings. */
struct bridge_checks {
    const struct bridge_terms *terms; /* kept as long; NULL: none */
    const void *user;                 /* for both functions */
    /* The clocks at this moment: finer than what an input is told. */
    struct mcpx_instant (*now)(const void *user);
    /* Random bytes; not asked with deterministic ids. */
    void (*chance)(const void *user, void *bytes, size_t len);
    struct mcpx_calls *calls; /* NULL before the first one; freed by the core */
};

/** True when contract settings apply to the method: it is tools/call, and settings are given. */
bool bridge_checks_apply_to(const struct bridge_checks *checks, struct mcpx_slice method);

/**
 * Admission, as mcpx_calls_admit.
 *
 * options   used for the first call only; settings and ids are filled in
 * request   all but its time, random bytes and version
 * hello     the server's answer to initialize, raw; it says the version
 */
void bridge_checks_admit(struct bridge_checks *checks,
                         const struct mcpx_calls_options *options,
                         struct mcpx_call_request *request, struct mcpx_slice hello,
                         struct mcpx_admission *out);

/** Completion, as mcpx_calls_answer. The time of `end` is filled in, *admitted becomes NULL. */
void bridge_checks_end(struct bridge_checks *checks, struct mcpx_call **admitted,
                       struct mcpx_call_end *end, struct mcpx_call_answer *answer);

/** Completes a call without an answer, unless it is complete: its requester stopped waiting. */
void bridge_checks_abandon(struct bridge_checks *checks, struct mcpx_call **admitted);

/** The JSON-RPC error code for a cause, for calls without contract settings. */
int bridge_code_of(enum mcpx_cause cause);

/** The rows of both options. */
#define BRIDGE_TERMS_OPTIONS                                                                  \
    OPTION("--contracts", "FILE|JSON", VALUE_FILE, 0,                                         \
           "contract settings: what is checked of tool calls, and what is done about it. A "  \
           "file, or the JSON itself, which begins with {. {} checks arguments and results "  \
           "against the schemas of the tools. Without it nothing is checked. --terms is its " \
           "old name"),                                                                       \
        SWITCH("--deterministic-ids",                                                         \
               "with --contracts: ids that this program makes are the same whenever the "     \
               "same is asked in the same order, instead of random")

/** Contract settings, with their schemas and contracts. Zero-initialised: none. */
struct bridge_terms {
    struct mcpx_shelf *shelf;
    struct mcpx_contracts *contracts;
    struct mcpx_terms *terms; /* NULL: none */
    bool deterministic;       /* ids are */
};

/**
 * Reads the contract settings of a command line, if any; bridge_terms_fini frees them, on failure
 * too. Returns STATUS_OK, also without settings; STATUS_USAGE, having reported every error with its
 * path, when they cannot be read or are not valid.
 */
int bridge_terms_read(const struct arguments *arguments, struct bridge_terms *out);
void bridge_terms_fini(struct bridge_terms *terms);

#endif
