/*
 * upgrade.c - everything a handshake can get wrong is refused over HTTP and with a reason. The
 * participant enters its topic before the 101 is written, so that being refused there has a status
 * as well; its welcome waits WELCOME_DELAY_MS behind the 101. Where a topic has to be loaded first,
 * the 101 comes before that is decided (guests.h).
 */
#include "router/edge/upgrade.h"
#include "router/edge/answer.h"
#include "router/edge/guests.h"
#include "router/edge/http_admission.h"
#include "router/edge/refusal.h"
#include "router/edge/wire.h"

#include <libwebsockets.h>

enum { KEY_LEN = 24, DIGEST_LEN = 20, ACCEPT_SIZE = 32 };

static const struct answer_status bad_version = {
    426, "Upgrade Required", "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
    "Sec-WebSocket-Version has to be 13"};
static const struct answer_status bad_method = {405, "Method Not Allowed", "Allow: GET\r\n",
                                                "a WebSocket is opened with GET"};
static const struct answer_status bad_upgrade = {
    400, "Bad Request", NULL, "Upgrade has to be websocket and Connection to hold upgrade"};
static const struct answer_status bad_key = {400, "Bad Request", NULL,
                                             "Sec-WebSocket-Key has to be 16 bytes in base64"};
static const struct answer_status bad_body = {400, "Bad Request", NULL,
                                              "a request for a WebSocket has no body"};
static const struct answer_status bad_subprotocol = {
    400, "Bad Request", NULL, "Sec-WebSocket-Protocol has to be absent or to offer mcpx"};

bool upgrade_is_asked(const struct mx_http_head *head)
{
    return head->minor == 1 && mx_http_lists(head, "upgrade", "websocket");
}

/* 22 digits of base64 and "==": 16 bytes. */
static bool is_key(struct mcpx_slice key)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    if (key.len != KEY_LEN || key.text[KEY_LEN - 1] != '=' || key.text[KEY_LEN - 2] != '=')
        return false;
    for (size_t i = 0; i < KEY_LEN - 2; i++)
        if (!key.text[i] || !strchr(digits, key.text[i]))
            return false;
    return true;
}

/* What is wrong with the handshake, or NULL. */
static const struct answer_status *judge(const struct mx_http_head *head)
{
    struct mcpx_slice value;

    if (!mx_http_lists(head, "connection", "upgrade"))
        return &bad_upgrade;
    if (!mcpx_slice_equal(head->method, MCPX_SLICE("GET")))
        return &bad_method;
    if (!mx_http_is(head, "sec-websocket-version", "13"))
        return &bad_version;
    if (mx_http_find(head, "sec-websocket-key", &value) != 1 || !is_key(value))
        return &bad_key;
    if (head->length || head->is_chunked)
        return &bad_body;
    if (mx_http_find(head, "sec-websocket-protocol", &value) &&
        !mx_http_lists(head, "sec-websocket-protocol", "mcpx"))
        return &bad_subprotocol;
    return NULL;
}

/* RFC 6455 section 4.2.2. */
static void write_accept(struct mcpx_slice key, struct mcpx_text *out)
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    unsigned char joined[KEY_LEN + sizeof guid - 1], digest[DIGEST_LEN];
    char text[ACCEPT_SIZE];

    memcpy(joined, key.text, KEY_LEN);
    memcpy(joined + KEY_LEN, guid, sizeof guid - 1);
    lws_SHA1(joined, sizeof joined, digest);
    lws_b64_encode_string((const char *)digest, DIGEST_LEN, text, sizeof text);
    mcpx_text_puts(out, text);
}

static bool write_switch(struct connection *connection, const struct mx_http_head *head)
{
    struct mcpx_text answer = {0};
    struct mcpx_slice key;
    bool written;

    mx_http_find(head, "sec-websocket-key", &key);
    mcpx_text_puts(&answer, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                            "Connection: Upgrade\r\nSec-WebSocket-Accept: ");
    write_accept(key, &answer);
    if (mx_http_lists(head, "sec-websocket-protocol", "mcpx"))
        mcpx_text_puts(&answer, "\r\nSec-WebSocket-Protocol: mcpx");
    mcpx_text_puts(&answer, "\r\n\r\n");
    written = !answer.failed && wire_write(connection, answer.text, answer.len);
    mcpx_text_fini(&answer);
    return written;
}

/*
 * What is known of somebody who wants to come in.
 *
 * peer      its end in the hub, if it may come in at once
 * replaces  it takes the place of another connection
 */
struct entrance {
    struct admission admission;
    struct mcpx_text scratch;
    struct grant *grant;
    struct peer *peer;
    bool replaces;
    const char *detail;
};

static enum mcpx_err judge_entrance(struct connection *connection,
                                    const struct http_request *request, struct entrance *out)
{
    struct edge *edge = connection->edge;
    uint64_t takeovers = hub_stats(edge->hub)->takeovers;
    enum mcpx_err err = http_admission(&edge->api, request, edge_now(edge), &out->admission,
                                       &out->scratch, &out->grant, &out->detail);

    if (!err)
        err = hub_admit(edge->hub, out->grant, &out->admission, connection, edge_now(edge),
                        &out->peer);
    if (err == MCPX_EOPENING && out->grant)
        return guests_may_wait(edge, out->grant);
    if (!err)
        out->replaces =
            hub_stats(edge->hub)->takeovers != takeovers || guests_replaces(edge, out->peer);
    return err;
}

/* False when memory has run out. */
static bool enter(struct connection *connection, struct entrance *entrance)
{
    if (!entrance->peer)
        return guests_add(connection, entrance->grant, &entrance->admission,
                          &entrance->scratch);
    guests_enter(connection, entrance->peer, entrance->replaces);
    return true;
}

bool upgrade_answer(struct connection *connection, const struct mx_http_head *head,
                    const struct http_request *request)
{
    const struct answer_status *why = judge(head);
    struct entrance entrance = {.peer = NULL};
    enum mcpx_err err;
    bool entered = false;

    if (why) {
        answer_refuse(connection, why);
        return false;
    }
    err = judge_entrance(connection, request, &entrance);
    if (err == MCPX_EOPENING)
        goto out;
    if (err && request->caller->looks && !request->caller->is_good) {
        refusal_delay(connection);
    } else if (err) {
        answer_problem(connection, err, entrance.detail);
        refusal_note_request(connection, request, err, entrance.detail);
    } else {
        entered = enter(connection, &entrance) && write_switch(connection, head);
        if (!entered)
            connection_kill(connection);
    }
out:
    grant_unref(entrance.grant);
    mcpx_text_fini(&entrance.scratch);
    return entered;
}
