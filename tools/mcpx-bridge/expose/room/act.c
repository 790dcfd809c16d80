/*
 * act.c - what the tools of the room do. A client keeps its place as an opaque text, `after`: the
 * id of the last envelope it read. So no message is missed or repeated, whichever program is
 * restarted. A tool that sends something is answered when that has its place in the topic, by its
 * own echo: only the echo has the bytes for a digest.
 *
 * A decision needs the digest, as with mcpxctl, and is never about a proposal of our own identity:
 * a text in the topic must not make a model propose and approve by itself.
 *
 * Rejected: only pushing messages, as channel.c does. Few clients show notifications to a model,
 * and none says which of them it read.
 */
#include "tools/mcpx-bridge/expose/rounds.h"

#include "lib/base/digits.h"

#include <mcpx/envelope.h>

/* WAIT_S: below the minute after which the SDKs' clients give up. */
enum { LIMIT = 50, WAIT_S = 50, WAIT_MAX_S = 600, WAIT_HTTP_S = 30, APPROVAL_MS = 60000 };

/* The use of a tool. `call`: of the client, not under way; `kind`: what it sends, if anything. The
 * tool returns its result, an object, or nothing: that comes later. Or it is refused: why. */
struct use {
    struct bridge_call call;
    struct mcpx_slice arguments;
    const char *kind;
    int64_t timeout_ms; /* an approval that was not sent by then is not sent */
    bool is_refused;
};
#define REFUSE(use, ...) ((use)->is_refused = true, mx_formatted(__VA_ARGS__))

static struct mcpx_slice self(const struct expose *x)
{
    return x->view.self(x->view.user);
}

static bool is_ours(const struct expose *x, struct mcpx_slice id)
{
    return mcpx_slice_equal(mcpx_identity_of(id), mcpx_identity_of(self(x)));
}

/* ---- arguments and answers ---- */

struct mcpx_slice room_argument(struct mcpx_slice arguments, const char *name,
                                struct mcpx_text *own)
{
    return mcpx_json_add_unescaped(own, mcpx_json_get(arguments, name))
               ? mcpx_text_view(own)
               : (struct mcpx_slice){0};
}

/* A whole number up to `most`, `usual` when it is none. */
static int64_t read_number(const struct use *use, const char *name, int64_t usual,
                           int64_t most)
{
    bridge_number(mcpx_json_get(use->arguments, name), &usual);
    return usual < most ? usual : most;
}

/* Answers a call and ends it; takes `structured`. */
static void finish(struct expose *x, struct bridge_call *call, struct mcpx_text structured)
{
    mx_scoped_text result = room_result(structured, false);
    struct mcpx_call_end how = {.type = MCPX_CALL_RESULT, .text = mcpx_text_view(&result)};

    call->stage = EXPOSE_REQUESTED; /* as a task it is kept, but looks no more */
    expose_finish(x, call, &how, (struct mcpx_slice){0});
}

/* ---- reading ---- */

static struct mcpx_text history(struct expose *x, struct use *use)
{
    mx_scoped_text own = {0}, other = {0};
    int64_t limit = read_number(use, "limit", LIMIT, ROOM_SAID_MAX);
    struct room_query query = {.after = room_argument(use->arguments, "after", &own),
                               .limit = limit ? (size_t)limit : 1};

    if (!query.after.text)
        query.before = room_argument(use->arguments, "before", &other);
    return room_log_read(&x->room.log, &query, false);
}

static struct mcpx_text proposals(struct expose *x, struct use *use)
{
    struct room_query query = {.limit = ROOM_SAID_MAX, .open_ms = x->now.wall_ms, .x = x};

    (void)use;
    return room_log_read(&x->room.log, &query, false);
}

static struct mcpx_text who(struct expose *x, struct use *use)
{
    struct mcpx_text out = mx_formatted("{\"me\":%q,\"participants\":[", self(x));
    struct mcpx_slice id;
    size_t i = 0;

    (void)use;
    for (; out.len < ROOM_PAGE_BYTES && x->view.roster(x->view.user, i, &id); i++) {
        const struct expose_participant *one = expose_catalog_find(&x->catalog, id);

        mx_format(&out, "%s{\"id\":%q,\"server\":%s}", i ? "," : "", id,
                  (bool)(one && one->hello.len));
    }
    mx_format(&out, "],\"more\":%s}", x->view.roster(x->view.user, i, &id));
    return out;
}

/* ---- waiting ---- */

void expose_room_look(struct expose *x, struct bridge_call *wait)
{
    struct room_query query = {
        .after = wait->context, .limit = ROOM_SAID_MAX, .reader = self(x)};
    bool waits = wait->due_ms > x->now.mono_ms;
    struct mcpx_text page = {0};

    if (!waits || !x->room.to_come)
        page = room_log_read(&x->room.log, &query, waits);
    if (page.len)
        finish(x, wait, page);
}

static struct mcpx_text wait_for(struct expose *x, struct use *use)
{
    struct bridge_call *call;
    int64_t most;
    mx_scoped_text own = {0};

    use->call.context = room_argument(use->arguments, "after", &own);
    if (!use->call.context.text)
        use->call.context = x->room.log.said.last ? x->room.log.said.last->came_in
                                                  : mcpx_text_view(&x->room.log.start);
    use->call.stage = EXPOSE_LOOKS;
    call = bridge_calls_add(&x->calls, &use->call);
    if (call->token.len)
        call->heartbeat_ms = x->now.mono_ms + x->config.heartbeat_ms;
    expose_task_wait(x, call);
    most = x->config.answers_only && !call->task ? WAIT_HTTP_S : WAIT_MAX_S;
    bridge_calls_defer(&x->calls, call,
                       x->now.mono_ms + 1000 * read_number(use, "seconds", WAIT_S, most));
    expose_room_look(x, call);
    return (struct mcpx_text){0};
}

/* ---- sending ---- */

/* Sends an envelope about another to ids, a JSON array; absent: about none, to everyone. Takes
 * `payload`. Returns nothing: the answer comes later. */
static struct mcpx_text say(struct expose *x, struct use *use, struct mcpx_slice ids,
                            struct mcpx_slice about, struct mcpx_text payload)
{
    struct mcpx_slice to[MCPX_TO_MAX];
    struct mcpx_draft draft = {
        .type = use->kind, .to = to, .correlation_id = about, .timeout_ms = use->timeout_ms};
    bool fits = !ids.text || mcpx_json_type(ids) == MCPX_JSON_ARRAY;
    mx_scoped_text store = {0};

    mcpx_text_reserve(&store, ids.len + 1); /* so that slices of it stay */
    MCPX_JSON_EACH_WHILE(fits, walk, ids) {
        size_t start = store.len;

        fits = draft.to_count < MCPX_TO_MAX && mcpx_json_add_unescaped(&store, walk.value);
        if (fits)
            to[draft.to_count++] = mx_behind(mcpx_text_view(&store), start);
    }
    if (!fits) {
        mcpx_text_fini(&payload);
        return REFUSE(use, "to must be an array of at most %s ids", MCPX_TO_MAX);
    }
    use->call.stage = EXPOSE_SAID;
    use->call.params = mcpx_text_view(&payload);
    draft.tag = (void *)(uintptr_t)bridge_calls_add(&x->calls, &use->call)->number;
    bridge_output_put(&x->output,
                      (struct bridge_row){.action = {.type = BRIDGE_SEND, .draft = draft}},
                      payload);
    return (struct mcpx_text){0};
}

static struct mcpx_text say_chat(struct expose *x, struct use *use)
{
    mx_scoped_text own = {0};
    struct mcpx_slice text = room_argument(use->arguments, "text", &own);

    return text.text ? say(x, use, mcpx_json_get(use->arguments, "to"), (struct mcpx_slice){0},
                           mx_formatted("{\"text\":%q}", text))
                     : REFUSE(use, "%s", "text must be a string");
}

static struct mcpx_text propose(struct expose *x, struct use *use)
{
    struct mcpx_slice tool = mcpx_json_get(use->arguments, "tool");
    struct mcpx_slice given = mcpx_json_get(use->arguments, "arguments");
    mx_scoped_text params =
        mx_formatted("{\"name\":%s,\"arguments\":%s}", tool.text ? tool : MCPX_SLICE("null"),
                     given.text ? given : MCPX_SLICE("{}"));
    const struct mcpx_rpc rpc = {.method = MCPX_SLICE("tools/call"),
                                 .params = mcpx_text_view(&params)};
    struct bridge_call *call;
    MX_SCOPED(expose_route_fini) struct expose_route route = {0};

    if (mcpx_json_type(tool) != MCPX_JSON_STRING ||
        (given.text && mcpx_json_type(given) != MCPX_JSON_OBJECT))
        return REFUSE(use, "%s", "tool must be a string, and arguments an object");
    if (expose_route_find(x, &rpc, &route) != EXPOSE_ROUTED)
        return REFUSE(use, "no participant has the tool %s",
                      expose_quoted(mcpx_text_view(&route.name)));
    use->call.who.id = route.item.participant;
    use->call.context = route.item.own;
    use->call.params = mcpx_text_view(&route.params);
    use->call.can = (struct mcpx_slice){0};
    call = bridge_calls_add(&x->calls, &use->call);
    expose_propose(x, call);
    call->stage = EXPOSE_SAID; /* it is answered before the decision */
    bridge_calls_defer(&x->calls, call, expose_in(x, x->config.request_ms));
    return (struct mcpx_text){0};
}

/* The contract of Claude Code's --permission-prompt-tool. Its answer is one text: of structured
 * content that program would read nothing else. */
static struct mcpx_text ask_permission(struct expose *x, struct use *use)
{
    struct mcpx_slice input = mcpx_json_get(use->arguments, "input");
    struct mcpx_slice about = mcpx_json_get(use->arguments, "tool_use_id");
    mx_scoped_text own = {0}, params = {0};

    use->call.method = MCPX_SLICE(EXPOSE_PERMISSION);
    use->call.context = room_argument(use->arguments, "tool_name", &own);
    if (!use->call.context.text || mcpx_json_type(input) != MCPX_JSON_OBJECT)
        return REFUSE(use, "%s", "tool_name must be a string, and input an object");
    mx_format(&params, "{\"name\":%q,\"input\":%s%s%s}", use->call.context, input,
              about.text ? ",\"tool_use_id\":" : "", about);
    use->call.params = mcpx_text_view(&params);
    expose_propose(x, bridge_calls_add(&x->calls, &use->call));
    return (struct mcpx_text){0};
}

/* Why the tool cannot end this proposal, or what is none; NULL: it can. `to` acts if it is
 * approved. */
static const char *find_obstacle(struct expose *x, const struct use *use,
                                 const struct bridge_call *said, struct mcpx_slice to)
{
    struct expose_item item = {.participant = to};
    bool withdraws = strcmp(use->kind, "mcp/withdraw") == 0;
    size_t left = SIZE_MAX;
    mx_scoped_text digest = {0};

    if (!said || (said->stage != ROOM_OPEN && said->stage != ROOM_OVER))
        return "is not known here";
    if (said->stage == ROOM_OVER)
        return "is decided or withdrawn";
    if (said->due_ms <= x->now.wall_ms)
        return "has expired";
    if (is_ours(x, said->who.id) != withdraws)
        return withdraws ? "is not our own"
                         : "is our own: another participant decides about it";
    if (strcmp(use->kind, "mcp/request") != 0)
        return NULL;
    if (!x->joined)
        return "cannot be approved now: the topic cannot be reached";
    if (!mcpx_json_equals(room_said_get(said, "digest"),
                          room_argument(use->arguments, "digest", &digest)))
        return "has another digest: read it again with room__proposals";
    if (room_said_get(said, "cut").text)
        return "is cut: approve it with mcpxctl";
    if (!to.text || !room_said_is_for(said, to))
        return "is to others, or to several: to must name the one that is to act";
    if (said->resend_ms > x->now.mono_ms && said->resend_ms < INT64_MAX)
        return "was approved a moment ago: room__history tells whether it was sent";
    if (expose_has_changed(x, said, to, &left))
        return "is of a tool that has changed since: reject it, so that it is proposed anew";
    item.own = said->context;
    return expose_find_stage(x, said->method, &item) != EXPOSE_REQUESTED
               ? "needs a grant for its kind with mcp/request in place of mcp/proposal"
               : NULL;
}

static struct mcpx_text end_proposal(struct expose *x, struct use *use)
{
    static const struct mcpx_json_change ids[] = {{.name = "id"}, {.name = "digest"}};
    mx_scoped_text own = {0}, chosen = {0}, proposed = {0}, all = {0};
    struct mcpx_slice id = room_argument(use->arguments, "id", &own), params;
    struct mcpx_slice to = room_argument(use->arguments, "to", &chosen);
    struct bridge_call *said = room_log_find(&x->room.log, id);
    const char *obstacle;
    struct mcpx_text payload = {0};

    if (said && !to.text)
        to = room_said_addressee(said);
    obstacle = find_obstacle(x, use, said, to);
    if (!id.text)
        return REFUSE(use, "%s", "id must be a string: that of the proposal");
    if (obstacle)
        return REFUSE(use, "the proposal %s %s", expose_quoted(id), obstacle);
    if (strcmp(use->kind, "mcp/request") == 0) {
        use->call.fulfils = said->came_in;
        said->resend_ms = x->now.mono_ms + APPROVAL_MS; /* it may be sent until then */
        use->timeout_ms = said->due_ms - x->now.wall_ms;
        if (use->timeout_ms > APPROVAL_MS)
            use->timeout_ms = APPROVAL_MS;
        mx_format(&all, "[%q]", to);
        mcpx_json_add_unescaped(&proposed, room_said_get(said, "text"));
        params = mcpx_json_get(mcpx_text_view(&proposed), "params");
        /* The id is no number: those are of the client's own requests. */
        mx_format(&payload, "{\"jsonrpc\":\"2.0\",\"id\":\"room-%s-%s\",\"method\":%s%s%s}",
                  x->config.nonce, x->calls.last_number + 1,
                  mcpx_json_get(mcpx_text_view(&proposed), "method"),
                  params.text ? ",\"params\":" : "", params);
    } else { /* with the reason */
        mcpx_json_add_changed(&payload, use->arguments, ids, 2);
    }
    to = room_said_get(said, "to");
    if (to.text && strcmp(use->kind, "mcp/reject") == 0) /* and to the proposer */
        mx_format(&all, "[%s,%s", room_said_get(said, "from"), mx_behind(to, 1));
    return say(x, use, all.len ? mcpx_text_view(&all) : to, said->came_in, payload);
}

/* ---- what is asked ---- */

static struct mcpx_text (*const uses[ROOM_DOES_COUNT])(struct expose *x, struct use *use) = {
    [ROOM_SENDS] = say_chat,    [ROOM_READS] = history,         [ROOM_WAITS] = wait_for,
    [ROOM_TELLS_WHO] = who,     [ROOM_LISTS] = proposals,       [ROOM_PROPOSES] = propose,
    [ROOM_ENDS] = end_proposal, [ROOM_DECIDES] = ask_permission};

/* Serves a request about our resource; false: it is about something else. */
static bool serve_resource(struct expose *x, const struct expose_request *request)
{
    struct mcpx_slice method = request->rpc->method;
    struct bridge_call watch = {.method = method, .context = MCPX_SLICE(ROOM_URI)};
    struct room_query query = {.limit = ROOM_SAID_MAX};
    mx_scoped_text own = {0}, all = {0};

    if (!bridge_is_any(method, "resources/read", "resources/subscribe",
                       "resources/unsubscribe") ||
        !expose_room_has(x, EXPOSE_RESOURCES,
                         room_argument(request->rpc->params, "uri", &own)))
        return false;
    if (bridge_is(method, "resources/read")) {
        all = room_log_read(&x->room.log, &query, false);
        expose_tell_result(x, request,
                           mx_formatted("{\"contents\":[{\"uri\":\"" ROOM_URI
                                        "\",\"mimeType\":\"application/json\",\"text\":%q}]}",
                                        &all));
    } else {
        expose_watch(x, &watch, watch.context);
        expose_tell_result(x, request, mx_formatted("%s", "{}"));
    }
    return true;
}

bool expose_room_serve(struct expose *x, const struct expose_request *request)
{
    const struct mcpx_rpc *rpc = request->rpc;
    struct use use = {.call = {.purpose = EXPOSE_FOR_CLIENT,
                               .modern = request->modern,
                               .id = rpc->id,
                               .method = rpc->method,
                               .token = expose_token(rpc),
                               .params = rpc->params,
                               .can = expose_meta(rpc, EXPOSE_META "clientCapabilities"),
                               .due_ms = expose_in(x, x->config.request_ms)},
                      .arguments = mcpx_json_get(rpc->params, "arguments")};
    mx_scoped_text own = {0};
    struct mcpx_slice name = room_argument(rpc->params, "name", &own);
    struct mcpx_text result;
    enum room_does does;
    bool is_shown;

    if (!x->config.room || !bridge_is(rpc->method, "tools/call"))
        return serve_resource(x, request);
    use.call.who.id = self(x);
    does = room_tool_find(x, name, &is_shown, &use.kind);
    if (!does)
        return false;
    if (!x->was_joined)
        room_refuse(x, request, "%s", "the topic cannot be reached");
    else if (!is_shown)
        expose_tell_error_text(x, rpc->id, BRIDGE_BAD_PARAMS,
                               "the grants, --room or --only leave out the tool %s%s%s",
                               expose_quoted(name), use.kind ? ", which sends " : "",
                               use.kind ? use.kind : "");
    else if ((result = uses[does](x, &use)).len)
        room_answer(x, request, result, use.is_refused);
    return true;
}

/* ---- events ---- */

/* What `envelope` of ours is for a call: its echo, or it withdraws the proposal. */
static void take_own(struct expose *x, struct bridge_call *call,
                     const struct mcpx_envelope *envelope, const struct bridge_call *said)
{
    struct mcpx_slice sent = mcpx_text_view(&call->sent_in);
    struct mcpx_text out = {0};

    if (call->stage == EXPOSE_SAID && mcpx_slice_equal(sent, envelope->id)) {
        expose_want(x, BRIDGE_FORGET, sent);
        mx_format(&out, "{\"id\":%q", sent);
        if (said && said->stage == ROOM_OPEN)
            mx_json_add_raw(&out, "digest", room_said_get(said, "digest"));
        mcpx_text_puts(&out, "}");
        finish(x, call, out);
    } else if (call->stage == EXPOSE_PROPOSED && !call->payload.len && sent.len &&
               mcpx_slice_equal(sent, envelope->correlation_id) &&
               bridge_is(envelope->kind.type, "mcp/withdraw")) {
        call->stage = EXPOSE_WITHDRAWN;
        expose_want(x, BRIDGE_FORGET, sent);
        expose_fail(x, call, MCPX_CAUSE_DENIED, MCPX_SLICE("the proposal was withdrawn"),
                    NULL);
    }
}

/* Counts the history after a join: without resuming it is all that is known, and what came between
 * may be lost. It is over when another message comes; a connection that resumed brings no rest.
 * When all that the topic ever had comes, the start is a place that another bridge knows. */
static void count(struct expose *x, const struct mcpx_event *event)
{
    struct expose_room *room = &x->room;
    struct mcpx_slice payload = {0}, topic;
    int64_t serial = -1;

    if (event->type != MCPX_EVENT_JOINED) {
        if (event->type == MCPX_EVENT_HISTORY || event->type == MCPX_EVENT_RESPONSE ||
            event->type == MCPX_EVENT_VIOLATION)
            room->to_come -= room->to_come > 0;
        else if (event->envelope && event->type != MCPX_EVENT_GRANTS &&
                 event->type != MCPX_EVENT_REFUSED)
            room->to_come = 0;
        return;
    }
    if (event->resumed && !room->to_come)
        return;
    room->to_come = 0;
    room->log.lost = room->log.began = x->was_joined ? ++room->log.place : 0;
    if (!event->resumed)
        bridge_calls_fini(&room->log.said);
    if (!event->resumed && event->envelope)
        payload = event->envelope->payload;
    topic = mcpx_json_get(payload, "topic");
    bridge_number(mcpx_json_get(mcpx_json_get(payload, "history"), "count"), &room->to_come);
    bridge_number(mcpx_json_get(topic, "serial"), &serial);
    mcpx_text_reset(&room->log.start);
    if (serial != room->to_come ||
        !mcpx_json_add_unescaped(&room->log.start, mcpx_json_get(topic, "epoch")))
        mx_format(&room->log.start, "%s-%s", x->config.nonce, room->log.began);
}

void expose_room_event(struct expose *x, const struct mcpx_event *event)
{
    const struct mcpx_envelope *envelope = event->envelope;
    bool wakes = x->room.to_come > 0, own;
    const struct bridge_call *said;

    if (!x->config.room)
        return;
    count(x, event);
    said = room_log_take(&x->room.log, event, self(x));
    if (said) {
        /* The channel begins with the first message that is no history. */
        if (x->client.initialized && !x->room.pushed.len && event->type != MCPX_EVENT_HISTORY)
            mcpx_text_slice(&x->room.pushed, said->previous
                                                 ? said->previous->came_in
                                                 : mcpx_text_view(&x->room.log.start));
        x->room.is_changed = true;
        expose_touch(x);
    }
    wakes |=
        said && room_said_is_for(said, self(x)) && !mcpx_slice_equal(envelope->from, self(x));
    own = envelope && (said || envelope->correlation_id.len) && is_ours(x, envelope->from);
    for (struct bridge_call *call = x->calls.first, *next; (wakes || own) && call;
         call = next) {
        next = call->next;
        if (wakes && call->stage == EXPOSE_LOOKS)
            expose_room_look(x, call);
        else if (own)
            take_own(x, call, envelope, said);
    }
}

void expose_room_tell(struct expose *x)
{
    static const struct mcpx_rpc updated = {
        .method = {"notifications/resources/updated", 31},
        .params = {"{\"uri\":\"" ROOM_URI "\"}", sizeof ROOM_URI + 9}};

    if (x->room.is_changed)
        expose_watch_updated(x, (struct mcpx_slice){0}, &updated);
    x->room.is_changed = false;
}
