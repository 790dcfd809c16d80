/*
 * ws_client_turn.c - the order of work: input goes into the session, its events to the application,
 * and once per loop iteration the session's output is written. So a hundred requests in one read
 * are answered in one write. The wire's events only note what happened; making and breaking
 * connections is done by the timer, outside of them.
 *
 * An event points into its message, and the session keeps one message. While an application holds
 * an event, the next message waits in a text. Rejected: copies of whole events; they hold an
 * envelope with 256 addressees.
 */
#include "lib/client/ws_client_state.h"

#include "lib/base/rows.h"
#include "lib/base/scoped.h"

#include <stdio.h>

bool mx_inbox_put(struct mx_inbox *inbox, struct mx_input input)
{
    struct mcpx_text *queue = &inbox->queue;

    if (!mcpx_text_reserve(queue, sizeof input + input.text.len)) {
        queue->failed = false; /* what waits is whole */
        return false;
    }
    mcpx_text_add(queue, (const char *)&input, sizeof input);
    mcpx_text_slice(queue, input.text);
    return true;
}

bool mx_inbox_take(struct mx_inbox *inbox, struct mx_input *out)
{
    mx_forget(&inbox->queue, &inbox->taken);
    if (!mx_inbox_bytes(inbox)) {
        mcpx_text_fini(&inbox->queue);
        return false;
    }
    memcpy(out, inbox->queue.text + inbox->taken, sizeof *out);
    out->text.text = inbox->queue.text + inbox->taken + sizeof *out;
    inbox->taken += sizeof *out + out->text.len;
    return true;
}

/* Silence is what the client itself has not heard, and it asks. */
void mx_keepalive_start(struct mx_keepalive *keepalive, int64_t mono_ms)
{
    *keepalive = (struct mx_keepalive){mono_ms, mono_ms + MX_KEEPALIVE_MS, 0};
}

void mx_keepalive_received(struct mx_keepalive *keepalive, int64_t mono_ms)
{
    keepalive->heard_ms = mono_ms;
    if (keepalive->missed) {
        keepalive->missed = 0;
        keepalive->due_ms = mono_ms + MX_KEEPALIVE_MS;
    }
}

enum mx_keepalive_advice mx_keepalive_check(struct mx_keepalive *keepalive, int64_t mono_ms)
{
    if (mono_ms < keepalive->due_ms)
        return MX_KEEPALIVE_WAIT;
    /* While something comes all the time the deadline is moved here, once per pause. */
    if (!keepalive->missed && keepalive->heard_ms + MX_KEEPALIVE_MS > mono_ms) {
        keepalive->due_ms = keepalive->heard_ms + MX_KEEPALIVE_MS;
        return MX_KEEPALIVE_WAIT;
    }
    keepalive->due_ms = mono_ms + MX_KEEPALIVE_MS;
    return ++keepalive->missed < MX_KEEPALIVE_MAX ? MX_KEEPALIVE_PING : MX_KEEPALIVE_DEAD;
}

enum {
    CONNECT_MS = 20000,
    WRITES_PER_TURN = 256,
    BYTES_PER_TURN = 1 << 20,
    INBOX_MAX = 1 << 20,
    ANSWERS_MIN = 1000
};

static void wake(struct mcpx_client *client)
{
    mx_timer_set(client->timer, 0);
}

static bool has_unsent(const struct mcpx_client *client)
{
    return mcpx_session_unsent_count(client->session) > 0;
}

static bool is_late(const struct mcpx_client *client, int64_t mono_ms)
{
    return client->closing && mono_ms >= client->close_ms;
}

/* The reason of the last LEFT: whether everything has arrived. */
static struct mcpx_slice close_reason(struct mcpx_client *client)
{
    size_t count = mcpx_session_unsent_count(client->session);

    if (count == 0)
        return MCPX_SLICE("closed");
    snprintf(client->close_reason, sizeof client->close_reason,
             "closed; %zu message%s may not have arrived", count, count == 1 ? "" : "s");
    return mcpx_slice_of(client->close_reason);
}

static bool is_last(const struct mcpx_client *client)
{
    return client->once || (client->closing &&
                            (!has_unsent(client) || is_late(client, mx_clock_now().mono_ms)));
}

static bool next_event(struct mcpx_client *client, struct mcpx_event *event)
{
    if (!mcpx_session_event(client->session, event)) {
        if (!client->left_is_due)
            return false;
        *event = (struct mcpx_event){.type = MCPX_EVENT_LEFT,
                                     .code = mcpx_error_close(MCPX_ECLOSED),
                                     .reason = close_reason(client)};
        client->left_is_due = false;
    }
    client->joined |= event->type == MCPX_EVENT_JOINED;
    if (event->type == MCPX_EVENT_JOINED && client->wire)
        mx_wire_allow(client->wire, mcpx_session_message_max(client->session));
    if (event->type == MCPX_EVENT_LEFT && !client->over) {
        if (is_last(client))
            event->retry_ms = -1;
        client->over = event->retry_ms < 0;
        if (client->over)
            mcpx_session_end(client->session);
    }
    return true;
}

/* A refused certificate is like a refused token: its file may have another one by now. The session
 * judges the end but does not know files, so it is told before. */
static void end(struct mcpx_client *client, int code, struct mcpx_slice reason)
{
    bool is_refused = client->by_certificate && mcpx_error_again(code) == MCPX_AGAIN_TOKEN;
    mx_scoped_text told = {0};
    bool is_renewed = false;

    mcpx_text_slice(&told, reason);
    if (is_refused) {
        mcpx_text_puts(&told, "; ");
        is_renewed = mx_wire_shows_other(client->wire, &told);
        mcpx_session_renews_token(client->session, is_renewed);
    }
    mcpx_session_disconnected(client->session, code,
                              told.failed ? reason : mcpx_text_view(&told), mx_clock_now());
    if (is_renewed)
        mcpx_session_renews_token(client->session, true); /* the next attempt is due at once */
}

static void feed(struct mcpx_client *client, struct mx_input input)
{
    struct mcpx_now now = mx_clock_now();

    if (client->over)
        return;
    switch (input.type) {
    case MX_INPUT_OPENED:
        client->state = MX_CLIENT_OPEN;
        mx_keepalive_start(&client->keepalive, now.mono_ms);
        mcpx_session_connected(client->session, now);
        break;
    case MX_INPUT_TEXT:
        if (mcpx_session_receive(client->session, input.text, now))
            client->lost = true;
        break;
    case MX_INPUT_ENDED:
        client->state = MX_CLIENT_IDLE;
        client->lost = false;
        end(client, input.code, input.text);
        break;
    default: /* no others are kept */
        break;
    }
}

/* Hands on what there is, until the application has an event to fetch. */
static void digest(struct mcpx_client *client)
{
    struct mcpx_event event;
    struct mx_input input;

    while (!client->is_held) {
        if (next_event(client, &event)) {
            if (client->on_event)
                client->on_event(client->user, client, &event);
            client->held = event;
            client->is_held = !client->on_event;
        } else if (mx_inbox_take(&client->inbox, &input)) {
            feed(client, input);
        } else {
            break;
        }
    }
}

static void pause_or_go_on(struct mcpx_client *client)
{
    bool full = mx_inbox_bytes(&client->inbox) > INBOX_MAX;

    if (full != client->paused)
        mx_wire_pause(client->wire, full);
    client->paused = full;
}

static void take(struct mcpx_client *client, struct mx_input input)
{
    if (client->is_held || mx_inbox_bytes(&client->inbox))
        client->lost = !mx_inbox_put(&client->inbox, input) || client->lost;
    else
        feed(client, input);
    digest(client);
    wake(client);
}

static void take_text(struct mcpx_client *client, struct mx_input input)
{
    if (client->lost)
        return; /* behind a hole: it comes again after the id seen last */
    take(client, input);
    pause_or_go_on(client);
}

static void take_end(struct mcpx_client *client, int code, struct mcpx_slice reason)
{
    client->paused = false;
    /* After a welcome, a gateway's page means that the router is away. */
    if (code < 0)
        code = client->joined ? mcpx_error_close(MCPX_ERESTART) : -code;
    take(client, (struct mx_input){MX_INPUT_ENDED, code, reason});
}

void mx_client_take(void *user, struct mx_input input)
{
    struct mcpx_client *client = user;

    if (input.type == MX_INPUT_TEXT || input.type == MX_INPUT_ALIVE)
        mx_keepalive_received(&client->keepalive, mx_clock_now().mono_ms);
    if (input.type == MX_INPUT_OPENED)
        take(client, input);
    else if (input.type == MX_INPUT_TEXT)
        take_text(client, input);
    else if (input.type == MX_INPUT_WRITABLE)
        wake(client);
    else if (input.type == MX_INPUT_ENDED)
        take_end(client, input.code, input.text);
}

/* An answer sent while we were not connected may only be in the history. */
static int history_wanted(const struct mcpx_client *client)
{
    bool waits = client->joined && mcpx_session_pending_count(client->session) > 0;

    if (!waits || client->history < 0)
        return client->history;
    return client->history > ANSWERS_MIN ? client->history : ANSWERS_MIN;
}

static void connect_now(struct mcpx_client *client, int64_t mono_ms)
{
    struct mx_join join = {.topic = mcpx_text_view(&client->topic),
                           .routing = client->routing,
                           .history = history_wanted(client),
                           .instance = mcpx_session_instance(client->session),
                           .instance_key = mcpx_session_instance_key(client->session)};

    mcpx_session_place(client->session, &join.place); /* none: it joins anew */
    client->state = MX_CLIENT_CONNECTING;
    client->tried = true;
    client->connect_due_ms = mono_ms + CONNECT_MS;
    mcpx_text_reset(&client->target);
    mx_url_add_target(&client->target, &client->address, &join);
    if (client->target.failed)
        take_end(client, 0, MCPX_SLICE("out of memory"));
    else
        mx_wire_connect(client->wire, &client->target);
}

static void break_off(struct mcpx_client *client, int code, struct mcpx_slice reason)
{
    mx_wire_drop(client->wire);
    client->lost = false;
    take_end(client, code, reason);
}

/* Writes what there is to write now: a session may hold back more. */
static void flush(struct mcpx_client *client)
{
    size_t count = 0, bytes = 0;
    struct mcpx_slice text;
    bool more = false;

    while (mcpx_session_output(client->session, &text)) {
        more = count++ == WRITES_PER_TURN || bytes > BYTES_PER_TURN;
        if (more || !mx_wire_write(client->wire, text))
            break;
        bytes += text.len;
        mcpx_session_written(client->session);
    }
    mx_wire_flush(client->wire, more);
}

static void check_keepalive(struct mcpx_client *client, int64_t mono_ms)
{
    switch (mx_keepalive_check(&client->keepalive, mono_ms)) {
    case MX_KEEPALIVE_WAIT:
        break;
    case MX_KEEPALIVE_PING:
        mx_wire_ping(client->wire);
        break;
    case MX_KEEPALIVE_DEAD:
        break_off(client, 0, MCPX_SLICE("the router has been silent for 75 seconds"));
        break;
    }
}

static void step_open(struct mcpx_client *client, int64_t mono_ms)
{
    bool done;

    flush(client);
    done = client->closing && !has_unsent(client);
    if (done && mcpx_session_is_joined(client->session))
        mx_wire_finish(client->wire);
    else
        check_keepalive(client, mono_ms);
}

static void step(struct mcpx_client *client, int64_t mono_ms)
{
    int64_t at = mcpx_session_connect_at(client->session);
    bool late = is_late(client, mono_ms);

    switch (client->state) {
    case MX_CLIENT_IDLE:
        client->left_is_due =
            late || (client->closing && client->tried && !has_unsent(client));
        if (!client->left_is_due && at >= 0 && at <= mono_ms)
            connect_now(client, mono_ms);
        break;
    case MX_CLIENT_CONNECTING:
        if (late || client->lost)
            break_off(client, 0, late ? close_reason(client) : MCPX_SLICE("out of memory"));
        else if (mono_ms >= client->connect_due_ms)
            break_off(client, 0, MCPX_SLICE("the router did not answer within 20 seconds"));
        break;
    case MX_CLIENT_OPEN:
        if (late)
            break_off(client, mcpx_error_close(MCPX_ECLOSED), close_reason(client));
        else if (client->lost)
            break_off(client, 0, MCPX_SLICE("out of memory"));
        else
            step_open(client, mono_ms);
        break;
    }
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void set_timer(struct mcpx_client *client)
{
    int64_t now = mx_clock_now().mono_ms, due = mcpx_session_deadline(client->session);
    int64_t at = mcpx_session_connect_at(client->session);

    if (client->state == MX_CLIENT_IDLE && at >= 0)
        due = earlier(due, at);
    if (client->state == MX_CLIENT_CONNECTING)
        due = earlier(due, client->connect_due_ms);
    if (client->state == MX_CLIENT_OPEN)
        due = earlier(due, client->keepalive.due_ms);
    if (client->closing)
        due = earlier(due, client->close_ms);
    if (due == INT64_MAX)
        mx_timer_stop(client->timer);
    else
        mx_timer_set(client->timer, due - now);
}

void mx_client_turn(void *user)
{
    struct mcpx_client *client = user;
    struct mcpx_now now = mx_clock_now();

    digest(client);
    if (!client->is_held && !client->over) {
        mcpx_session_tick(client->session, now);
        digest(client);
    }
    if (!client->is_held && !client->over) {
        step(client, now.mono_ms);
        digest(client);
    }
    if (client->over) { /* nothing of it keeps a loop running any more */
        mx_timer_stop(client->timer);
        mx_wire_free(client->wire);
        client->wire = NULL;
    } else if (!client->is_held) {
        set_timer(client);
    }
    if (client->wire)
        pause_or_go_on(client);
}
