/*
 * inbound.h - what others asked or proposed, by id, up to a bound of number and one of memory: the
 * oldest of who has most is forgotten.
 */
#ifndef MX_INBOUND_H
#define MX_INBOUND_H

#include "lib/core/map.h"
#include "lib/participant/asked.h"

struct mx_sender;

/** One of others', the bytes of its copy, and its neighbours among its sender's. */
struct mx_heard {
    struct mx_asked *asked;
    size_t size;
    struct mx_sender *sender;
    struct mx_heard *older, *newer;
};

/** Somebody whose requests are kept: all instances of a participant. `at`: place in the list. */
struct mx_sender {
    struct mcpx_slice id;
    size_t count, bytes, at;
    struct mx_heard *oldest, *newest;
};

/** Most bytes kept: kinds, ids and names that strangers chose. */
enum { MX_INBOUND_BYTES = 64 * 1024 * 1024 };

/** A bounded memory. `key` and `max` are to be set; the rest is zero. */
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

/** What has that id, or NULL; also for an absent id. Lent until it is forgotten. */
const struct mx_asked *mx_inbound_find(const struct mx_inbound *inbound, struct mcpx_slice id);

/**
 * Remembers a copy, in place of what the same sender had under that id.
 *
 * Returns MCPX_OK; MCPX_EDUPLICATE when somebody else's has that id; MCPX_ENOMEM.
 */
enum mcpx_err mx_inbound_add(struct mx_inbound *inbound, const struct mx_asked *asked);

/** Forgets what has that id. Harmless when nothing has. */
void mx_inbound_remove(struct mx_inbound *inbound, struct mcpx_slice id);

#endif
