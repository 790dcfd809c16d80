/*
 * events.c - sorted by request, then by line, the events of one request stand together. Callers may
 * use an id again, so calls of one id are counted.
 */
#include "tools/mcpxctl/gate/events.h"

#include "lib/core/format.h"

#include <stdlib.h>

bool events_add(struct events *events, struct mcpx_slice text, size_t line)
{
    struct mcpx_slice name = mcpx_json_get(text, "eventName");
    struct event event = {EVENT_RESULT, line, mcpx_json_get(text, "requestId"), {NULL, 0}};

    if (events->count == events->size) {
        size_t size = events->size ? events->size * 2 : 64;
        struct event *list = realloc(events->list, size * sizeof *list);

        if (!list)
            return false;
        events->list = list;
        events->size = size;
    }
    if (mcpx_json_equals(name, MCPX_SLICE("mcp.alias.call"))) {
        event.type = EVENT_ALIAS;
        event.tool = mcpx_json_get(text, "canonicalToolName");
    } else if (mcpx_json_equals(name, MCPX_SLICE("mcp.tool.call"))) {
        event.type = EVENT_CALL;
        event.tool = mcpx_json_get(text, "toolName");
    }
    events->list[events->count++] = event;
    return true;
}

void events_fini(struct events *events)
{
    free(events->list);
    *events = (struct events){.count = 0};
}

static int compare(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    size_t len = a->request.len < b->request.len ? a->request.len : b->request.len;
    int order = memcmp(a->request.text, b->request.text, len);

    if (order == 0)
        order = (a->request.len > b->request.len) - (a->request.len < b->request.len);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

/*
 * The story of one request so far.
 *
 * alias   not followed by its call yet; NULL: none
 * call    the last one
 * open    calls without a result
 */
struct story {
    const struct event *alias;
    const struct event *call;
    size_t open;
};

/* The fault with the smallest line. */
struct fault {
    size_t line;
    const char *what;
};

static void note(struct fault *fault, const struct event *event, const char *what)
{
    if (fault->line == 0 || event->line < fault->line)
        *fault = (struct fault){event->line, what};
}

static void tell(struct story *story, const struct event *event, struct fault *fault)
{
    switch (event->type) {
    case EVENT_ALIAS:
        if (story->alias)
            note(fault, story->alias, "no call follows this alias");
        story->alias = event;
        break;
    case EVENT_CALL:
        if (story->alias && !mcpx_json_same(story->alias->tool, event->tool))
            note(fault, event, "the alias before this call is one of another tool");
        story->alias = NULL;
        story->call = event;
        story->open++;
        break;
    case EVENT_RESULT:
        if (story->open == 0)
            note(fault, event, "there is no call that this result ends");
        else
            story->open--;
        break;
    }
}

static void end(struct story *story, struct fault *fault)
{
    if (story->alias)
        note(fault, story->alias, "no call follows this alias");
    if (story->open > 0)
        note(fault, story->call, "this call has no result");
    *story = (struct story){NULL, NULL, 0};
}

bool events_pair_up(struct events *events, struct mcpx_text *out)
{
    struct story story = {NULL, NULL, 0};
    struct fault fault = {0, ""};

    if (events->count > 0)
        qsort(events->list, events->count, sizeof *events->list, compare);
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->list[i];

        if (i > 0 && !mcpx_slice_equal(event[-1].request, event->request))
            end(&story, &fault);
        tell(&story, event, &fault);
    }
    end(&story, &fault);
    if (fault.line > 0)
        mx_format(out, "line %s: %s", fault.line, fault.what);
    return fault.line == 0;
}

bool events_have(const struct events *events, struct mcpx_slice request)
{
    for (size_t i = 0; i < events->count; i++)
        if (events->list[i].type == EVENT_CALL &&
            mcpx_json_equals(events->list[i].request, request))
            return true;
    return false;
}
