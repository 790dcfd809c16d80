/*
 * report.c - lines for the person or program that started the guard. They hold texts of other
 * participants, so each line is made visible before it is written.
 */

#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpx-bridge/edge/loop.h"
#include "tools/mcpx-bridge/guard/edge/server.h"

#include <stdio.h>

/* Prints a line and finishes it. */
static void print(struct mcpx_text *line)
{
    mx_scoped_text shown = {0};

    text_shown(&shown, text_whole(line));
    if (shown.len)
        complain_in_lines(text_whole(&shown));
    mcpx_text_fini(line);
}

void guard_note_text(const struct guard_server *server, const char *event,
                     struct mcpx_text text)
{
    struct mcpx_text line = {0};

    guard_log_note(&line, server->json, event, text.text);
    mcpx_text_fini(&text);
    print(&line);
}

void guard_left_out(void *user, enum guard_verdict verdict, const struct guard_judge *judge)
{
    struct guard_server *server = user;
    struct mcpx_text line = {0};

    server->counts[verdict]++;
    if (guard_verdicts[verdict].routine && !server->verbose)
        return;
    if (!loop_may_log(mcpx_slice_of(guard_verdicts[verdict].name)))
        return;
    guard_log_left_out(&line, server->json, verdict, judge);
    print(&line);
}

void guard_summarise(const struct guard_server *server)
{
    struct mcpx_text line = {0};

    guard_log_summary(&line, server->json, server->counts);
    print(&line);
}

void guard_announce(const struct guard_server *server)
{
    mx_scoped_text line = {0};

    if (server->has_command) {
        guard_note(server, "listening", "%s, in front of %s port %s", server->url,
                   server->router.host, server->router.port);
        return;
    }
    if (server->json)
        guard_log_note(&line, true, "listening", server->url);
    else
        mx_format(&line, "listening %s\n", server->url);
    fwrite(line.text, 1, line.len, stdout);
    fflush(stdout);
}
