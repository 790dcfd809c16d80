/*
 * tell.c - messages to the client, composed around parts of received messages: an answer keeps its
 * bytes, except for the client's id. One message is one line, so line breaks between tokens become
 * spaces; JSON strings hold no line breaks.
 */
#include "tools/mcpx-bridge/expose/state.h"

void expose_tell(struct expose *x, struct mcpx_text message)
{
    bridge_flatten(&message);
    bridge_output_put(&x->output, (struct bridge_row){.action.type = BRIDGE_WRITE}, message);
}

void expose_note_made(struct expose *x, struct mcpx_text sentence)
{
    bridge_output_put(&x->output, (struct bridge_row){.action.type = BRIDGE_LOG}, sentence);
}

struct mcpx_slice expose_quote(char *buf, struct mcpx_slice text)
{
    enum { SHOWN = 200 };
    struct mcpx_slice end = text.len < SHOWN ? MCPX_SLICE("'") : MCPX_SLICE("...'");
    size_t len = text.len < SHOWN ? text.len : SHOWN;

    while (len < text.len && len > 0 && ((unsigned char)text.text[len] & 0xc0) == 0x80)
        len--;
    buf[0] = '\'';
    if (len)
        memcpy(buf + 1, text.text, len);
    memcpy(buf + 1 + len, end.text, end.len);
    return (struct mcpx_slice){buf, 1 + len + end.len};
}

/*
 * Appends a result with the members that 2026-07-28 requires and older servers leave out. Grants
 * say who may read, so no cache is shared; a result that is not complete is not cached at all.
 */
static void add_modern(struct mcpx_text *out, struct mcpx_slice method,
                       struct mcpx_slice result)
{
    struct mcpx_slice type = mcpx_json_get(result, "resultType"), none = {0};
    struct mcpx_slice ttl = mcpx_json_get(result, "ttlMs");
    bool is_cacheable =
        bridge_is_any(method, "tools/list", "resources/list", "resources/templates/list",
                      "prompts/list", "resources/read", "server/discover");
    bool is_complete = !type.text || bridge_is(type, "\"complete\"");
    struct mcpx_json_change changes[] = {
        {"resultType", type.text ? type : MCPX_SLICE("\"complete\"")},
        {"ttlMs", !is_complete ? none
                  : ttl.text   ? ttl
                               : MCPX_SLICE("0")},
        {"cacheScope", is_complete ? MCPX_SLICE("\"private\"") : none}};

    mcpx_json_add_changed(out, result, changes, is_cacheable ? 3 : 1);
}

struct mcpx_text expose_answer_make(const struct expose_request *request,
                                    struct mcpx_call_answer answer, struct mcpx_slice message)
{
    const struct mcpx_json_change absent = {"code", MCPX_SLICE("-32602")};
    struct mcpx_slice method = request->rpc->method;
    mx_scoped_text modern = {0};
    struct mcpx_text out = {0};

    if (request->modern && !answer.is_error && mcpx_json_type(answer.text) == MCPX_JSON_OBJECT)
        add_modern(&modern, method, answer.text);
    /* The former code of an unknown resource; contract settings use it otherwise. */
    if (request->modern && answer.is_error && !bridge_is(method, "tools/call") &&
        bridge_is(mcpx_json_get(answer.text, "code"), "-32002"))
        mcpx_json_add_changed(&modern, answer.text, &absent, 1);
    if (modern.len)
        answer.text = mcpx_text_view(&modern);
    bridge_add_message(&out, message.text ? message : MCPX_SLICE("{}"), request->rpc->id,
                       answer.is_error ? "error" : "result", answer.text);
    return out;
}

void expose_tell_result(struct expose *x, const struct expose_request *request,
                        struct mcpx_text result)
{
    struct mcpx_call_answer answer = {false, mcpx_text_view(&result)};

    expose_tell_answer(x, request, answer, (struct mcpx_slice){0});
    mcpx_text_fini(&result);
}

void expose_tell_error_of(struct expose *x, struct mcpx_slice id, int code,
                          struct mcpx_text message, struct mcpx_text data)
{
    struct mcpx_text out = {0};

    bridge_add_error(&out, id, code, mcpx_text_view(&message), &data);
    expose_tell(x, out);
    mcpx_text_fini(&message);
    mcpx_text_fini(&data);
}

bool expose_lacks_tasks(struct expose *x, const struct expose_request *request)
{
    struct mcpx_slice can = expose_meta(request->rpc, EXPOSE_META "clientCapabilities");

    if (!request->modern ||
        mcpx_json_get(mcpx_json_get(can, "extensions"), EXPOSE_META "tasks").text)
        return false;
    expose_tell_error_of(
        x, request->rpc->id, BRIDGE_NO_CAPABILITY,
        mx_formatted("%s", "the request does not declare the tasks extension"),
        mx_formatted("{\"requiredCapabilities\":{\"extensions\":{\"%s\":{}}}}",
                     EXPOSE_META "tasks"));
    return true;
}

bool expose_may_tell(struct expose *x)
{
    if (x->config.answers_only)
        return false;
    if (x->view.is_behind(x->view.user)) {
        if (x->untold++ == 0)
            expose_note(x, "the client does not read: notifications are left out "
                           "until it does");
        return false;
    }
    if (x->untold)
        expose_note_text(x, "%s notifications were left out, the client reads again",
                         x->untold);
    x->untold = 0;
    return true;
}

void expose_tell_notice(struct expose *x, const char *method, struct mcpx_text params)
{
    struct mcpx_text out = {0};

    bridge_add_notice(&out, method, &params);
    expose_tell(x, out);
    mcpx_text_fini(&params);
}

bool expose_wants_log(const struct expose *x, struct mcpx_slice participant,
                      struct mcpx_slice level)
{
    unsigned number = bridge_log_level(level);
    const struct bridge_call *call = x->calls.first;

    if (x->client.initialized &&
        (!x->client.log_level || bridge_log_passes(x->client.log_level, number)))
        return true;
    while (call && !(bridge_log_passes(call->level, number) && !call->state.len &&
                     mcpx_slice_equal(call->who.id, participant)))
        call = call->next;
    return call != NULL;
}

/* ---- the bridge's own description ---- */

struct mcpx_text expose_self(const struct expose *x)
{
    return mx_formatted("{\"name\":\"mcpx-bridge\",\"title\":%q,\"version\":%q}",
                        x->config.topic, mcpx_version());
}
