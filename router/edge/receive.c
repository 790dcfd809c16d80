/*
 * receive.c - a message read as a whole, as nearly all are, is routed in place. The frame reader
 * collects the others. It frees a buffer that has grown large, so ten thousand idle connections do
 * not keep the sizes of their largest messages. All incomplete messages together have a bound
 * (wire.c). A size is checked when a frame declares it, before it has arrived. Pings, pongs and
 * tiny frames count in the rate limit like messages.
 */
#include "router/edge/edge_parts.h"

#include "router/connection/connection.h"
#include "router/connection/loop_budget.h"
#include "router/connection/refusal.h"

/*
 * PRIVATE_MAX: bytes of answers in the hub; beyond, they are written early. PONGS_MAX: the same for
 * pongs. PONG_HEAD: bytes before the payload of a pong.
 */
enum { PRIVATE_MAX = 262144, PONGS_MAX = 16384, PONG_HEAD = 2 };

static void flush_connection(struct connection *connection);

static void log_accepted(const struct connection *connection, const struct verdict *verdict)
{
    if (!log_wants(LOG_DEBUG) || !connection->peer)
        return;
    LOG(LOG_DEBUG, "message_accepted", log_text("participant", peer_id(connection->peer)),
        log_identity(connection->peer), log_text("topic", peer_topic_name(connection->peer)),
        log_connection(connection), log_text("id", verdict->id),
        log_text("kind", verdict->kind));
}

static void route(struct connection *connection, struct mcpx_slice text)
{
    struct verdict verdict = {0};

    hub_route(connection->edge->hub, connection->peer, text, edge_now(connection->edge),
              &verdict);
    if (verdict.err)
        refusal_note_message(connection, &verdict, text.len);
    else
        log_accepted(connection, &verdict);
    /* One read can hold hundreds of messages, each answered with an error. */
    if (peer_private_bytes(connection->peer) > PRIVATE_MAX)
        flush_connection(connection);
    /* It can also hold so many messages that subscribers would become slow consumers. */
    while (hub_is_pressed(connection->edge->hub) && flush_round(connection->edge))
        ;
}

/* The hub answers with an error, and the close comes after its other output. */
static void refuse_message(struct connection *connection, enum mcpx_err err)
{
    struct verdict verdict = {.err = err};

    if (!peer_is_disconnected(connection->peer))
        refusal_note_message(connection, &verdict, 0);
    hub_refuse(connection->edge->hub, connection->peer, err, edge_now(connection->edge));
}

/* ---- control frames ---- */

static void flush_pongs(struct connection *connection)
{
    struct mcpx_text *pongs = &connection->edge->pongs;

    if (pongs->failed || (pongs->len && !wire_write(connection, pongs->text, pongs->len)))
        connection_kill(connection);
    mcpx_text_reset(pongs);
}

/* RFC 6455 section 5.5.3: of several pings that wait, only the last one must be answered. */
static void answer_ping(struct connection *connection, struct mcpx_slice payload)
{
    struct mcpx_text *pongs = &connection->edge->pongs;
    char head[PONG_HEAD] = {(char)(0x80 | MX_PONG), (char)payload.len};

    if (connection->full)
        mcpx_text_reset(pongs);
    else if (pongs->len > PONGS_MAX)
        flush_pongs(connection);
    mcpx_text_add(pongs, head, sizeof head);
    mcpx_text_slice(pongs, payload);
}

/*
 * Handles a close frame, and answers it with the same code unless it is itself the answer. Then the
 * socket is closed at once, as libwebsockets reads unasked: waiting for a thousand ends would take
 * up an iteration. TLS must still exchange an end of its own.
 */
static void end(struct connection *connection, const struct mx_frames_found *found)
{
    bool answers = connection->state == MEMBER;
    bool is_over = connection->state == LEAVING && !connection->full && !connection->tls;

    connection_depart(connection, found->code, found->payload);
    connection_leave(connection, connection->full ? FULL_LEAVE_MS : LEAVE_MS);
    flush_pongs(connection);
    if (is_over || (answers && !wire_close(connection, found->code, "")))
        connection_kill(connection);
    else
        wire_finish(connection);
}

static void control(struct connection *connection, const struct mx_frames_found *found)
{
    if (found->opcode == MX_CLOSE) {
        end(connection, found);
        return;
    }
    connection->extra_charge++;
    if (found->opcode == MX_PING && connection->state == MEMBER)
        answer_ping(connection, found->payload);
}

/* ---- frames ---- */

/* Handles a violation of RFC 6455: the connection is not read any further. */
static void fail(struct connection *connection, const struct mx_frames_found *found)
{
    struct edge *edge = connection->edge;

    if (connection->state != MEMBER) {
        wire_finish(connection);
        return;
    }
    if (log_permits(&edge->refuse_log, edge_now(edge).mono_ms))
        LOG(LOG_INFO, "protocol_error", log_text("participant", peer_id(connection->peer)),
            log_identity(connection->peer), log_connection(connection),
            log_string("reason", found->reason));
    hub_disconnect(edge->hub, connection->peer, found->err, edge_now(edge));
    incomplete_end(connection);
}

static void take(struct connection *connection, enum mx_frames_step step,
                 const struct mx_frames_found *found)
{
    bool member = connection->state == MEMBER;

    if (step == MX_FRAMES_CONTROL)
        control(connection, found);
    else if (step == MX_FRAMES_BAD)
        fail(connection, found);
    else if (member && step == MX_FRAMES_OVERLONG)
        refuse_message(connection, MCPX_ETOOBIG);
    else if (member && step == MX_FRAMES_NOMEM)
        refuse_message(connection, MCPX_ENOMEM);
    else if (member && found->opcode == MX_BINARY)
        refuse_message(connection, MCPX_EBINARY);
    else if (member)
        route(connection, found->payload);
}

static void charge(struct connection *connection)
{
    size_t extra_charge = connection->extra_charge + connection->frames.tiny_frames;

    connection->extra_charge = connection->frames.tiny_frames = 0;
    if (extra_charge && connection->state == MEMBER)
        hub_charge(connection->edge->hub, connection->peer, extra_charge,
                   edge_now(connection->edge));
}

/* Counts an incomplete message, so its sender cannot begin more than it is permitted to send. */
static void judge_incomplete(struct connection *connection)
{
    if (connection->state != MEMBER || !mx_frames_is_open(&connection->frames)) {
        incomplete_end(connection);
        return;
    }
    if (connection->frames.opcode == MX_BINARY)
        refuse_message(connection, MCPX_EBINARY);
    if (peer_is_disconnected(connection->peer))
        incomplete_end(connection);
    else
        incomplete_count(connection);
}

static bool is_read(const struct connection *connection)
{
    return (connection->state == PENDING_CONNECTION || connection->state == MEMBER ||
            connection->state == LEAVING) &&
           !connection->finished;
}

void receive_bytes(struct connection *connection, char *bytes, size_t len)
{
    struct mx_frames *frames = &connection->frames;
    struct mx_frames_found found;
    enum mx_frames_step step = MX_FRAMES_OVERLONG;
    struct mcpx_slice rest = {0};

    (void)recheck_connection(connection);
    if (connection->peer)
        peer_heard(connection->peer, edge_now(connection->edge));
    mx_frames_feed_own(frames, bytes, len);
    while (is_read(connection) && step != MX_FRAMES_BAD && step != MX_FRAMES_NOMEM) {
        if (!loop_budget_permits(connection)) {
            rest = mx_frames_left(frames);
            break;
        }
        step = mx_frames_next(frames, &found);
        if (step == MX_FRAMES_MORE)
            break;
        loop_budget_spend(connection, 1 + found.payload.len / LOOP_BUDGET_BYTES);
        take(connection, step, &found);
    }
    if (rest.len > 0 && !loop_budget_defer(connection, rest.text, rest.len))
        connection_kill(connection);
    flush_pongs(connection);
    judge_incomplete(connection);
    charge(connection);
}

/*
 * One write per peer and loop iteration: complete frames, lent by a run of the log. Rejected:
 * libwebsockets' own way; a callback per writable socket costs fourteen times as much. It serves
 * only full sockets (wire.c).
 */

/* Limits of a round, some milliseconds; it ends at the first. A write may be 256 KiB. */
enum { WRITES_PER_ROUND = 4096, BYTES_PER_ROUND = 4 << 20 };

struct budget {
    int writes;
    int64_t bytes;
};

/* Returns false when the connection takes no more now. */
static bool write_run(struct connection *connection, const struct output *output)
{
    bool close = output->close;
    bool written = output->len == 0 || wire_write(connection, output->bytes, output->len);

    peer_pop(connection->peer);
    if (!written) {
        connection_kill(connection);
        return false;
    }
    if (close)
        connection_leave(connection, connection->full ? FULL_LEAVE_MS : LEAVE_MS);
    if (close && mx_frames_are_bad(&connection->frames))
        wire_finish(connection); /* RFC 6455 section 7.1.7: its answer could not be read */
    return !close && !connection->full;
}

static bool is_left(const struct budget *budget)
{
    return budget->writes > 0 && budget->bytes > 0;
}

static void flush_peer(struct connection *connection, struct budget *budget)
{
    struct output output;
    int before = budget->writes;

    while (is_left(budget) && connection->state == MEMBER && !connection->full &&
           peer_peek(connection->peer, &output)) {
        budget->writes--;
        budget->bytes -= (int64_t)output.len;
        if (!write_run(connection, &output))
            break;
    }
    if (budget->writes == before)
        budget->writes--; /* a look costs a write as well */
    if (connection->full)
        evict_largest_buffer(connection);
    if ((connection->state != MEMBER || connection->full) && connection->peer)
        peer_stall(connection->peer); /* full; or closed: more output is too late */
}

static void flush_connection(struct connection *connection)
{
    struct budget budget = {WRITES_PER_ROUND, BYTES_PER_ROUND};

    if (connection->peer && !connection->full && !connection_is_welcoming(connection))
        flush_peer(connection, &budget);
}

bool flush_round(struct edge *edge)
{
    struct budget budget = {WRITES_PER_ROUND, BYTES_PER_ROUND};
    struct peer *peer;

    while (is_left(&budget) && (peer = hub_next_ready(edge->hub)))
        flush_peer(peer_owner(peer), &budget);
    return !is_left(&budget);
}
