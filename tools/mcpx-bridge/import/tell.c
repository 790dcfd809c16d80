/*
 * tell.c - messages of an import: to its server, line by line under numbers of ours, because every
 * participant counts its requests and progress tokens from 0 for itself, and everything else keeps
 * its bytes (a JSON library would round numbers and drop duplicates); to the log; to the topics,
 * besides answers. A participant's own server sends to its owner only. Its list changes are not
 * passed on, because all participants see the lists of server 0.
 */
#include "tools/mcpx-bridge/import/ask.h"

enum { SAID_MAX = 500 }; /* longest sentence that is logged, in bytes */

/* ---- actions ---- */

void import_want(struct import *import, struct bridge_row row)
{
    row.action.server = import->number;
    bridge_output_add(&import->pool->output, &row);
}

void import_want_text(struct import *import, struct bridge_row row, struct mcpx_text text)
{
    row.action.server = import->number;
    bridge_output_put(&import->pool->output, row, text);
}

void import_want_send(struct import *import, size_t topic, const struct mcpx_draft *draft)
{
    import_want(import, (struct bridge_row){
                            .action = {.type = BRIDGE_SEND, .topic = topic, .draft = *draft}});
}

void import_send_to(struct import *import, struct bridge_who who, const char *kind,
                    struct mcpx_slice about, struct mcpx_slice payload)
{
    struct mcpx_draft draft = {.type = kind,
                               .to = &who.id,
                               .to_count = 1,
                               .correlation_id = about,
                               .payload = payload};

    import_want_send(import, who.topic, &draft);
}

void import_want_about(struct import *import, enum bridge_action_type type, size_t topic,
                       struct mcpx_slice envelope)
{
    import_want(import, (struct bridge_row){
                            .action = {.type = type, .topic = topic, .about = envelope}});
}

/* ---- words ---- */

void import_say_text(struct import *import, struct mcpx_text sentence)
{
    struct mcpx_slice owner = import->owner.id;
    struct mcpx_text text = {0};

    mx_format(&text, "%s%s%s%s", owner.text ? "for " : "", owner, owner.text ? ": " : "",
              &sentence);
    mcpx_text_fini(&sentence);
    text.len = text.len < SAID_MAX ? text.len : SAID_MAX;
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.text[i] < ' ' || text.text[i] == 0x7f)
            text.text[i] = '?';
    import_want_text(import, (struct bridge_row){.action.type = BRIDGE_LOG}, text);
}

void import_announce(struct import *import, const char *text)
{
    struct mcpx_draft draft = {.type = "chat"};
    mx_scoped_text payload = mx_formatted("{\"text\":%q}", text);

    if (import->owner.id.text)
        return;
    draft.payload = text_whole(&payload);
    for (size_t topic = 0; topic < import->config->topics; topic++)
        import_want_send(import, topic, &draft);
}

static bool is_about(struct mcpx_slice payload, struct mcpx_slice end)
{
    struct mcpx_slice method = mcpx_json_get(payload, "method");

    return method.len > end.len &&
           memcmp(method.text + method.len - end.len, end.text, end.len) == 0;
}

void import_notify_topic(struct import *import, size_t topic, const struct mcpx_draft *draft)
{
    struct bridge_row row = {.action = {.type = BRIDGE_SEND, .topic = topic, .draft = *draft},
                             .is_notice = true,
                             .is_change =
                                 is_about(draft->payload, MCPX_SLICE("/list_changed\"")) ||
                                 is_about(draft->payload, MCPX_SLICE("/resources/updated\""))};

    row.action.draft.type = "mcp/request";
    import_want(import, row);
}

void import_notify(struct import *import, struct mcpx_slice notice)
{
    const struct bridge_who *owner = &import->owner;
    struct mcpx_draft draft = {.payload = notice};

    if (owner->id.text) {
        if (is_about(notice, MCPX_SLICE("/list_changed\"")))
            return;
        draft.to = &owner->id;
        draft.to_count = 1;
        import_notify_topic(import, owner->topic, &draft);
        return;
    }
    for (size_t topic = 0; topic < import->config->topics; topic++)
        import_notify_topic(import, topic, &draft);
}

/* ---- outages ---- */

void import_give_up_for(struct import *import, struct mcpx_text why)
{
    mcpx_text_fini(&import->failure);
    import->failure = why;
    import->over = true;
    if (import->number == 0 || import->phase != IMPORT_RUNNING)
        return;
    import_say(import, "%s", &why);
    import_stop(import);
}

void import_stop(struct import *import)
{
    import->phase = IMPORT_STOPPING;
    import->idle_at = INT64_MAX;
    import_want(import, (struct bridge_row){.action.type = BRIDGE_STOP});
}

/* ---- messages for the server ---- */

static bool is_modern(const struct import *import)
{
    return import->handshake == IMPORT_PROBING || import->handshake == IMPORT_MODERN;
}

/* Appends `meta`, or a new one, with our token for theirs and what a server of 2026 wants. */
static void add_meta(const struct import *import, const struct bridge_call *call,
                     struct mcpx_slice meta, struct mcpx_slice token, struct mcpx_text *out)
{
    struct mcpx_slice own = mcpx_json_get(meta, IMPORT_META "clientCapabilities");
    mx_scoped_text version = mx_formatted("%q", import->version), level = {0};
    mx_scoped_text info = mx_formatted(IMPORT_CLIENT_INFO, mcpx_version());
    mx_scoped_text able = import_requester_capabilities(import, call, own);
    struct mcpx_json_change changes[5] = {{"progressToken", token}};
    size_t count = mcpx_json_get(meta, "progressToken").text ? 1 : 0;
    struct mcpx_json_change wanted[] = {
        {IMPORT_META "protocolVersion", mcpx_text_view(&version)},
        {IMPORT_META "clientInfo", mcpx_text_view(&info)},
        {IMPORT_META "clientCapabilities", mcpx_text_view(&able)},
        {IMPORT_META "logLevel", {0}}};

    if (call->level)
        mx_format(&level, "%q", bridge_log_name(call->level));
    wanted[3].value = mcpx_text_view(&level);
    for (size_t i = 0; is_modern(import) && i < sizeof wanted / sizeof *wanted; i++) {
        struct mcpx_slice is = mcpx_json_get(meta, wanted[i].name), value = wanted[i].value;

        if (value.len && (!is.text || (value.text == able.text && !mcpx_json_same(is, value))))
            changes[count++] = wanted[i];
    }
    mcpx_json_add_changed(out, meta, changes, count);
}

struct mcpx_text import_with_param(const struct mcpx_rpc *rpc, const char *name,
                                   struct mcpx_slice value)
{
    struct mcpx_json_change change = {name, value};
    mx_scoped_text params = {0};
    struct mcpx_text out = {0};

    mcpx_json_add_changed(&params, rpc->params, &change, 1);
    bridge_add_message(&out, rpc->text, (struct mcpx_slice){0}, "params",
                       mcpx_text_view(&params));
    return out;
}

/* ---- lines for the server ---- */

void import_write(struct import *import, struct mcpx_text line, int64_t call)
{
    bridge_flatten(&line);
    import_want_text(import, (struct bridge_row){.action.type = BRIDGE_WRITE, .call = call},
                     line);
}

void import_write_request(struct import *import, const struct bridge_call *call,
                          struct mcpx_slice payload)
{
    struct mcpx_slice params = mcpx_json_get(payload, "params");
    struct mcpx_slice meta = mcpx_json_get(params, "_meta");
    enum mcpx_json_type meta_type = mcpx_json_type(meta);
    bool changes_meta = mcpx_json_type(params) != MCPX_JSON_ARRAY &&
                        (meta_type == MCPX_JSON_ABSENT || meta_type == MCPX_JSON_OBJECT) &&
                        (is_modern(import) || mcpx_json_get(meta, "progressToken").text);
    mx_scoped_text id = mx_formatted("%s", call->number), new_meta = {0}, new_params = {0};
    struct mcpx_json_change changes[2] = {{"id", mcpx_text_view(&id)}};
    struct mcpx_text line = {0};

    if (changes_meta) {
        add_meta(import, call, meta, mcpx_text_view(&id), &new_meta);
        bridge_add_with(&new_params, params, "_meta", &new_meta);
        changes[1] = (struct mcpx_json_change){"params", mcpx_text_view(&new_params)};
    }
    mcpx_json_add_changed(&line, payload, changes, changes_meta ? 2 : 1);
    import_write(import, line, call->number);
}

struct bridge_call *import_request_about(struct import *import, enum import_purpose purpose,
                                         const char *method, struct mcpx_slice context,
                                         struct mcpx_slice params)
{
    struct bridge_call draft = {.purpose = purpose,
                                .written = true,
                                .method = mcpx_slice_of(method),
                                .context = context};
    const char *meta = is_modern(import) ? "\"_meta\":{}" : "";
    struct bridge_call *call;
    struct mcpx_text line = {0};

    if (purpose == IMPORT_HOUSEKEEPING)
        draft.due_ms = import->pool->now_ms + import->config->request_ms;
    call = bridge_calls_add(&import->calls, &draft);
    mx_format(&line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":%q,\"params\":{%s%s%s}}",
              call->number, method, meta, *meta && params.len ? "," : "", params);
    if (*meta) {
        import_write_request(import, call, mcpx_text_view(&line));
        mcpx_text_fini(&line);
    } else { /* there may be thousands */
        import_write(import, line, call->number);
    }
    if (purpose == IMPORT_HOUSEKEEPING &&
        import->calls.count - import->calls.held > import->config->calls_max) {
        bridge_calls_drop(&import->calls, call); /* the answer is not needed */
        call = NULL;
    }
    return call;
}

struct bridge_call *import_request(struct import *import, enum import_purpose purpose,
                                   const char *method, struct mcpx_slice params)
{
    return import_request_about(import, purpose, method, (struct mcpx_slice){0}, params);
}

void import_cancel(struct import *import, const struct bridge_call *call, const char *reason)
{
    import_write(import,
                 mx_formatted("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                              "\"params\":{\"requestId\":%s,\"reason\":%q}}",
                              call->number, reason),
                 0);
}
