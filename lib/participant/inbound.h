/*
 * inbound.h - requests and proposals of others, by id. Their number and their memory are
 * bounded: beyond that, the oldest of the sender that has most is forgotten.
 */
#ifndef MX_INBOUND_H
#define MX_INBOUND_H

#include "lib/core/map.h"
#include "lib/participant/asked.h"

struct mx_sender;

/**
 * A request or proposal of another participant, the size of its copy, and its neighbours in its
 * sender's list.
 */
struct mx_heard {
    struct mx_asked *asked;
    size_t size;
    struct mx_sender *sender;
    struct mx_heard *older, *newer;
};

/** A sender: all instances of one participant. `at` is its place in the list of senders. */
struct mx_sender {
    struct mcpx_slice id;
    size_t count, bytes, at;
    struct mx_heard *oldest, *newest;
};

/** Most bytes kept. There is a limit because others choose the kinds, ids and names. */
enum { MX_INBOUND_BYTES = 64 * 1024 * 1024 };

/** What is remembered. The caller sets `key` and `max`; the rest is zero. */
struct mx_inbound {
    struct mx_map_key key;
    size_t max, bytes;
    struct mx_map ids;   /* to struct mx_heard */
    struct mx_map names; /* to struct mx_sender */
    struct mx_sender **senders;
    size_t sender_count, sender_size;
};

/** Forgets everything. */
void mx_inbound_fini(struct mx_inbound *inbound);

/**
 * The request or proposal with that id; NULL when there is none or the id is absent. Lent until
 * it is forgotten.
 */
const struct mx_asked *mx_inbound_find(const struct mx_inbound *inbound, struct mcpx_slice id);

/**
 * Remembers a copy. It replaces the same sender's request or proposal with that id.
 *
 * Returns MCPX_OK; MCPX_EDUPLICATE when that id is of another sender; MCPX_ENOMEM.
 */
enum mcpx_err mx_inbound_add(struct mx_inbound *inbound, const struct mx_asked *asked);

/** Forgets the request or proposal with that id. Does nothing when there is none. */
void mx_inbound_remove(struct mx_inbound *inbound, struct mcpx_slice id);

#endif
