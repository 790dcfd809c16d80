/*
 * notice.c - composes the router's own envelopes as text. They are few and flat, so writing them
 * member by member is shorter than building a value tree and dumping it, and every string of
 * foreign origin passes through one escaping function. Callers queue or publish the result.
 */
#include "router/hub/topic/notice.h"

#include "lib/base/ident.h"
#include "lib/base/scoped.h"
#include "lib/json/json_write.h"
#include "router/hub/topic/hub_state.h"
#include <mcpx/json.h>

void notice_close(struct mcpx_text *out, enum mcpx_err err, int64_t again_ms)
{
    const char *reason = err == MCPX_ENOTNOW ? mcpx_error_wire(err) : mcpx_strerror(err);
    int code = mcpx_error_close(err);
    mx_scoped_text again = {0};
    char frame[4];

    if (err == MCPX_EGOING)
        mx_format(&again, "; retry_after_ms=%s", again_ms);
    if (again.failed)
        mcpx_text_reset(&again); /* the close matters more than the time to reconnect */
    mx_frame_head_write(frame, MX_CLOSE, 2 + strlen(reason) + again.len);
    frame[2] = (char)(code >> 8);
    frame[3] = (char)(code & 0xff);
    mcpx_text_add(out, frame, sizeof frame);
    mcpx_text_puts(out, reason);
    mcpx_text_slice(out, mcpx_text_view(&again));
}

void notice_begin(struct hub *hub, const char *kind, struct mcpx_slice to,
                  struct mcpx_text *out)
{
    unsigned char random[16];
    char id[MX_UUID_LEN + 1], ts[MX_TIME_LEN + 1];

    hub->chance.fill(hub->chance.context, random, sizeof random);
    mx_uuid_format(random, id);
    mx_time_format(hub->now.wall_ms, ts);
    mx_format(out,
              "{\"protocol\":\"" MCPX_PROTOCOL "\",\"id\":\"%s\",\"ts\":\"%s\","
              "\"from\":\"" NOTICE_FROM "\"",
              id, ts);
    if (to.text)
        mx_json_add_strings(out, "to", &to, 1);
    mx_format(out, ",\"kind\":\"%s\",\"payload\":", kind);
}

/* Runs for every participant at each join, so known text is appended as it is. */
void notice_participant(const struct peer *peer, struct mcpx_text *out)
{
    const struct grant *grant = peer->grant;

    mx_json_begin_object(out, NULL);
    mcpx_json_add_member(out, "id", peer->id);
    if (peer->number > 1)
        mcpx_json_add_member(out, "identity", grant->identity);
    mcpx_text_puts(out, ",\"capabilities\":");
    mcpx_text_slice(out, mcpx_text_view(&grant->capabilities));
    if (grant->whole.len > 0)
        mx_json_add_raw(out, "grants", mcpx_text_view(&grant->whole));
    mcpx_text_add(out, "}", 1);
}

void notice_ping(struct mcpx_text *out)
{
    char frame[3];

    mx_frame_head_write(frame, MX_PING, 1);
    frame[2] = 'p';
    if (frame_reserve(out, sizeof frame))
        mcpx_text_add(out, frame, sizeof frame);
}

/* ---- system/welcome ---- */

/* Written once for all welcomes before the next join, leave or update. */
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
    mx_json_begin_array(out, "participants");
    mcpx_text_add(out, listed->text, peer->listed_at);
    mcpx_text_add(out, listed->text + behind, listed->len - behind);
    if (!out->failed && listed->len > peer->listed_len)
        out->len--; /* the last comma */
    mx_json_end_array(out);
    return true;
}

/* Appends `"epoch":E,"serial":N`: a client can resume there. Protocol: section 5. */
static void write_place(const struct topic *topic, uint64_t serial, struct mcpx_text *out)
{
    mcpx_json_add_member(out, "epoch", mcpx_slice_of(topic->epoch));
    mx_json_add_number(out, "serial", (int64_t)serial);
}

/*
 * The head in a welcome is the newest envelope before the joiner's live traffic, even in a late
 * welcome: the joiner may ask for later envelopes.
 */
static void write_topic(const struct peer *peer, struct mcpx_text *out)
{
    const struct log *log = &peer->topic->log;
    uint64_t head = peer->welcome.first ? peer->cursor.joined : log->head;

    mx_json_begin_object(out, "topic");
    mcpx_json_add_member(out, "name", peer->topic->name);
    if (head > log->history)
        mcpx_json_add_member(out, "head", entry_id(log_entry(log, head - 1)));
    else
        mx_json_add_raw(out, "head", MCPX_SLICE("null"));
    write_place(peer->topic, cursor_place(&peer->cursor), out);
    mx_json_end_object(out);
}

/* Omits 0 (no limit): a client would think that it may send nothing. */
static void write_limit(const char *name, uint64_t limit, struct mcpx_text *out)
{
    if (limit)
        mx_json_add_number(out, name, (int64_t)limit);
    else
        mx_json_add_raw(out, name, MCPX_SLICE("null"));
}

static bool add_frames(struct mcpx_text *out, struct mcpx_slice more,
                       struct mcpx_slice *frames)
{
    size_t at = (size_t)(frames->text - out->text);

    mcpx_text_slice(out, more);
    *frames = (struct mcpx_slice){out->text + at, frames->len + more.len};
    return !out->failed;
}

bool notice_welcome(const struct peer *peer, struct mcpx_slice more, struct mcpx_slice *frames)
{
    const struct hub_config *config = &peer->hub->config;
    const struct welcome *welcome = &peer->welcome;
    struct mcpx_text *out = frame_begin(&peer->hub->scratch);

    notice_begin(peer->hub, "system/welcome", peer->id, out);
    mcpx_text_puts(out, "{\"you\":");
    notice_participant(peer, out);
    if (!write_others(peer, out))
        return false;
    write_topic(peer, out);
    if (welcome->first)
        mx_format(out, ",\"resumed\":%s,\"history\":{\"count\":%s}", welcome->resumed,
                  welcome->count);
    mx_json_begin_object(out, "limits");
    write_limit("message_bytes", config->message_bytes, out);
    write_limit("messages_per_minute", config->messages_per_minute, out);
    write_limit("bytes_per_minute", config->bytes_per_minute, out);
    mcpx_text_puts(out, "}");
    if (*config->rev)
        mx_format(out, ",\"policy\":{\"rev\":\"%s\"}", config->rev);
    mcpx_text_puts(out, "}}");
    return frame_end(out, frames) && add_frames(out, more, frames);
}

/* ---- system/presence ---- */

/* Begins a notice as text, in the scratch; `finish` fills in the result. */
static struct mcpx_text *begin(struct hub *hub, const char *kind, struct mcpx_slice to)
{
    mcpx_text_reset(&hub->scratch);
    notice_begin(hub, kind, to, &hub->scratch);
    return &hub->scratch;
}

static bool finish(const struct mcpx_text *out, struct mcpx_slice *text)
{
    *text = mcpx_text_view(out);
    return !out->failed;
}

/* The same for all readers, because it comes right behind the newest envelope. */
static void write_topic_place(const struct topic *topic, struct mcpx_text *out)
{
    mx_json_begin_object(out, "topic");
    write_place(topic, topic->log.head, out);
    mx_json_end_object(out);
}

bool notice_presence(const struct peer *peer, const char *event, const char *reason,
                     struct mcpx_slice *text)
{
    struct mcpx_text *out = begin(peer->hub, "system/presence", (struct mcpx_slice){0});

    mx_format(out, "{\"event\":\"%s\",\"participant\":", event);
    notice_participant(peer, out);
    if (reason)
        mcpx_json_add_member(out, "reason", mcpx_slice_of(reason));
    write_topic_place(peer->topic, out);
    mcpx_text_puts(out, "}}");
    return finish(out, text);
}

/* ---- system/position ---- */

bool notice_position(const struct topic *topic, struct mcpx_slice *text)
{
    struct mcpx_text *out = begin(topic->hub, "system/position", (struct mcpx_slice){0});

    mcpx_text_puts(out, "{");
    write_topic_place(topic, out);
    mcpx_text_puts(out, "}}");
    return finish(out, text);
}

/* ---- system/error ---- */

static void write_fault(const struct mcpx_fault *fault, struct mcpx_text *out)
{
    mcpx_json_add_member(out, "reason", mcpx_slice_of(fault->reason));
    if (fault->field[0])
        mcpx_json_add_member(out, "field", mcpx_slice_of(fault->field));
    mx_json_add_number(out, "offset", (int64_t)fault->offset);
}

static void write_violation(const struct peer *peer, const struct error_notice *error,
                            struct mcpx_text *out)
{
    const struct mcpx_decision *decision = &error->decision;

    mx_json_add_optional(out, "attempted_kind", error->kind);
    mx_json_add_raw(out, "your_capabilities", mcpx_text_view(&peer->grant->capabilities));
    mx_json_add_optional(out, "reason", mcpx_slice_of(mcpx_refusal_wire(decision->refusal)));
    mx_json_add_optional(out, "nearest", decision->nearest);
    mx_json_add_optional(out, "would_allow", decision->would_allow);
    mx_json_add_optional(out, "alternative", decision->alternative);
}

static void write_message(const struct peer *peer, const struct error_notice *error,
                          struct mcpx_text *out)
{
    mx_scoped_text text = {0};

    if (error->err == MCPX_ECAPABILITY)
        mx_format(&text, "You lack capability for '%s'", error->kind);
    else if (error->err == MCPX_EAUTH)
        mx_format(&text, "Message 'from' field must match your participant ID (%s)", peer->id);
    else
        mcpx_text_puts(&text, mcpx_strerror(error->err));
    if (error->cap)
        mx_format(&text, " (%s)", error->cap);
    mx_format(out, ",\"message\":%q", &text);
}

static void write_error(const struct peer *peer, const struct error_notice *error,
                        struct mcpx_text *out)
{
    mx_format(out, "{\"error\":%q", mcpx_error_wire(error->err));
    write_message(peer, error, out);
    if (error->fault.reason)
        write_fault(&error->fault, out);
    if (error->err == MCPX_ECAPABILITY)
        write_violation(peer, error, out);
    if (error->err == MCPX_ERATE || error->err == MCPX_EUNAVAILABLE)
        mx_json_add_number(out, "retry_after_ms", error->wait_ms);
    if (error->err == MCPX_EUNAVAILABLE)
        mcpx_json_add_member(out, "outcome",
                             mcpx_slice_of(error->uncertain ? "unknown" : "refused"));
    mx_json_add_optional(out, "cap", mcpx_slice_of(error->cap));
    if (error->err == MCPX_ESLOW)
        mx_json_add_number(out, "missed", (int64_t)error->missed);
    mx_json_end_object(out);
}

bool notice_error(const struct peer *peer, const struct error_notice *error,
                  struct mcpx_slice *text)
{
    struct mcpx_text *out = begin(peer->hub, "system/error", peer->id);

    write_error(peer, error, out);
    mx_json_add_optional(out, "correlation_id", error->id);
    mx_json_end_object(out);
    return finish(out, text);
}
