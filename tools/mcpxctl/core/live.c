/*
 * live.c - connects, waits and leaves. Events are fetched, not called back: a verb reads from top
 * to bottom. Signals only set a flag; a wait is cut into slices, so the flag is seen in time.
 */
#include "tools/mcpxctl/core/live.h"

#include "lib/edge/timer.h"
#include "tools/common/command.h"
#include "tools/common/visible.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum {
    SLICE_MS = 200,
    JOIN_MS = 15000,
    LEAVE_MS = 2000,
    PATIENCE_MS = 1000,
    REMIND_MS = 10000,
    ABSENCE_MS = 12000,
    ASK_MS = 5000
};

static volatile sig_atomic_t interrupted;

/*
 * The second signal is not caught: it ends the program at once. The next alarm interrupts a write
 * that began after the check of the flag, even without a reader.
 */
static void interrupt(int number)
{
    if (number != SIGALRM)
        signal(number, SIG_DFL);
    interrupted = 1;
    alarm(1);
}

bool live_is_interrupted(void)
{
    return interrupted != 0;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
}

int64_t live_now(void)
{
    return mx_clock_now().mono_ms;
}

int64_t live_deadline(int64_t timeout_ms)
{
    return timeout_ms > 0 ? live_now() + timeout_ms : INT64_MAX;
}

static void hide_waiting(struct live *live)
{
    if (live->waiting_shown)
        fputs("\r\x1b[K", stderr);
    live->waiting_shown = false;
}

static void show_waiting(struct live *live)
{
    int64_t waited = live_now() - live->waiting_since;

    if (!live->waiting_for || waited < PATIENCE_MS || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\x1b[Kwaiting for %s, %lld s", live->waiting_for,
            (long long)(waited / 1000));
    fflush(stderr);
    live->waiting_shown = true;
}

/* Complains of the end of the connection. Returns the exit code. */
static int complain_of_end(struct live *live, const struct mcpx_event *event)
{
    bool refused = !live->joined || event->code == 401 || event->code == 403;
    mx_scoped_text reason = {0};

    text_visible_short(&reason, event->reason, 300);
    if (refused)
        complain("cannot join %s at %s (from %s): %s", live->where.client.topic,
                 live->where.client.url, live->where.url_from,
                 reason.len > 0 ? reason.text : "no connection");
    else
        complain("the connection has ended: %s (%d)",
                 reason.len > 0 ? reason.text : "it broke", event->code);
    if (event->code == 404)
        return STATUS_ABSENT;
    return refused ? STATUS_UNREACHABLE : STATUS_FAILED;
}

static int64_t slice_until(int64_t deadline_ms)
{
    int64_t left = deadline_ms - live_now();

    return left < 0 ? 0 : left < SLICE_MS ? left : SLICE_MS;
}

static const char *reason_of(const struct live *live)
{
    return live->reason.len > 0 ? live->reason.text : "no reason is known";
}

/* The first failed attempt is reported at once. */
static void note_connection(struct live *live, const struct mcpx_event *event)
{
    if (event->type == MCPX_EVENT_JOINED)
        live->away_since = live->told_ms = 0;
    if (event->type != MCPX_EVENT_LEFT)
        return;
    mcpx_text_reset(&live->reason);
    text_visible_short(&live->reason, event->reason, 300);
    if (!live->away_since)
        live->away_since = live_now();
    if (live->told_ms)
        return;
    complain("not connected%s: %s (%s, from %s); trying again",
             live->joined ? " any more" : "", reason_of(live), live->where.client.url,
             live->where.url_from);
    live->told_ms = live_now();
}

/* Reports an absence that lasts. Returns false when it has lasted too long. */
static bool is_worth_waiting(struct live *live)
{
    int64_t now = live_now(), since = live->told_ms ? live->told_ms : live->away_since;

    if (live->away_since && live->wait_ms && now - live->away_since >= live->wait_ms) {
        complain("no connection to %s (from %s) within --wait: %s", live->where.client.url,
                 live->where.url_from, reason_of(live));
        return false;
    }
    if (live->away_since && now - since >= REMIND_MS) {
        complain("still not connected: %s; trying again", reason_of(live));
        live->told_ms = now;
    }
    return true;
}

/* Returns STATUS_ABSENT when asking again is useless. */
static int renew_token(struct live *live, const struct mcpx_event *event)
{
    char *token = NULL;
    int status;

    if (!connection_may_ask(&live->where, event))
        return STATUS_OK;
    status = connection_ask(&live->where, ASK_MS, &token);
    if (status == STATUS_OK || status == STATUS_ABSENT)
        mcpx_client_renew(live->client, token);
    if (status == STATUS_OK)
        connection_take(&live->where, token);
    return status;
}

/* Returns false at a final end. A token file is read here; a router is asked after the report. */
static bool goes_on(struct live *live, const struct mcpx_event *event)
{
    if (event->type != MCPX_EVENT_LEFT)
        return true;
    if (event->retry_ms < 0 || !(live->joined || live->patient))
        return false;
    return !live->where.token_file || renew_token(live, event) != STATUS_ABSENT;
}

int live_next(struct live *live, int64_t deadline_ms, struct mcpx_event *event)
{
    for (;;) {
        enum mcpx_err err = mcpx_client_wait(live->client, slice_until(deadline_ms), event);
        bool late = err != MCPX_OK && live_now() >= deadline_ms;

        if (interrupted || late || err != MCPX_ETIMEOUT)
            hide_waiting(live); /* the caller may report it */
        if (interrupted)
            return STATUS_INTERRUPTED;
        if (err == MCPX_ECLOSED)
            return STATUS_FAILED;
        if (err == MCPX_OK && !goes_on(live, event))
            return complain_of_end(live, event);
        if (err == MCPX_OK) {
            note_connection(live, event);
            if (!live->where.token_file)
                renew_token(live, event);
            return STATUS_OK;
        }
        if (late)
            return STATUS_TIMEOUT;
        if (!is_worth_waiting(live))
            return STATUS_UNREACHABLE;
        show_waiting(live);
    }
}

/* `status` is that of connection_read. */
static int join(struct live *out, int status, int history, int64_t deadline)
{
    struct mcpx_client_config config = out->where.client;
    struct mcpx_event event;

    catch_signals();
    config.routing = "all";
    config.history = history;
    config.session.observe = out->patient;
    config.session.instance = true;
    if (status == STATUS_OK)
        status = connection_start(&config, &out->client);
    out->waiting_for = "the router";
    out->waiting_since = live_now();
    while (status == STATUS_OK && !out->joined) {
        status = live_next(out, deadline, &event);
        out->joined = status == STATUS_OK && event.type == MCPX_EVENT_JOINED;
    }
    out->waiting_for = NULL;
    if (status == STATUS_TIMEOUT)
        complain("the router at %s (from %s) has not admitted this participant yet",
                 out->where.client.url, out->where.url_from);
    return status == STATUS_TIMEOUT ? STATUS_UNREACHABLE : status;
}

int live_join(const struct arguments *arguments, int64_t patience_ms, struct live *out)
{
    int64_t deadline = live_now() + (patience_ms > 0 ? patience_ms : JOIN_MS);

    *out = (struct live){.client = NULL};
    return join(out, connection_read(arguments, 0, patience_ms, &out->where), 0, deadline);
}

int live_join_to_watch(const struct arguments *arguments, int history, struct live *out)
{
    *out = (struct live){.patient = true,
                         .wait_ms = arguments_ms(arguments, "--wait", 0),
                         .away_since = live_now()};
    return join(out, connection_read(arguments, CONNECTION_PATIENT, out->wait_ms, &out->where),
                history, INT64_MAX);
}

void live_leave(struct live *live)
{
    int64_t deadline = live_now() + LEAVE_MS;
    struct mcpx_event event;
    enum mcpx_err err = MCPX_OK;

    hide_waiting(live);
    if (live->client)
        mcpx_client_close(live->client, LEAVE_MS / 2);
    while (live->client && !err)
        err = mcpx_client_wait(live->client, slice_until(deadline), &event);
    mcpx_client_free(live->client);
    connection_fini(&live->where);
    mcpx_text_fini(&live->sent);
    mcpx_text_fini(&live->reason);
    live->client = NULL;
    /* Nothing is half done now, so the program may end. */
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

/* True when another participant of that id is in the topic; else `nearest` has the nearest id. */
static bool live_has(const struct live *live, struct mcpx_slice id, struct nearest *nearest)
{
    struct mcpx_session *session = mcpx_client_session(live->client);
    struct mcpx_participant participant;
    char name[NEAREST_NAME + 2];

    nearest_begin(nearest, id.text, id.len);
    for (size_t i = 0; i < mcpx_session_participant_count(session); i++) {
        mcpx_session_participant(session, i, &participant);
        if (mcpx_slice_equal(participant.id, id))
            return true;
        snprintf(name, sizeof name, "%.*s", (int)participant.id.len, participant.id.text);
        nearest_consider(nearest, name);
    }
    return false;
}

int live_has_all(const struct live *live, const struct mcpx_slice *to, size_t count,
                 const char *consequence)
{
    struct mcpx_slice us = mcpx_session_id(mcpx_client_session(live->client));
    struct nearest nearest;
    int status = STATUS_OK;

    for (size_t i = 0; i < count; i++)
        if (!live_has(live, to[i], &nearest))
            status = fail_of(STATUS_ABSENT, to[i], " is %s in the topic %s%s; %s",
                             mcpx_slice_equal(to[i], us) ? "only this program" : "not",
                             live->where.client.topic, nearest.hint, consequence);
    return status;
}

bool live_awaits(const struct live *live, struct mcpx_slice who,
                 const struct mcpx_event *event, int64_t *missing_until)
{
    bool about =
        event->type == MCPX_EVENT_PRESENCE && mcpx_slice_equal(event->participant, who);
    struct nearest nearest;

    if (about && event->presence == MCPX_PRESENCE_LEAVE)
        return false;
    if (about)
        *missing_until = INT64_MAX;
    if (event->type == MCPX_EVENT_JOINED)
        *missing_until = live_has(live, who, &nearest) ? INT64_MAX : live_now() + ABSENCE_MS;
    return true;
}
