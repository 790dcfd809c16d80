/*
 * connection.c - unreadable bytes end the connection, because the guard must not pass them
 * unchecked. Messages are passed on with their own bytes. Rejected: writing them anew with the
 * library, because a change might alter their meaning.
 */
#include "tools/mcpx-bridge/guard/guard.h"

#include "lib/json/json_write.h"
#include "tools/common/command.h"

#include <stdlib.h>

/* Byte limits: of messages that the agent sends too early, and of a buffer kept for reuse. */
enum { EARLY_MAX = 65536, KEPT_MAX = 1 << 20 };

struct guard_connection *guard_connection_new(const struct guard_connection_config *config)
{
    struct guard_connection *connection = calloc(1, sizeof *connection);

    connection->config = *config;
    guard_judge_init(&connection->judge, config->asked);
    connection->heard = (struct mx_frames){
        .side = MX_FROM_CLIENT, .max = config->message_max, .keep_size = KEPT_MAX};
    connection->told = (struct mx_frames){.side = MX_FROM_SERVER,
                                          .max = config->message_max,
                                          .keep_raw = true,
                                          .keep_size = KEPT_MAX};
    return connection;
}

void guard_connection_free(struct guard_connection *connection)
{
    guard_judge_fini(&connection->judge);
    mx_frames_fini(&connection->heard);
    mx_frames_fini(&connection->told);
    mcpx_text_fini(&connection->early);
    mcpx_text_fini(&connection->head);
    mcpx_text_fini(&connection->to_agent);
    mcpx_text_fini(&connection->to_router);
    free(connection);
}

bool guard_connection_wants_agent(const struct guard_connection *connection)
{
    bool keeps = connection->phase == GUARD_ANSWER || connection->phase == GUARD_WELCOME;

    return !connection->end && (!keeps || connection->early.len < EARLY_MAX);
}

bool guard_connection_is_waiting(const struct guard_connection *connection)
{
    return connection->phase < GUARD_FRAMES;
}

bool guard_connection_needs_agent(const struct guard_connection *connection)
{
    return connection->phase < GUARD_FRAMES && connection->phase != GUARD_PLAIN;
}

static void end(struct guard_connection *connection, const char *why)
{
    if (!connection->end)
        connection->end = why;
}

static enum mx_frames_step next_frame(struct mx_frames *frames, struct mx_frames_found *found)
{
    enum mx_frames_step step = mx_frames_next(frames, found);

    memory_checked(step == MX_FRAMES_NOMEM ? MCPX_ENOMEM : MCPX_OK);
    return step;
}

/* The guard's own answer, when it does not pass the request or the router's answer. */
static void refuse_request(struct guard_connection *connection, const char *status,
                           const char *why)
{
    mx_format(&connection->to_agent,
              "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nConnection: close\r\n"
              "Content-Length: %s\r\n\r\n%s",
              status, strlen(why), why);
    end(connection, why);
}

/*
 * Passes the head at the beginning of `bytes`, once that is complete; what follows it stays there.
 * `read` says what is wrong with it. False: it is not passed, or not yet.
 */
static bool pass_head(struct guard_connection *connection, struct mcpx_text *bytes,
                      struct mcpx_text *out, const char *refusal,
                      const char *(*read)(struct guard_connection *, struct mcpx_slice))
{
    size_t len;
    const struct mx_http_fault *broken =
        mx_http_scan(&connection->scan, mcpx_text_view(bytes), &len);
    const char *fault = broken ? broken->detail : NULL;

    if (!fault && !len)
        return false;
    connection->scan = (struct mx_http_scan){0};
    if (!fault)
        fault = read(connection, (struct mcpx_slice){bytes->text, len});
    if (fault) {
        refuse_request(connection, refusal, fault);
        return false;
    }
    mcpx_text_add(out, bytes->text, len);
    memmove(bytes->text, bytes->text + len, bytes->len - len);
    bytes->len -= len;
    return true;
}

/* ---- from the agent ---- */

/* Reads frames of the agent that pass. After a breach of RFC 6455 the rest cannot be read. */
static void listen(struct guard_connection *connection, struct mcpx_slice bytes)
{
    struct mx_frames_found found;
    enum mx_frames_step step;

    mx_frames_feed(&connection->heard, bytes);
    while ((step = next_frame(&connection->heard, &found)) != MX_FRAMES_MORE) {
        if (step == MX_FRAMES_BAD) {
            end(connection, found.reason);
            return;
        }
        if (step == MX_FRAMES_MESSAGE && found.opcode == MX_TEXT)
            guard_judge_sent(&connection->judge, found.payload);
    }
    mcpx_text_slice(&connection->to_router, bytes);
}

static void pass_body(struct guard_connection *connection, struct mcpx_slice bytes)
{
    struct mcpx_slice part = bytes;

    if (part.len > connection->body)
        part.len = (size_t)connection->body;
    connection->body -= part.len;
    mcpx_text_slice(&connection->to_router, part);
    if (part.len < bytes.len)
        end(connection, "a connection carries one request");
}

/*
 * The guard changes no field, so the router reads exactly what the agent wrote. The router uses the
 * same reader, so both always see the same requests.
 */
static const char *read_request(struct guard_connection *connection, struct mcpx_slice head)
{
    struct mx_http_head read;
    const struct mx_http_fault *fault = mx_http_request_read(head, &read);
    bool upgrades;

    if (fault)
        return fault->detail;
    upgrades = mx_http_lists(&read, "upgrade", "websocket");
    if (upgrades && read.length)
        return "a request for a WebSocket has a body";
    if (read.is_chunked)
        return "the guard reads no body in chunks; send Content-Length";
    connection->phase = upgrades ? GUARD_ANSWER : GUARD_PLAIN;
    connection->body = read.length;
    return NULL;
}

void guard_connection_from_agent(struct guard_connection *connection, struct mcpx_slice bytes)
{
    if (connection->end)
        return;
    if (connection->phase == GUARD_FRAMES) {
        listen(connection, bytes);
    } else if (connection->phase == GUARD_PLAIN || connection->phase == GUARD_REST) {
        pass_body(connection, bytes);
    } else {
        mcpx_text_slice(&connection->early, bytes);
        if (connection->phase == GUARD_HEAD &&
            pass_head(connection, &connection->early, &connection->to_router,
                      "400 Bad Request", read_request) &&
            connection->phase == GUARD_PLAIN)
            pass_body(connection, mcpx_text_view(&connection->early));
    }
}

void guard_connection_give_up(struct guard_connection *connection)
{
    if (connection->phase == GUARD_HEAD)
        refuse_request(connection, "408 Request Timeout", "the agent's request took too long");
    else if (connection->phase == GUARD_WELCOME)
        end(connection, "the router did not welcome the agent in time");
    else if (guard_connection_is_waiting(connection))
        refuse_request(connection, "504 Gateway Timeout", "the router did not answer in time");
}

/* ---- from the router ---- */

/* The agent's id is known now: messages that it sent too early are passed on. */
static void begin(struct guard_connection *connection)
{
    if (connection->phase != GUARD_WELCOME || !connection->judge.self.len)
        return;
    connection->phase = GUARD_FRAMES;
    if (connection->early.len)
        listen(connection, mcpx_text_view(&connection->early));
    mcpx_text_fini(&connection->early);
}

static void judge(struct guard_connection *connection, enum mx_frames_step step,
                  const struct mx_frames_found *found)
{
    struct guard_judge *judge = &connection->judge;
    enum guard_verdict verdict = GUARD_LONG;

    if (step == MX_FRAMES_MESSAGE && found->opcode == MX_TEXT) {
        verdict = guard_judge_message(judge, found->payload);
    } else {
        judge->envelope.from = judge->envelope.kind.text = (struct mcpx_slice){NULL, 0};
        judge->fault = (struct mcpx_fault){NULL, "", 0};
        if (step == MX_FRAMES_MESSAGE)
            verdict = GUARD_BINARY;
    }
    if (verdict == GUARD_PASS)
        mcpx_text_slice(&connection->to_agent, found->raw);
    else if (connection->config.on_left_out)
        connection->config.on_left_out(connection->config.user, verdict, judge);
    begin(connection);
}

static void pass_frames(struct guard_connection *connection, struct mcpx_slice bytes)
{
    struct mx_frames_found found;
    enum mx_frames_step step;

    mx_frames_feed(&connection->told, bytes);
    while (!connection->end &&
           (step = next_frame(&connection->told, &found)) != MX_FRAMES_MORE) {
        if (step == MX_FRAMES_BAD)
            end(connection, found.reason);
        else if (step == MX_FRAMES_CONTROL)
            mcpx_text_slice(&connection->to_agent, found.raw);
        else
            judge(connection, step, &found);
    }
}

/*
 * An extension would give frames another meaning. After a 101 without a request for a WebSocket, or
 * a 101 after another answer, the agent would read as frames what the guard passes as a body. After
 * "100 Continue" and similar ones another head follows.
 */
static const char *read_answer(struct guard_connection *connection, struct mcpx_slice head)
{
    struct mx_http_head read;
    const struct mx_http_fault *fault = mx_http_answer_read(head, &read);
    struct mcpx_slice extensions;

    if (fault)
        return fault->detail;
    if (read.status == 101 && mx_http_find(&read, "sec-websocket-extensions", &extensions))
        return "the router agreed on a WebSocket extension; the guard cannot read its frames";
    if (read.status == 101 && connection->phase != GUARD_ANSWER)
        return "the router switched protocols unasked";
    if (read.status < 200 && read.status != 101 && connection->phase == GUARD_ANSWER)
        return "the router answered twice to a request for a WebSocket";
    if (read.status == 101)
        connection->phase = GUARD_WELCOME;
    else if (read.status >= 200)
        connection->phase = GUARD_REST;
    return NULL;
}

/* Passes all complete heads, and what follows the last one. */
static void read_answers(struct guard_connection *connection)
{
    struct mcpx_text *head = &connection->head;

    while (connection->phase < GUARD_WELCOME)
        if (!pass_head(connection, head, &connection->to_agent, "502 Bad Gateway",
                       read_answer))
            return;
    if (connection->phase == GUARD_WELCOME)
        pass_frames(connection, mcpx_text_view(head));
    else
        mcpx_text_slice(&connection->to_agent, mcpx_text_view(head));
    mcpx_text_fini(head);
}

void guard_connection_from_router(struct guard_connection *connection, struct mcpx_slice bytes)
{
    if (connection->end)
        return;
    if (connection->phase == GUARD_REST) {
        mcpx_text_slice(&connection->to_agent, bytes);
    } else if (connection->phase >= GUARD_WELCOME) {
        pass_frames(connection, bytes);
    } else {
        mcpx_text_slice(&connection->head, bytes);
        read_answers(connection);
    }
}
