/*
 * pending_connections.c - a pending connection waits twice: to be admitted (loop_budget.h asks for
 * it), and for its join to be stored. Joins are stored in the order of their acceptance, so only
 * the first waiting one is checked.
 */
#include "router/edge/edge_parts.h"

#include "lib/json/digest.h"
#include "lib/json/json_write.h"
#include "router/api/api.h"
#include "router/connection/connection.h"
#include "router/connection/loop_budget.h"
#include "router/connection/refusal.h"

#include <stdlib.h>

/* MCPX_OK when the participant may have one more waiting connection; these count like others. */
static enum mcpx_err may_wait(const struct edge *edge, const struct grant *grant)
{
    const struct hub_config *config = &edge->config->hub;
    const struct mx_holders *waiting = &edge->pending_connections;

    if (is_at_limit(hub_stats(edge->hub)->peers + waiting->held, config->connections_max))
        return MCPX_EFULL;
    if (!is_at_limit(mx_holders_held(waiting, grant->identity), config->connections_each))
        return MCPX_OK;
    hub_note_cap(edge->hub, CAP_CONNECTIONS);
    return MCPX_ESHARE;
}

/* ---- admitted ---- */

static bool replaces_another(const struct edge *edge, const struct peer *peer)
{
    const struct topic *topic = hub_topic_find(edge->hub, peer_topic_name(peer));

    return topic && peer_is_joining(peer) && topic_peer(topic, peer_id(peer));
}

static void log_admission(const char *event, const struct connection *connection)
{
    const struct peer *peer = connection->peer;

    LOG(LOG_INFO, event, log_text("participant", peer_id(peer)), log_identity(peer),
        log_text("topic", peer_topic_name(peer)), log_connection(connection),
        log_string("remote", connection_remote(connection)));
}

static void log_entered(const struct connection *connection)
{
    log_admission("admitted", connection);
    if (connection->replaces)
        log_admission("takeover", connection); /* the other one departs: "replaced" */
}

/* The hub has admitted the connection. It is not read before its join is stored. */
static void let_in(struct connection *connection, struct peer *peer, bool replaces)
{
    connection_join(connection, peer);
    connection->replaces = replaces;
    if (peer_is_joining(peer)) {
        loop_budget_hold(connection);
        list_append(&connection->edge->joining, &connection->in_joining);
    } else {
        log_entered(connection);
        loop_budget_release(connection);
    }
}

void pending_connections_turn(struct edge *edge)
{
    struct connection *connection;

    while ((connection = LIST_FIRST(&edge->joining, struct connection, in_joining))) {
        if (peer_is_joining(connection->peer))
            return;
        list_remove(&connection->in_joining);
        if (!peer_is_disconnected(connection->peer))
            log_entered(connection);
        loop_budget_release(connection);
    }
}

/* ---- waiting for admission ---- */

/* Returns the close code; it tells whether another attempt may help: protocol section 7. */
static int close_code(enum mcpx_err err)
{
    if (err == MCPX_EKICKED || err == MCPX_EEXPIRED)
        return mcpx_error_close(err);
    if (err == MCPX_EPRESENT || mcpx_error_again(mcpx_error_status(err)) == MCPX_AGAIN_NO)
        return mcpx_error_close(MCPX_EFLOOD);
    return mcpx_error_close(MCPX_ENOTNOW);
}

static void refuse(struct waiter *pending, enum mcpx_err err)
{
    struct connection *connection = pending->connection;
    struct audit_note who = {.from = pending->grant->identity,
                             .topic = pending->admission.topic};

    record_turned_away(connection->edge, &who, connection->from, err, NULL);
    LOG(LOG_INFO, "not_admitted", log_text("participant", pending->grant->identity),
        log_text("topic", pending->admission.topic), log_connection(connection),
        log_string("reason", mcpx_error_wire(err)), log_number("close_code", close_code(err)));
    if (wire_close(connection, close_code(err), mcpx_error_wire(err)))
        connection_leave(connection,
                         LEAVE_MS); /* frees `pending`, like the call of the other branch */
    else
        connection_kill(connection);
}

static bool ask(struct waiter *pending, bool late)
{
    struct connection *connection = pending->connection;
    struct edge *edge = connection->edge;
    struct peer *peer = NULL;
    enum mcpx_err err =
        edge->stopping ? MCPX_EGOING
                       : recheck_grant(connection, pending->admission.topic, &pending->grant);

    if (!err)
        err =
            http_admission_ask(edge->hub, pending->grant, &pending->admission, edge_now(edge));
    if (err == MCPX_EOPENING && !late)
        return false;
    if (err == MCPX_EOPENING)
        err = MCPX_ENOTNOW;
    if (!err)
        err = hub_admit(edge->hub, pending->grant, &pending->admission, connection,
                        edge_now(edge), &peer);
    if (err) {
        refuse(pending, err);
        return true;
    }
    waiters_remove(connection);
    let_in(connection, peer, replaces_another(edge, peer));
    return true;
}

size_t pending_connections_turn_away(void *edge, const struct removal *removal)
{
    struct link *all = &((struct edge *)edge)->waiters.all;
    size_t count = 0;

    LIST_EACH(link, all) {
        struct waiter *waiter = LIST_ELEMENT(link, struct waiter, link);

        if (!waiter->is_pending ||
            !mcpx_slice_equal(waiter->grant->identity, removal->identity) ||
            !removal->reaches(removal->reach, waiter->admission.topic))
            continue;
        refuse(waiter, MCPX_EKICKED);
        count++;
    }
    return count;
}

/* Makes an upgraded connection wait for admission. Takes the grant and the text of `reply`, as
 * `admission` borrows from them. False when memory runs out. */
static bool add(struct connection *connection, const struct admission *admission,
                struct http_reply *reply)
{
    const struct waiter pending = {.ask = ask,
                                   .is_pending = true,
                                   .grant = reply->grant,
                                   .admission = *admission,
                                   .text = reply->scratch};

    connection_wait(connection);
    if (!waiters_add(connection, &pending))
        return false;
    reply->grant = NULL;
    reply->scratch = (struct mcpx_text){0};
    return true;
}

/*
 * Every error of a handshake is refused over HTTP, with a reason. The participant enters its topic
 * before the 101 is written, so a refusal by the hub has a status as well; its welcome follows
 * WELCOME_DELAY_MS after the 101. When a topic must be loaded first, the 101 comes before the
 * admission.
 */

/* 22 digits of base64 and "==": 16 bytes. */
static bool is_key(struct mcpx_slice key)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    return key.len == MX_KEY_LEN && memcmp(key.text + MX_KEY_LEN - 2, "==", 2) == 0 &&
           strspn(key.text, digits) == MX_KEY_LEN - 2; /* it stops at the "==" */
}

static bool refuse_handshake(struct connection *connection, int status, const char *why,
                             const char *header)
{
    answer_refuse(connection, &(struct mx_http_fault){status, why, header});
    return false;
}

bool upgrade_judge(struct connection *connection, const struct mx_http_head *head)
{
    struct mcpx_slice value;

    if (!mx_http_lists(head, "connection", "upgrade"))
        return refuse_handshake(connection, 400,
                                "Upgrade has to be websocket and Connection to hold upgrade",
                                NULL);
    if (!mcpx_slice_equal(head->method, MCPX_SLICE("GET")))
        return refuse_handshake(connection, 405, "a WebSocket is opened with GET",
                                "Allow: GET\r\n");
    if (!mx_http_is(head, "sec-websocket-version", "13"))
        return refuse_handshake(connection, 426, "Sec-WebSocket-Version has to be 13",
                                "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
    if (mx_http_find(head, "sec-websocket-key", &value) != 1 || !is_key(value))
        return refuse_handshake(connection, 400,
                                "Sec-WebSocket-Key has to be 16 bytes in base64", NULL);
    if (head->length || head->is_chunked)
        return refuse_handshake(connection, 400, "a request for a WebSocket has no body",
                                NULL);
    if (mx_http_find(head, "sec-websocket-protocol", &value) &&
        !mx_http_lists(head, "sec-websocket-protocol", "mcpx"))
        return refuse_handshake(
            connection, 400, "Sec-WebSocket-Protocol has to be absent or to offer mcpx", NULL);
    return true;
}

static bool write_switch(struct connection *connection, const struct mx_http_head *head)
{
    mx_scoped_text answer = {0};
    char accept[MX_ACCEPT_LEN + 1];
    struct mcpx_slice key;

    mx_http_find(head, "sec-websocket-key", &key);
    if (!mx_websocket_accept(key, accept))
        return false;
    mx_format(&answer,
              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
              "Connection: Upgrade\r\nSec-WebSocket-Accept: %s",
              accept);
    if (mx_http_lists(head, "sec-websocket-protocol", "mcpx"))
        mcpx_text_puts(&answer, "\r\nSec-WebSocket-Protocol: mcpx");
    mcpx_text_puts(&answer, "\r\n\r\n");
    return !answer.failed && wire_write(connection, answer.text, answer.len);
}

/* Admits the participant and sets `peer`, or lets it wait. Returns MCPX_OK, or the error. */
static enum mcpx_err judge_entrance(struct connection *connection,
                                    const struct admission *admission,
                                    const struct http_reply *reply, struct peer **peer)
{
    struct edge *edge = connection->edge;
    enum mcpx_err err = reply->err;

    if (!err)
        err = hub_admit(edge->hub, reply->grant, admission, connection, edge_now(edge), peer);
    return err == MCPX_EOPENING ? may_wait(edge, reply->grant) : err;
}

bool upgrade_enter(struct connection *connection, const struct mx_http_head *head,
                   const struct admission *admission, struct http_reply *reply)
{
    struct edge *edge = connection->edge;
    uint64_t takeovers = hub_stats(edge->hub)->takeovers;
    struct peer *peer = NULL;
    enum mcpx_err err = judge_entrance(connection, admission, reply, &peer);

    http_reply_fail(reply, err, NULL);
    if (err)
        return false;
    if (peer)
        let_in(connection, peer,
               hub_stats(edge->hub)->takeovers != takeovers || replaces_another(edge, peer));
    if ((peer || add(connection, admission, reply)) && write_switch(connection, head))
        return true;
    connection_kill(connection);
    return false;
}
