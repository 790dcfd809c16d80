/*
 * live.h - taking part in a topic for the length of one verb.
 */
#ifndef MCPXCTL_LIVE_H
#define MCPXCTL_LIVE_H

#include "tools/common/connect.h"

#include <mcpx/client.h>
#include <mcpx/text.h>

/**
 * How to take part.
 *
 * history    envelopes of history wanted
 * overhear   also hear what is for others
 * instances  sit beside other windows of the same participant
 * patient    a router that is not there yet is waited for
 */
struct live_wishes {
    int history;
    bool overhear;
    bool patient;
    bool instances;
};

/**
 * A participant at work.
 *
 * sent            id of the envelope sent last
 * waiting_for     who or what is waited for, for the line on a terminal; NULL = no such line
 * away            there is no connection; it is being made again
 * patient         also the first one
 * waiting_since   private, as is line_shown
 */
struct live {
    const char *verb;
    struct connection where;
    struct mcpx_client *client;
    struct mcpx_text sent;
    bool joined;
    bool away;
    bool patient;
    const char *waiting_for;
    int64_t waiting_since;
    bool line_shown;
};

/** True once SIGINT or SIGTERM came since live_join. */
bool live_is_interrupted(void);

/** Monotonic milliseconds, for deadlines. */
int64_t live_now(void);

/** When the milliseconds of a --timeout are over, as live_now counts. 0 = never: INT64_MAX. */
int64_t live_deadline(int64_t timeout_ms);

/**
 * Connects and waits for the welcome. A first connection that fails is not tried again, unless the
 * wishes are patient; one that breaks later is made again, for as long as the verb waits, with another token
 * from a router that was asked for the first one (--as).
 *
 * out   live_leave in every case
 *
 * Returns STATUS_OK or an exit code, having complained.
 */
int live_join(const struct arguments *arguments, const struct live_wishes *wishes,
              struct live *out);

/**
 * Waits for the next event. While it waits for more than a second, a terminal's standard error
 * shows a line that counts the seconds.
 *
 * deadline_ms   as live_now counts; INT64_MAX = none
 *
 * Returns STATUS_OK with `event` filled; STATUS_TIMEOUT, without complaint; STATUS_INTERRUPTED by
 * SIGINT or SIGTERM; another exit code when the connection has ended for good, having complained.
 * LEFT is told only when it is not the end; the first after a JOINED has been complained about.
 */
int live_next(struct live *live, int64_t deadline_ms, struct mcpx_event *event);

/**
 * Lets an event tell whether somebody we wait for can still answer. Who leaves while we are there
 * has left; who is missing when we are back may be on the way back too, and has 12 s.
 *
 * missing_until   INT64_MAX while they are there; else when to give them up, as live_now counts
 *
 * Returns false when they have left.
 */
bool live_awaits(const struct live *live, struct mcpx_slice who,
                 const struct mcpx_event *event, int64_t *missing_until);

/** Complains that somebody is gone. Returns STATUS_FAILED. */
int live_complain_of_leave(const struct live *live, struct mcpx_slice who);

/** Sends. Fills `sent`. Returns STATUS_OK or an exit code, having complained. */
int live_send(struct live *live, const struct mcpx_draft *draft);

/** Waits until what was sent last has its place in the topic, or is refused. */
int live_settle(struct live *live);

/**
 * Waits for the response to the request sent last, telling progress on standard error; the
 * responder is told to stop when we do. What a server asks back is declined. Ends when the first
 * addressee leaves the topic.
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

/** Complains about what the router refused. Returns the exit code. */
int live_refused(struct live *live, const struct mcpx_event *event);

/** Answers a request to us that is no broadcast: there is nobody here who could do it. */
void live_decline(struct live *live, const struct mcpx_event *event);

/** True when another participant of that id is in the topic. */
bool live_has(const struct live *live, struct mcpx_slice id);

/**
 * Complains of each addressee who is not there, with what follows from it behind a "; ". Returns
 * true when live_has all.
 */
bool live_has_all(const struct live *live, const struct mcpx_slice *to, size_t count,
                  const char *consequence);

/** Says goodbye, writing what is queued, and frees everything. */
void live_leave(struct live *live);

#endif
