/*
 * grants.c - one kind for each grant an import cannot do without.
 */
#include "tools/mcpx-bridge/import/edge/run.h"

#include "lib/edge/alarm.h"
#include "tools/common/command.h"

static bool may(const struct mcpx_session *session, struct mcpx_slice text)
{
    struct mcpx_kind kind;
    struct mcpx_question question = {.kind = &kind, .wall_ms = mx_clock_now().wall_ms};

    return mcpx_kind_parse(text, &kind, NULL) == MCPX_OK &&
           mcpx_session_may(session, &question);
}

void grants_warn(const struct mcpx_session *session)
{
    static const struct {
        const char *kind, *grant, *without;
    } rows[] = {
        {"mcp/response:tools/call", "mcp/response:*", "nobody gets an answer"},
        {"mcp/request:notifications/progress", "mcp/request:notifications/*",
         "progress and changes are told to nobody"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!may(session, mcpx_slice_of(rows[i].kind)))
            complain("import", "we may not send %s: %s; grant \"%s\"", rows[i].kind,
                     rows[i].without, rows[i].grant);
}
