/*
 * inbound.h - what others sent: their requests and proposals, by id, and the envelopes that came
 * lately, so that none is told twice.
 */
#ifndef MX_INBOUND_H
#define MX_INBOUND_H

#include "lib/base/map.h"
#include "lib/session/reader.h"

struct mx_sender;

/**
 * A request or proposal of another participant, the size of its copy, and its neighbours in its
 * sender's list.
 */
struct mx_heard {
    struct mcpx_slice id; /* of `asked` */
    struct mx_asked *asked;
    size_t size;
    struct mx_sender *sender;
    struct mx_heard *older, *newer;
};

/** A sender: all instances of one participant. */
struct mx_sender {
    struct mcpx_slice id;
    size_t count, bytes;
    struct mx_heard *oldest, *newest;
};

/** Most bytes kept. There is a limit because others choose the kinds, ids and names. */
enum { MX_INBOUND_BYTES = 64 * 1024 * 1024 };

/**
 * Requests or proposals. Beyond their bounds, the oldest of the sender that has most is
 * forgotten. The caller sets `key` and `max`; the rest is zero.
 */
struct mx_inbound {
    struct mx_map_key key;
    size_t max, bytes;
    struct mx_map ids;     /* to struct mx_heard */
    struct mx_map senders; /* to struct mx_sender */
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

/**
 * Digests of the last `max` envelopes. A digest covers sender, id and payload, so an id with
 * another payload is no repetition. The router accepts an id only once, as long as it remembers
 * it; when it has forgotten it or was restarted, a sender may write again what was told before.
 * The caller sets `key` and `max`; the rest is zero.
 */
struct mx_recent {
    struct mx_map_key key;
    size_t max;
    struct mx_map set;
    uint64_t *ring;
    size_t size, next;
};

/** Forgets everything. */
void mx_recent_fini(struct mx_recent *recent);

/** The digest of an envelope. */
uint64_t mx_recent_digest(const struct mx_recent *recent,
                          const struct mcpx_envelope *envelope);

/** True when an envelope with that digest was noted lately. */
bool mx_recent_has(const struct mx_recent *recent, uint64_t digest);

/** Makes sure that the next mx_recent_note cannot fail; false when memory runs out. */
bool mx_recent_reserve(struct mx_recent *recent);

/** Notes a digest. Once there are `max`, it replaces the oldest. After mx_recent_reserve. */
void mx_recent_note(struct mx_recent *recent, uint64_t digest);

#endif
