/*
 * report.c - lines for the person or program that started the guard. They hold texts of other
 * participants, so each line is made visible before it is written.
 */

#include "tools/common/command.h"
#include "tools/common/visible.h"
#include "tools/mcpx-bridge/edge/loop.h"
#include "tools/mcpx-bridge/guard/edge/server.h"

#include <stdarg.h>
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

void guard_note(const struct guard_server *server, const char *event, const char *format, ...)
{
    struct mcpx_text line = {0};
    char text[600];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    guard_log_note(&line, server->options->json, event, text);
    print(&line);
}

void guard_left_out(void *user, enum guard_verdict verdict, const struct guard_judge *judge)
{
    struct guard_server *server = user;
    struct mcpx_text line = {0};

    server->counts[verdict]++;
    if (guard_verdicts[verdict].routine && !server->options->verbose)
        return;
    if (!loop_may_log(mcpx_slice_of(guard_verdicts[verdict].name)))
        return;
    guard_log_left_out(&line, server->options->json, verdict, judge);
    print(&line);
}

void guard_summarise(const struct guard_server *server)
{
    struct mcpx_text line = {0};

    guard_log_summary(&line, server->options->json, server->counts);
    print(&line);
}

void guard_announce(const struct guard_server *server)
{
    const struct guard_options *options = server->options;
    mx_scoped_text line = {0};

    if (server->has_command) {
        guard_note(server, "listening", "%s, in front of %s port %d", server->url,
                   options->router.host, options->router.port);
        return;
    }
    if (options->json)
        guard_log_note(&line, true, "listening", server->url);
    else
        mx_format(&line, "listening %s\n", server->url);
    fwrite(line.text, 1, line.len, stdout);
    fflush(stdout);
}
