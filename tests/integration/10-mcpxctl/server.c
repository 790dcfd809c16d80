/*
 * server.c - the server's half of the tests: the library's client in a child process, which the
 * test ends.
 */
#include "server.h"
#include "lib/base/scoped.h"

#include "tests/support/rude_client.h"
#include <mcpx/client.h>

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the server has seen; `asked` is the request that "back" or "late" is about. */
struct scene {
    struct mcpx_client *client;
    int cancelled;
    bool is_late;
    char asked[64];
    char asked_rpc[64];
};

static void answer(struct scene *scene, struct mcpx_slice request, struct mcpx_slice id,
                   const char *member, const char *json)
{
    mx_scoped_text payload = {0};

    mcpx_text_puts(&payload, "{\"jsonrpc\":\"2.0\",\"id\":");
    mcpx_text_slice(&payload, id);
    mcpx_text_puts(&payload, ",\"");
    mcpx_text_puts(&payload, member);
    mcpx_text_puts(&payload, "\":");
    mcpx_text_puts(&payload, json);
    mcpx_text_puts(&payload, "}");
    mcpx_client_respond(scene->client, request, mcpx_text_view(&payload), NULL);
}

static void answer_text(struct scene *scene, struct mcpx_slice request, struct mcpx_slice id,
                        struct mcpx_slice text)
{
    mx_scoped_text json = {0};

    mcpx_text_puts(&json, "{\"content\":[{\"type\":\"text\",\"text\":");
    mcpx_json_add_string(&json, text);
    mcpx_text_puts(&json, "}]}");
    answer(scene, request, id, "result", json.text);
}

/* About the request of the event: progress, or a request of our own. */
static void send_about(struct scene *scene, const struct mcpx_event *event,
                       const char *payload)
{
    struct mcpx_slice to = event->envelope->from;
    struct mcpx_draft draft = {.type = "mcp/request",
                               .to = &to,
                               .to_count = 1,
                               .correlation_id = event->envelope->id,
                               .payload = mcpx_slice_of(payload)};

    mcpx_client_send(scene->client, &draft, NULL, NULL);
}

static void remember(struct scene *scene, const struct mcpx_event *event)
{
    struct mcpx_slice request = event->envelope->id, id = event->rpc->id;

    snprintf(scene->asked, sizeof scene->asked, "%.*s", (int)request.len, request.text);
    snprintf(scene->asked_rpc, sizeof scene->asked_rpc, "%.*s", (int)id.len, id.text);
}

/* Good for a tool's call and for a list of resources. */
static void answer_late(struct scene *scene)
{
    if (scene->is_late)
        answer(scene, mcpx_slice_of(scene->asked), mcpx_slice_of(scene->asked_rpc), "result",
               "{\"content\":[{\"type\":\"text\",\"text\":\"better late\"}],"
               "\"resources\":[{\"uri\":\"late:than/never\"}]}");
    scene->is_late = false;
}

static void be_late(struct scene *scene, const struct mcpx_event *event)
{
    remember(scene, event);
    scene->is_late = true;
}

static void call(struct scene *scene, const struct mcpx_event *event)
{
    struct mcpx_slice id = event->rpc->id, name = event->rpc->context;
    struct mcpx_slice request = event->envelope->id;
    char number[16];

    if (mcpx_slice_equal(name, MCPX_SLICE("echo"))) {
        answer_text(scene, request, id, mcpx_json_get(event->rpc->params, "arguments"));
    } else if (mcpx_slice_equal(name, MCPX_SLICE("meta"))) {
        answer_text(scene, request, id, mcpx_json_get(event->rpc->params, "_meta"));
    } else if (mcpx_slice_equal(name, MCPX_SLICE("fail"))) {
        answer(scene, request, id, "result",
               "{\"content\":[{\"type\":\"text\",\"text\":\"it broke\"}],\"isError\":true}");
    } else if (mcpx_slice_equal(name, MCPX_SLICE("error"))) {
        answer(scene, request, id, "error", "{\"code\":-31002,\"message\":\"not for you\"}");
    } else if (mcpx_slice_equal(name, MCPX_SLICE("ecko"))) {
        answer(scene, request, id, "error", "{\"code\":-32602,\"message\":\"Unknown tool\"}");
    } else if (mcpx_slice_equal(name, MCPX_SLICE("progress"))) {
        send_about(scene, event,
                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                   "{\"progressToken\":\"mcpxctl\",\"progress\":1,\"total\":2,"
                   "\"message\":\"half way\"}}");
        answer_text(scene, request, id, MCPX_SLICE("all the way"));
    } else if (mcpx_slice_equal(name, MCPX_SLICE("back"))) {
        remember(scene, event);
        send_about(scene, event,
                   "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\","
                   "\"params\":{\"message\":\"sure?\"}}");
    } else if (mcpx_slice_equal(name, MCPX_SLICE("seen"))) {
        snprintf(number, sizeof number, "%d", scene->cancelled);
        answer_text(scene, request, id, mcpx_slice_of(number));
    } else if (mcpx_slice_equal(name, MCPX_SLICE("late"))) {
        be_late(scene, event);
    } else if (mcpx_slice_equal(name, MCPX_SLICE("die"))) {
        _exit(0);
    }
}

static void list(struct scene *scene, const struct mcpx_event *event)
{
    struct mcpx_slice us = mcpx_session_id(mcpx_client_session(scene->client));
    bool second = mcpx_json_get(event->rpc->params, "cursor").text != NULL;

    answer(scene, event->envelope->id, event->rpc->id, "result",
           mcpx_slice_equal(us, MCPX_SLICE("bare")) ? "{\"tools\":[]}"
           : mcpx_slice_equal(us, MCPX_SLICE("endless"))
               ? "{\"tools\":[],\"nextCursor\":\"2\"}"
           : second
               ? "{\"tools\":[{\"name\":\"seen\",\"inputSchema\":{\"type\":\"object\"}}]}"
               : "{\"tools\":[{\"name\":\"echo\",\"description\":\"Says it again.\\nTwice.\","
                 "\"n\":1.10}],\"nextCursor\":\"2\"}");
}

static void take_request(struct scene *scene, const struct mcpx_event *event)
{
    struct mcpx_slice method = event->rpc->method;

    if (mcpx_slice_equal(method, MCPX_SLICE("tools/list")))
        list(scene, event);
    else if (mcpx_slice_equal(method, MCPX_SLICE("tools/call")))
        call(scene, event);
    else if (mcpx_slice_equal(method, MCPX_SLICE("resources/list")))
        be_late(scene, event);
    else if (mcpx_slice_equal(method, MCPX_SLICE("resources/templates/list")))
        _exit(0);
}

static void take(struct scene *scene, const struct mcpx_event *event)
{
    if (event->type == MCPX_EVENT_JOINED)
        answer_late(scene);
    if (event->type == MCPX_EVENT_NOTIFICATION &&
        mcpx_slice_equal(event->rpc->method, MCPX_SLICE("notifications/cancelled")))
        scene->cancelled++;
    if (event->type == MCPX_EVENT_RESPONSE)
        answer_text(scene, mcpx_slice_of(scene->asked), mcpx_slice_of(scene->asked_rpc),
                    mcpx_json_get(event->rpc->error, "code"));
    if (event->type == MCPX_EVENT_REQUEST)
        take_request(scene, event);
}

static void serve(const struct mcpx_client_config *config, int ready)
{
    struct scene scene = {.cancelled = 0};
    struct mcpx_event event;

    if (mcpx_client_new(config, NULL, &scene.client) != MCPX_OK)
        _exit(1);
    while (mcpx_client_wait(scene.client, -1, &event) == MCPX_OK) {
        if (event.type == MCPX_EVENT_JOINED && ready >= 0) {
            if (write(ready, "!", 1) != 1)
                _exit(1);
            ready = -1;
        }
        take(&scene, &event);
    }
    _exit(1);
}

void server_start(struct server *server, const struct daemon *daemon, const char *id,
                  const char *topic)
{
    server_start_with(server, daemon, rude_token(daemon, id, topic, "[\"mcp/*\"]"), topic);
}

void server_start_with(struct server *server, const struct daemon *daemon, const char *token,
                       const char *topic)
{
    char url[64], byte;
    struct mcpx_client_config config = {.topic = topic, .token = token, .history = 0};
    int pipes[2];

    snprintf(url, sizeof url, "ws://127.0.0.1:%d", daemon->port[0]);
    config.url = url;
    cr_assert_eq(pipe(pipes), 0);
    server->pid = fork();
    if (server->pid == 0)
        serve(&config, pipes[1]);
    close(pipes[1]);
    cr_assert_eq(read(pipes[0], &byte, 1), 1, "the server did not join");
    close(pipes[0]);
}

void server_stop(struct server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
}
