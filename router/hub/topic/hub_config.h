/* hub_config.h - the settings of a hub. */
#ifndef HUB_HUB_CONFIG_H
#define HUB_HUB_CONFIG_H

#include <mcpx/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Most instances of one participant that a topic can tell apart. Protocol: section 7. */
enum { INSTANCES_MAX = 64 };

/**
 * Source of random bytes, for UUIDs of the hub's envelopes and the key of its hash tables.
 * `fill` writes `len` random bytes; it cannot fail.
 */
struct chance {
    void (*fill)(void *context, void *bytes, size_t len);
    void *context;
};

/** An epoch is 128 random bits in hexadecimal. */
enum { TOPIC_EPOCH_LEN = 32 };

/** A participant may have a quarter of pending_bytes. */
enum { PENDING_OWNERS = 4 };

/** Settings, in the units of docs/configuration.md. 0 = no limit, unless said otherwise. */
struct hub_config {
    /* topics */
    bool create;             /* a topic comes to be when its first participant joins */
    bool directed;           /* default routing mode is `directed` */
    size_t replay;           /* envelopes of history for a join without ?history= */
    int64_t linger_ms;       /* how long a topic outlives its last participant; 0 = not */
    size_t topics_max;       /* topics */
    size_t topics_each;      /* topics that one participant made */
    size_t participants_max; /* participants of one topic */
    size_t history_count;    /* retained envelopes per topic */
    size_t history_bytes;    /* retained bytes per topic; not 0: it bounds memory */
    int64_t history_age_ms;  /* oldest retained envelope */
    /* auth */
    bool takeover;      /* a second connection replaces the first; else it is refused */
    unsigned instances; /* of one participant in one topic, 1 .. INSTANCES_MAX */
    /* limits */
    size_t message_bytes;         /* largest message */
    size_t depth;                 /* deepest nesting of a message */
    size_t backlog_bytes;         /* bytes the log keeps for its slowest reader */
    size_t log_bytes;             /* memory of all topics' logs together */
    size_t connections_max;       /* peers */
    size_t connections_each;      /* peers of one participant */
    uint64_t messages_per_minute; /* per participant */
    uint64_t bytes_per_minute;    /* per participant */
    uint64_t joins_per_minute;    /* per participant and topic, all instances together */
    int64_t ping_ms;              /* silence after which a peer is pinged; 0 = never */
    bool derive_kinds;            /* protocol section 4 */
    /* store and audit */
    bool needs_commit;    /* accepted envelopes are delivered after their commit */
    bool stored;          /* topics are opened before use; needs commits then, too */
    bool audited;         /* submissions say which grant allowed them */
    size_t pending_bytes; /* bytes of pending messages */
    int64_t open_ms; /* longest time that a client waits for a topic to be opened; not 0 */
    /* policy */
    char rev[17]; /* names it in `system/welcome`; "" = not there */
};

/** True when a setting of a number allows no more; 0 = no limit. */
static inline bool is_at_limit(uint64_t count, size_t max)
{
    return max != 0 && count >= max;
}

#endif
