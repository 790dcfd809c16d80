/*
 * calls.c - the memory of an edge's calls, and of the records that nobody has taken yet.
 */
#include "lib/contract/call.h"

#include "lib/contract/handshake_tool.h"
#include "lib/core/format.h"
#include "lib/core/room.h"

#include <stdlib.h>

/* The tool of the handshake, as a set of tools like a server's. */
static bool add_own_tool(struct mcpx_calls *calls)
{
    struct mcpx_text list = {0};
    bool is_added = false;

    calls->shelf = mcpx_shelf_new();
    if (calls->shelf)
        calls->own = mcpx_tools_new(calls->shelf, (struct mcpx_slice){0});
    mx_format(&list, "{\"tools\":[%s]}", mx_handshake_tool(calls->terms));
    if (calls->own && !list.failed)
        is_added = mcpx_tools_add(calls->own, mcpx_text_view(&list), NULL) == MCPX_OK;
    mcpx_text_fini(&list);
    return is_added;
}

struct mcpx_calls *mcpx_calls_new(const struct mcpx_calls_options *options)
{
    struct mcpx_calls *calls = (struct mcpx_calls *)calloc(1, sizeof *calls);
    bool is_made;

    if (!calls)
        return NULL;
    calls->options = *options;
    calls->terms = options->terms;
    calls->wrapper = mcpx_wrapper_new(options->contracts);
    calls->ids = mcpx_ids_new();
    is_made = calls->wrapper && calls->ids;
    if (is_made && options->side == MCPX_SIDE_SERVER && calls->terms->has_handshake)
        is_made = add_own_tool(calls);
    if (!is_made) {
        mcpx_calls_free(calls);
        return NULL;
    }
    return calls;
}

static void lines_fini(struct mx_lines *lines)
{
    for (size_t i = 0; i < lines->made; i++)
        mcpx_text_fini(&lines->lines[i].text);
    free(lines->lines);
}

void mcpx_calls_free(struct mcpx_calls *calls)
{
    if (!calls)
        return;
    for (struct mcpx_call *call = calls->first, *next; call; call = next) {
        next = call->to;
        mx_call_free(call);
    }
    mcpx_wrapper_free(calls->wrapper);
    mcpx_ids_free(calls->ids);
    mcpx_tools_free(calls->own);
    mcpx_shelf_free(calls->shelf);
    mcpx_schema_report_fini(&calls->report);
    mx_flaw_fini(&calls->flaw);
    mcpx_text_fini(&calls->handshake);
    mcpx_text_fini(&calls->plain);
    mcpx_text_fini(&calls->invoked);
    mcpx_text_fini(&calls->context);
    mcpx_text_fini(&calls->part);
    mcpx_text_fini(&calls->params);
    mcpx_text_fini(&calls->answer);
    lines_fini(&calls->lines);
    free(calls);
}

size_t mcpx_calls_count(const struct mcpx_calls *calls)
{
    return calls->count;
}

struct mcpx_call *mx_call_new(void)
{
    return (struct mcpx_call *)calloc(1, sizeof(struct mcpx_call));
}

void mx_call_free(struct mcpx_call *call)
{
    if (!call)
        return;
    mcpx_schema_unref(call->input);
    mcpx_schema_unref(call->output);
    mx_arena_fini(&call->arena);
    free(call);
}

bool mx_call_keep(struct mcpx_call *call, struct mcpx_slice text, struct mcpx_slice *out)
{
    if (!text.text)
        return true;
    *out = mx_arena_copy(&call->arena, text);
    return out->text != NULL;
}

void mx_call_enter(struct mcpx_calls *calls, struct mcpx_call *call)
{
    call->to = calls->first;
    if (call->to)
        call->to->from = call;
    calls->first = call;
    calls->count++;
}

void mx_call_leave(struct mcpx_calls *calls, struct mcpx_call *call)
{
    if (call->to)
        call->to->from = call->from;
    if (call->from)
        call->from->to = call->to;
    else
        calls->first = call->to;
    calls->count--;
}

struct mcpx_text *mx_lines_next(struct mx_lines *lines, enum mcpx_record which)
{
    struct mx_line *grown = (struct mx_line *)mx_room((void *)lines->lines, lines->count,
                                                      &lines->room, sizeof *grown);
    struct mx_line *line;

    if (!grown)
        return NULL;
    lines->lines = grown;
    line = &grown[lines->count];
    if (lines->count == lines->made) {
        *line = (struct mx_line){0};
        lines->made++;
    }
    lines->count++;
    mcpx_text_reset(&line->text);
    line->which = which;
    return &line->text;
}

void mx_lines_cut(struct mx_lines *lines, size_t count)
{
    lines->count = count;
}

bool mcpx_calls_next_record(struct mcpx_calls *calls, enum mcpx_record *which,
                            struct mcpx_slice *line)
{
    struct mx_lines *lines = &calls->lines;

    if (lines->head == lines->count) {
        lines->head = lines->count = 0;
        return false;
    }
    *which = lines->lines[lines->head].which;
    *line = mcpx_text_view(&lines->lines[lines->head].text);
    lines->head++;
    return true;
}
