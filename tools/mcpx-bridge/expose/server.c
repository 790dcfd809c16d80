/*
 * server.c - the methods of an MCP server as rows of a table. The bridge answers its own methods
 * and sends on requests that belong to a participant. It refuses unknown methods, because their
 * destination cannot be known.
 */
#include "tools/mcpx-bridge/expose/rounds.h"

/* JSON-RPC: not JSON at all. */
enum { PARSE_ERROR = -32700 };

/* Returns false when the request must wait. */
typedef bool handler(struct expose *x, const struct expose_request *request);

static bool answer_empty(struct expose *x, const struct expose_request *request)
{
    expose_tell_result(x, request, mx_formatted("%s", "{}"));
    return true;
}

/* Logs each missing list once. True when a list is missing and no participant gave one. */
static bool is_list_missing(struct expose *x, enum expose_list list, struct mcpx_slice *who)
{
    bool is_known = false;

    *who = (struct mcpx_slice){0};
    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        struct expose_items *items = &participant->lists[list];

        is_known |= items->is_known;
        if (items->is_known || !participant->hello.len ||
            !(items->is_blamed || items->is_open))
            continue;
        *who = participant->id;
        if (!items->is_blamed)
            expose_note_text(x,
                             "participant %s has not answered %s yet: the client gets the "
                             "list without it",
                             expose_quoted(participant->id), expose_lists[list].method);
        items->is_blamed = true;
    }
    return who->text && !is_known;
}

static bool answer_list(struct expose *x, const struct expose_request *request)
{
    enum expose_list list = (enum expose_list)request->list;
    struct mcpx_slice cursor = mcpx_json_get(request->rpc->params, "cursor"), who;
    struct mcpx_text result = {0};

    if (cursor.text && !bridge_is(cursor, "null")) {
        expose_tell_error(x, request->rpc->id, BRIDGE_BAD_PARAMS,
                          "params.cursor: the list comes in one page, no cursor was given "
                          "out");
    } else if (is_list_missing(x, list, &who) && !expose_is_hidden(x, list)) {
        expose_tell_error_text(x, request->rpc->id, BRIDGE_UNAVAILABLE,
                               "participant %s did not send its list, and no other has one; "
                               "the bridge's standard error says why",
                               expose_quoted(who));
    } else {
        expose_list_write(x, list, &result);
        expose_tell_result(x, request, result);
    }
    return true;
}

/* Sets one level for all servers; later servers get it when they join. */
static bool set_level(struct expose *x, const struct expose_request *request)
{
    unsigned number = bridge_log_level(mcpx_json_get(request->rpc->params, "level"));

    if (!number) {
        expose_tell_error(x, request->rpc->id, BRIDGE_BAD_PARAMS,
                          "params.level is not one of debug, info, notice, warning, error, "
                          "critical, alert and emergency");
        return true;
    }
    x->client.log_level = number;
    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog)
        expose_probe_level(x, participant);
    return answer_empty(x, request);
}

/*
 * To the client the bridge is one server, with the capabilities of all servers of the topic; to the
 * servers it is the client. Lists are always among its capabilities: a server with lists may join
 * at any time, and capabilities are stated only once.
 */

/* True when a server of the topic has the capability, or that member of it. */
static bool some_can(const struct expose *x, const char *capability, const char *member)
{
    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        struct mcpx_slice value = expose_participant_capability(participant, capability);

        if (member)
            value = mcpx_json_get(value, member);
        if (value.text && !bridge_is(value, "false"))
            return true;
    }
    return false;
}

/* Appends the extensions of all servers: of equal names, the first. */
static void add_extensions(const struct expose *x, struct mcpx_text *out)
{
    enum { MAX = 64 };
    struct mcpx_slice names[MAX];
    size_t count = 0;

    if (x->config.room) { /* for approvals */
        names[count++] = MCPX_SLICE(EXPOSE_META "tasks");
        mcpx_text_puts(out, ",\"extensions\":{\"" EXPOSE_META "tasks\":{}");
    }
    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        struct mcpx_slice own = expose_participant_capability(participant, "extensions");

        MCPX_JSON_EACH_WHILE(count < MAX, walk, own) {
            size_t at = 0;

            names[count] = walk.name;
            while (!mcpx_slice_equal(names[at], walk.name))
                at++;
            if (at < count || mcpx_json_type(walk.value) != MCPX_JSON_OBJECT)
                continue;
            mx_format(out, "%s\"%s\":%s", count++ ? "," : ",\"extensions\":{", walk.name,
                      walk.value);
        }
    }
    mcpx_text_puts(out, count ? "}" : "");
}

static struct mcpx_text capabilities_of(const struct expose *x, bool modern)
{
    bool watches =
        !x->config.answers_only && expose_room_has(x, EXPOSE_RESOURCES, MCPX_SLICE(ROOM_URI));
    mx_scoped_text extensions = {0};

    add_extensions(x, &extensions);
    expose_channel_announce(x, &extensions);
    return mx_formatted(
        "{\"tools\":{\"listChanged\":true},\"resources\":{%s\"listChanged\":true},"
        "\"prompts\":{\"listChanged\":true}%s%s%s%s}",
        watches || some_can(x, "resources", "subscribe") ? "\"subscribe\":true," : "",
        some_can(x, "completions", NULL) ? ",\"completions\":{}" : "",
        modern && !some_can(x, "logging", NULL) ? "" : ",\"logging\":{}",
        !modern && (x->config.room || some_can(x, "tasks", NULL))
            ? ",\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}"
            : "",
        &extensions);
}

/* The instructions of a single server, unchanged; those of several, under their ids. */
static struct mcpx_text instructions_of(const struct expose *x)
{
    struct mcpx_text all = {0};

    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog) {
        struct mcpx_slice own =
            mcpx_json_get(mcpx_text_view(&participant->hello), "instructions");

        if (mcpx_json_type(own) != MCPX_JSON_STRING)
            continue;
        if (x->catalog.count > 1)
            mx_format(&all, "%s# %s\n\n", all.len ? "\n\n" : "", participant->id);
        mcpx_json_add_unescaped(&all, own);
    }
    if (x->config.room)
        expose_room_instruct(x, &all);
    return all;
}

static void keep(struct mcpx_text *out, struct mcpx_slice value)
{
    mcpx_text_reset(out);
    if (mcpx_json_type(value) == MCPX_JSON_OBJECT)
        mcpx_text_slice(out, value);
}

/* True for a revision before 2025-11-25 that the bridge speaks. */
static bool is_former(struct mcpx_slice version)
{
    return bridge_is_any(version, "\"2025-06-18\"", "\"2025-03-26\"", "\"2024-11-05\"");
}

/*
 * Keeps what the client says about itself; of several clients, none stands for all. At the first
 * request the bridge greets the servers.
 */
static void greet(struct expose *x, const struct mcpx_rpc *rpc)
{
    bool first = !x->client.greeted, old = bridge_is(rpc->method, "initialize");

    if (!x->config.answers_only && (old || first)) {
        keep(&x->client.info, old ? mcpx_json_get(rpc->params, "clientInfo")
                                  : expose_meta(rpc, EXPOSE_META "clientInfo"));
        keep(&x->client.capabilities,
             old ? mcpx_json_get(rpc->params, "capabilities")
                 : expose_meta(rpc, EXPOSE_META "clientCapabilities"));
    }
    x->client.has_tasks |=
        x->config.room && old && !is_former(mcpx_json_get(rpc->params, "protocolVersion"));
    x->client.greeted = true;
    if (first)
        expose_probe_all(x, false, false);
}

/* Answers "initialize" or "server/discover". */
static bool introduce(struct expose *x, const struct expose_request *request)
{
    bool modern = bridge_is(request->rpc->method, "server/discover");
    struct mcpx_slice asked = mcpx_json_get(request->rpc->params, "protocolVersion");
    mx_scoped_text capabilities = capabilities_of(x, modern), self = expose_self(x);
    mx_scoped_text instructions = instructions_of(x);
    struct mcpx_text out = {0};

    if (modern && !(expose_meta(request->rpc, EXPOSE_META "protocolVersion").text &&
                    expose_meta(request->rpc, EXPOSE_META "clientCapabilities").text)) {
        expose_tell_error(x, request->rpc->id, BRIDGE_BAD_PARAMS,
                          "_meta lacks the protocol version or the client's capabilities");
        return true;
    }
    if (modern)
        mcpx_text_puts(&out, "{\"supportedVersions\":[\"" EXPOSE_MODERN "\"]");
    else
        mx_format(&out, "{\"protocolVersion\":%s",
                  is_former(asked) ? asked : MCPX_SLICE("\"" EXPOSE_LEGACY "\""));
    mx_format(&out, ",\"capabilities\":%s,\"serverInfo\":%s", &capabilities, &self);
    if (instructions.len)
        mcpx_json_add_member(&out, "instructions", mcpx_text_view(&instructions));
    if (modern)
        mx_format(&out, ",\"_meta\":{\"" EXPOSE_META "serverInfo\":%s}", &self);
    mcpx_text_puts(&out, "}");
    expose_tell_result(x, request, out);
    return true;
}

/* ---- tools and tasks ---- */

static bool call_tool(struct expose *x, const struct expose_request *request)
{
    struct expose_request meant = *request;
    mx_scoped_text text = {0};
    struct mcpx_rpc rpc;
    enum expose_discovery found = expose_discover(x, &meant, &rpc, &text);

    return found == EXPOSE_GOES_ON ? expose_forward(x, &meant) : found == EXPOSE_SERVED;
}

static bool forward_task(struct expose *x, const struct expose_request *request)
{
    return expose_lacks_tasks(x, request) || expose_task_serve(x, request) ||
           expose_forward(x, request);
}

/* The owners of resources must be known. */
static bool listen(struct expose *x, const struct expose_request *request)
{
    struct mcpx_slice wanted = mcpx_json_get(request->rpc->params, "notifications");
    bool waits = request->may_wait && mcpx_json_get(wanted, "resourceSubscriptions").text &&
                 !expose_is_settled(x, -1);

    if (!waits)
        expose_listen(x, request);
    return !waits;
}

/* ---- requests ---- */

/* `list`: the list that must be known before a request is handled; NOTHING: none, ANY: all. */
enum { NOTHING = -2, ANY = -1 };

static const struct method {
    const char *method;
    handler *handle;
    int list;
} methods[] = {
    {"initialize", introduce, ANY},
    {"server/discover", introduce, ANY},
    {"ping", answer_empty, NOTHING},
    {"logging/setLevel", set_level, NOTHING},
    {"tools/list", answer_list, EXPOSE_TOOLS},
    {"resources/list", answer_list, EXPOSE_RESOURCES},
    {"resources/templates/list", answer_list, EXPOSE_TEMPLATES},
    {"prompts/list", answer_list, EXPOSE_PROMPTS},
    {"tools/call", call_tool, NOTHING},
    {"mcp.tool.invoke", expose_invoke, NOTHING},
    {"resources/read", expose_forward, NOTHING},
    {"resources/subscribe", expose_forward, NOTHING},
    {"resources/unsubscribe", expose_forward, NOTHING},
    {"prompts/get", expose_forward, NOTHING},
    {"completion/complete", expose_forward, NOTHING},
    {"tasks/get", forward_task, NOTHING},
    {"tasks/result", forward_task, NOTHING},
    {"tasks/cancel", forward_task, NOTHING},
    {"tasks/update", forward_task, NOTHING},
    {"subscriptions/listen", listen, NOTHING},
};

/* Clients that name a revision in each request speak the newest. False: it is another. */
static bool read_revision(struct expose *x, struct expose_request *request)
{
    struct mcpx_slice asked = expose_meta(request->rpc, EXPOSE_META "protocolVersion");

    request->modern = asked.text || bridge_is(request->rpc->method, "server/discover");
    if (!asked.text || mcpx_json_equals(asked, MCPX_SLICE(EXPOSE_MODERN)))
        return true;
    expose_tell_error_of(
        x, request->rpc->id, BRIDGE_BAD_VERSION,
        mx_formatted("%s", "the bridge does not support this protocol version"),
        mx_formatted("{\"supported\":[\"" EXPOSE_MODERN "\"],\"requested\":%s}", asked));
    return false;
}

/*
 * Requests wait until the topic's servers are known. A client lists tools as soon as it is
 * connected. Answered at once, it would see none, and many clients never ask again.
 */

/* REACH_MS: the longest wait for a router not reached yet. HELD: most lines kept, and bytes. */
enum { REACH_MS = 20000, HELD_MAX = 1024, HELD_BYTES = 128 << 20 };

static void hold(struct expose *x, const struct mcpx_rpc *rpc)
{
    struct bridge_call *held;

    if (x->held.count == HELD_MAX || rpc->text.len > HELD_BYTES - x->held.payload_bytes) {
        if (!expose_terms_turn_away(x, rpc->text, NULL, true))
            expose_tell_error(x, rpc->id, BRIDGE_UNAVAILABLE,
                              "too many requests wait for the topic's servers");
        return;
    }
    held = bridge_calls_add(&x->held, &(struct bridge_call){.id = rpc->id});
    bridge_calls_hold(&x->held, held, rpc->text);
    if (!x->reach_ms)
        x->reach_ms = x->now.mono_ms + REACH_MS;
    held->due_ms = x->now.mono_ms + EXPOSE_HOLD_MS;
    if (!x->was_joined && held->due_ms < x->reach_ms)
        held->due_ms = x->reach_ms;
}

/*
 * Returns false when the request must wait. Before the first join it is refused: empty lists would
 * look like a topic without servers.
 */
static bool serve_method(struct expose *x, const struct method *method,
                         const struct expose_request *request)
{
    if (method->list != NOTHING && request->may_wait && !expose_is_settled(x, method->list))
        return false;
    if (method->list == NOTHING || x->was_joined)
        return method->handle(x, request);
    expose_tell_error_text(x, request->rpc->id, BRIDGE_UNAVAILABLE,
                           "the topic cannot be reached%s%s", x->away.len ? ": " : "",
                           &x->away);
    return true;
}

/*
 * False for what the newest revision has no more (with a channel: for all of it), for subscriptions
 * that get no notifications, and for invocations without contract settings.
 */
static bool is_supported(const struct expose *x, const struct method *method, bool modern)
{
    if (modern &&
        bridge_is_any(mcpx_slice_of(method->method), "initialize", "ping", "logging/setLevel",
                      "resources/subscribe", "resources/unsubscribe", "tasks/result"))
        return false;
    return !(modern && x->config.channel) &&
           !(method->handle == listen && x->config.answers_only) &&
           (method->handle != expose_invoke || x->config.terms);
}

static void serve_request(struct expose *x, const struct mcpx_rpc *rpc, bool may_wait)
{
    struct expose_request request = {.rpc = rpc, .may_wait = may_wait};

    if (!read_revision(x, &request))
        return;
    greet(x, rpc);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (!bridge_is(rpc->method, methods[i].method))
            continue;
        if (!is_supported(x, &methods[i], request.modern))
            break;
        request.list = methods[i].list;
        if (!serve_method(x, &methods[i], &request))
            hold(x, rpc);
        return;
    }
    expose_tell_error_text(x, rpc->id, BRIDGE_NO_METHOD, "there is no method %s",
                           expose_quoted(rpc->method));
}

/*
 * notifications/roots/list_changed is not passed on: servers of a topic serve many clients, and the
 * roots of one must not change the results of others.
 */
static void serve_notification(struct expose *x, const struct mcpx_rpc *rpc)
{
    if (bridge_is(rpc->method, "notifications/initialized"))
        x->client.initialized = true;
    else if (bridge_is(rpc->method, "notifications/cancelled"))
        expose_cancel(x, rpc);
    else if (bridge_is(rpc->method, "notifications/claude/channel/permission_request"))
        expose_channel_ask(x, rpc->params);
}

static void refuse_line(struct expose *x, struct mcpx_slice value,
                        const struct mcpx_fault *fault, int code)
{
    struct mcpx_slice id = {0};
    struct mcpx_text message;

    if (mcpx_json_count(value, "id") == 1)
        id = bridge_id(mcpx_json_get(value, "id"));
    message =
        mx_formatted("%s: %s%s%s", code == PARSE_ERROR ? "not JSON" : "not a request",
                     fault->field, fault->field && *fault->field ? ": " : "", fault->reason);
    if (code == PARSE_ERROR)
        mx_format(&message, ", byte %s", fault->offset);
    expose_tell_error_text(x, id, code, "%s", &message);
    expose_note_made(x, message);
}

void expose_serve(struct expose *x, struct mcpx_slice line, bool may_wait)
{
    struct mcpx_fault fault = {"", "", 0};
    struct mcpx_slice value;
    struct mcpx_rpc rpc;

    if (mcpx_json_check(line, EXPOSE_DEPTH_MAX, &value, &fault) != MCPX_OK) {
        refuse_line(x, (struct mcpx_slice){0}, &fault, PARSE_ERROR);
        return;
    }
    if (mcpx_rpc_read(value, &rpc, &fault) != MCPX_OK) {
        expose_terms_turn_away(x, value, &fault, false);
        refuse_line(x, value, &fault, BRIDGE_BAD_REQUEST);
        return;
    }
    switch (rpc.form) {
    case MCPX_RPC_REQUEST:
        serve_request(x, &rpc, may_wait);
        break;
    case MCPX_RPC_NOTIFICATION:
        serve_notification(x, &rpc);
        break;
    case MCPX_RPC_RESULT:
    case MCPX_RPC_ERROR:
        expose_ask_answered(x, &rpc);
        break;
    case MCPX_RPC_BODY:
        fault.reason = "\"jsonrpc\" and \"id\" are missing";
        refuse_line(x, value, &fault, BRIDGE_BAD_REQUEST);
        break;
    }
}
