/*
 * run.c - "mcpx-bridge expose": its command line, loop, socket, and transport (standard streams or
 * HTTP). The core decides what to do. Standard output carries the protocol alone; texts for people
 * go to standard error. The end has an order: open requests are taken back, the connection is
 * closed, and the last lines are written.
 */
#include "tools/mcpx-bridge/verbs.h"

#include "lib/base/ident.h"
#include "lib/edge/timer.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/edge/loop.h"
#include "tools/mcpx-bridge/expose/edge/http.h"
#include "tools/mcpx-bridge/expose/expose.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum {
    CLOSE_MS = 2000, /* for the last messages to leave */
    DRAIN_MS = 3500, /* for answers after the end of input */
    ROOM_HISTORY = 10000
};

/**
 * `connection`: to the router, and the source of a new token. `address`: of the HTTP server, if
 * --http is given.
 */
struct edge {
    struct connection connection;
    struct bridge_terms terms;
    struct expose_config config;
    const char *only[WORDS_MAX];
    struct sockaddr_storage address;
    uv_loop_t loop;
    struct loop_handles handles;
    struct expose_stdio *stdio; /* one of the two is NULL */
    struct expose_http *http;
    struct expose *expose;
    struct renewal renewal;
    struct mx_log_files *files;
    int64_t leave_ms; /* mono_ms at which to leave; INT64_MAX = not yet */
    char nonce[13];
    bool leaving;
    bool was_joined, was_refused;
    bool has_failed; /* standard output cannot be written */
    int status;
};

/* ---- questions of the core ---- */

static struct mcpx_session *session_of(const void *user)
{
    const struct edge *edge = user;

    return mcpx_client_session(edge->renewal.client);
}

static bool may(const void *user, const struct mcpx_question *question)
{
    return mcpx_session_may(session_of(user), question);
}

static bool could(const void *user, struct mcpx_slice participant,
                  const struct mcpx_kind *kind)
{
    return mcpx_session_could(session_of(user), participant, kind);
}

static size_t message_max(const void *user)
{
    return mcpx_session_message_max(session_of(user));
}

static struct mcpx_slice self(const void *user)
{
    return mcpx_session_id(session_of(user));
}

static bool is_behind(const void *user)
{
    const struct edge *edge = user;

    return edge->stdio && expose_stdio_unwritten(edge->stdio) > EXPOSE_STDIO_UNWRITTEN_MAX;
}

static bool roster(const void *user, size_t index, struct mcpx_slice *id)
{
    struct mcpx_participant participant;

    if (index >= mcpx_session_participant_count(session_of(user)))
        return false;
    mcpx_session_participant(session_of(user), index, &participant);
    *id = participant.id;
    return true;
}

/* ---- actions of the core ---- */

static size_t unwritten(const struct edge *edge)
{
    return edge->stdio ? expose_stdio_unwritten(edge->stdio)
                       : expose_http_unwritten(edge->http);
}

/* Does all actions. A call is recorded before its server gets it. */
static void act_on_all(struct edge *edge)
{
    const struct bridge_action *action;

    records_write(edge->files, expose_calls(edge->expose));
    while ((action = expose_next(edge->expose)) != NULL) {
        struct bridge_outcome outcome = {0};

        if (action->type == BRIDGE_WRITE && edge->http)
            expose_http_write(edge->http, action->text);
        else if (action->type == BRIDGE_WRITE)
            expose_stdio_write(edge->stdio, action->text);
        else
            loop_act(edge->renewal.client, action, &outcome);
        memory_checked(outcome.err);
        expose_done(edge->expose, &outcome, mx_clock_now());
        records_write(edge->files, expose_calls(edge->expose));
    }
}

/* ---- the end ---- */

/* Begins the end. The first cause decides the exit code. */
static void leave(struct edge *edge, int status)
{
    if (edge->leaving)
        return;
    edge->leaving = true;
    edge->status = status;
    expose_leave(edge->expose, mx_clock_now());
    act_on_all(edge);
    mcpx_client_close(edge->renewal.client, CLOSE_MS);
}

static void on_timer(uv_timer_t *timer);

static void after_input(struct edge *edge)
{
    int64_t now = mx_clock_now().mono_ms, due;

    act_on_all(edge);
    due = expose_deadline(edge->expose);
    if (edge->has_failed)
        leave(edge, STATUS_FAILED);
    if (!edge->leaving && edge->leave_ms != INT64_MAX &&
        (edge->leave_ms <= now || expose_is_idle(edge->expose)))
        leave(edge, !edge->was_joined && edge->was_refused ? STATUS_UNREACHABLE : STATUS_OK);
    if (edge->leaving)
        return;
    due = edge->leave_ms < due ? edge->leave_ms : due;
    if (due == INT64_MAX)
        uv_timer_stop(&edge->handles.timer);
    else
        uv_timer_start(&edge->handles.timer, on_timer, due > now ? (uint64_t)(due - now) : 0,
                       0);
}

static void on_timer(uv_timer_t *timer)
{
    struct edge *edge = timer->data;

    if (!edge->leaving)
        expose_tick(edge->expose, mx_clock_now());
    after_input(edge);
}

static void on_signal(void *user)
{
    leave(user, STATUS_OK);
}

/* ---- inputs ---- */

static void on_line(void *user, struct mcpx_slice line)
{
    struct edge *edge = user;

    if (edge->leaving)
        return;
    expose_line(edge->expose, line, mx_clock_now());
    after_input(edge);
}

static void on_overlong(void *user, struct mcpx_slice beginning)
{
    struct edge *edge = user;

    if (edge->leaving)
        return;
    expose_overlong(edge->expose, beginning);
    after_input(edge);
}

/* Leaves by the timer, because this may be called in the middle of a write. */
static void look_soon(struct edge *edge)
{
    if (!edge->leaving)
        uv_timer_start(&edge->handles.timer, on_timer, 0, 0);
}

static void on_end(void *user)
{
    struct edge *edge = user;

    if (edge->leave_ms == INT64_MAX)
        edge->leave_ms = mx_clock_now().mono_ms + DRAIN_MS;
    look_soon(edge);
}

static void on_failed(void *user, int error)
{
    struct edge *edge = user;

    edge->has_failed = true;
    complain("cannot write to standard output: %s", strerror(error));
    look_soon(edge);
}

/* The connection is gone for good: answers open requests, then ends. */
static void on_final(struct edge *edge, const struct mcpx_event *event)
{
    mx_scoped_text sentence = {0};

    if (!edge->leaving) {
        edge->leaving = true;
        edge->status = loop_left_status(event->code);
        mcpx_text_puts(&sentence, "the topic cannot be reached: ");
        mcpx_text_slice(&sentence, event->reason);
        expose_abandon(edge->expose, mcpx_text_view(&sentence));
    }
    uv_stop(&edge->loop);
}

static void on_event(void *user, struct mcpx_client *client, const struct mcpx_event *event)
{
    struct edge *edge = user;
    bool final = event->type == MCPX_EVENT_LEFT && event->retry_ms < 0;

    (void)client;
    renewal_look(&edge->renewal, &edge->loop, event);
    edge->was_joined |= event->type == MCPX_EVENT_JOINED;
    edge->was_refused |= event->type == MCPX_EVENT_LEFT;
    if (!edge->leaving) {
        expose_event(edge->expose, event, mx_clock_now());
        act_on_all(edge);
    }
    if (final)
        on_final(edge, event);
    after_input(edge);
}

/* ---- from beginning to end ---- */

static int start_client(struct edge *edge)
{
    struct mcpx_client_config config = edge->connection.client;

    config.routing = "all";
    config.history = edge->config.room ? ROOM_HISTORY : 0;
    config.session.observe = edge->config.room != EXPOSE_ROOM_NO;
    config.session.instance = true;
    config.loop = &edge->loop;
    config.on_event = on_event;
    config.user = edge;
    edge->renewal = (struct renewal){.where = &edge->connection};
    return connection_start(&config, &edge->renewal.client);
}

static void start_core(struct edge *edge)
{
    struct expose_view view = {edge,      may,          could,       roster, message_max,
                               is_behind, loop_instant, loop_chance, self};
    unsigned char random[sizeof edge->nonce / 2];

    loop_chance(NULL, random, sizeof random);
    loop_chance(NULL, &edge->config.key, sizeof edge->config.key);
    mx_hex_format(random, sizeof random, edge->nonce);
    edge->config.nonce = edge->nonce;
    edge->config.topic = edge->connection.client.topic;
    edge->config.terms = edge->terms.terms ? &edge->terms : NULL;
    edge->expose = expose_new(&edge->config, &view);
}

static int start_http(struct edge *edge, const struct expose_transport *transport)
{
    mx_scoped_text url = {0};
    int err = expose_http_new(transport, &edge->address, &edge->http);

    if (err)
        return fail_with(
            STATUS_FAILED, "cannot listen on port %d: %s%s",
            ntohs(((const struct sockaddr_in *)&edge->address)->sin_port), uv_strerror(err),
            err == UV_EADDRINUSE
                ? "; end the program that does, or give --http another port, 0 for any"
                : "");
    expose_http_add_url(edge->http, &url);
    if (printf("listening %s\n", url.text) < 0 || fflush(stdout) != 0)
        complain("cannot write to standard output: %s", strerror(errno));
    return STATUS_OK;
}

static int start_transport(struct edge *edge)
{
    struct expose_transport transport = {&edge->loop, edge,   on_line,
                                         on_overlong, on_end, on_failed};
    enum mcpx_err err;

    if (edge->config.answers_only)
        return start_http(edge, &transport);
    err = expose_stdio_new(&transport, &edge->stdio);
    return err ? fail_with(STATUS_FAILED, "cannot read standard input: %s", mcpx_strerror(err))
               : STATUS_OK;
}

static void on_late(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

/* Writes the last lines, for CLOSE_MS at most: a client may not read them. */
static void write_last_lines(struct edge *edge)
{
    uint64_t began = uv_now(&edge->loop);

    uv_timer_start(&edge->handles.timer, on_late, CLOSE_MS, 0);
    while (unwritten(edge) > 0 && uv_now(&edge->loop) - began < CLOSE_MS)
        uv_run(&edge->loop, UV_RUN_ONCE);
}

static void stop(struct edge *edge)
{
    struct mcpx_client *client = edge->renewal.client;

    edge->renewal.client = NULL;
    mx_log_files_close(edge->files);
    expose_free(edge->expose);
    mcpx_client_free(client);
    expose_http_end(edge->http);
    write_last_lines(edge);
    expose_stdio_close(edge->stdio);
    expose_http_close(edge->http);
    loop_handles_close(&edge->handles);
    uv_run(&edge->loop, UV_RUN_DEFAULT);
    uv_loop_close(&edge->loop);
    free(edge->stdio);
    free(edge->http);
}

/* Runs until standard input ends (not with HTTP), a signal, or a final refusal by the router. */
static int run(struct edge *edge)
{
    int status;

    if (uv_loop_init(&edge->loop))
        return fail_with(STATUS_FAILED, "cannot have an event loop");
    loop_handles_start(&edge->handles, &edge->loop, on_signal, edge);
    start_core(edge);
    edge->files = records_open(edge->config.terms);
    status = start_client(edge);
    if (status == STATUS_OK)
        status = start_transport(edge);
    if (status == STATUS_OK) {
        uv_run(&edge->loop, UV_RUN_DEFAULT);
        status = edge->status;
    }
    edge->leaving = true;
    stop(edge);
    return status;
}

/* ---- the command line ---- */

const struct option_row expose_option_rows[] = {
    {"--names", "prefixed|plain", VALUE_CHOICE, 0,
     "what tools and prompts are called: PARTICIPANT__NAME (the default), or their own names "
     "where these are unique"},
    {"--only", "PATTERN", VALUE_TEXT, OPTION_REPEATED,
     "show only this: a participant with all it has, or tools, prompts and resources by the "
     "name the client sees, such as 'files__read_*'; * stands for anything"},
    {"--room", "no|talk|decide", VALUE_CHOICE, 0,
     "tools for the topic itself, room__NAME: talk (the default) to send, wait, read and "
     "propose; decide also to approve and reject proposals of others, and to ask about "
     "permission prompts; no: none"},
    SWITCH("--discover",
           "three tools in place of those of all servers: to find them by words, to describe "
           "one, and to call one"),
    SWITCH("--channel",
           "push messages to Claude Code, and ask about its permission prompts in the topic"),
    {"--timeout", "S", VALUE_SECONDS, 0,
     "how long a call may take, counted anew from each progress notification; 600 when not "
     "given, 0 for ever"},
    {"--proposal-timeout", "S", VALUE_SECONDS, 0,
     "how long a proposal waits for a decision; 600 when not given, 0 for ever"},
    {"--heartbeat", "S", VALUE_SECONDS, 0,
     "pause between progress notifications of a call that waits; 15 when not given"},
    BRIDGE_TERMS_OPTIONS,
    {"--http", "HOST:PORT", VALUE_TEXT, 0,
     "serve POST /mcp by HTTP in place of standard input, on this machine alone: HOST is "
     "localhost, 127.0.0.1 or [::1], PORT 0 any that is free"},
    {.name = NULL},
};

const char expose_help[] =
    "Is an MCP server on standard input and output with the tools, resources and prompts of "
    "all servers of the topic, in one list each. A call goes to the server that has the tool. "
    "Clients of the protocol of 2026-07-28 and older ones are served.\n\n"
    "A call that the grants do not cover, but that may be proposed, becomes a proposal. The "
    "client waits for a decision; a client that asked for progress is told so every few "
    "seconds, which keeps it from giving up. What may neither be requested nor proposed is "
    "not listed.\n\n"
    "With --http the body of a POST is a message, and that of the response its answer; the "
    "address is printed as \"listening http://...\". All clients act as this one participant, "
    "so any program that can reach the port has its grants. Clients get answers only.\n\n"
    "Ends when standard input ends (not with --http), and on SIGTERM, SIGINT, SIGHUP and "
    "SIGQUIT. Open requests and proposals are then taken back.";

enum {
    REQUEST_MS = 600000,
    PROPOSAL_MS = 600000,
    HEARTBEAT_MS = 15000,
    HEARTBEAT_MIN_MS = 100
};

/* Reads --only. Refuses a pattern that no participant and no name could match. */
static int read_only(const struct arguments *arguments, struct edge *edge)
{
    const struct option_word *word;

    for (size_t at = 0; (word = arguments_next(arguments, "--only", &at));) {
        if (!mcpx_topic_name_is_valid(mcpx_slice_of(word->value)))
            return fail_with(
                STATUS_USAGE,
                "--only needs a participant or the name of a tool, prompt or resource as the "
                "client sees it, * standing for any bytes: 1 to %d bytes of UTF-8 without "
                "control characters",
                MCPX_ID_MAX);
        edge->only[edge->config.only_count++] = word->value;
    }
    return STATUS_OK;
}

static int read_options(const struct arguments *arguments, struct edge *edge)
{
    const char *names = arguments_value(arguments, "--names");
    const char *http = arguments_value(arguments, "--http");
    const char *room = arguments_value(arguments, "--room");
    struct expose_config *config = &edge->config;

    config->heartbeat_ms = arguments_ms(arguments, "--heartbeat", HEARTBEAT_MS);
    if (config->heartbeat_ms < HEARTBEAT_MIN_MS)
        return fail_with(STATUS_USAGE, "--heartbeat must be 0.1 or more");
    if (http && !expose_http_address(http, &edge->address))
        return fail_with(STATUS_USAGE,
                         "--http needs an address of this machine, such as 127.0.0.1:8808, "
                         "localhost:0 or [::1]:8808: every client that reaches it acts as the "
                         "participant");
    config->answers_only = http != NULL;
    config->room = !room || *room == 't' ? EXPOSE_ROOM_TALK
                   : *room == 'd'        ? EXPOSE_ROOM_DECIDE
                                         : EXPOSE_ROOM_NO;
    config->discover = arguments_have(arguments, "--discover");
    config->channel = arguments_have(arguments, "--channel");
    if (config->channel && (http || !config->room))
        return fail_with(STATUS_USAGE, "--channel needs --room talk or decide, not --http");
    config->only = edge->only;
    config->plain = names && strcmp(names, "plain") == 0;
    config->request_ms = arguments_ms(arguments, "--timeout", REQUEST_MS);
    config->proposal_ms = arguments_ms(arguments, "--proposal-timeout", PROPOSAL_MS);
    return read_only(arguments, edge);
}

int cmd_expose(const struct arguments *arguments)
{
    struct edge edge = {.leave_ms = INT64_MAX};
    int status = read_options(arguments, &edge);

    if (status == STATUS_OK)
        status = bridge_terms_read(arguments, &edge.terms);
    if (status == STATUS_OK)
        status = connection_read(arguments, CONNECTION_PATIENT, 0, &edge.connection);
    if (status == STATUS_OK)
        status = run(&edge);
    connection_fini(&edge.connection);
    bridge_terms_fini(&edge.terms);
    return status;
}
