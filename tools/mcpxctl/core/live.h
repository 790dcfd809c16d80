/*
 * live.h - taking part in a topic for the length of one verb.
 */
#ifndef MCPXCTL_LIVE_H
#define MCPXCTL_LIVE_H

#include "lib/base/bucket.h"
#include "tools/common/connect.h"

#include <mcpx/client.h>
#include <mcpx/text.h>

/**
 * A participant at work.
 *
 * The rest is private.
 */
struct live {
    struct connection where;
    struct mcpx_client *client;
    struct mcpx_text sent; /* id of the envelope sent last */
    bool joined;
    bool patient;              /* it looks on, and waits for the first connection too */
    struct mx_bucket declined; /* what live_decline has sent */
    /* How long it is without a connection, at the beginning or later, before it gives up; 0 =
     * for ever. */
    int64_t wait_ms;
    const char *waiting_for; /* what we wait for, shown on a terminal; NULL = not shown */
    int64_t waiting_since;
    bool line_shown;
    int64_t away_since, told_ms;
    struct mcpx_text reason;
};

/** True once SIGINT or SIGTERM came since live_join. */
bool live_is_interrupted(void);

/** Monotonic milliseconds, for deadlines. */
int64_t live_now(void);

/**
 * The deadline of a --timeout in milliseconds, on the clock of live_now. 0 = never: INT64_MAX.
 */
int64_t live_deadline(int64_t timeout_ms);

/**
 * Connects, beside other connections of the same participant, and waits for the welcome. When the
 * first attempt fails, there is no other. When a connection breaks later, a new one is made, as
 * long as the verb waits. When the token has expired or is refused, another one is taken from
 * where it came from: with --as from the router, or from the token file.
 *
 * patience_ms   how long that may take, for the token and for the welcome; 0 = 15 s for the latter
 * out           live_leave in every case
 *
 * Returns STATUS_OK or an exit code, having complained.
 */
int live_join(const struct arguments *arguments, int64_t patience_ms, struct live *out);

/**
 * The same for a verb that looks on: it receives messages for others too, begins with so many
 * envelopes of history, and waits for a router that is not there yet, as long as --wait says.
 */
int live_join_to_watch(const struct arguments *arguments, int history, struct live *out);

/**
 * Waits for the next event. While it waits for more than a second, a terminal's standard error
 * shows a line that counts the seconds.
 *
 * deadline_ms   as live_now counts; INT64_MAX = none
 *
 * Returns STATUS_OK with `event` filled; STATUS_TIMEOUT, without complaint; STATUS_INTERRUPTED
 * by SIGINT or SIGTERM; another exit code when the connection has ended for good, having
 * complained. LEFT is told only when it is not final; the first one after a JOINED was reported
 * already, and that there is still no connection is reported every ten seconds. STATUS_UNREACHABLE,
 * having complained, when that lasted for `wait_ms`.
 */
int live_next(struct live *live, int64_t deadline_ms, struct mcpx_event *event);

/**
 * Finds out from an event whether a participant that we wait for can still answer. A
 * participant that leaves while we are connected has left. One that is missing after we
 * connected again may be reconnecting too, and has 12 s for that.
 *
 * missing_until   INT64_MAX while it is there; else when to stop waiting, on the clock of
 *                 live_now
 *
 * Returns false when it has left.
 */
bool live_awaits(const struct live *live, struct mcpx_slice who,
                 const struct mcpx_event *event, int64_t *missing_until);

/** Sends. Fills `sent`. Returns STATUS_OK or an exit code, having complained. */
int live_send(struct live *live, const struct mcpx_draft *draft);

/**
 * Waits until the envelope sent last has its place in the topic, or is refused.
 *
 * timeout_ms   0 = for ever
 *
 * Returns STATUS_OK or an exit code, having complained.
 */
int live_settle(struct live *live, int64_t timeout_ms);

/**
 * Waits for the response to the request sent last, and shows progress on standard error. When
 * we stop waiting, the responder is told. Requests of a server to us are declined. Ends when
 * the first addressee leaves the topic.
 *
 * timeout_ms   0 = for ever
 * response     filled with the payload
 *
 * Returns STATUS_OK or an exit code, having complained.
 */
int live_response(struct live *live, const struct mcpx_draft *request, int64_t timeout_ms,
                  struct mcpx_text *response);

/**
 * Joins, sends a request to participants who are there, waits for the response as live_response
 * does, for as long as --timeout says or a minute, and leaves.
 *
 * waiting_for   as in struct live
 *
 * Returns STATUS_OK or an exit code, having complained.
 */
int live_call(const struct arguments *arguments, const struct mcpx_draft *request,
              const char *waiting_for, struct mcpx_text *response);

/** Reports a refusal of the router. Returns the exit code. */
int live_refused(const struct mcpx_event *event);

/** Answers a request that is addressed to us: we execute nothing. Ten a second are answered. */
void live_decline(struct live *live, const struct mcpx_event *event);

/**
 * Reports each addressee that is not there, and the consequence after a "; ". Returns STATUS_OK;
 * STATUS_ABSENT when one is not.
 */
int live_has_all(const struct live *live, const struct mcpx_slice *to, size_t count,
                 const char *consequence);

/** Writes what is queued, leaves the topic, and frees everything. */
void live_leave(struct live *live);

#endif
