/*
 * tell.c - what an import says that is no answer: sentences for the log, chat for the
 * topics, and the server's notifications. What one participant's own server says is that
 * participant's alone; its lists are not told of, because everybody sees those of the shared one.
 */
#include "tools/mcpx-bridge/import/tell.h"

#include "tools/mcpx-bridge/import/state.h"

#include <stdarg.h>
#include <stdio.h>

void import_say(struct import *import, const char *format, ...)
{
    struct mcpx_slice owner = import->setup.owner.id;
    char text[501];
    va_list arguments;
    int len = 0;

    if (owner.text)
        len = snprintf(text, sizeof text, "for %.*s: ", (int)owner.len, owner.text);
    va_start(arguments, format);
    vsnprintf(text + len, sizeof text - (size_t)len, format, arguments);
    va_end(arguments);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    import->port.log(import->port.user, text);
}

void import_announce(struct import *import, const char *text)
{
    struct mcpx_draft draft = {.type = "chat"};

    if (import->setup.owner.id.text)
        return;
    mcpx_text_reset(&import->text);
    mcpx_text_puts(&import->text, "{");
    mcpx_json_add_member(&import->text, "text", mcpx_slice_of(text));
    mcpx_text_puts(&import->text, "}");
    draft.payload = mcpx_text_view(&import->text);
    for (size_t topic = 0; topic < import->config.topics && !import->text.failed; topic++)
        if (import->port.may(import->port.user, topic, MCPX_SLICE("chat")))
            import->port.send(import->port.user, topic, &draft, NULL);
}

void import_tell_topic(struct import *import, size_t topic, struct mcpx_draft *draft)
{
    enum mcpx_err err;

    draft->type = "mcp/request";
    err = import->port.send(import->port.user, topic, draft, NULL);
    if (err && err != import->notice_err)
        import_say(import, "notifications of the server cannot be sent: %s",
                   mcpx_strerror(err));
    import->notice_err = err;
}

static bool is_of_lists(struct mcpx_slice payload)
{
    static const struct mcpx_slice end = {"/list_changed\"", 14};
    struct mcpx_slice method = mcpx_json_get(payload, "method");

    return method.len > end.len &&
           memcmp(method.text + method.len - end.len, end.text, end.len) == 0;
}

void import_tell(struct import *import, struct mcpx_draft *draft)
{
    const struct import_who *owner = &import->setup.owner;

    if (owner->id.text) {
        if (is_of_lists(draft->payload))
            return;
        draft->to = &owner->id;
        draft->to_count = 1;
        import_tell_topic(import, owner->topic, draft);
        return;
    }
    for (size_t topic = 0; topic < import->config.topics; topic++)
        import_tell_topic(import, topic, draft);
}
