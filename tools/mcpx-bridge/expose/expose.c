/*
 * expose.c - the entry points of the server: lines, events and time, each passed to the part that
 * handles it. One struct holds all state; no function waits.
 */
#include "tools/mcpx-bridge/expose/rounds.h"

#include "lib/base/digits.h"

#include <stdlib.h>

/* ---- made and freed ---- */

/* Logs a new name: the user may have allowed the former one in the client. */
static void renamed(void *user, struct mcpx_slice former, struct mcpx_slice shown)
{
    expose_note_text(user, "the tool or prompt %s is called %s now", expose_quoted(former),
                     expose_quoted(shown));
}

struct expose *expose_new(const struct expose_config *config, const struct expose_view *view)
{
    struct expose *x = calloc(1, sizeof *x);

    x->config = *config;
    x->view = *view;
    x->checks =
        (struct bridge_checks){config->terms, view->user, view->now, view->chance, NULL};
    x->changed_ms = INT64_MAX;
    x->compared_ms = INT64_MIN / 2;
    x->catalog.lists =
        (struct mx_holders){config->key, EXPOSE_LISTS_CAP, EXPOSE_LISTS_TOTAL, .held = 0};
    x->reading.key = x->answered.key = config->key;
    x->reading.rate = (struct mx_rate){60 << 20, EXPOSE_LISTS_CAP}; /* a MiB per second */
    x->names.plain = config->plain;
    x->names.room = config->room != EXPOSE_ROOM_NO || config->discover;
    x->room.log.key = config->key;
    mcpx_text_puts(&x->room.log.start, config->nonce);
    x->room.to_come = config->room != EXPOSE_ROOM_NO;
    x->names.renamed = renamed;
    x->names.user = x;
    x->names.key = config->key;
    x->only = calloc(config->only_count + 1, sizeof *x->only);
    for (size_t i = 0; i < config->only_count; i++)
        x->only[i].pattern = mcpx_slice_of(config->only[i]);
    return x;
}

void expose_free(struct expose *x)
{
    if (!x)
        return;
    bridge_calls_fini(&x->held);
    bridge_calls_fini(&x->asks);
    bridge_calls_fini(&x->listens);
    bridge_calls_fini(&x->watches);
    bridge_calls_fini(&x->room.log.said);
    bridge_calls_fini(&x->room.log.gone);
    mcpx_text_fini(&x->room.log.start);
    mcpx_text_fini(&x->room.pushed);
    bridge_calls_fini(&x->calls);
    mcpx_calls_free(x->checks.calls);
    mcpx_tools_free(x->no_tools.tools);
    expose_catalog_fini(&x->catalog);
    expose_names_fini(&x->names);
    mcpx_text_fini(&x->client.capabilities);
    mcpx_text_fini(&x->client.info);
    free(x->only);
    bridge_output_fini(&x->output);
    mcpx_text_fini(&x->away);
    free(x);
}

/* ---- the client ---- */

/* Serves all waiting lines once the lists are settled, the first is due, or we are refused. */
static void release(struct expose *x)
{
    struct bridge_call *held = x->held.first;

    if (!held ||
        (!x->is_refused && !expose_is_settled(x, -1) && held->due_ms > x->now.mono_ms))
        return;
    for (; held; held = x->held.first) {
        expose_serve(x, mcpx_text_view(&held->payload), false);
        bridge_calls_drop(&x->held, held);
    }
}

void expose_line(struct expose *x, struct mcpx_slice line, struct mcpx_now now)
{
    x->now = now;
    if (line.len)
        expose_serve(x, line, true);
    release(x);
}

void expose_overlong(struct expose *x, struct mcpx_slice beginning)
{
    struct mcpx_slice id;
    bool is_answer;

    expose_note_text(x, "a line of the client is too long and was skipped: %s",
                     expose_quoted(beginning));
    bridge_read_beginning(beginning, &id, &is_answer);
    if (!is_answer)
        expose_tell_error(x, id, BRIDGE_BAD_REQUEST,
                          "a message longer than this bridge reads");
}

/* ---- the topic ---- */

/* The call of a progress notification; NULL unless both token and sender are the call's. */
static struct bridge_call *call_of_token(const struct expose *x,
                                         const struct mcpx_event *event)
{
    struct mcpx_slice raw = mcpx_json_get(event->rpc->params, "progressToken"), rest;
    struct bridge_call *call;
    int64_t number;

    if (raw.len < 2)
        return NULL;
    rest = (struct mcpx_slice){raw.text + 1, raw.len - 2};
    if (!bridge_is(mx_cut_at(&rest, '-'), x->config.nonce) || !bridge_number(rest, &number))
        return NULL;
    call = bridge_calls_find(&x->calls, number);
    return call && call->token.len && mcpx_slice_equal(call->who.id, event->envelope->from)
               ? call
               : NULL;
}

static void pass_progress(struct expose *x, const struct mcpx_event *event)
{
    struct bridge_call *call = call_of_token(x, event);
    struct mcpx_text params = {0};
    mx_scoped_text shown = {0};

    if (call && call->state.len) /* its request is over for the client */
        return;
    if (call && call->due_ms != INT64_MAX)
        bridge_calls_defer(&x->calls, call, x->now.mono_ms + x->config.request_ms);
    if (!call || !expose_may_tell(x))
        return;
    mcpx_json_add_changed(
        &params, expose_ids_show(x, event->envelope->from, event->rpc->params, 0, &shown),
        &(struct mcpx_json_change){"progressToken", call->token}, 1);
    expose_tell_notice(x, "notifications/progress", params);
}

/* True for log messages, and for notifications about a task or question from its owner. */
static bool is_passed(const struct expose *x, const struct mcpx_event *event)
{
    struct mcpx_slice method = event->rpc->method, params = event->rpc->params;
    struct mcpx_slice from = event->envelope->from;

    if (bridge_is(method, "notifications/message"))
        return expose_wants_log(x, from, mcpx_json_get(params, "level"));
    if (!x->client.initialized)
        return false;
    if (bridge_is(method, "notifications/tasks/status"))
        return expose_ids_owns(x, from, EXPOSE_TASK_ID, mcpx_json_get(params, "taskId"));
    return bridge_is(method, "notifications/elicitation/complete") &&
           expose_ids_owns(x, from, EXPOSE_ELICITATION_ID,
                           mcpx_json_get(params, "elicitationId"));
}

/* Passes a notification on; only its ids change. */
static void pass_same(struct expose *x, struct mcpx_slice participant,
                      const struct mcpx_rpc *rpc)
{
    struct mcpx_text out = {0};
    mx_scoped_text shown = {0};

    if (!expose_may_tell(x))
        return;
    bridge_add_message(&out, rpc->text, (struct mcpx_slice){0}, "params",
                       expose_ids_show(x, participant, rpc->params,
                                       EXPOSE_ID_OF_TASK | EXPOSE_ID_OF_ELICITATION, &shown));
    expose_tell(x, out);
}

/* Handles notifications of participants in the catalogue; all others are ignored. */
static void pass_notification(struct expose *x, const struct mcpx_event *event)
{
    struct mcpx_slice method = event->rpc->method, from = event->envelope->from;
    const struct expose_participant *participant = expose_catalog_find(&x->catalog, from);
    size_t list = 0;

    if (!participant)
        return;
    while (list < EXPOSE_LIST_COUNT && !bridge_is(method, expose_lists[list].changed))
        list++;
    if (list < EXPOSE_LIST_COUNT)
        expose_probe_changed(x, from, (enum expose_list)list);
    else if (bridge_is(method, "notifications/cancelled"))
        expose_ask_cancelled(x, from, event->rpc->params);
    else if (bridge_is(method, "notifications/progress"))
        pass_progress(x, event);
    else if (bridge_is_any(method, "notifications/resources/updated", "notifications/tasks"))
        expose_watch_updated(x, from, event->rpc);
    else if (participant->state == EXPOSE_PARTICIPANT_LISTED && is_passed(x, event))
        pass_same(x, from, event->rpc);
}

static void joined(struct expose *x, const struct mcpx_event *event)
{
    bool again = (!event->resumed || event->renamed) && x->catalog.count > 0;

    if (x->is_away)
        expose_note(x, "the bridge is connected to the topic again");
    x->is_away = x->is_refused = false;
    x->joined = x->was_joined = true;
    /* Lines that waited for the topic now wait for its servers. */
    for (struct bridge_call *held = x->held.first; held; held = held->next)
        if (held->due_ms > x->now.mono_ms + EXPOSE_HOLD_MS)
            held->due_ms = x->now.mono_ms + EXPOSE_HOLD_MS;
    expose_probe_all(x, again, true);
}

static void left(struct expose *x, const struct mcpx_event *event)
{
    struct mcpx_text message = {0};

    if (!x->is_away || event->retry_ms < 0) {
        mx_format(&message, "the bridge is not connected to the topic: %s", event->reason);
        if (event->code)
            mx_format(&message, " (%s)", event->code);
        mcpx_text_puts(&message, event->retry_ms >= 0 ? "; trying again" : "");
        expose_note_made(x, message);
    }
    mcpx_text_reset(&x->away);
    mcpx_text_slice(&x->away, event->reason);
    /* After 401 a new token may come soon. */
    x->is_refused =
        !x->was_joined && event->code >= 400 && event->code < 600 && event->code != 401;
    x->is_away = true;
    x->joined = false;
}

static void presence(struct expose *x, const struct mcpx_event *event)
{
    if (event->presence == MCPX_PRESENCE_LEAVE)
        expose_probe_left(x, event->participant);
    else
        expose_probe_came(x, event->participant);
}

static void violation(struct expose *x, const struct mcpx_event *event)
{
    bool known = event->envelope && event->envelope->from.text;

    expose_note_text(x, "ignored a message%s%s: %s", known ? " from " : "",
                     known ? expose_quoted(event->envelope->from) : MCPX_SLICE(""),
                     mcpx_violation_text(event->violation));
}

static void grants(struct expose *x, const struct mcpx_event *event)
{
    (void)event;
    expose_probe_all(x, false, false);
    expose_touch(x);
}

static void asked(struct expose *x, const struct mcpx_event *event)
{
    for (struct bridge_call *over; (over = expose_ask(x, event));) {
        expose_take_back(x, over, MCPX_SLICE("\"the client does not answer\""));
        expose_end(x, over);
    }
}

static void (*const on_events[MCPX_EVENT_COUNT])(struct expose *x,
                                                 const struct mcpx_event *event) = {
    [MCPX_EVENT_JOINED] = joined,      [MCPX_EVENT_LEFT] = left,
    [MCPX_EVENT_PRESENCE] = presence,  [MCPX_EVENT_GRANTS] = grants,
    [MCPX_EVENT_REQUEST] = asked,      [MCPX_EVENT_NOTIFICATION] = pass_notification,
    [MCPX_EVENT_VIOLATION] = violation};

static void (*const on_call_events[MCPX_EVENT_COUNT])(struct expose *x,
                                                      struct bridge_call *call,
                                                      const struct mcpx_event *event) = {
    [MCPX_EVENT_RESPONSE] = expose_answered,
    [MCPX_EVENT_REFUSED] = expose_undelivered,
    [MCPX_EVENT_EXPIRED] = expose_expired,
    [MCPX_EVENT_REJECTED] = expose_rejected,
    [MCPX_EVENT_FULFILLING] = expose_approved};

void expose_event(struct expose *x, const struct mcpx_event *event, struct mcpx_now now)
{
    struct bridge_call *call;

    x->now = now;
    expose_room_event(x, event); /* it may end calls */
    if (event->envelope)
        expose_task_begin(x, event->envelope);
    call = bridge_calls_of_tag(&x->calls, event->tag);
    if (on_events[event->type])
        on_events[event->type](x, event);
    else if (call && !call->payload.len && on_call_events[event->type])
        on_call_events[event->type](x, call, event);
    release(x);
}

/* ---- outputs ---- */

const struct bridge_action *expose_next(struct expose *x)
{
    return x->output.first ? &x->output.first->action : NULL;
}

void expose_done(struct expose *x, const struct bridge_outcome *outcome, struct mcpx_now now)
{
    struct bridge_row *row = bridge_output_take(&x->output);

    x->now = now;
    if (row->action.type == BRIDGE_SEND && row->action.draft.tag)
        expose_sent(x, &row->action.draft, outcome);
    else if (row->action.type == BRIDGE_RESPOND && outcome->err)
        expose_ask_unanswered(x, row, outcome->err);
    bridge_row_free(row);
    release(x);
}

struct mcpx_calls *expose_calls(const struct expose *x)
{
    return x->checks.calls;
}

/* ---- time, and the end ---- */

void expose_tick(struct expose *x, struct mcpx_now now)
{
    x->now = now;
    expose_calls_tick(x);
    expose_settle_tick(x);
    release(x);
}

int64_t expose_deadline(const struct expose *x)
{
    int64_t due = bridge_sooner(expose_calls_deadline(x), expose_settle_deadline(x));

    return x->held.first ? bridge_sooner(due, x->held.first->due_ms) : due;
}

/* Drops waiting lines. The client gets an error with the sentence; absent: no answer. */
static void drop_held(struct expose *x, struct mcpx_slice sentence)
{
    for (struct bridge_call *held; (held = x->held.first);) {
        if (!expose_terms_turn_away(x, mcpx_text_view(&held->payload), NULL, sentence.text) &&
            sentence.text)
            expose_tell_error_text(x, held->id, BRIDGE_UNAVAILABLE, "%s", sentence);
        bridge_calls_drop(&x->held, held);
    }
}

void expose_abandon(struct expose *x, struct mcpx_slice sentence)
{
    BRIDGE_EACH_CALL(call, &x->calls) {
        call->task = 0;      /* its end is kept for nobody */
        if (call->state.len) /* the client waits for no answer */
            expose_end(x, call);
        else if (call->purpose == EXPOSE_FOR_CLIENT)
            expose_fail(x, call, MCPX_CAUSE_UNAVAILABLE, sentence, NULL);
    }
    drop_held(x, sentence);
    expose_listens_close(x);
}

void expose_leave(struct expose *x, struct mcpx_now now)
{
    x->now = now;
    BRIDGE_EACH_CALL(call, &x->calls) {
        if (call->purpose == EXPOSE_FOR_CLIENT && !call->task)
            expose_take_back(x, call, (struct mcpx_slice){0});
        expose_end(x, call);
    }
    drop_held(x, (struct mcpx_slice){0});
    expose_listens_close(x);
}

bool expose_is_idle(const struct expose *x)
{
    for (const struct bridge_call *call = x->calls.first; call; call = call->next)
        if (call->purpose == EXPOSE_FOR_CLIENT && call->stage != EXPOSE_PROPOSED &&
            call->stage != EXPOSE_LOOKS && !call->state.len)
            return false;
    return !x->held.first;
}
