/*
 * notice.c - composes the router's own envelopes as text. They are few and flat, so writing them
 * member by member is shorter than building a value tree and dumping it, and every string of
 * foreign origin passes through one escaping function.
 * Includes notice.h, hub_state.h, JSON.
 */
#include "router/hub/notice.h"

#include "lib/core/json.h"
#include "router/hub/hub_state.h"

void notice_frame(struct mx_strbuf *out, struct mcpx_slice text)
{
    char head[FRAME_HEAD_MAX];

    frame_head_write(head, FRAME_TEXT, text.len);
    mx_strbuf_add(out, head, frame_head_len(text.len));
    mx_strbuf_slice(out, text);
}

void notice_close(struct mx_strbuf *out, enum mcpx_err err)
{
    const char *reason = mcpx_strerror(err);
    int code = mcpx_error_close(err);
    char frame[4];

    frame_head_write(frame, FRAME_CLOSE, 2 + strlen(reason));
    frame[2] = (char)(code >> 8);
    frame[3] = (char)(code & 0xff);
    mx_strbuf_add(out, frame, sizeof frame);
    mx_strbuf_puts(out, reason);
}

void notice_begin(struct hub *hub, const char *kind, struct mcpx_slice to,
                  struct mx_strbuf *out, char id[MX_UUID_LEN + 1])
{
    char ts[MX_TIME_LEN + 1];

    hub_uuid(hub, id);
    mx_time_format(hub->now.wall_ms, ts);
    mx_strbuf_puts(out, "{\"protocol\":\"" MCPX_PROTOCOL "\",");
    mx_json_member(out, "id", mcpx_slice_of(id));
    mx_strbuf_puts(out, ",\"ts\":\"");
    mx_strbuf_puts(out, ts);
    mx_strbuf_puts(out, "\",\"from\":\"" NOTICE_FROM "\",");
    if (to.text) {
        mx_strbuf_puts(out, "\"to\":[");
        mx_json_string(out, to);
        mx_strbuf_puts(out, "],");
    }
    mx_json_member(out, "kind", mcpx_slice_of(kind));
    mx_strbuf_puts(out, ",\"payload\":");
}

void notice_participant(const struct grant *grant, struct mx_strbuf *out)
{
    mx_strbuf_add(out, "{", 1);
    mx_json_member(out, "id", grant->participant);
    mx_strbuf_puts(out, ",\"capabilities\":");
    mx_strbuf_slice(out, mx_strbuf_text(&grant->capabilities));
    if (grant->whole.len > 0) {
        mx_strbuf_puts(out, ",\"grants\":");
        mx_strbuf_slice(out, mx_strbuf_text(&grant->whole));
    }
    mx_strbuf_add(out, "}", 1);
}

/*
 * Makes room in an outbox, or leaves it as it was: an outbox that stayed `failed` would swallow
 * every later answer without a word.
 */
static bool reserve_outbox(struct mx_strbuf *outbox, size_t more)
{
    bool has_room = mx_strbuf_reserve(outbox, more);

    outbox->failed = false;
    return has_room;
}

void notice_ping(struct mx_strbuf *out)
{
    char frame[3];

    frame_head_write(frame, FRAME_PING, 1);
    frame[2] = 'p';
    if (reserve_outbox(out, sizeof frame))
        mx_strbuf_add(out, frame, sizeof frame);
}

/* Moves the envelope in the scratch to the peer's outbox and puts the peer in line. */
static bool queue_scratch(struct peer *peer)
{
    struct mx_strbuf *scratch = &peer->hub->scratch;

    if (scratch->failed || !reserve_outbox(&peer->outbox, FRAME_HEAD_MAX + scratch->len))
        return false;
    notice_frame(&peer->outbox, mx_strbuf_text(scratch));
    peer_count_outbox(peer);
    peer_wake(peer);
    return true;
}

/* ---- system/welcome ---- */

static void write_others(const struct topic *topic, struct mcpx_slice self,
                         struct mx_strbuf *out)
{
    bool any = false;

    mx_strbuf_puts(out, ",\"participants\":[");
    for (size_t i = 0; i < topic->peer_count; i++) {
        const struct grant *grant = topic->peers[i]->grant;

        if (mcpx_slice_equal(grant->participant, self))
            continue;
        if (any)
            mx_strbuf_add(out, ",", 1);
        notice_participant(grant, out);
        any = true;
    }
    mx_strbuf_add(out, "]", 1);
}

static void write_topic(const struct topic *topic, struct mx_strbuf *out)
{
    const struct log *log = &topic->log;

    mx_strbuf_puts(out, ",\"topic\":{");
    mx_json_member(out, "name", topic->name);
    mx_strbuf_puts(out, ",\"head\":");
    if (log->last_envelope > log->history)
        mx_json_string(out, entry_id(log_entry(log, log->last_envelope - 1)));
    else
        mx_strbuf_puts(out, "null");
    mx_strbuf_add(out, "}", 1);
}

/* A client that reads 0 would think that it may say nothing. */
static void write_limit(uint64_t limit, struct mx_strbuf *out)
{
    if (limit)
        mx_strbuf_number(out, (int64_t)limit);
    else
        mx_strbuf_puts(out, "null");
}

bool notice_welcome(struct peer *peer, const struct topic *topic, struct welcome welcome)
{
    const struct hub_config *config = &peer->hub->config;
    struct mx_strbuf *out = &peer->hub->scratch;
    char id[MX_UUID_LEN + 1];

    mx_strbuf_reset(out);
    notice_begin(peer->hub, "system/welcome", peer->grant->participant, out, id);
    mx_strbuf_puts(out, "{\"you\":");
    notice_participant(peer->grant, out);
    write_others(topic, peer->grant->participant, out);
    write_topic(topic, out);
    if (welcome.first) {
        mx_strbuf_puts(out, welcome.resumed ? ",\"resumed\":true" : ",\"resumed\":false");
        mx_strbuf_puts(out, ",\"history\":{\"count\":");
        mx_strbuf_number(out, (int64_t)welcome.count);
        mx_strbuf_add(out, "}", 1);
    }
    mx_strbuf_puts(out, ",\"limits\":{\"message_bytes\":");
    write_limit(config->message_bytes, out);
    mx_strbuf_puts(out, ",\"messages_per_minute\":");
    write_limit(config->messages_per_minute, out);
    mx_strbuf_puts(out, "}}}");
    return queue_scratch(peer);
}

/* ---- system/presence ---- */

enum mcpx_err notice_presence(struct topic *topic, const struct grant *grant,
                              const char *event, const char *reason)
{
    struct hub *hub = topic->hub;
    struct mx_strbuf *out = &hub->scratch;
    char id[MX_UUID_LEN + 1];
    struct log_message message = {.piece_count = 1, .presence = true};

    mx_strbuf_reset(out);
    notice_begin(hub, "system/presence", (struct mcpx_slice){0}, out, id);
    mx_strbuf_add(out, "{", 1);
    mx_json_member(out, "event", mcpx_slice_of(event));
    mx_strbuf_puts(out, ",\"participant\":");
    notice_participant(grant, out);
    if (reason) {
        mx_strbuf_add(out, ",", 1);
        mx_json_member(out, "reason", mcpx_slice_of(reason));
    }
    mx_strbuf_puts(out, "}}");
    if (out->failed)
        return MCPX_ENOMEM;
    message.pieces[0] = mx_strbuf_text(out);
    message.id = mcpx_slice_of(id);
    message.kind = MCPX_SLICE("system/presence");
    message.wall_ms = hub->now.wall_ms;
    return topic_append(topic, &message);
}

/* ---- system/error ---- */

static void write_fault(const struct mcpx_fault *fault, struct mx_strbuf *out)
{
    mx_strbuf_add(out, ",", 1);
    mx_json_member(out, "reason", mcpx_slice_of(fault->reason));
    if (fault->field[0]) {
        mx_strbuf_add(out, ",", 1);
        mx_json_member(out, "field", mcpx_slice_of(fault->field));
    }
    mx_strbuf_puts(out, ",\"offset\":");
    mx_strbuf_number(out, (int64_t)fault->offset);
}

static void write_optional(const char *name, struct mcpx_slice text, struct mx_strbuf *out)
{
    if (!text.text)
        return;
    mx_strbuf_add(out, ",", 1);
    mx_json_member(out, name, text);
}

static void write_violation(const struct peer *peer, const struct complaint *complaint,
                            struct mx_strbuf *out)
{
    const struct mcpx_decision *decision = &complaint->decision;

    write_optional("attempted_kind", complaint->kind, out);
    mx_strbuf_puts(out, ",\"your_capabilities\":");
    mx_strbuf_slice(out, mx_strbuf_text(&peer->grant->capabilities));
    write_optional("reason", mcpx_slice_of(mcpx_refusal_wire(decision->refusal)), out);
    write_optional("nearest", decision->nearest, out);
    write_optional("would_allow", decision->would_allow, out);
    write_optional("alternative", decision->alternative, out);
}

static void write_message(const struct peer *peer, const struct complaint *complaint,
                          struct mx_strbuf *out)
{
    static struct mx_strbuf nothing;
    struct mx_strbuf text = nothing;

    if (complaint->err == MCPX_ECAPABILITY) {
        mx_strbuf_puts(&text, "You lack capability for '");
        mx_strbuf_slice(&text, complaint->kind);
        mx_strbuf_puts(&text, "'");
    } else if (complaint->err == MCPX_EAUTH) {
        mx_strbuf_puts(&text, "Message 'from' field must match your participant ID (");
        mx_strbuf_slice(&text, peer->grant->participant);
        mx_strbuf_puts(&text, ")");
    } else {
        mx_strbuf_puts(&text, mcpx_strerror(complaint->err));
    }
    out->failed |= text.failed;
    mx_strbuf_add(out, ",", 1);
    mx_json_member(out, "message", mx_strbuf_text(&text));
    mx_strbuf_fini(&text);
}

static void write_complaint(const struct peer *peer, const struct complaint *complaint,
                            struct mx_strbuf *out)
{
    mx_strbuf_add(out, "{", 1);
    mx_json_member(out, "error", mcpx_slice_of(mcpx_error_wire(complaint->err)));
    write_message(peer, complaint, out);
    if (complaint->fault.reason)
        write_fault(&complaint->fault, out);
    if (complaint->err == MCPX_ECAPABILITY)
        write_violation(peer, complaint, out);
    if (complaint->err == MCPX_ERATE) {
        mx_strbuf_puts(out, ",\"retry_after_ms\":");
        mx_strbuf_number(out, complaint->wait_ms);
    }
    if (complaint->err == MCPX_ESLOW) {
        mx_strbuf_puts(out, ",\"missed\":");
        mx_strbuf_number(out, (int64_t)complaint->missed);
    }
    mx_strbuf_add(out, "}", 1);
}

bool notice_error(struct peer *peer, const struct complaint *complaint)
{
    struct mx_strbuf *out = &peer->hub->scratch;
    char id[MX_UUID_LEN + 1];

    mx_strbuf_reset(out);
    notice_begin(peer->hub, "system/error", peer->grant->participant, out, id);
    write_complaint(peer, complaint, out);
    write_optional("correlation_id", complaint->id, out);
    mx_strbuf_add(out, "}", 1);
    return queue_scratch(peer);
}
