/* live.h - takes part in a topic while a verb runs. */
#ifndef MCPXCTL_LIVE_H
#define MCPXCTL_LIVE_H

#include "lib/base/bucket.h"
#include "tools/common/connect.h"

#include <mcpx/client.h>
#include <mcpx/text.h>

/** A participant at work. */
struct live {
    struct connection where;
    struct mcpx_client *client;
    struct mcpx_text sent;   /* id of the envelope sent last */
    const char *waiting_for; /* shown on a terminal during a wait; NULL = not shown */
    int64_t waiting_since;
    /* Private. */
    bool joined;
    bool patient;              /* it watches, and waits for the first connection too */
    struct mx_bucket declined; /* rate limit of live_decline */
    int64_t wait_ms;           /* limit of the time without a connection; 0 = none */
    bool waiting_shown;
    int64_t away_since, told_ms;
    struct mcpx_text reason;
};

/** True once SIGINT or SIGTERM came since live_join. */
bool live_is_interrupted(void);

/** Monotonic milliseconds, for deadlines. */
int64_t live_now(void);

/** The deadline of a --timeout in milliseconds, on the clock of live_now. 0 = never: INT64_MAX. */
int64_t live_deadline(int64_t timeout_ms);

/**
 * Connects, beside other connections of the same participant, and waits for the welcome. The first
 * attempt is not repeated. A later break leads to a new connection while the verb waits. An expired
 * or refused token is replaced from its source: the router (with --as) or the token file.
 *
 * patience_ms   limit for the token, and for the welcome; 0 = 15 s for the latter
 * out           live_leave in every case
 *
 * Returns STATUS_OK or an exit code, having complained.
 */
int live_join(const struct arguments *arguments, int64_t patience_ms, struct live *out);

/**
 * The same for a verb that watches. It receives messages for others too, begins with `history` old
 * envelopes, and waits up to --wait for a router that is not there yet.
 */
int live_join_to_watch(const struct arguments *arguments, int history, struct live *out);

/**
 * Waits for the next event. After a second, a line counts the seconds on standard error, if it is a
 * terminal.
 *
 * deadline_ms   on the clock of live_now; INT64_MAX = none
 *
 * Returns STATUS_OK with `event` filled; STATUS_TIMEOUT, without complaint; STATUS_INTERRUPTED
 * by SIGINT or SIGTERM; another exit code when the connection has ended for good, having
 * complained. LEFT is returned only when it is not final. The first LEFT after a JOINED was printed
 * already; a missing connection is printed every ten seconds. STATUS_UNREACHABLE, having
 * complained, after `wait_ms` without a connection.
 */
int live_next(struct live *live, int64_t deadline_ms, struct mcpx_event *event);

/**
 * Decides from an event if an awaited participant can still answer. A participant that leaves while
 * we are connected has left. A participant missing after our reconnection may be reconnecting too,
 * and has 12 s for that.
 *
 * missing_until   INT64_MAX while it is there; else the end of the wait, on the clock of live_now
 *
 * Returns false when it has left.
 */
bool live_awaits(const struct live *live, struct mcpx_slice who,
                 const struct mcpx_event *event, int64_t *missing_until);

/** True when an event is about the envelope sent last. */
bool live_is_ours(const struct live *live, const struct mcpx_event *event);

/** Sends, and fills `sent`. Returns STATUS_OK or an exit code, having complained. */
int live_send(struct live *live, const struct mcpx_draft *draft);

/**
 * Waits until the envelope sent last is delivered or refused; 0 = for ever. Returns STATUS_OK or an
 * exit code, having complained.
 */
int live_settle(struct live *live, int64_t timeout_ms);

/**
 * Waits for the response to the request sent last, and shows progress on standard error. After a
 * timeout or an interrupt, tells the responder. Declines requests of a server to us. Ends when the
 * first addressee leaves the topic.
 *
 * timeout_ms   0 = for ever
 * response     filled with the payload
 *
 * Returns STATUS_OK or an exit code, having complained.
 */
int live_response(struct live *live, const struct mcpx_draft *request, int64_t timeout_ms,
                  struct mcpx_text *response);

/**
 * Joins, sends a request to participants in the topic, waits for the response for --timeout or a
 * minute, and leaves. Returns as live_response.
 */
int live_call(const struct arguments *arguments, const struct mcpx_draft *request,
              const char *waiting_for, struct mcpx_text *response);

/** Reports a refusal of the router. Returns the exit code. */
int live_refused(const struct mcpx_event *event);

/** Answers a request to us with an error: we execute nothing. Answers ten requests a second. */
void live_decline(struct live *live, const struct mcpx_event *event);

/**
 * Reports each absent addressee, and the consequence after a "; ". Returns STATUS_OK; STATUS_ABSENT
 * when one is absent.
 */
int live_has_all(const struct live *live, const struct mcpx_slice *to, size_t count,
                 const char *consequence);

/** Writes what is queued, leaves the topic, and frees everything. */
void live_leave(struct live *live);

#endif
