/*
 * tell.c - what an import wants done, with the number of its server; and what it says that is no
 * answer: sentences for the log, chat for the topics, the server's notifications, and why there is
 * no server. What one participant's own server says is that participant's alone; its lists are not
 * told of, because everybody sees those of the shared one.
 */
#include "tools/mcpx-bridge/import/input.h"

#include "lib/json/json_write.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- wishes ---- */

void import_want(struct import *import, struct bridge_row row)
{
    row.action.server = import->setup.number;
    bridge_output_add(&import->setup.shared->output, &row);
}

void import_want_send(struct import *import, size_t topic, const struct mcpx_draft *draft)
{
    struct bridge_action action = {.type = BRIDGE_SEND, .topic = topic, .draft = *draft};

    import_want(import, (struct bridge_row){.action = action});
}

void import_want_drop(struct import *import, size_t topic, struct mcpx_slice request)
{
    struct bridge_action action = {.type = BRIDGE_DROP, .topic = topic, .about = request};

    import_want(import, (struct bridge_row){.action = action});
}

void import_want_kill(struct import *import)
{
    import_want(import, (struct bridge_row){.action.type = BRIDGE_KILL});
}

/* ---- words ---- */

void import_say(struct import *import, const char *format, ...)
{
    struct mcpx_slice owner = import->setup.owner.id;
    struct bridge_action action = {.type = BRIDGE_LOG};
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
    action.text = mcpx_slice_of(text);
    import_want(import, (struct bridge_row){.action = action});
}

void import_announce(struct import *import, const char *text)
{
    struct mcpx_draft draft = {.type = "chat"};

    if (import->setup.owner.id.text)
        return;
    mcpx_text_reset(&import->text);
    mx_format(&import->text, "{\"text\":%q}", text);
    draft.payload = text_whole(&import->text);
    for (size_t topic = 0; topic < import->config->topics; topic++)
        import_want_send(import, topic, &draft);
}

static bool is_about(struct mcpx_slice payload, struct mcpx_slice end)
{
    struct mcpx_slice method = mcpx_json_get(payload, "method");

    return method.len > end.len &&
           memcmp(method.text + method.len - end.len, end.text, end.len) == 0;
}

static bool is_of_lists(struct mcpx_slice payload)
{
    return is_about(payload, MCPX_SLICE("/list_changed\""));
}

void import_tell_topic(struct import *import, size_t topic, struct mcpx_draft *draft)
{
    struct bridge_action action = {.type = BRIDGE_SEND, .topic = topic};

    draft->type = "mcp/request";
    action.draft = *draft;
    import_want(import,
                (struct bridge_row){
                    .action = action,
                    .is_notice = true,
                    .is_again = is_of_lists(draft->payload) ||
                                is_about(draft->payload, MCPX_SLICE("/resources/updated\""))});
}

void import_told(struct import *import, enum mcpx_err err)
{
    if (err && err != import->notice_err)
        import_say(import, "notifications of the server cannot be sent: %s",
                   mcpx_strerror(err));
    import->notice_err = err;
}

void import_tell(struct import *import, struct mcpx_draft *draft)
{
    const struct bridge_who *owner = &import->setup.owner;

    if (owner->id.text) {
        if (is_of_lists(draft->payload))
            return;
        draft->to = &owner->id;
        draft->to_count = 1;
        import_tell_topic(import, owner->topic, draft);
        return;
    }
    for (size_t topic = 0; topic < import->config->topics; topic++)
        import_tell_topic(import, topic, draft);
}

/* ---- why there is no server ---- */

void import_outage_note(struct import *import, const struct mcpx_child_report *report)
{
    mcpx_text_reset(&import->outage);
    mx_format(&import->outage, "the server is gone: %s",
              report->text ? report->text : "it ended");
    mcpx_text_reset(&import->outage_data);
    mcpx_text_puts(&import->outage_data, "{");
    if (report->signal)
        mx_format(&import->outage_data, "\"signal\":%s,", report->signal);
    else if (report->code >= 0)
        mx_format(&import->outage_data, "\"code\":%s,", report->code);
    mx_format(&import->outage_data, "\"reason\":%q}", report->text ? report->text : "ended");
}

void import_give_up(struct import *import, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(import->failure, sizeof import->failure, format, arguments);
    va_end(arguments);
    import->over = true;
}

const char *import_failure(const struct import *import)
{
    return import->failure[0] ? import->failure : NULL;
}

const char *import_outage(const struct import *import)
{
    return import_is_ready(import) ? NULL : import->outage.text;
}
