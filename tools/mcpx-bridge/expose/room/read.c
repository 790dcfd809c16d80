/*
 * read.c - the tools of the room that read what was said. A client keeps its place as an opaque
 * text, `after`: the id of the last envelope it read. So no message is missed or repeated,
 * whichever program is restarted.
 *
 * Rejected: pushing messages to the client. Few clients show notifications to a model, and none
 * says which of them it read.
 */
#include "tools/mcpx-bridge/expose/state.h"

/* FILL_MS: pause after which no more history is expected at a join. */
enum { FILL_MS = 100, REST_MS = 1000, LIMIT = 50, WAITS_MAX = 16 };
enum { WAIT_S = 60, WAIT_MAX_S = 600, WAIT_HTTP_S = 30 };

static struct mcpx_slice self(const struct expose *x)
{
    return x->view.self(x->view.user);
}

/* ---- reading ---- */

/* The place in front of everything that this bridge keeps: an id that no envelope has. */
static struct mcpx_text beginning(const struct expose *x)
{
    return mx_formatted("start-%s", x->config.nonce);
}

/*
 * Answers with messages behind a place; absent: all. False, and not answered: there is nothing to
 * tell, and not `always`.
 */
static bool answer_page(struct expose *x, const struct expose_request *request,
                        struct room_query query, struct mcpx_slice after, bool always)
{
    const struct room_log *log = &x->room.log;
    const struct room_said *said = room_log_find(log, after);
    mx_scoped_text start = beginning(x);
    struct mcpx_text out = mx_formatted("%s", "{\"messages\":[");
    struct room_page page;
    bool missed;

    query.after = said ? said->place : 0;
    missed = after.text && (log->lost > query.after ||
                            !(said || mcpx_slice_equal(after, mcpx_text_view(&start))));
    page = room_log_write(log, &query, ",", &out);
    if (!page.count && !missed && !always) {
        mcpx_text_fini(&out);
        return false;
    }
    if (!page.last.text)
        page.last = after.text ? after : log->last ? log->last->id : mcpx_text_view(&start);
    mx_format(&out, "],\"after\":%q,\"missed\":%s,\"left_out\":%s}", page.last, missed,
              page.left_out);
    room_answer(x, request, out, true);
    return true;
}

/* A whole number up to `most`, `usual` when it is absent; -1 and refused when it is none. */
static int64_t read_number(struct expose *x, const struct expose_request *request,
                           struct mcpx_slice value, int64_t usual, int64_t most)
{
    if (!value.text || (mcpx_json_type(value) == MCPX_JSON_NUMBER &&
                        bridge_number(value, &usual) && usual <= most))
        return usual;
    room_refuse(x, request, "limit and seconds must be whole numbers, here %s at most", most);
    return -1;
}

void room_history(struct expose *x, const struct expose_request *request,
                  struct mcpx_slice arguments)
{
    mx_scoped_text own = {0};
    struct mcpx_slice after = room_argument(arguments, "after", &own);
    int64_t limit =
        read_number(x, request, mcpx_json_get(arguments, "limit"), LIMIT, ROOM_SAID_MAX);

    if (limit >= 0)
        answer_page(x, request,
                    (struct room_query){.limit = (size_t)limit, .newest = !after.text}, after,
                    true);
}

void room_proposals(struct expose *x, const struct expose_request *request,
                    struct mcpx_slice arguments)
{
    (void)arguments;
    answer_page(
        x, request,
        (struct room_query){.limit = ROOM_SAID_MAX, .newest = true, .open_ms = x->now.wall_ms},
        (struct mcpx_slice){0}, true);
}

void room_who(struct expose *x, const struct expose_request *request,
              struct mcpx_slice arguments)
{
    struct mcpx_text out = mx_formatted("{\"me\":%q,\"participants\":[", self(x));
    size_t left_out = 0;
    struct mcpx_slice id;

    (void)arguments;
    for (size_t i = 0; x->view.roster(x->view.user, i, &id); i++) {
        const struct expose_participant *one = expose_catalog_find(&x->catalog, id);

        left_out += out.len > ROOM_RESULT_MAX / 4;
        if (!left_out)
            mx_format(&out, "%s{\"id\":%q,\"server\":%s}", i ? "," : "", id,
                      (bool)(one && one->hello.len));
    }
    mx_format(&out, "],\"left_out\":%s}", left_out);
    room_answer(x, request, out, false);
}

/* ---- waiting ---- */

static struct room_query for_us(const struct expose *x)
{
    return (struct room_query){.limit = ROOM_SAID_MAX, .reader = self(x)};
}

void room_wait_for(struct expose *x, const struct expose_request *request,
                   struct mcpx_slice arguments)
{
    int64_t most = x->config.answers_only ? WAIT_HTTP_S : WAIT_MAX_S;
    mx_scoped_text own = {0}, start = beginning(x);
    struct mcpx_slice after = room_argument(arguments, "after", &own);
    int64_t seconds =
        read_number(x, request, mcpx_json_get(arguments, "seconds"), WAIT_S, WAIT_MAX_S);
    struct bridge_call *call;
    size_t count = 0;

    if (!after.text)
        after = x->room.log.last ? x->room.log.last->id : mcpx_text_view(&start);
    if (seconds < 0 || answer_page(x, request, for_us(x), after, seconds == 0))
        return;
    for (call = x->room.calls.first; call; call = call->next)
        count += call->context.text != NULL;
    if (count >= WAITS_MAX) {
        room_refuse(x, request, "%s calls wait for messages already", WAITS_MAX);
        return;
    }
    seconds = seconds < most ? seconds : most;
    call = room_wait(x, request, after, x->now.mono_ms + 1000 * seconds);
    if (call && call->token.len)
        call->heartbeat_ms = x->now.mono_ms + x->config.heartbeat_ms;
}

/* Answers the waits that have something to answer with. */
static void wake(struct expose *x)
{
    struct mcpx_rpc rpc = {.params = {0}};

    for (struct bridge_call *call = x->room.calls.first, *next; call; call = next) {
        struct expose_request request = room_request(call, &rpc);

        next = call->next;
        if (call->context.text && answer_page(x, &request, for_us(x), call->context, false))
            bridge_calls_drop(&x->room.calls, call);
    }
}

static void send_heartbeat(struct expose *x, struct bridge_call *call)
{
    call->heartbeat_ms = x->now.mono_ms + x->config.heartbeat_ms;
    if (expose_may_tell(x))
        expose_tell_notice(x, "notifications/progress",
                           mx_formatted("{\"progressToken\":%s,\"progress\":%s,\"message\":"
                                        "\"waiting for messages\"}",
                                        call->token, ++call->progress));
}

/* ---- events ---- */

static struct bridge_call *find_echo(const struct expose *x, struct mcpx_slice own)
{
    struct bridge_call *call = x->room.calls.first;

    while (call &&
           !(call->sent_in.len && mcpx_slice_equal(mcpx_text_view(&call->sent_in), own)))
        call = call->next;
    return call;
}

/* Ends a call; takes `why`, the reason why it came to nothing. */
static void refuse_call(struct expose *x, struct bridge_call *call, struct mcpx_text why)
{
    struct mcpx_rpc rpc = {.params = {0}};
    struct expose_request request = room_request(call, &rpc);

    room_refuse_made(x, &request, why);
    bridge_calls_drop(&x->room.calls, call);
}

static void take_echo(struct expose *x, struct bridge_call *call)
{
    struct mcpx_slice own = mcpx_text_view(&call->sent_in);
    const struct room_said *said = room_log_find(&x->room.log, own);
    struct mcpx_rpc rpc = {.params = {0}};
    struct expose_request request = room_request(call, &rpc);
    struct mcpx_text out = mx_formatted("{\"id\":%q", own);

    if (said && said->is_proposal)
        mx_json_add_raw(&out, "digest", room_said_get(said, "digest"));
    mcpx_text_puts(&out, "}");
    room_answer(x, &request, out, false);
    bridge_calls_drop(&x->room.calls, call);
}

void expose_room_event(struct expose *x, const struct mcpx_event *event)
{
    bool refused = event->type == MCPX_EVENT_REFUSED;
    struct expose_room *room = &x->room;
    struct bridge_call *call = refused || event->envelope
                                   ? find_echo(x, refused ? event->own : event->envelope->id)
                                   : NULL;
    const struct room_said *said;
    struct room_query query;

    if (!x->config.room)
        return;
    /* Without resuming, the history that comes is all that is known. */
    if (event->type == MCPX_EVENT_JOINED && !event->resumed)
        room_log_fini(&room->log);
    if (event->type == MCPX_EVENT_JOINED
            ? !event->resumed
            : event->type == MCPX_EVENT_HISTORY && room->filled_ms)
        room->filled_ms = x->now.mono_ms + FILL_MS;
    said = room_log_take(&room->log, event);
    room->is_changed |= said != NULL;
    if (call && refused)
        refuse_call(x, call, mx_formatted("the router refused it: %s", event->reason));
    else if (call)
        take_echo(x, call);
    query = for_us(x);
    if (said && !room->filled_ms && room_query_fits(&query, said))
        wake(x);
}

void expose_room_sent(struct expose *x, int64_t number, const struct bridge_outcome *outcome)
{
    struct bridge_call *call = bridge_calls_find(&x->room.calls, number);

    if (call && outcome->err)
        refuse_call(x, call,
                    mx_formatted("it could not be sent: %s", mcpx_strerror(outcome->err)));
    else if (call)
        mcpx_text_slice(&call->sent_in, outcome->id);
}

/* ---- time, and the end ---- */

static void run_out(struct expose *x, struct bridge_call *call)
{
    struct mcpx_rpc rpc = {.params = {0}};
    struct expose_request request = room_request(call, &rpc);

    if (!call->context.text) {
        refuse_call(x, call,
                    mx_formatted("%s", "the router has not confirmed it yet; it is sent as "
                                       "soon as possible"));
        return;
    }
    answer_page(x, &request, for_us(x), call->context, true);
    bridge_calls_drop(&x->room.calls, call);
}

void expose_room_tick(struct expose *x)
{
    struct expose_room *room = &x->room;
    struct mcpx_rpc updated;

    if (room->filled_ms && room->filled_ms <= x->now.mono_ms) {
        room->filled_ms = 0;
        wake(x);
    }
    for (struct bridge_call *call = room->calls.first, *next; call; call = next) {
        next = call->next;
        if (call->due_ms <= x->now.mono_ms)
            run_out(x, call);
        else if (call->heartbeat_ms <= x->now.mono_ms)
            send_heartbeat(x, call);
    }
    if (!room->is_changed || room->rested_ms > x->now.mono_ms)
        return;
    room->is_changed = false;
    room->rested_ms = x->now.mono_ms + REST_MS;
    updated.method = MCPX_SLICE("notifications/resources/updated");
    updated.params = MCPX_SLICE("{\"uri\":\"" ROOM_URI "\"}");
    expose_watch_updated(x, (struct mcpx_slice){0}, &updated);
}

int64_t expose_room_deadline(const struct expose *x)
{
    const struct expose_room *room = &x->room;
    int64_t due = room->is_changed ? room->rested_ms : INT64_MAX;

    due = room->filled_ms && room->filled_ms < due ? room->filled_ms : due;
    for (const struct bridge_call *call = room->calls.first; call; call = call->next) {
        due = call->due_ms < due ? call->due_ms : due;
        due = call->heartbeat_ms < due ? call->heartbeat_ms : due;
    }
    return due;
}

bool expose_room_cancel(struct expose *x, struct mcpx_slice id)
{
    struct bridge_call *call = x->room.calls.first;

    while (call && !mcpx_json_same(call->id, id))
        call = call->next;
    if (call)
        bridge_calls_drop(&x->room.calls, call);
    return call != NULL;
}

void expose_room_abandon(struct expose *x, struct mcpx_slice sentence)
{
    while (x->room.calls.first)
        refuse_call(x, x->room.calls.first, mx_formatted("%s", sentence));
}

bool expose_room_is_busy(const struct expose *x)
{
    const struct bridge_call *call = x->room.calls.first;

    while (call && call->context.text)
        call = call->next;
    return call != NULL;
}
