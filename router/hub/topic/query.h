/*
 * query.h - queries on the whole hub, for the HTTP API: topics, participants, history, figures.
 * Queries change nothing. Protocol: section 8.
 */
#ifndef HUB_QUERY_H
#define HUB_QUERY_H

#include "router/hub/topic/stats.h"
#include <mcpx/text.h>

struct hub;
struct topic;

/** All counters; the gauges are up to date. Lent until the hub is freed. */
const struct stats *hub_stats(const struct hub *hub);

/**
 * How far participants are behind with live traffic: envelopes that were not handed over yet. A
 * directed reader may be behind with envelopes for others.
 *
 * asked_ms        mono_ms at which this was counted; 0 = never
 * max_envelopes   the largest lag in envelopes
 * max_bytes       the largest lag in bytes of frames
 * max_ms          age of the oldest envelope that is not handed over to all
 * behind          participants that are at least hub_lag_steps[i] envelopes behind
 */
enum { HUB_LAG_STEPS = 5 };
extern const unsigned hub_lag_steps[HUB_LAG_STEPS];
struct lag {
    int64_t asked_ms;
    uint64_t max_envelopes, max_bytes;
    int64_t max_ms;
    uint64_t behind[HUB_LAG_STEPS];
};

/** Counts the lag, at most once per second. Lent until the next call. */
const struct lag *hub_lag(struct hub *hub, struct mcpx_now now);

/** True once hub_drain was called. */
bool hub_is_draining(const struct hub *hub);

/**
 * Walks the topics sorted by name: the first behind `name`, which need not be one; of all, when it
 * is absent. NULL after the last.
 */
const struct topic *hub_topic_after(const struct hub *hub, struct mcpx_slice name);

/** The next one in that order, in one step; NULL after the last. */
const struct topic *topic_following(const struct topic *topic);

/** Borrowed from the hub until its next hub_* call that is not a question; NULL when unknown. */
const struct topic *hub_topic_find(const struct hub *hub, struct mcpx_slice name);

/** Lent until the topic is freed. */
struct mcpx_slice topic_name(const struct topic *topic);

/** A page of names, sorted by bytes. */
struct name_page {
    size_t limit;            /* most names; not 0 */
    struct mcpx_slice after; /* only those that sort behind it; absent = from the first on */
};

/**
 * Appends `[{"id":…,"capabilities":[…]}…]`, sorted by id. Stops early, at a whole participant,
 * once `out` holds more than `bytes_max` bytes. Returns the last id written, lent until the
 * participant leaves; absent when there are no more.
 */
struct mcpx_slice topic_write_participants(const struct topic *topic,
                                           const struct name_page *page, size_t bytes_max,
                                           struct mcpx_text *out);

/** The number of participants in the topic, each instance counted. */
size_t topic_participants(const struct topic *topic);

/** The connected peer with exactly this id, or NULL. Borrowed until it departs. */
struct peer *topic_peer(const struct topic *topic, struct mcpx_slice id);

/** A page of history, newest first. */
struct page {
    size_t limit; /* most envelopes */
    /* Only envelopes older than the one with this id; absent = no bound. */
    struct mcpx_slice before;
    /* Only envelopes newer than the one with this id; absent = no bound. */
    struct mcpx_slice after;
};

/** Where a page of history ended. */
struct page_end {
    size_t count; /* envelopes in it */
    /* Id of the last of them, lent until the topic changes; absent when there is none. */
    struct mcpx_slice last;
    bool more; /* there are older ones, as far as `after` lets see */
};

/**
 * Appends a JSON array of the retained envelopes the page names, byte-exact. Stops before the array
 * would have more than `bytes_max` bytes, but the first envelope comes in any case.
 *
 * end   filled
 *
 * Returns MCPX_OK, or MCPX_ENOTFOUND when `before` or `after` names no retained envelope.
 */
enum mcpx_err topic_write_history(const struct topic *topic, const struct page *page,
                                  size_t bytes_max, struct mcpx_text *out,
                                  struct page_end *end);

/** The rest of a participant's rate limits, for all its instances together. */
struct rate_state {
    /* `messages`, `bytes`: left in its buckets now; SIZE_MAX-like UINT64_MAX when unlimited. */
    uint64_t messages;
    uint64_t bytes;
    int64_t full_in_ms; /* until both buckets are full again; 0 when they are */
};

/** Reads the buckets of a participant. False, `out` untouched, when it is not connected. */
bool topic_rate(const struct topic *topic, struct mcpx_slice identity, struct mcpx_now now,
                struct rate_state *out);

#endif
