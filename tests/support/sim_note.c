/*
 * sim_note.c - a failing run is only worth its transcript.
 */
#include "tests/support/sim_state.h"

#include <inttypes.h>
#include <stdio.h>

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
    va_list arguments;

    if (holds)
        return;
    fprintf(stderr, "\n%s\n", sim->name);
    print_config(&sim->config);
    va_start(arguments, format);
    run_notes_end(&sim->notes, sim->step, sim->name, format, arguments);
}
