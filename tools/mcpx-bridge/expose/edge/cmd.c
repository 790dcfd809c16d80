/*
 * cmd.c - "mcpx-bridge expose": from the words of the command line to a job.
 */
#include "tools/mcpx-bridge/verbs.h"

#include "tools/mcpx-bridge/expose/edge/http.h"
#include "tools/mcpx-bridge/expose/edge/run.h"

#include <string.h>

const struct option_row expose_option_rows[] = {
    {"--names", "prefixed|plain", VALUE_CHOICE, 0,
     "what tools and prompts are called: PARTICIPANT__NAME (the default), or their own names "
     "where these are unique"},
    {"--only", "PATTERN", VALUE_TEXT, OPTION_REPEATED,
     "show only this: a participant with all it has, or tools, prompts and resources by the "
     "name the client sees, such as 'files__read_*'; * stands for anything"},
    {"--timeout", "S", VALUE_SECONDS, 0,
     "how long a call may take, counted anew from each progress notification; 600 when not "
     "given, 0 for ever"},
    {"--proposal-timeout", "S", VALUE_SECONDS, 0,
     "how long a proposal waits for somebody to decide; 600 when not given, 0 for ever"},
    {"--heartbeat", "S", VALUE_SECONDS, 0,
     "pause between progress notifications while a proposal waits; 15 when not given"},
    BRIDGE_TERMS_OPTIONS,
    {"--http", "HOST:PORT", VALUE_TEXT, 0,
     "serve POST /mcp by HTTP in place of standard input, on this machine alone: HOST is "
     "localhost, 127.0.0.1 or [::1], PORT 0 any that is free"},
    {.name = NULL},
};

const char expose_help[] =
    "Is an MCP server on standard input and output that has what all servers of the topic "
    "have: their tools, resources and prompts in one list each, calls going to whoever has "
    "the thing. Clients of the protocol of 2026-07-28 and older ones are served.\n\n"
    "A call that the grants do not cover, but that may be proposed, becomes a proposal; the "
    "client waits until somebody acts on it, and a client that asked for progress is told so "
    "every few seconds, which keeps it from giving up. What may neither be requested nor "
    "proposed is not listed.\n\n"
    "With --http a message is the body of a POST, and its answer comes back with it; the "
    "address is printed as \"listening http://...\". All clients act as this one participant, "
    "so whoever can reach the port can do what it may. They hear answers and nothing else.\n\n"
    "Ends when standard input ends (not with --http), and on SIGTERM, SIGINT, SIGHUP and "
    "SIGQUIT, with what the "
    "client still waited for taken back.";

enum {
    REQUEST_MS = 600000,
    PROPOSAL_MS = 600000,
    HEARTBEAT_MS = 15000,
    HEARTBEAT_MIN_MS = 100
};

/* What no participant and no name could fit is refused. */
static int read_only(const struct arguments *arguments, const char **only, size_t *count)
{
    const struct option_word *word;

    *count = 0;
    for (size_t at = 0; (word = arguments_next(arguments, "--only", &at));) {
        if (!mcpx_topic_name_is_valid(mcpx_slice_of(word->value)))
            return fail_with(
                STATUS_USAGE, "expose",
                "--only wants a participant or the name of a tool, prompt or resource as the "
                "client sees it, * standing for any bytes: 1 to %d bytes of UTF-8 without "
                "control characters",
                MCPX_ID_MAX);
        only[(*count)++] = word->value;
    }
    return STATUS_OK;
}

/* Fills what the command line says of the server itself. The job keeps `address` and `only`. */
static int read_options(const struct arguments *arguments, struct sockaddr_storage *address,
                        const char **only, struct expose_job *job)
{
    const char *names = arguments_value(arguments, "--names");
    const char *http = arguments_value(arguments, "--http");

    job->expose.heartbeat_ms = arguments_ms(arguments, "--heartbeat", HEARTBEAT_MS);
    if (job->expose.heartbeat_ms < HEARTBEAT_MIN_MS)
        return fail_with(STATUS_USAGE, "expose", "--heartbeat must be 0.1 or more");
    if (http && !expose_http_address(http, address))
        return fail_with(STATUS_USAGE, "expose",
                         "--http wants an address of this machine, such as 127.0.0.1:8808, "
                         "localhost:0 or [::1]:8808: everybody who reaches it acts as the "
                         "participant");
    job->http = http ? address : NULL;
    job->expose.answers_only = http != NULL;
    job->expose.only = only;
    job->expose.plain = names && strcmp(names, "plain") == 0;
    job->expose.request_ms = arguments_ms(arguments, "--timeout", REQUEST_MS);
    job->expose.proposal_ms = arguments_ms(arguments, "--proposal-timeout", PROPOSAL_MS);
    return read_only(arguments, only, &job->expose.only_count);
}

int cmd_expose(const struct arguments *arguments)
{
    const char *only[WORDS_MAX];
    struct sockaddr_storage address;
    MX_SCOPED(bridge_terms_fini) struct bridge_terms terms = {0};
    MX_SCOPED(connection_fini) struct connection connection = {0};
    struct expose_job job = {.where = &connection};
    int status = read_options(arguments, &address, only, &job);

    if (status == STATUS_OK)
        status = bridge_terms_read("expose", arguments, &terms);
    if (status == STATUS_OK)
        status = connection_read(arguments, CONNECTION_PATIENT,
                                 arguments_ms(arguments, "--wait", 0), &connection);
    if (status != STATUS_OK)
        return status;
    job.client = connection.client;
    job.client.routing = "all";
    job.client.history = 0;
    job.client.session.instance = true;
    job.expose.topic = connection.client.topic;
    job.expose.terms = terms.terms ? &terms : NULL;
    return expose_run(&job);
}
