/*
 * input.c - what the server is given to read: a line each, under numbers of ours, because every
 * participant counts its requests from 0 for itself.
 */
#include "tools/mcpx-bridge/import/input.h"

#include "lib/core/format.h"
#include "tools/mcpx-bridge/import/rewrite.h"
#include "tools/mcpx-bridge/import/state.h"
#include "tools/mcpx-bridge/import/want.h"

#include <stdlib.h>

/* Resources that a server is told of in one turn of the loop. */
enum { AT_ONCE = 64 };

static void blank(struct mcpx_text *line, char byte)
{
    char *at = line->text, *end = at + line->len;

    while (at < end && (at = memchr(at, byte, (size_t)(end - at))) != NULL)
        *at++ = ' ';
}

/* White space between tokens may hold newlines; on the pipe they would end the message. */
static void flatten(struct mcpx_text *line)
{
    blank(line, '\n');
    blank(line, '\r');
}

bool import_write(struct import *import, int64_t call)
{
    struct bridge_action action = {.type = BRIDGE_WRITE};

    if (import->line.failed) {
        bridge_output_lose(&import->setup.shared->output);
        return false;
    }
    flatten(&import->line);
    action.text = mcpx_text_view(&import->line);
    return import_want(import, (struct bridge_row){.action = action, .call = call});
}

void import_request(struct import *import, enum import_purpose purpose, const char *method,
                    struct mcpx_slice params)
{
    struct import_call draft = {.purpose = purpose,
                                .written = true,
                                .deadline_ms = INT64_MAX,
                                .method = mcpx_slice_of(method)};
    struct import_call *call = import_calls_add(&import->calls, &draft);
    bool modern = import->era == IMPORT_PROBING || import->era == IMPORT_MODERN;

    if (!call)
        return;
    mcpx_text_reset(&import->line);
    mx_format(&import->line, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":%q,\"params\":{",
              call->id, method);
    if (modern)
        import_add_meta(&import->line, import->version, import->config.capabilities);
    mx_format(&import->line, "%s%s}}", modern && params.len ? "," : "", params);
    if (!import_write(import, call->id))
        import_calls_drop(&import->calls, call);
}

void import_request_about(struct import *import, const char *method, struct mcpx_slice uri)
{
    mcpx_text_reset(&import->text);
    mcpx_json_add_member(&import->text, "uri", uri);
    import_request(import, IMPORT_HOUSEKEEPING, method, mcpx_text_view(&import->text));
}

void import_unsubscribe_some(struct import *import)
{
    struct import_sub *sub;

    for (int i = 0; i < AT_ONCE && (sub = import_subs_take_ended(&import->subs)); i++) {
        if (import_is_ready(import) && !import_subs_are_of(&import->subs, sub->uri))
            import_request_about(import, "resources/unsubscribe", sub->uri);
        free(sub);
    }
}

void import_cancel(struct import *import, const struct import_call *call, const char *reason)
{
    mcpx_text_reset(&import->line);
    mx_format(&import->line,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
              "\"params\":{\"requestId\":%s,\"reason\":%q}}",
              call->id, reason);
    import_write(import, 0);
}
