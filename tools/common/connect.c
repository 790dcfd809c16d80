/*
 * connect.c - finds router, topic and token in options, environment and context. Tokens come from
 * files, the environment or a router in development mode. They never come from the command line,
 * because process lists and shell histories show it. Each setting comes from the command line, else
 * from the environment, else from the context, independently of the other settings: so "--topic
 * other" means another topic of the same router.
 */
#include "tools/common/connect.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "lib/wire/http_head.h"
#include "tools/common/context.h"

#include <mcpx/json.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char default_url[] = "ws://127.0.0.1:8080";

/* Some programs take --topic several times, and a service has no --context. */
#define ROWS(topic)                                                                           \
    OPTION("--url", "URL", VALUE_TEXT, 0,                                                     \
           "the router, ws:// or wss://; else MCPX_URL, else ws://127.0.0.1:8080"),           \
        topic,                                                                                \
        OPTION("--token-file", "FILE", VALUE_FILE, 0,                                         \
               "holds the bearer token; else MCPX_TOKEN. A token is never an argument: "      \
               "others can read those"),                                                      \
        OPTION("--as", "ID", VALUE_TEXT, 0,                                                   \
               "the participant to be; a router run with --dev gives the token"),             \
        OPTION("--ca-file", "FILE", VALUE_FILE, 0, "authorities to trust for wss, in PEM"),   \
        OPTION("--cert-file", "FILE", VALUE_FILE, 0,                                          \
               "client certificate for wss, in PEM; replaces the token when the router "      \
               "knows a name in it"),                                                         \
        OPTION("--key-file", "FILE", VALUE_FILE, 0,                                           \
               "the key of --cert-file, in PEM without a passphrase; else it stands there, "  \
               "too")

#define TOPIC_ROW OPTION("--topic", "TOPIC", VALUE_TOPIC, 0, "the topic; else MCPX_TOPIC")

const struct option_row connect_options[] = {
    ROWS(TOPIC_ROW),
    {"--context", "NAME", VALUE_CONTEXT, 0,
     "a context, kept by context add, for settings without option and variable; else "
     "MCPX_CONTEXT, else the one that context use chose"},
    {.name = NULL},
};

const struct option_row connect_service_options[] = {ROWS(TOPIC_ROW), {.name = NULL}};

const struct option_row connect_topics_options[] = {
    ROWS(OPTION("--topic", "TOPIC", VALUE_TOPIC, OPTION_REPEATED,
                "the topics; else MCPX_TOPIC, one")),
    {.name = NULL},
};

int connection_check_url(const char *url, struct mcpx_text *api)
{
    if (url_api(url, api))
        return STATUS_OK;
    return fail_with(STATUS_USAGE,
                     "--url needs ws://HOST[:PORT][/PATH] or wss://..., with a port from 1 to "
                     "65535 and without query");
}

int connection_check_topic(const char *topic)
{
    if (mcpx_topic_name_is_valid(mcpx_slice_of(topic)))
        return STATUS_OK;
    return fail_with(STATUS_USAGE,
                     "--topic needs 1 to %d bytes of UTF-8 without control characters",
                     MCPX_ID_MAX);
}

int connection_check_as(const char *as)
{
    if (mcpx_identity_is_valid(mcpx_slice_of(as)))
        return STATUS_OK;
    return fail_with(
        STATUS_USAGE,
        "--as needs a participant id of 1..%d bytes that does not end in ~ and digits",
        MCPX_ID_MAX);
}

int connection_complain_of_both(void)
{
    return fail_with(STATUS_USAGE,
                     "--as and --token-file exclude each other: both give a token");
}

/*
 * A setting from the command line, else the environment, else the context; else NULL. `from`,
 * unless NULL, gets the option or variable, NULL for the context, or "the default".
 */
static const char *setting_of(const struct arguments *arguments,
                              const struct connection *connection,
                              enum context_setting setting, const char **from)
{
    const struct context_setting_row *row = &context_settings[setting];
    const char *values[] = {
        arguments_value(arguments, row->option), row->variable ? getenv(row->variable) : NULL,
        context_value(connection->contexts, connection->context, setting), NULL};
    const char *const names[] = {row->option, row->variable, NULL, "the default"};
    size_t i = 0;

    while (i < 3 && !(values[i] && (values[i][0] || i == 0)))
        i++;
    if (from)
        *from = names[i];
    return values[i] && values[i][0] ? values[i] : NULL;
}

bool connection_token_is_valid(const char *text, size_t len)
{
    return len <= CONNECTION_TOKEN_MAX && mx_http_is_visible((struct mcpx_slice){text, len});
}

/* source   where the token comes from, for a complaint */
static int keep_token(struct connection *out, const char *source, const char *text, size_t len)
{
    if (!connection_token_is_valid(text, len))
        return fail_with(
            STATUS_USAGE,
            "%s: the token must be 1 to %d printable ASCII characters without spaces", source,
            CONNECTION_TOKEN_MAX);
    out->token = strndup(text, len);
    return STATUS_OK;
}

/* The content of a token file, and its status. */
struct token_read {
    char bytes[CONNECTION_TOKEN_MAX + 3];
    struct stat about;
};

/* Returns the length without line ends; SIZE_MAX, with errno, when the file cannot be read. */
static size_t read_token(const char *file, int flags, struct token_read *out)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | flags);
    size_t len = 0;
    ssize_t got;

    if (fd < 0)
        return SIZE_MAX;
    if (fstat(fd, &out->about) != 0)
        len = SIZE_MAX;
    while (len < sizeof out->bytes &&
           (got = read(fd, out->bytes + len, sizeof out->bytes - len)) > 0)
        len += (size_t)got;
    close(fd);
    while (len > 0 && len != SIZE_MAX &&
           (out->bytes[len - 1] == '\n' || out->bytes[len - 1] == '\r'))
        len--;
    return len;
}

static int read_token_file(struct connection *out, const char *file)
{
    struct token_read found;
    size_t len = read_token(file, 0, &found);
    int status;

    if (len == SIZE_MAX)
        return fail_with(STATUS_USAGE, "%s: %s", file, strerror(errno));
    certificate_warn_of_readers(file, &found.about);
    if (S_ISREG(found.about.st_mode))
        out->token_file = file; /* a pipe can be read only once */
    status = keep_token(out, file, found.bytes, len);
    secret_wipe(found.bytes, sizeof found.bytes);
    return status;
}

/* Does not wait for a writer when a pipe has replaced the file. */
static int read_other_token(const struct connection *connection, char **token)
{
    struct token_read found;
    size_t len = read_token(connection->token_file, O_NONBLOCK, &found);
    int status = STATUS_ABSENT;

    if (len != SIZE_MAX && connection_token_is_valid(found.bytes, len) &&
        (strlen(connection->token) != len ||
         memcmp(connection->token, found.bytes, len) != 0)) {
        *token = strndup(found.bytes, len);
        status = STATUS_OK;
    }
    secret_wipe(found.bytes, sizeof found.bytes);
    return status;
}

static int ask_router(const struct connection *where, struct http_call call,
                      struct mcpx_text *answer)
{
    call.base = where->api;
    call.from = where->url_from;
    call.ca_file = where->client.ca_file;
    call.cert_file = where->client.cert_file;
    call.key_file = where->client.key_file;
    return http_do(&call, answer);
}

int connection_call(const struct connection *where, struct http_call call,
                    struct mcpx_text *answer, struct mcpx_slice *value)
{
    mx_scoped_text path = {0};
    int status;

    if (value)
        *value = (struct mcpx_slice){NULL, 0};
    if (call.path[0] != '/') {
        mcpx_text_puts(&path, "/v0.1/topics/");
        mx_percent_add(&path, mcpx_slice_of(where->client.topic));
        mcpx_text_puts(&path, "/");
    }
    mcpx_text_puts(&path, call.path);
    call.path = path.text;
    call.token = where->token;
    call.timeout_ms = where->timeout_ms;
    call.quiet |= where->timeout_ms > 0;
    status = ask_router(where, call, answer);
    if (!value || mcpx_json_check(mcpx_text_view(answer), 0, value, NULL) == MCPX_OK ||
        status != STATUS_OK)
        return status;
    return call.quiet
               ? STATUS_FAILED
               : fail_with(STATUS_FAILED, "the answer of %s cannot be read: it is not JSON",
                           where->api);
}

/* Protocol: section 8. */
static int ask_for_token(const struct connection *where, bool quiet, int64_t timeout_ms,
                         char **token)
{
    mx_scoped_text body = {0}, answer = {0};
    struct mcpx_text found = {0};
    struct mcpx_slice value = {NULL, 0};
    int status;

    mx_format(&body, "{\"participantId\":%q,\"topic\":%q}", where->as, where->client.topic);
    status = ask_router(where,
                        (struct http_call){.path = "/v0.1/auth/token",
                                           .body = body.text,
                                           .timeout_ms = timeout_ms,
                                           .quiet = quiet},
                        &answer);
    if (status == STATUS_OK) {
        (void)mcpx_json_check(mcpx_text_view(&answer), 0, &value, NULL);
        mcpx_json_add_unescaped(&found, mcpx_json_get(value, "token"));
        if (connection_token_is_valid(found.text, found.len)) {
            *token = found.text;
        } else {
            connection_wipe(found.text);
            status = quiet ? STATUS_FAILED
                           : fail_with(STATUS_FAILED,
                                       "%s answers without a token; is it an MCPx router?",
                                       where->api);
        }
    }
    if (answer.text)
        secret_wipe(answer.text, answer.len);
    return status;
}

int connection_ask(const struct connection *connection, int64_t timeout_ms, char **token)
{
    if (connection->token_file)
        return read_other_token(connection, token);
    return ask_for_token(connection, true, timeout_ms, token);
}

int connection_start(const struct mcpx_client_config *config, struct mcpx_client **out)
{
    struct mcpx_fault fault = {0};
    enum mcpx_err err = memory_checked(mcpx_client_new(config, &fault, out));

    if (err == MCPX_EINVALID)
        return fail_with(STATUS_USAGE, "%s: %s", fault.field, fault.reason);
    return err ? fail_with(STATUS_FAILED, "cannot connect: %s", mcpx_strerror(err))
               : STATUS_OK;
}

bool connection_may_ask(const struct connection *connection, const struct mcpx_event *event)
{
    return event->type == MCPX_EVENT_LEFT && event->retry_ms >= 0 &&
           mcpx_error_again(event->code) == MCPX_AGAIN_TOKEN &&
           connection->client.session.renews_token;
}

void connection_take(struct connection *connection, char *token)
{
    connection_wipe(connection->token);
    connection->token = token;
    connection->client.token = token;
}

void connection_wipe(char *token)
{
    if (token)
        secret_wipe(token, strlen(token));
    free(token);
}

static int ask_first(struct connection *out)
{
    bool quiet = out->timeout_ms > 0 && !out->is_patient;
    int status = ask_for_token(out, quiet, out->timeout_ms, &out->token);

    /* The router does not run yet, or is still starting. */
    if (out->is_patient && (status == STATUS_UNREACHABLE || status == STATUS_TIMEOUT)) {
        complain("waiting for the router");
        return keep_token(out, "--as", "none-yet", strlen("none-yet"));
    }
    if (status != STATUS_ABSENT)
        return status;
    return fail_with(STATUS_UNREACHABLE,
                     "the router %s (from %s) issues no token for --as without --dev; use "
                     "--token-file or MCPX_TOKEN",
                     out->client.url, out->url_from);
}

/*
 * Finds the token file, and `as`. The context is used only without --as, --token-file and `token`.
 * `token` is that of the environment, or NULL.
 */
static const char *find_file(const struct arguments *arguments, struct connection *out,
                             const char *token)
{
    const char *file = arguments_value(arguments, "--token-file");

    out->as = arguments_value(arguments, "--as");
    if (out->as || file || token)
        return file;
    out->as = context_value(out->contexts, out->context, CONTEXT_AS);
    return context_value(out->contexts, out->context, CONTEXT_TOKEN_FILE);
}

/* `token` is that of the environment, or NULL. */
static int find_token(const struct arguments *arguments, struct connection *out,
                      const char *token)
{
    const char *file = find_file(arguments, out, token);

    out->client.session.renews_token = out->as != NULL;
    if (out->as && connection_check_as(out->as) != STATUS_OK)
        return STATUS_USAGE;
    if (out->as)
        return file ? connection_complain_of_both() : ask_first(out);
    if (file) {
        int status = read_token_file(out, file);

        out->client.session.renews_token = out->token_file != NULL;
        return status;
    }
    if (token)
        return keep_token(out, "MCPX_TOKEN", token, strlen(token));
    if (out->client.cert_file || out->may_be_nobody)
        return STATUS_OK;
    return fail_with(STATUS_USAGE,
                     "a token is needed: --token-file FILE, MCPX_TOKEN in the environment, or "
                     "--as ID with a router that runs with --dev; or a certificate: "
                     "--cert-file FILE");
}

/* Contexts are read only for a verb that has --context. */
static int find_context(const struct arguments *arguments, struct connection *out)
{
    int status;

    if (arguments->command->shared != connect_options)
        return STATUS_OK;
    status = contexts_read(&out->contexts);
    out->context = context_chosen(arguments, out->contexts);
    return status == STATUS_OK && out->context ? context_find(out->contexts, out->context)
                                               : status;
}

int connection_read_router(const struct arguments *arguments, struct connection *out)
{
    const char *url, *from;
    struct mcpx_text api = {0};
    int status;

    *out = (struct connection){.api = NULL};
    status = find_context(arguments, out);
    if (status != STATUS_OK)
        return status;
    url = setting_of(arguments, out, CONTEXT_URL, &from);
    snprintf(out->url_from, sizeof out->url_from, from ? "%s" : "the context %s",
             from ? from : out->context);
    out->client.history = -1;
    out->client.url = url ? url : default_url;
    out->client.topic = setting_of(arguments, out, CONTEXT_TOPIC, NULL);
    out->client.ca_file = setting_of(arguments, out, CONTEXT_CA_FILE, NULL);
    status = connection_check_url(out->client.url, &api);
    out->api = api.text;
    if (status != STATUS_OK)
        return status;
    if (out->client.ca_file && access(out->client.ca_file, R_OK) != 0)
        return fail_with(STATUS_USAGE, "%s: %s", out->client.ca_file, strerror(errno));
    out->client.cert_file = setting_of(arguments, out, CONTEXT_CERT_FILE, NULL);
    out->client.key_file = setting_of(arguments, out, CONTEXT_KEY_FILE, NULL);
    status = certificate_check(out->api, &out->client);
    if (status != STATUS_OK)
        return status;
    return out->client.topic ? connection_check_topic(out->client.topic) : STATUS_OK;
}

/*
 * The token of the environment can be taken only once, and some verbs connect twice, for example
 * approve. So the token is kept in memory, which no other process of the user can read.
 */
static const char *token_of_environment(void)
{
    static char *kept;
    char *taken = secret_take("MCPX_TOKEN");

    if (taken) {
        connection_wipe(kept);
        kept = taken;
    }
    return kept;
}

int connection_authenticate(const struct arguments *arguments, struct connection *out)
{
    int status;

    if (!out->client.topic)
        return fail_with(STATUS_USAGE,
                         "a topic is needed: --topic TOPIC, or MCPX_TOPIC in the environment");
    status = find_token(arguments, out, token_of_environment());
    out->client.token = out->token;
    return status;
}

int connection_read(const struct arguments *arguments, unsigned how, int64_t timeout_ms,
                    struct connection *out)
{
    int status = connection_read_router(arguments, out);

    out->is_patient = how & CONNECTION_PATIENT;
    out->timeout_ms = timeout_ms;
    if (!out->client.topic && how & CONNECTION_ANYWHERE)
        out->client.topic = "any";
    return status == STATUS_OK ? connection_authenticate(arguments, out) : status;
}

int connection_read_other(const struct connection *first, const char *topic,
                          struct connection *out)
{
    int status;

    *out = (struct connection){.client = first->client,
                               .as = first->as,
                               .token_file = first->token_file,
                               .is_patient = first->is_patient};
    memcpy(out->url_from, first->url_from, sizeof out->url_from);
    out->client.topic = topic;
    out->client.token = NULL;
    out->api = strdup(first->api);
    status = connection_check_topic(topic);
    if (status != STATUS_OK)
        return status;
    if (out->as)
        status = ask_first(out);
    else if (first->token)
        status = keep_token(out, topic, first->token, strlen(first->token));
    out->client.token = out->token;
    return status;
}

void connection_fini(struct connection *connection)
{
    connection_wipe(connection->token);
    free(connection->api);
    json_decref(connection->contexts);
    *connection = (struct connection){.api = NULL};
}
