/*
 * channel.c - Claude Code's channel (--channel), which it has in revisions before 2026-07-28: what
 * room__wait would give is pushed, and permission prompts are proposed. A model reads `content` in
 * a tag whose attributes are `meta`: so the content is a JSON object without "<", and a value that
 * could end an attribute is left out. The client asks its own user meanwhile: it hears what another
 * participant decided, and nothing of a proposal that expires, is withdrawn, or cannot be sent.
 */
#include "tools/mcpx-bridge/expose/state.h"

#include "lib/base/digits.h"

void expose_channel_announce(const struct expose *x, struct mcpx_text *out)
{
    struct mcpx_kind kind;
    struct mcpx_question question = {.kind = &kind, .wall_ms = x->now.wall_ms};

    if (x->config.channel &&
        mcpx_kind_parse(MCPX_SLICE("mcp/proposal:" EXPOSE_PERMISSION), &kind, NULL) == MCPX_OK)
        mx_format(out, ",\"experimental\":{\"claude/channel\":{}%s}",
                  x->view.may(x->view.user, &question) ? ",\"claude/channel/permission\":{}"
                                                       : "");
}

/* Pushes a message of a page. */
static void push(struct expose *x, struct mcpx_slice page, struct mcpx_slice message)
{
    static const char *const names[] = {"from", "id", "kind"};
    mx_scoped_text meta = {0}, content = {0};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mx_scoped_text value = mx_formatted("%s", mcpx_json_get(message, names[i]));

        if (!strpbrk(value.text, "<>&'\\")) /* a quote has a backslash */
            mx_format(&meta, "%s\"%s\":%s", meta.len ? "," : "", names[i], &value);
    }
    mx_format(&content, "{\"note\":%s,\"missed\":%s,\"message\":", mcpx_json_get(page, "note"),
              mcpx_json_get(page, "missed"));
    while (message.text) {
        mcpx_text_slice(&content, mx_cut_at(&message, '<'));
        mcpx_text_puts(&content, message.text ? "\\u003c" : "}");
    }
    expose_tell_notice(x, "notifications/claude/channel",
                       mx_formatted("{\"content\":%q,\"meta\":{%s}}", &content, &meta));
}

void expose_channel_tell(struct expose *x)
{
    struct room_query query = {.after = mcpx_text_view(&x->room.pushed),
                               .limit = ROOM_SAID_MAX,
                               .reader = x->view.self(x->view.user)};
    mx_scoped_text text = room_log_read(&x->room.log, &query, false);
    struct mcpx_slice page = mcpx_text_view(&text);

    MCPX_JSON_EACH(walk, mcpx_json_get(page, "messages"))
        push(x, page, walk.value);
    mcpx_text_reset(&x->room.pushed);
    mcpx_json_add_unescaped(&x->room.pushed, mcpx_json_get(page, "after"));
    if (!bridge_is(mcpx_json_get(page, "left_out"), "0"))
        expose_touch(x); /* for the rest */
}

void expose_channel_ask(struct expose *x, struct mcpx_slice prompt)
{
    static const char again[] = "another prompt has its id";
    enum { CALLS_MAX = 256, ID_MAX = 64 };
    mx_scoped_text tool = {0}, params = {0};
    struct bridge_call from = {.by_channel = true,
                               .id = mcpx_json_get(prompt, "request_id"),
                               .method = MCPX_SLICE(EXPOSE_PERMISSION),
                               .context = room_argument(prompt, "tool_name", &tool),
                               .who.id = x->view.self(x->view.user)};

    if (!x->config.channel || mcpx_json_type(from.id) != MCPX_JSON_STRING ||
        from.id.len > ID_MAX || !from.context.text)
        return;
    BRIDGE_EACH_CALL(call, &x->calls) { /* its answer would be taken for this one's */
        if (!call->by_channel || !mcpx_json_same(call->id, from.id))
            continue;
        expose_want(x, BRIDGE_FORGET, mcpx_text_view(&call->sent_in));
        expose_send_withdrawal(x, from.who.id, mcpx_text_view(&call->sent_in), again);
        expose_fail(x, call, MCPX_CAUSE_UNAVAILABLE, mcpx_slice_of(again), NULL);
    }
    if (x->calls.count >= CALLS_MAX)
        return;
    mx_format(&params, "{\"name\":%q,\"input\":%s}", from.context, prompt);
    from.params = mcpx_text_view(&params);
    expose_propose(x, bridge_calls_add(&x->calls, &from));
}
