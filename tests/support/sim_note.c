/*
 * sim_note.c - a failing run is only worth its transcript: the last few hundred lines are kept in
 * a ring and printed once.
 */
#include "tests/support/sim_state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void sim_say(struct sim *sim, const char *format, ...)
{
    char *line = sim->lines[sim->line_count++ % SIM_LINES];
    int len =
        snprintf(line, SIM_LINE, "%5" PRIu64 " %8" PRId64 "  ", sim->step, sim->now.mono_ms);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line + len, (size_t)(SIM_LINE - len), format, arguments);
    va_end(arguments);
}

static void print_config(const struct hub_config *config)
{
    fprintf(stderr,
            "history %zu envelopes, %zu bytes, %" PRId64 " ms; backlog %zu; message %zu; "
            "%" PRIu64 " messages, %" PRIu64 " bytes per minute\n",
            config->history_count, config->history_bytes, config->history_age_ms,
            config->backlog_bytes, config->message_bytes, config->messages_per_minute,
            config->bytes_per_minute);
}

void sim_require(struct sim *sim, bool holds, const char *format, ...)
{
    size_t first = sim->line_count > SIM_LINES ? sim->line_count - SIM_LINES : 0;
    va_list arguments;

    if (holds)
        return;
    fprintf(stderr, "\n%s\n", sim->name);
    print_config(&sim->config);
    for (size_t i = first; i < sim->line_count; i++)
        fprintf(stderr, "%s\n", sim->lines[i % SIM_LINES]);
    fprintf(stderr, "\nstep %" PRIu64 ": ", sim->step);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nreplay with %s\n", sim->name);
    abort();
}
