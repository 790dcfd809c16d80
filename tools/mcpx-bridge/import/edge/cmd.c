/* cmd.c - "mcpx-bridge import": from the words of the command line to a job. */
#include "tools/mcpx-bridge/verbs.h"

#include "lib/json/json_write.h"
#include "tools/mcpx-bridge/import/pool.h"

#include <mcpx/json.h>

const struct option_row import_option_rows[] = {
    {"--restart", NULL, VALUE_NONE, 0,
     "start the server again when it ends, after a pause that grows (the default)"},
    {"--no-restart", NULL, VALUE_NONE, 0, "end with exit code 1 when the server ends"},
    {"--line-max", "BYTES", VALUE_NUMBER, 0,
     "longest line that the server may write, 67108864 when not given. For a longer one the "
     "requester gets an error, unless several wait and the line does not begin with the id"},
    {"--client-capabilities", "JSON", VALUE_TEXT, 0,
     "the capabilities declared to the server; elicitation and sampling when not given. With "
     "roots, the server asks the participant of a call for them, unless --root names some"},
    {"--ask", "sole|newest", VALUE_CHOICE, 0,
     "the participant that gets a question of the server: the only one with calls under way "
     "(the default), or the one that called last, for a topic whose participants trust each "
     "other"},
    {"--isolate", NULL, VALUE_NONE, 0,
     "one server process for each participant that asks for more than lists, which keeps "
     "sessions and secrets apart; its questions go to that participant. Lists come from "
     "one more process, which serves all participants"},
    {"--isolate-max", "N", VALUE_NUMBER, 0,
     "with --isolate: most such processes at one time, 16 when not given; one participant has "
     "a quarter of them at most"},
    {"--isolate-idle", "S", VALUE_SECONDS, 0,
     "with --isolate: how long such a process lives without a request or task under way and "
     "without subscriptions; 600 when not given"},
    {"--protocol", "auto|2025-11-25|2026-07-28", VALUE_CHOICE, 0,
     "the first message to the server: server/discover, then initialize for an older server, "
     "after a restart if needed (the default); initialize only; or server/discover only"},
    {"--root", "URI", VALUE_TEXT, OPTION_REPEATED,
     "a root for the server, such as file:///srv/docs. Participants cannot add any"},
    {"--request-timeout", "S", VALUE_SECONDS, 0,
     "how long the server may take for a request, counted anew from each progress "
     "notification and when a question of the server is answered; 300 when not given, 0 for "
     "ever"},
    {"--question-timeout", "S", VALUE_SECONDS, 0,
     "how long a participant may take to answer a question of the server; 3600 when not "
     "given, 0 for ever"},
    {"--answers-max", "BYTES", VALUE_NUMBER, 0,
     "how many bytes may wait to be sent to one participant, 16777216 when not given. Beyond, "
     "its requests get an error, and the bridge drops its oldest notifications"},
    {"--name", "NAME", VALUE_TEXT, 0,
     "the server's name before each line of its standard error; the participant of --as, or "
     "the program's name, when not given"},
    BRIDGE_TERMS_OPTIONS,
    {.name = NULL},
};

const char import_help[] =
    "Starts an MCP server that talks on its standard input and output, and answers for it in "
    "the topic. Requests addressed to this participant, or to everyone, go to the server, and "
    "its answers come back. The answer to server/discover tells servers of the protocol of "
    "2026-07-28 from older ones.\n\n"
    "One server serves everybody, in all topics that are named, unless --isolate gives each "
    "participant one. It is initialised once, by the bridge; a participant's initialize is "
    "answered with what the server said then. Messages keep their bytes. Only JSON-RPC ids "
    "and progress tokens are replaced, because participants may use equal ones.\n\n"
    "When the server dies, requests under way get a JSON-RPC error at once, and the bridge "
    "restarts the server. SIGTERM, SIGINT, SIGHUP and SIGQUIT stop the server, answer "
    "requests under way and leave the topic.";

/* Processes of participants, together: usual and most. */
enum { ISOLATE_MAX = 16, ISOLATE_LIMIT = 1000 };

/* No wait ends, and what the clock shows can still be added. */
static const int64_t for_ever_ms = INT64_MAX / 4;

static int check_capabilities(const char *text)
{
    struct mcpx_fault fault = {0};
    struct mcpx_slice value = {0};

    if (!text)
        return STATUS_OK;
    if (mcpx_json_check(mcpx_slice_of(text), 64, &value, &fault))
        return fail_with(STATUS_USAGE, "--client-capabilities is not JSON: %s at byte %zu",
                         fault.reason, fault.offset);
    if (mcpx_json_type(value) != MCPX_JSON_OBJECT)
        return fail_with(
            STATUS_USAGE,
            "--client-capabilities must be a JSON object such as {\"elicitation\":{}}");
    return STATUS_OK;
}

/* Writes the roots of the command line as the result of roots/list. */
static int read_roots(const struct arguments *arguments, struct mcpx_text *out)
{
    const struct option_word *root;

    for (size_t at = 0; (root = arguments_next(arguments, "--root", &at));) {
        if (strncmp(root->value, "file:///", 8) != 0)
            return fail_with(STATUS_USAGE, "--root must be a URI such as file:///srv/docs");
        mx_format(out, "%s{\"uri\":%q}", out->len ? "," : "{\"roots\":[", root->value);
    }
    if (out->len)
        mcpx_text_puts(out, "]}");
    return STATUS_OK;
}

/* 0 = the usual time. */
static int64_t read_timeout(const struct arguments *arguments, const char *option)
{
    int64_t timeout_ms = arguments_ms(arguments, option, 0);

    return timeout_ms == 0 && arguments_have(arguments, option) ? for_ever_ms : timeout_ms;
}

static enum import_protocol read_protocol(const struct arguments *arguments)
{
    const char *word = arguments_value(arguments, "--protocol");

    if (!word || strcmp(word, "auto") == 0)
        return IMPORT_PROTOCOL_AUTO;
    return strcmp(word, "2025-11-25") == 0 ? IMPORT_PROTOCOL_LEGACY : IMPORT_PROTOCOL_MODERN;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* A topic named twice: the second connection would end the first. */
static bool is_named_again(const struct arguments *arguments, const struct option_word *topic)
{
    const struct option_word *other;

    for (size_t at = 0; (other = arguments_next(arguments, "--topic", &at)) != topic;)
        if (strcmp(other->value, topic->value) == 0)
            return true;
    return false;
}

/* The last topic named comes first; without any, the environment's. */
static int read_topics(const struct arguments *arguments, struct import_job *job)
{
    int status = connection_read(arguments, CONNECTION_PATIENT, 0, job->topics);
    const struct option_word *topic;
    size_t at = 0;

    job->topic_count = 1;
    while (status == STATUS_OK && (topic = arguments_next(arguments, "--topic", &at))) {
        if (is_named_again(arguments, topic))
            return fail_with(STATUS_USAGE, "--topic names a topic twice");
        if (strcmp(topic->value, job->topics->client.topic) != 0)
            status = connection_read_other(job->topics, topic->value,
                                           &job->topics[job->topic_count++]);
    }
    return status;
}

static int check_options(const struct arguments *arguments)
{
    bool isolates = arguments_have(arguments, "--isolate");

    if (arguments_have(arguments, "--restart") && arguments_have(arguments, "--no-restart"))
        return fail_with(STATUS_USAGE, "--restart and --no-restart exclude each other");
    if (!isolates && (arguments_have(arguments, "--isolate-max") ||
                      arguments_have(arguments, "--isolate-idle")))
        return fail_with(STATUS_USAGE, "--isolate-max and --isolate-idle need --isolate");
    if (isolates && (arguments_number(arguments, "--isolate-max", 1) < 1 ||
                     arguments_number(arguments, "--isolate-max", 1) > ISOLATE_LIMIT ||
                     arguments_ms(arguments, "--isolate-idle", 1000) < 1000))
        return fail_with(STATUS_USAGE, "--isolate-max needs 1 to %d, --isolate-idle 1 or more",
                         ISOLATE_LIMIT);
    return check_capabilities(arguments_value(arguments, "--client-capabilities"));
}

int cmd_import(const struct arguments *arguments)
{
    static struct import_job job; /* it is large */
    struct import_config *config = &job.import;
    const char *ask = arguments_value(arguments, "--ask");
    mx_scoped_text roots = {0};
    MX_SCOPED(bridge_terms_fini) struct bridge_terms terms = {0};
    int status = check_options(arguments);

    if (status == STATUS_OK)
        status = read_roots(arguments, &roots);
    if (status == STATUS_OK)
        status = bridge_terms_read(arguments, &terms);
    if (status == STATUS_OK)
        status = read_topics(arguments, &job);
    if (status == STATUS_OK) {
        job.name = arguments_value(arguments, "--name");
        if (!job.name)
            job.name = job.topics->as ? job.topics->as : base_name(arguments->rest[0]);
        job.argv = arguments->rest;
        job.line_max = (size_t)arguments_number(arguments, "--line-max", 0);
        config->roots = roots.text;
        config->terms = terms.terms ? &terms : NULL;
        config->answers_max = (size_t)arguments_number(arguments, "--answers-max", 0);
        config->capabilities = arguments_value(arguments, "--client-capabilities");
        config->ask_newest = ask && strcmp(ask, "newest") == 0;
        config->request_ms = read_timeout(arguments, "--request-timeout");
        config->question_ms = read_timeout(arguments, "--question-timeout");
        config->once = arguments_have(arguments, "--no-restart");
        config->protocol = read_protocol(arguments);
        if (arguments_have(arguments, "--isolate"))
            config->isolate_max =
                (size_t)arguments_number(arguments, "--isolate-max", ISOLATE_MAX);
        config->isolate_idle_ms = arguments_ms(arguments, "--isolate-idle", 0);
        status = import_run(&job);
    }
    for (size_t i = 0; i < job.topic_count; i++)
        connection_fini(&job.topics[i]);
    return status;
}
