/*
 * http_client.c - a connection and its requests, one after the other. It checks the head, collects
 * the body, hands it on as a line and waits for the answer. Meanwhile it reads ahead up to the size
 * of a head, to notice a client that leaves. A client that has ended its side counts as gone,
 * because a closed connection looks the same.
 *
 * A client that sends nothing, or byte by byte, or does not read, is disconnected after QUIET_MS.
 * When there are too many connections, the longest quiet one is disconnected, so a client cannot
 * keep others out with many connections. A connection that waits for our answer is never
 * disconnected. Rejected: a timeout that every byte restarts.
 */
#include "tools/mcpx-bridge/expose/edge/http.h"

#include "lib/edge/timer.h"
#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/expose/edge/post.h"

#include <netinet/in.h>
#include <stdlib.h>

/*
 * HELD_MAX: most bytes of all bodies and answers; more are refused. A body counts until its answer,
 * because the server keeps parts of it. WAITING_MAX: most requests that wait for an answer. It is
 * below the number of connections, so that one is left to refuse further requests. WAITING_BYTES:
 * most bytes of their bodies, which cannot give way. One address may have half of both, so the
 * longest body may wait.
 */
enum { QUIET_MS = 30000, HELD_MAX = 192 << 20, WAITING_MAX = 240, WAITING_BYTES = 128 << 20 };

static const struct mx_http_fault too_long = {413, "the body is longer than this bridge reads",
                                              NULL},
                                  too_much = {503,
                                              "too many bodies and answers are on their way",
                                              NULL};

/* ---- connections ---- */

static void touch(struct http_client *client)
{
    client->touched_ms = mx_clock_now().mono_ms;
    mx_timer_set(client->quiet, QUIET_MS);
}

static void release_bytes(struct http_client *client)
{
    client->http->held -= client->held;
    client->held = 0;
}

void http_client_cut(struct http_client *client)
{
    struct expose_http *http = client->http;
    struct mcpx_text line;
    size_t at = 0;

    if (client->stream.is_closed)
        return;
    release_bytes(client);
    while (http->clients[at] != client)
        at++;
    http->clients[at] = http->clients[--http->count];
    mx_timer_set(client->quiet, 0);
    mx_stream_close(&client->stream);
    if (client->stage != HTTP_WAITING || !client->number)
        return;
    line = expose_post_cancel(client->number);
    http->transport.on_line(http->transport.user, mcpx_text_view(&line));
    mcpx_text_fini(&line);
}

/* ---- held bytes ---- */

/* Connections, and the bytes that they hold. */
struct load {
    size_t count, bytes;
};

/* Those of the client's address, or all; with `waits`, only those that wait for an answer. */
static struct load load_of(const struct http_client *client, bool own, bool waits)
{
    const struct expose_http *http = client->http;
    struct load load = {0};

    for (size_t i = 0; i < http->count; i++) {
        const struct http_client *other = http->clients[i];
        bool is_own = memcmp(&other->address, &client->address, sizeof client->address) == 0;

        if ((own && !is_own) || (waits && other->stage != HTTP_WAITING))
            continue;
        load.count++;
        load.bytes += other->held;
    }
    return load;
}

static void refuse_body(struct http_client *client, const struct mx_http_fault *fault)
{
    mcpx_text_fini(&client->body);
    release_bytes(client);
    client->is_last = true;
    http_client_refuse(client, fault->status, fault->detail);
}

/* Refuses the largest body of the address that holds most; false when the client's does. */
static bool make_room(const struct http_client *client, size_t bytes)
{
    struct expose_http *http = client->http;
    struct http_client *victim = NULL;
    size_t most = load_of(client, true, false).bytes + bytes;

    for (size_t i = 0; i < http->count; i++) {
        struct http_client *other = http->clients[i];
        bool may_go = other->stage == HTTP_BODY && other->held;
        size_t held = may_go ? load_of(other, true, false).bytes : 0;

        if (held > most || (victim && held == most && other->held > victim->held)) {
            most = held;
            victim = other;
        }
    }
    if (victim)
        refuse_body(victim, &too_much);
    return victim;
}

static bool hold(struct http_client *client, size_t bytes)
{
    while (bytes > HELD_MAX - client->http->held)
        if (!make_room(client, bytes))
            return false;
    client->held += bytes;
    client->http->held += bytes;
    return true;
}

/* ---- the answer ---- */

static const char *field_of(int status)
{
    if (status == 405)
        return "Allow: POST\r\n";
    return status == 429 || status == 503 ? "Retry-After: 5\r\n" : "";
}

static void send_answer(struct http_client *client, int status, struct mcpx_slice body)
{
    mx_scoped_text out = {0};

    mx_format(&out,
              "HTTP/1.1 %s %s\r\nContent-Length: %s\r\nCache-Control: no-store\r\n"
              "X-Content-Type-Options: nosniff\r\n%s%s%s\r\n",
              status, mx_http_phrase(status), body.len,
              body.len ? "Content-Type: application/json\r\n" : "", field_of(status),
              client->is_last ? "Connection: close\r\n" : "");
    if (!client->is_bare)
        mcpx_text_slice(&out, body);
    client->stage = HTTP_ANSWERING;
    touch(client);
    if (mx_stream_write(&client->stream, &out))
        mx_stream_yield(&client->stream);
    else
        http_client_cut(client);
}

void http_client_refuse(struct http_client *client, int status, const char *sentence)
{
    bool is_busy = status == 429 || status == 503;
    mx_scoped_text again = mx_formatted("%s", is_busy ? "{\"retryAfterMs\":5000}" : "");
    mx_scoped_text body = {0};

    bridge_add_error(&body, mcpx_text_view(&client->id),
                     is_busy ? BRIDGE_UNAVAILABLE : BRIDGE_BAD_REQUEST,
                     mcpx_slice_of(sentence), &again);
    send_answer(client, status, text_whole(&body));
}

void http_client_answer(struct http_client *client, int status, struct mcpx_text *body)
{
    release_bytes(client);
    if (hold(client, body->len))
        send_answer(client, status, text_whole(body));
    else
        http_client_refuse(client, too_much.status, too_much.detail);
    mcpx_text_fini(body);
}

/* ---- the request ---- */

/* Refuses a request when too many wait already. Returns false when it may wait. */
static bool refuse_to_wait(struct http_client *client)
{
    struct load own = load_of(client, true, true), all = load_of(client, false, true);

    if (own.count <= WAITING_MAX / 2 && all.count <= WAITING_MAX &&
        own.bytes <= WAITING_BYTES / 2 && all.bytes <= WAITING_BYTES)
        return false;
    http_client_refuse(
        client, own.count > 1 ? 429 : 503,
        own.count > 1
            ? "as many requests from your address wait for answers as there is room for"
            : "too many requests wait for answers");
    return true;
}

/* Hands a body on as a line. The answer may come during the call, or later. */
static void hand_on(struct http_client *client, struct mcpx_slice body)
{
    struct expose_http *http = client->http;
    mx_scoped_text line = {0};
    struct mcpx_slice id;
    int64_t number = ++http->last_number;
    enum expose_post_form form = expose_post_read(body, number, &line, &id);

    mcpx_text_slice(&client->id, id);
    if (http->is_ending) {
        http_client_refuse(client, 503, "the bridge is ending");
    } else if (form == EXPOSE_POST_NOTICE) {
        http_client_answer(client, 202, &(struct mcpx_text){0});
    } else if (form != EXPOSE_POST_REQUEST || !refuse_to_wait(client)) {
        client->number = form == EXPOSE_POST_REQUEST ? number : 0;
        http->current = client;
        http->transport.on_line(http->transport.user, mcpx_text_view(&line));
        http->current = NULL;
    }
}

static void consume(struct http_client *client, size_t len)
{
    struct mcpx_text *in = &client->in;

    if (len == in->len) {
        mcpx_text_fini(in);
        return;
    }
    in->len -= len;
    memmove(in->text, in->text + len, in->len);
}

static void take_body(struct http_client *client)
{
    struct mcpx_slice bytes = mcpx_text_view(&client->in);
    struct mcpx_text *body = &client->body;
    size_t had = body->len;
    const struct mx_http_fault *fault = mx_http_chunks_take(&client->chunks, &bytes, body);

    consume(client, client->in.len - bytes.len);
    if (!fault && body->len + client->chunks.left > EXPOSE_LINE_MAX)
        fault = &too_long;
    if (!fault && !hold(client, body->len - had))
        fault = &too_much;
    if (fault) {
        refuse_body(client, fault);
    } else if (client->chunks.is_done) {
        client->stage = HTTP_WAITING;
        mx_timer_stop(client->quiet);
        hand_on(client, mcpx_text_view(body));
        mcpx_text_fini(body);
    }
}

static const struct mx_http_fault *read_head(struct http_client *client,
                                             struct mcpx_slice bytes)
{
    struct mx_http_head head;
    const struct mx_http_fault *fault = mx_http_request_read(bytes, &head);
    mx_scoped_text out = {0};

    if (!fault)
        fault = expose_post_judge(&head);
    if (!fault && head.length > EXPOSE_LINE_MAX)
        fault = &too_long;
    if (fault)
        return fault;
    client->wants_events = expose_post_wants_events(&head);
    client->chunks = mx_http_body(&head);
    client->is_last = head.minor == 0 || mx_http_lists(&head, "connection", "close");
    client->stage = HTTP_BODY;
    if (client->in.len == bytes.len && mx_http_is(&head, "expect", "100-continue")) {
        mcpx_text_puts(&out, "HTTP/1.1 100 Continue\r\n\r\n"); /* RFC 9110 section 10.1.1 */
        (void)mx_stream_write(&client->stream, &out); /* if this fails, so does the answer */
    }
    return NULL;
}

static void take_head(struct http_client *client)
{
    struct mcpx_slice bytes = mcpx_text_view(&client->in);
    size_t len;
    const struct mx_http_fault *fault = mx_http_scan(&client->scan, bytes, &len);

    if (!fault && !len)
        return;
    touch(client);
    client->is_bare = bytes.len > 5 && memcmp(bytes.text, "HEAD ", 5) == 0;
    if (!fault)
        fault = read_head(client, (struct mcpx_slice){bytes.text, len});
    if (fault)
        refuse_body(client, fault);
    else
        consume(client, len);
}

/* ---- the connection ---- */

static void go_on(struct http_client *client)
{
    if (client->stage == HTTP_HEAD)
        take_head(client);
    if (client->stage == HTTP_BODY)
        take_body(client);
    mx_stream_read(&client->stream,
                   client->stage == HTTP_LEAVING || client->in.len < MX_HTTP_HEAD_MAX);
}

static void on_bytes(struct mx_stream *stream, struct mcpx_slice bytes)
{
    struct http_client *client = stream->owner;

    if (client->stage == HTTP_LEAVING)
        client->dropped += bytes.len;
    else
        mcpx_text_slice(&client->in, bytes);
    if ((stream->has_ended && client->stage != HTTP_ANSWERING) ||
        client->dropped > EXPOSE_LINE_MAX)
        http_client_cut(client);
    else
        go_on(client);
}

/* Closes later: closing with input unread could destroy an answer that the client must read. */
static void leave(struct http_client *client)
{
    client->stage = HTTP_LEAVING;
    mcpx_text_fini(&client->in);
    mx_stream_shut(&client->stream);
}

static void begin_request(struct http_client *client)
{
    client->stage = HTTP_HEAD;
    client->scan = (struct mx_http_scan){0};
    client->number = 0;
    mcpx_text_fini(&client->id);
    touch(client);
}

static void on_written(struct mx_stream *stream)
{
    struct http_client *client = stream->owner;

    if (client->stage != HTTP_ANSWERING || mx_stream_unwritten(stream))
        return;
    release_bytes(client);
    if (stream->has_ended)
        http_client_cut(client);
    else if (client->is_last)
        leave(client);
    else
        begin_request(client);
    go_on(client);
}

static void on_broken(struct mx_stream *stream, const char *why)
{
    (void)why;
    http_client_cut(stream->owner);
}

/* Disconnects a quiet client. The loop frees a closed one here: callers may use it until then. */
static void on_quiet(void *user)
{
    struct http_client *client = user;

    if (!client->stream.is_closed) {
        http_client_cut(client);
        return;
    }
    mx_timer_free(client->quiet);
    mcpx_text_fini(&client->in);
    mcpx_text_fini(&client->body);
    mcpx_text_fini(&client->id);
    free(client);
}

/* ---- the beginning ---- */

static struct http_client *quietest(const struct expose_http *http)
{
    struct http_client *found = NULL;

    for (size_t i = 0; i < http->count; i++) {
        struct http_client *client = http->clients[i];

        if (client->stage != HTTP_WAITING &&
            (!found || client->touched_ms < found->touched_ms))
            found = client;
    }
    return found;
}

void http_client_accept(struct expose_http *http)
{
    static const struct mx_stream_calls calls = {NULL, on_bytes, on_written, on_broken};
    struct http_client *client = calloc(1, sizeof *client);

    client->http = http;
    client->quiet = mx_timer_new(http->transport.loop, on_quiet, client);
    mx_stream_init(&client->stream, http->transport.loop, &calls, client);
    http->clients[http->count++] = client;
    touch(client);
    if (mx_stream_accept(&client->stream, &http->listener, &client->address)) {
        http_client_cut(client);
        return;
    }
    /* The port has the same place in both families. */
    ((struct sockaddr_in *)&client->address)->sin_port = 0;
    go_on(client);
    if (http->count > HTTP_CLIENTS_MAX)
        http_client_cut(quietest(http));
}
