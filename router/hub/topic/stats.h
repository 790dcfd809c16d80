/* stats.h - every counter the router keeps, in one table of names, kinds and help texts. */
#ifndef HUB_STATS_H
#define HUB_STATS_H

#include "lib/base/histogram.h"
#include <mcpx/capability.h>

struct hub;

/* X(member, Prometheus name, type, help) */
#define STATS_TABLE(X)                                                                        \
    X(peers, "mcpx_connections", "gauge", "Participants connected now")                       \
    X(topics, "mcpx_topics", "gauge", "Topics that exist now")                                \
    X(log_bytes, "mcpx_log_bytes", "gauge", "Memory of all topics' logs and their indexes")   \
    X(log_bytes_max, "mcpx_log_bytes_max", "gauge",                                           \
      "Memory that all topics' logs may take, 0 = no bound")                                  \
    X(outbox_bytes, "mcpx_outbox_bytes", "gauge",                                             \
      "Memory of frames for one participant alone")                                           \
    X(unsent_bytes, "mcpx_unsent_bytes", "gauge",                                             \
      "Memory of what sockets have not taken yet")                                            \
    X(incomplete_bytes, "mcpx_unfinished_bytes", "gauge",                                     \
      "Memory of messages that have begun to arrive")                                         \
    X(admitted, "mcpx_admitted_total", "counter", "Participants admitted to a topic")         \
    X(departed, "mcpx_departed_total", "counter", "Participants that left a topic")           \
    X(takeovers, "mcpx_takeovers_total", "counter", "Connections replaced by a newer one")    \
    X(received, "mcpx_received_total", "counter", "Messages received")                        \
    X(received_bytes, "mcpx_received_bytes_total", "counter", "Bytes of messages received")   \
    X(accepted, "mcpx_accepted_total", "counter", "Envelopes accepted")                       \
    X(derived, "mcpx_derived_total", "counter", "Kinds completed from the correlated one")    \
    X(written, "mcpx_written_frames_total", "counter", "Log frames handed to sockets")        \
    X(written_bytes, "mcpx_written_bytes_total", "counter", "Bytes handed to sockets")        \
    X(runs, "mcpx_written_runs_total", "counter", "Contiguous runs handed to sockets")        \
    X(replayed, "mcpx_replayed_total", "counter", "Envelopes sent as history")                \
    X(resumed, "mcpx_resumed_total", "counter", "Connections that resumed where they were")   \
    X(shortened, "mcpx_log_shortened_total", "counter",                                       \
      "Segments of history given up because all logs together took too much")                 \
    X(slow, "mcpx_slow_consumers_total", "counter", "Readers that fell off the log")

/** Histogram classes of delivery times in milliseconds, and of match times in nanoseconds. */
extern const struct mx_classes stats_delivery_ms, stats_match_ns;

/** Number of reasons to refuse a kind: `enum mcpx_refusal`. */
enum { STATS_REASONS = MCPX_RESERVED_NAMESPACE + 1 };

/**
 * Caps: quotas of one owner (a participant or an address). Each row is
 * X(constant, the setting of the cap).
 */
#define CAP_TABLE(X)                                                                          \
    X(CAP_STORED_BYTES, "store.bytes_per_participant")                                        \
    X(CAP_CONNECTS, "limits.connects_per_s")                                                  \
    X(CAP_REQUESTS, "limits.requests_per_minute")                                             \
    X(CAP_CONNECTIONS, "limits.connections_per_participant")                                  \
    X(CAP_TOPICS, "topics.max_per_participant")                                               \
    X(CAP_TICKETS, "limits.tickets_per_participant")

#define CAP_CONSTANT(constant, setting) constant,
enum cap { CAP_TABLE(CAP_CONSTANT) CAP_COUNT };
#undef CAP_CONSTANT

/** The setting that is this cap, for errors and metrics. Static. */
const char *cap_setting(enum cap cap);

#define STATS_MEMBER(member, name, type, help) uint64_t member;
/**
 * All counters. `refused` counts refusals by error; `closed` connections the router ended, by
 * error. Both are exported as one metric each with the label `code`. `reasons` counts messages
 * with a refused kind; `caps` refusals and closed connections of owners over a cap.
 */
struct stats {
    STATS_TABLE(STATS_MEMBER)
    uint64_t refused[MCPX_ERR_COUNT];
    uint64_t closed[MCPX_ERR_COUNT];
    uint64_t reasons[STATS_REASONS];
    uint64_t caps[CAP_COUNT];
    struct mx_histogram delivery, match;
};
#undef STATS_MEMBER

/**
 * The edge has written all output that hub_next_ready offered. Only the statistics of delivery
 * times use `now`: no time passes in the hub.
 */
void hub_note_written(struct hub *hub, struct mcpx_now now);

#endif
