/*
 * turns.h - messages that wait to be given to a session: a queue for each receiver, which take
 * turns. A receiver is a participant, all its instances together, or everybody.
 */
#ifndef MCPX_BRIDGE_IMPORT_TURNS_H
#define MCPX_BRIDGE_IMPORT_TURNS_H

#include "lib/base/bucket.h"
#include "lib/base/holders.h"
#include "tools/mcpx-bridge/import/shared.h"

/**
 * Those of one topic.
 *
 * held     bytes that wait, by receiver
 * shares   what each receiver is sent first: half of what the router takes
 * rate, sent   all that the router takes, and what of it is left
 * worth    what a message costs of that besides its bytes
 * last     of a ring of queues; the one behind it is next. NULL: nothing waits
 * due_ms   mono_ms before which nothing may go; INT64_MAX: it is not time that is waited for
 */
struct import_turns_of {
    struct mx_holders held;
    struct mx_buckets shares;
    struct mx_rate rate;
    struct mx_bucket sent;
    uint64_t worth;
    struct import_turn *last;
    int64_t due_ms;
};

/** Those of all topics, `count` of them. */
struct import_turns {
    const struct import_shared *shared;
    struct import_turns_of *topics;
    size_t count;
};

/**
 * Makes them.
 *
 * cap      bytes that may wait for one receiver, four times that for all in a topic; 0: 16 MiB
 * shared   kept; its view and key
 */
void import_turns_init(struct import_turns *turns, size_t topics, size_t cap,
                       const struct import_shared *shared);

/** Frees what waits. */
void import_turns_fini(struct import_turns *turns);

/**
 * What the router lets us send in a topic: its welcome's raw member "limits"; absent: anything.
 * One receiver gets half of it for sure: of the bytes, and for each message as many more as go with
 * it. It gets what nobody else uses of the other half, too.
 */
void import_turns_limit(struct import_turns *turns, size_t topic, struct mcpx_slice limits);

/**
 * True when no more should be asked for a participant: so many of its requests are under way, and
 * if their answers and one more are as long as `longest`, or as the longest of what waits, more
 * waits then than may.
 */
bool import_turns_are_full(const struct import_turns *turns, size_t topic,
                           struct mcpx_slice participant, size_t under_way, uint64_t longest);

/**
 * Takes out what is to be done next: a row of the output that is no message, a message that may go
 * now, or one that is given up; NULL when there is none. Messages of the output get in line. Where
 * too much waits for a receiver, its oldest notification is dropped for another, and the output is
 * told so, once; an answer or a question is given up, and where too much waits for all, so is the
 * oldest message of the receiver that has most. A substitute finds room for as much once more.
 */
struct bridge_row *import_turns_next(struct import_turns *turns, struct bridge_output *output,
                                     int64_t now_ms);

/** mono_ms at which import_turns_next is due; INT64_MAX when it is not time that is waited for. */
int64_t import_turns_deadline(const struct import_turns *turns);

#endif
