/*
 * ws_client.c - the public face: settings are judged before anything is opened, sending queues and
 * asks for a turn of the loop, waiting runs the loop until there is an event.
 */
#include "lib/client/ws_client_state.h"

#include "lib/base/fault.h"
#include "lib/wire/http_head.h"
#include "lib/wire/pem.h"

#include <stdlib.h>
#include <unistd.h>

/* Always asked for, because the router's default routing is not known to the client. */
static const char *routing_of(const char *name)
{
    if (!name || strcmp(name, "all") == 0)
        return "all";
    return strcmp(name, "directed") == 0 ? "directed" : NULL;
}

/* A token goes into a header: one line of visible ASCII. */
static bool is_token(const char *token)
{
    struct mcpx_slice text = mcpx_slice_of(token);

    return text.len <= 8192 && mx_http_is_visible(text);
}

static enum mcpx_err judge_files(const struct mcpx_client_config *config,
                                 const struct mx_address *address, struct mcpx_fault *fault)
{
    const char *field = "cert_file", *why = NULL;
    SSL_CTX *context;

    if (config->ca_file && access(config->ca_file, R_OK))
        return mx_fault_set(fault, "the file cannot be read", "ca_file", 0);
    if (config->ca_file && mx_pipe_fault(config->ca_file))
        return mx_fault_set(fault, mx_pipe_fault(config->ca_file), "ca_file", 0);
    context = config->ca_file ? mx_client_context(config->ca_file) : NULL;
    SSL_CTX_free(context);
    if (config->ca_file && !context)
        return mx_fault_set(fault, "the file holds no certificate in PEM form", "ca_file", 0);
    if (!config->cert_file)
        return config->key_file
                   ? mx_fault_set(fault, "it is of no use without cert_file", "key_file", 0)
                   : MCPX_OK;
    if (!address->tls)
        why = "it can be shown under TLS only; expected a url that begins with wss://";
    if (!why)
        why = mx_certificate_fault(config->cert_file, config->key_file, &field);
    return why ? mx_fault_set(fault, why, field, 0) : MCPX_OK;
}

static enum mcpx_err judge(const struct mcpx_client_config *config,
                           const struct mx_address *address, struct mcpx_fault *fault)
{
    if (!config->topic || !mcpx_topic_name_is_valid(mcpx_slice_of(config->topic)))
        return mx_fault_set(
            fault, "a topic's name is 1 to 256 bytes of UTF-8 without controls", "topic", 0);
    if (!is_token(config->token) && (config->token || !config->cert_file))
        return mx_fault_set(fault, "a token is 1 to 8192 visible ASCII characters", "token",
                            0);
    if (!routing_of(config->routing))
        return mx_fault_set(fault, "routing is \"all\" or \"directed\"", "routing", 0);
    if (config->history < -1)
        return mx_fault_set(fault, "history is a number of envelopes, or -1", "history", 0);
    if (config->on_event && !config->loop)
        return mx_fault_set(fault, "on_event is told from a loop, which has to be lent",
                            "loop", 0);
    return judge_files(config, address, fault);
}

static enum mcpx_err open_parts(struct mcpx_client *client,
                                const struct mcpx_client_config *config)
{
    struct mcpx_session_config session = config->session;
    enum mcpx_err err;

    if (!session.fill)
        session.fill = mx_chance_fill;
    session.directed = strcmp(client->routing, "directed") == 0;
    mcpx_text_puts(&client->topic, config->topic);
    client->timer = mx_timer_new(client->loop, mx_client_turn, client);
    client->wait_timer = mx_timer_new(client->loop, mx_client_turn, client);
    if (client->topic.failed || !client->timer || !client->wait_timer)
        return MCPX_ENOMEM;
    err = mcpx_session_new(&session, &client->session);
    return err ? err
               : mx_wire_new(client->loop, &client->address, config, mx_client_take, client,
                             &client->wire);
}

enum mcpx_err mcpx_client_new(const struct mcpx_client_config *config,
                              struct mcpx_fault *fault, struct mcpx_client **out)
{
    struct mcpx_client *client;
    struct mx_address address;
    enum mcpx_err err = config->url ? mx_url_read(config->url, &address, fault)
                                    : mx_fault_set(fault, "it is missing", "url", 0);

    if (!err)
        err = judge(config, &address, fault);
    if (err)
        return err;
    client = calloc(1, sizeof *client);
    if (!client)
        return MCPX_ENOMEM;
    client->loop = config->loop;
    if (!client->loop && uv_loop_init(&client->own)) {
        free(client);
        return MCPX_ESYSTEM;
    }
    if (!client->loop)
        client->loop = &client->own;
    client->address = address;
    client->routing = routing_of(config->routing);
    client->history = config->history;
    client->once = config->once;
    client->on_event = config->on_event;
    client->user = config->user;
    client->by_certificate = !config->token && !config->session.renews_token;
    err = open_parts(client, config);
    if (err) {
        mcpx_client_free(client);
        return err;
    }
    mx_timer_set(client->timer, 0);
    *out = client;
    return MCPX_OK;
}

static bool fetch(struct mcpx_client *client, struct mcpx_event *event)
{
    if (!client->is_held)
        return false;
    *event = client->held;
    client->is_held = false;
    return true;
}

enum mcpx_err mcpx_client_wait(struct mcpx_client *client, int64_t timeout_ms,
                               struct mcpx_event *event)
{
    int64_t start_ms = mx_clock_now().mono_ms, left_ms = timeout_ms;

    mx_client_turn(client);
    while (!fetch(client, event)) {
        if (client->over)
            return MCPX_ECLOSED;
        if (timeout_ms > 0)
            mx_timer_set(client->wait_timer, left_ms);
        uv_run(client->loop, timeout_ms == 0 ? UV_RUN_NOWAIT : UV_RUN_ONCE);
        left_ms = start_ms + timeout_ms - mx_clock_now().mono_ms;
        if (timeout_ms >= 0 && left_ms <= 0 && !client->is_held) {
            mx_timer_stop(client->wait_timer);
            return client->over ? MCPX_ECLOSED : MCPX_ETIMEOUT;
        }
    }
    mx_timer_stop(client->wait_timer);
    return MCPX_OK;
}

enum mcpx_err mcpx_client_send(struct mcpx_client *client, const struct mcpx_draft *draft,
                               struct mcpx_slice *id, struct mcpx_fault *fault)
{
    enum mcpx_err err;

    if (client->over || client->closing)
        return MCPX_ECLOSED;
    err = mcpx_session_send(client->session, draft, mx_clock_now(), id, fault);
    if (!err)
        mx_timer_set(client->timer, 0);
    return err;
}

enum mcpx_err mcpx_client_respond(struct mcpx_client *client, struct mcpx_slice request,
                                  struct mcpx_slice payload, struct mcpx_fault *fault)
{
    enum mcpx_err err;

    if (client->over || client->closing)
        return MCPX_ECLOSED;
    err = mcpx_session_respond(client->session, request, payload, mx_clock_now(), fault);
    if (!err)
        mx_timer_set(client->timer, 0);
    return err;
}

enum mcpx_err mcpx_client_renew(struct mcpx_client *client, const char *token)
{
    if (client->over || !client->wire)
        return MCPX_ECLOSED;
    if (token && !is_token(token))
        return MCPX_EINVALID;
    if (token && !mx_wire_renew(client->wire, token))
        return MCPX_ENOMEM;
    client->by_certificate = false;
    mcpx_session_renews_token(client->session, token != NULL);
    mx_timer_set(client->timer, 0);
    return MCPX_OK;
}

struct mcpx_session *mcpx_client_session(struct mcpx_client *client)
{
    return client->session;
}

void mcpx_client_close(struct mcpx_client *client, int64_t timeout_ms)
{
    if (client->over)
        return;
    client->closing = true;
    client->close_ms = mx_clock_now().mono_ms + (timeout_ms > 0 ? timeout_ms : 0);
    mx_timer_set(client->timer, 0);
}

void mcpx_client_free(struct mcpx_client *client)
{
    if (!client)
        return;
    mx_wire_free(client->wire);
    mx_timer_free(client->timer);
    mx_timer_free(client->wait_timer);
    if (client->loop == &client->own) {
        uv_run(&client->own, UV_RUN_DEFAULT); /* until every handle is closed */
        uv_loop_close(&client->own);
    }
    mcpx_session_free(client->session);
    mcpx_text_fini(&client->inbox.queue);
    mcpx_text_fini(&client->topic);
    mcpx_text_fini(&client->target);
    free(client);
}
