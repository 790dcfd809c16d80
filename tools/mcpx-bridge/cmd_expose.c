/*
 * cmd_expose.c - "mcpx-bridge expose": from the words of the command line to a job.
 * Includes verbs.h, connect.h, expose_edge.h only.
 */
#include "tools/common/connect.h"
#include "tools/mcpx-bridge/expose_edge.h"
#include "tools/mcpx-bridge/verbs.h"

#include <string.h>

enum { REQUEST_MS = 600000, PROPOSAL_MS = 600000, BEAT_MS = 15000, BEAT_MIN_MS = 100 };

/* Returns false, having complained, for what no participant and no name could fit. */
static bool read_only(const struct arguments *arguments, const char **only, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < arguments->option_count; i++) {
        const char *value = arguments->options[i].value;

        if (strcmp(arguments->options[i].option->name, "--only") != 0)
            continue;
        if (!mcpx_topic_name_is_valid(mcpx_slice_of(value))) {
            complain(
                "expose",
                "--only wants a participant or the name of a tool, prompt or resource as the "
                "client sees it, * standing for any bytes: 1 to %d bytes of UTF-8 without "
                "control characters",
                MCPX_ID_MAX);
            return false;
        }
        only[(*count)++] = value;
    }
    return true;
}

int cmd_expose(const struct arguments *arguments)
{
    const char *names = arguments_value(arguments, "--names");
    const char *only[WORDS_MAX];
    struct connection connection;
    struct expose_job job = {0};
    int status;

    job.expose.beat_ms = arguments_ms(arguments, "--heartbeat", BEAT_MS);
    if (job.expose.beat_ms < BEAT_MIN_MS) {
        complain("expose", "--heartbeat must be 0.1 or more");
        return STATUS_USAGE;
    }
    if (!read_only(arguments, only, &job.expose.only_count))
        return STATUS_USAGE;
    status = connection_read_patiently(arguments, &connection);
    if (status == STATUS_OK) {
        job.client = connection.client;
        job.where = &connection;
        job.client.routing = "all";
        job.client.history = 0;
        job.client.session.instance = true;
        job.expose.topic = connection.client.topic;
        job.expose.plain = names && strcmp(names, "plain") == 0;
        job.expose.only = only;
        job.expose.request_ms = arguments_ms(arguments, "--timeout", REQUEST_MS);
        job.expose.proposal_ms = arguments_ms(arguments, "--proposal-timeout", PROPOSAL_MS);
        status = expose_run(&job);
    }
    connection_fini(&connection);
    return status;
}
