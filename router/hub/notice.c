/*
 * notice.c - composes the router's own envelopes as text. They are few and flat, so writing them
 * member by member is shorter than building a value tree and dumping it, and every string of
 * foreign origin passes through one escaping function.
 * Includes notice.h, cursor.h, hub_state.h, JSON.
 */
#include "router/hub/notice.h"

#include "router/hub/cursor.h"
#include "router/hub/hub_state.h"
#include <mcpx/json.h>

struct mcpx_text *notice_begin_frame(struct hub *hub)
{
    static const char room[FRAME_HEAD_MAX];

    mcpx_text_reset(&hub->scratch);
    mcpx_text_add(&hub->scratch, room, sizeof room);
    return &hub->scratch;
}

bool notice_end_frame(struct hub *hub, struct mcpx_slice *frame)
{
    struct mcpx_text *out = &hub->scratch;
    size_t len, head;

    if (out->failed)
        return false;
    len = out->len - FRAME_HEAD_MAX;
    head = frame_head_len(len);
    frame_head_write(out->text + FRAME_HEAD_MAX - head, FRAME_TEXT, len);
    *frame = (struct mcpx_slice){out->text + FRAME_HEAD_MAX - head, head + len};
    return true;
}

void notice_close(struct mcpx_text *out, enum mcpx_err err)
{
    const char *reason = mcpx_strerror(err);
    int code = mcpx_error_close(err);
    char frame[4];

    frame_head_write(frame, FRAME_CLOSE, 2 + strlen(reason));
    frame[2] = (char)(code >> 8);
    frame[3] = (char)(code & 0xff);
    mcpx_text_add(out, frame, sizeof frame);
    mcpx_text_puts(out, reason);
}

void notice_begin(struct hub *hub, const char *kind, struct mcpx_slice to,
                  struct mcpx_text *out, char id[MX_UUID_LEN + 1])
{
    char ts[MX_TIME_LEN + 1];

    hub_uuid(hub, id);
    mx_time_format(hub->now.wall_ms, ts);
    mcpx_text_puts(out, "{\"protocol\":\"" MCPX_PROTOCOL "\",");
    mcpx_json_add_member(out, "id", mcpx_slice_of(id));
    mcpx_text_puts(out, ",\"ts\":\"");
    mcpx_text_puts(out, ts);
    mcpx_text_puts(out, "\",\"from\":\"" NOTICE_FROM "\",");
    if (to.text) {
        mcpx_text_puts(out, "\"to\":[");
        mcpx_json_add_string(out, to);
        mcpx_text_puts(out, "],");
    }
    mcpx_json_add_member(out, "kind", mcpx_slice_of(kind));
    mcpx_text_puts(out, ",\"payload\":");
}

void notice_participant(const struct peer *peer, struct mcpx_text *out)
{
    const struct grant *grant = peer->grant;

    mcpx_text_add(out, "{", 1);
    mcpx_json_add_member(out, "id", peer->id);
    if (peer->number > 1) {
        mcpx_text_add(out, ",", 1);
        mcpx_json_add_member(out, "identity", grant->identity);
    }
    mcpx_text_puts(out, ",\"capabilities\":");
    mcpx_text_slice(out, mcpx_text_view(&grant->capabilities));
    if (grant->whole.len > 0) {
        mcpx_text_puts(out, ",\"grants\":");
        mcpx_text_slice(out, mcpx_text_view(&grant->whole));
    }
    mcpx_text_add(out, "}", 1);
}

/*
 * Makes room in an outbox, or leaves it as it was: an outbox that stayed `failed` would swallow
 * every later answer without a word.
 */
static bool reserve_outbox(struct mcpx_text *outbox, size_t more)
{
    bool has_room = mcpx_text_reserve(outbox, more);

    outbox->failed = false;
    return has_room;
}

void notice_ping(struct mcpx_text *out)
{
    char frame[3];

    frame_head_write(frame, FRAME_PING, 1);
    frame[2] = 'p';
    if (reserve_outbox(out, sizeof frame))
        mcpx_text_add(out, frame, sizeof frame);
}

/* Moves the envelope in the scratch to the peer's outbox and puts the peer in line. */
static bool queue_scratch(struct peer *peer)
{
    struct mcpx_text *scratch = &peer->hub->scratch;

    if (scratch->failed || !reserve_outbox(&peer->outbox, FRAME_HEAD_MAX + scratch->len))
        return false;
    frame_add(&peer->outbox, mcpx_text_view(scratch));
    peer_count_outbox(peer);
    peer_wake(peer);
    return true;
}

/* ---- system/welcome ---- */

/* Written once for all who are welcomed before somebody comes, goes or changes. */
static bool list_everybody(struct topic *topic)
{
    struct mcpx_text *out = &topic->listed;

    if (out->len > 0)
        return true;
    for (size_t i = 0; i < topic->peer_count; i++) {
        struct peer *peer = topic->peers[i];

        peer->listed_at = out->len;
        notice_participant(peer, out);
        mcpx_text_add(out, ",", 1);
        peer->listed_len = out->len - peer->listed_at;
    }
    if (!out->failed)
        return true;
    mcpx_text_fini(out);
    return false;
}

static bool write_others(const struct peer *peer, struct mcpx_text *out)
{
    const struct mcpx_text *listed = &peer->topic->listed;
    size_t behind;

    if (!list_everybody(peer->topic))
        return false;
    behind = peer->listed_at + peer->listed_len;
    mcpx_text_puts(out, ",\"participants\":[");
    mcpx_text_add(out, listed->text, peer->listed_at);
    mcpx_text_add(out, listed->text + behind, listed->len - behind);
    if (!out->failed && listed->len > peer->listed_len)
        out->len--; /* the last comma */
    mcpx_text_add(out, "]", 1);
    return true;
}

void notice_place(const struct topic *topic, uint64_t serial, struct mcpx_text *out)
{
    mcpx_json_add_member(out, "epoch", mcpx_slice_of(topic->epoch));
    mcpx_text_puts(out, ",\"serial\":");
    mcpx_text_number(out, (int64_t)serial);
}

/*
 * The head a joiner is told is the newest envelope before its live traffic, whenever it is told:
 * it may ask for what came after that.
 */
static void write_topic(const struct peer *peer, struct mcpx_text *out)
{
    const struct log *log = &peer->topic->log;
    uint64_t head = peer->welcome.first ? peer->cursor.joined : log->head;

    mcpx_text_puts(out, ",\"topic\":{");
    mcpx_json_add_member(out, "name", peer->topic->name);
    mcpx_text_puts(out, ",\"head\":");
    if (head > log->history)
        mcpx_json_add_string(out, entry_id(log_entry(log, head - 1)));
    else
        mcpx_text_puts(out, "null");
    mcpx_text_add(out, ",", 1);
    notice_place(peer->topic, cursor_place(&peer->cursor), out);
    mcpx_text_add(out, "}", 1);
}

/* A client that reads 0 would think that it may say nothing. */
static void write_limit(uint64_t limit, struct mcpx_text *out)
{
    if (limit)
        mcpx_text_number(out, (int64_t)limit);
    else
        mcpx_text_puts(out, "null");
}

/* Puts frames behind the one that was composed. */
static bool add_frames(struct mcpx_text *out, struct mcpx_slice more,
                       struct mcpx_slice *frames)
{
    size_t at = (size_t)(frames->text - out->text);

    mcpx_text_slice(out, more);
    *frames = (struct mcpx_slice){out->text + at, frames->len + more.len};
    return !out->failed;
}

bool notice_welcome(const struct peer *peer, struct mcpx_slice behind,
                    struct mcpx_slice *frames)
{
    const struct hub_config *config = &peer->hub->config;
    const struct welcome *welcome = &peer->welcome;
    struct mcpx_text *out = notice_begin_frame(peer->hub);
    char id[MX_UUID_LEN + 1];

    notice_begin(peer->hub, "system/welcome", peer->id, out, id);
    mcpx_text_puts(out, "{\"you\":");
    notice_participant(peer, out);
    if (!write_others(peer, out))
        return false;
    write_topic(peer, out);
    if (welcome->first) {
        mcpx_text_puts(out, welcome->resumed ? ",\"resumed\":true" : ",\"resumed\":false");
        mcpx_text_puts(out, ",\"history\":{\"count\":");
        mcpx_text_number(out, (int64_t)welcome->count);
        mcpx_text_add(out, "}", 1);
    }
    mcpx_text_puts(out, ",\"limits\":{\"message_bytes\":");
    write_limit(config->message_bytes, out);
    mcpx_text_puts(out, ",\"messages_per_minute\":");
    write_limit(config->messages_per_minute, out);
    mcpx_text_puts(out, "}}}");
    return notice_end_frame(peer->hub, frames) && add_frames(out, behind, frames);
}

/* ---- system/presence ---- */

/* The same for all who read it, because it stands behind the newest envelope. */
static void write_stand(const struct topic *topic, struct mcpx_text *out)
{
    mcpx_text_puts(out, "\"topic\":{");
    notice_place(topic, topic->log.head, out);
    mcpx_text_add(out, "}", 1);
}

enum mcpx_err notice_presence(const struct peer *peer, struct change change,
                              struct mcpx_text *copy)
{
    struct hub *hub = peer->hub;
    struct mcpx_text *out = &hub->scratch;
    char id[MX_UUID_LEN + 1];
    enum mcpx_err err;

    mcpx_text_reset(out);
    notice_begin(hub, "system/presence", (struct mcpx_slice){0}, out, id);
    mcpx_text_add(out, "{", 1);
    mcpx_json_add_member(out, "event", mcpx_slice_of(change.event));
    mcpx_text_puts(out, ",\"participant\":");
    notice_participant(peer, out);
    if (change.reason) {
        mcpx_text_add(out, ",", 1);
        mcpx_json_add_member(out, "reason", mcpx_slice_of(change.reason));
    }
    mcpx_text_add(out, ",", 1);
    write_stand(peer->topic, out);
    mcpx_text_puts(out, "}}");
    if (out->failed || (copy && !mcpx_text_reserve(copy, FRAME_HEAD_MAX + out->len)))
        return MCPX_ENOMEM;
    err = topic_tell(peer->topic, mcpx_text_view(out));
    if (!err && copy)
        frame_add(copy, mcpx_text_view(out));
    return err;
}

/* ---- system/position ---- */

bool notice_position(struct topic *topic)
{
    struct hub *hub = topic->hub;
    struct mcpx_text *out = &hub->scratch;
    char id[MX_UUID_LEN + 1];

    mcpx_text_reset(out);
    notice_begin(hub, "system/position", (struct mcpx_slice){0}, out, id);
    mcpx_text_puts(out, "{");
    write_stand(topic, out);
    mcpx_text_puts(out, "}}");
    return !out->failed && topic_tell(topic, mcpx_text_view(out)) == MCPX_OK;
}

/* ---- system/error ---- */

static void write_fault(const struct mcpx_fault *fault, struct mcpx_text *out)
{
    mcpx_text_add(out, ",", 1);
    mcpx_json_add_member(out, "reason", mcpx_slice_of(fault->reason));
    if (fault->field[0]) {
        mcpx_text_add(out, ",", 1);
        mcpx_json_add_member(out, "field", mcpx_slice_of(fault->field));
    }
    mcpx_text_puts(out, ",\"offset\":");
    mcpx_text_number(out, (int64_t)fault->offset);
}

static void write_optional(const char *name, struct mcpx_slice text, struct mcpx_text *out)
{
    if (!text.text)
        return;
    mcpx_text_add(out, ",", 1);
    mcpx_json_add_member(out, name, text);
}

static void write_violation(const struct peer *peer, const struct complaint *complaint,
                            struct mcpx_text *out)
{
    const struct mcpx_decision *decision = &complaint->decision;

    write_optional("attempted_kind", complaint->kind, out);
    mcpx_text_puts(out, ",\"your_capabilities\":");
    mcpx_text_slice(out, mcpx_text_view(&peer->grant->capabilities));
    write_optional("reason", mcpx_slice_of(mcpx_refusal_wire(decision->refusal)), out);
    write_optional("nearest", decision->nearest, out);
    write_optional("would_allow", decision->would_allow, out);
    write_optional("alternative", decision->alternative, out);
}

static void write_message(const struct peer *peer, const struct complaint *complaint,
                          struct mcpx_text *out)
{
    static struct mcpx_text nothing;
    struct mcpx_text text = nothing;

    if (complaint->err == MCPX_ECAPABILITY) {
        mcpx_text_puts(&text, "You lack capability for '");
        mcpx_text_slice(&text, complaint->kind);
        mcpx_text_puts(&text, "'");
    } else if (complaint->err == MCPX_EAUTH) {
        mcpx_text_puts(&text, "Message 'from' field must match your participant ID (");
        mcpx_text_slice(&text, peer->id);
        mcpx_text_puts(&text, ")");
    } else {
        mcpx_text_puts(&text, mcpx_strerror(complaint->err));
    }
    out->failed |= text.failed;
    mcpx_text_add(out, ",", 1);
    mcpx_json_add_member(out, "message", mcpx_text_view(&text));
    mcpx_text_fini(&text);
}

static void write_complaint(const struct peer *peer, const struct complaint *complaint,
                            struct mcpx_text *out)
{
    mcpx_text_add(out, "{", 1);
    mcpx_json_add_member(out, "error", mcpx_slice_of(mcpx_error_wire(complaint->err)));
    write_message(peer, complaint, out);
    if (complaint->fault.reason)
        write_fault(&complaint->fault, out);
    if (complaint->err == MCPX_ECAPABILITY)
        write_violation(peer, complaint, out);
    if (complaint->err == MCPX_ERATE) {
        mcpx_text_puts(out, ",\"retry_after_ms\":");
        mcpx_text_number(out, complaint->wait_ms);
    }
    if (complaint->err == MCPX_ESLOW) {
        mcpx_text_puts(out, ",\"missed\":");
        mcpx_text_number(out, (int64_t)complaint->missed);
    }
    mcpx_text_add(out, "}", 1);
}

bool notice_error(struct peer *peer, const struct complaint *complaint)
{
    struct mcpx_text *out = &peer->hub->scratch;
    char id[MX_UUID_LEN + 1];

    mcpx_text_reset(out);
    notice_begin(peer->hub, "system/error", peer->id, out, id);
    write_complaint(peer, complaint, out);
    write_optional("correlation_id", complaint->id, out);
    mcpx_text_add(out, "}", 1);
    return queue_scratch(peer);
}
