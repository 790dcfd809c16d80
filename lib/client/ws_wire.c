/*
 * ws_wire.c - the life of a connection: a stream is made, an upgrade asked for and answered, frames
 * go both ways, and it is over. Heads and frames are read by the router's own readers, so a client
 * takes nothing that a router would not say. No proxy from the environment, and no redirection: the
 * token would go somewhere else.
 *
 * A library for WebSockets was refused: it gave out other close codes than those that were sent,
 * masked byte by byte, looked names up within the loop, and knew no reason of a failed handshake.
 */
#include "lib/client/ws_wire.h"

#include "lib/edge/stream.h"
#include "lib/edge/timer.h"
#include "lib/json/json_write.h"
#include "lib/wire/frames.h"
#include "lib/wire/pem.h"

#include <stdlib.h>

/* Maximum of limits.message_bytes, and of the router's additions. Protocol: section 1. */
enum { LIMIT_MAX = 1 << 30, SPLICE_MAX = 65536 };

/* ANSWER_MS: that long an end, or the rest of a refusal, is waited for. */
enum { KEEP_MAX = 1 << 20, REASON_MAX = 511, KEYS = 64, ANSWER_MS = 3000 };

/*
 *   IDLE     no connection
 *   DIALLED  a stream is being made
 *   ASKED    an upgrade was asked for
 *   OPEN     between OPENED and ENDED
 *   ENDING   the last word was said on both sides, or ours was that we do not go on
 */
enum stage { IDLE, DIALLED, ASKED, OPEN, ENDING };

/*
 * target     lent, while a connection is asked for
 * host, token            NUL-terminated; without a token, that is empty
 * cert_file, key_file   the same; empty when no certificate is shown
 * tls, room      what connections under TLS begin with; NULL without it
 * patience       rings when an end has been waited for
 * finishing      our close frame was written, or nothing can be written any more
 * code, reason   why it ends, as far as known; of a refused upgrade the status
 * out            what is to be written
 * keys           what the next frames are masked with; each is used once
 */
struct mx_wire {
    uv_loop_t *loop;
    void (*tell)(void *user, struct mx_input input);
    void *user;
    struct mx_address address;
    const struct mcpx_text *target;
    struct mcpx_text host, token, cert_file, key_file;
    SSL_CTX *tls;
    struct mx_tls_room *room;
    struct mx_stream stream;
    struct mx_timer *patience;
    enum stage stage;
    bool finishing;
    int code;
    char reason[REASON_MAX + 1];
    struct mx_upgrade upgrade;
    struct mcpx_text out;
    struct mx_frames frames;
    unsigned char keys[KEYS][4];
    size_t keys_left;
};

static void keep_reason(struct mx_wire *wire, struct mcpx_slice reason)
{
    size_t len = reason.len < REASON_MAX ? reason.len : REASON_MAX;

    memcpy(wire->reason, reason.text ? reason.text : "", len);
    wire->reason[len] = '\0';
}

/* ---- the end ---- */

void mx_wire_drop(struct mx_wire *wire)
{
    wire->stage = IDLE;
    mx_timer_stop(wire->patience);
    mx_stream_close(&wire->stream);
    mx_frames_fini(&wire->frames);
    mx_upgrade_fini(&wire->upgrade);
    mcpx_text_reset(&wire->out);
}

/* The connection is gone, or the attempt at one. */
static void tell_ended(struct mx_wire *wire)
{
    mx_scoped_text why = {0};

    if (wire->stage == DIALLED || wire->stage == ASKED)
        mx_format(&why, "cannot connect to %s: ", &wire->host);
    mcpx_text_puts(&why, wire->reason);
    mx_wire_drop(wire);
    wire->tell(wire->user,
               (struct mx_input){MX_INPUT_ENDED, wire->code, mcpx_text_view(&why)});
}

/* ---- writing ---- */

/* Nothing more is written; what the other side has said before, and how it ends, is waited for. */
static void give_up(struct mx_wire *wire)
{
    wire->finishing = true;
    mx_stream_read(&wire->stream, true);
    mx_stream_shut(&wire->stream);
    mx_timer_set(wire->patience, ANSWER_MS);
}

void mx_wire_flush(struct mx_wire *wire, bool more)
{
    if (!mx_stream_write(&wire->stream, &wire->out))
        give_up(wire);
    else if (more)
        mx_stream_yield(&wire->stream);
}

static bool takes(const struct mx_wire *wire)
{
    return wire->stage == OPEN && !wire->finishing && !mx_stream_unwritten(&wire->stream);
}

/* Returns the next frame's mask. Random bytes are fetched for many keys at once. */
static const unsigned char *next_key(struct mx_wire *wire)
{
    if (wire->keys_left == 0) {
        mx_chance_fill(NULL, wire->keys, sizeof wire->keys);
        wire->keys_left = KEYS;
    }
    return wire->keys[--wire->keys_left];
}

static void put(struct mx_wire *wire, enum mx_opcode opcode, struct mcpx_slice body)
{
    const unsigned char *key = next_key(wire);
    struct mcpx_text *out = &wire->out;
    char head[MX_FRAME_HEAD_MAX];
    size_t len = mx_frame_head_mask(head, opcode, body.len, key);

    mcpx_text_add(out, head, len);
    mcpx_text_slice(out, body);
    if (!out->failed)
        mx_unmask((unsigned char *)out->text + out->len - body.len, body.len, key, 0);
}

static void put_close(struct mx_wire *wire, int code)
{
    const char body[] = {(char)(code >> 8), (char)(code & 255)};

    put(wire, MX_CLOSE, (struct mcpx_slice){body, code == MX_CLOSE_NONE ? 0 : sizeof body});
}

bool mx_wire_write(struct mx_wire *wire, struct mcpx_slice text)
{
    if (!takes(wire))
        return false;
    put(wire, MX_TEXT, text);
    return true;
}

void mx_wire_ping(struct mx_wire *wire)
{
    if (!takes(wire))
        return;
    put(wire, MX_PING, (struct mcpx_slice){0});
    mx_wire_flush(wire, false);
}

void mx_wire_finish(struct mx_wire *wire)
{
    if (!takes(wire))
        return;
    put_close(wire, mcpx_error_close(MCPX_ECLOSED));
    wire->finishing = true;
    mx_wire_flush(wire, false);
}

/* ---- frames ---- */

/* The last word, or the answer to it. */
static void leave(struct mx_wire *wire, int code)
{
    put_close(wire, code);
    mx_wire_flush(wire, false);
    wire->stage = ENDING;
    give_up(wire);
}

static void refuse(struct mx_wire *wire, enum mcpx_err err, const char *why)
{
    wire->code = mcpx_error_close(err);
    keep_reason(wire, mcpx_slice_of(why));
    leave(wire, wire->code);
}

static void take_close(struct mx_wire *wire, const struct mx_frames_found *found)
{
    struct mcpx_slice reason = found->payload;

    wire->code = found->code;
    keep_reason(wire, mcpx_slice_of("the router closed the connection"));
    if (reason.len > 2)
        keep_reason(wire, (struct mcpx_slice){reason.text + 2, reason.len - 2});
    if (wire->finishing)
        tell_ended(wire); /* ours was the first word */
    else
        leave(wire, wire->code);
}

static void take_control(struct mx_wire *wire, const struct mx_frames_found *found)
{
    if (found->opcode == MX_CLOSE) {
        take_close(wire, found);
        return;
    }
    if (found->opcode == MX_PING && takes(wire)) {
        put(wire, MX_PONG, found->payload);
        mx_wire_flush(wire, false);
    }
    wire->tell(wire->user, (struct mx_input){.type = MX_INPUT_ALIVE});
}

/* Frames that break RFC 6455 end the connection: their cause may be gone on the next one. */
static void take_frame(struct mx_wire *wire, enum mx_frames_step step,
                       const struct mx_frames_found *found)
{
    if (step == MX_FRAMES_CONTROL) {
        take_control(wire, found);
    } else if (step == MX_FRAMES_MESSAGE && found->opcode == MX_TEXT) {
        wire->tell(wire->user, (struct mx_input){MX_INPUT_TEXT, 0, found->payload});
    } else if (step == MX_FRAMES_MESSAGE) {
        refuse(wire, MCPX_EBINARY, "the router sent a binary message");
    } else if (step == MX_FRAMES_OVERLONG) {
        refuse(wire, MCPX_ETOOBIG,
               "the router sent a longer message than it said there would be");
    } else if (step == MX_FRAMES_NOMEM) {
        refuse(wire, MCPX_ENOMEM, "out of memory for a message");
    } else {
        keep_reason(wire, mcpx_slice_of(found->reason));
        leave(wire, mcpx_error_close(found->err));
    }
}

static void take_frames(struct mx_wire *wire, struct mcpx_slice bytes)
{
    struct mx_frames_found found;
    enum mx_frames_step step;

    mx_frames_feed(&wire->frames, bytes);
    while (wire->stage == OPEN &&
           (step = mx_frames_next(&wire->frames, &found)) != MX_FRAMES_MORE)
        take_frame(wire, step, &found);
}

/* ---- the stream ---- */

static void on_opened(struct mx_stream *stream)
{
    struct mx_wire *wire = stream->owner;

    mx_upgrade_ask(&wire->upgrade, wire->target, &wire->host, &wire->token, &wire->out);
    wire->stage = ASKED;
    mx_wire_flush(wire, false);
}

static void take_answer(struct mx_wire *wire, struct mcpx_slice bytes)
{
    struct mx_upgrade *upgrade = &wire->upgrade;

    switch (mx_upgrade_take(upgrade, bytes)) {
    case MX_UPGRADE_MORE:
        if (upgrade->status)
            mx_timer_set(wire->patience, ANSWER_MS);
        return;
    case MX_UPGRADE_GRANTED:
        wire->stage = OPEN;
        keep_reason(wire, mcpx_slice_of("the connection broke"));
        wire->tell(wire->user, (struct mx_input){.type = MX_INPUT_OPENED});
        take_frames(wire, upgrade->left);
        mx_upgrade_fini(upgrade);
        return;
    case MX_UPGRADE_REFUSED:
        wire->stage = ENDING;
        wire->code = upgrade->is_foreign ? -upgrade->status : upgrade->status;
        break;
    case MX_UPGRADE_BAD:
        break;
    }
    keep_reason(wire, mcpx_text_view(&upgrade->reason));
    tell_ended(wire);
}

static void on_bytes(struct mx_stream *stream, struct mcpx_slice bytes)
{
    struct mx_wire *wire = stream->owner;

    if (wire->stage == ASKED)
        take_answer(wire, bytes);
    else if (bytes.len)
        take_frames(wire, bytes);
    else
        tell_ended(wire);
}

/* No more of an answer will come, nor an end. */
static void on_impatient(void *user)
{
    struct mx_wire *wire = user;

    on_bytes(&wire->stream, (struct mcpx_slice){0});
}

static void on_written(struct mx_stream *stream)
{
    struct mx_wire *wire = stream->owner;

    if (takes(wire))
        wire->tell(wire->user, (struct mx_input){.type = MX_INPUT_WRITABLE});
}

/* With TLS 1.3 the router judges a certificate after hands were shaken for us. */
static void on_broken(struct mx_stream *stream, const char *why)
{
    struct mx_wire *wire = stream->owner;
    mx_scoped_text text = {0};

    if (stream->fault == MX_TLS_DOUBT)
        mx_format(&text, "the router's certificate is not trusted: %s", why);
    else if (stream->fault == MX_TLS_ALERT)
        mx_format(&text, "the router refuses %s: %s",
                  wire->cert_file.len ? "the certificate that it was shown"
                                      : "the TLS handshake",
                  why);
    else
        mcpx_text_puts(&text, stream->fault ? "the TLS handshake failed; use ws:// for a "
                                              "port without TLS"
                                            : why);
    if (wire->stage == DIALLED || wire->stage == ASKED)
        keep_reason(wire, mcpx_text_view(&text));
    tell_ended(wire);
}

void mx_wire_connect(struct mx_wire *wire, const struct mcpx_text *target)
{
    static const struct mx_stream_calls calls = {on_opened, on_bytes, on_written, on_broken};
    const char *host = wire->address.host;
    struct mx_tls *tls = NULL;

    wire->stage = DIALLED;
    wire->finishing = false;
    wire->code = 0;
    wire->frames = (struct mx_frames){.max = wire->frames.max, .keep_size = KEEP_MAX};
    wire->target = target;
    mx_stream_init(&wire->stream, wire->loop, &calls, wire);
    if (wire->cert_file.len)
        mx_certificate_use(wire->tls, wire->cert_file.text, wire->key_file.text);
    if (wire->tls)
        tls = mx_tls_new(wire->room, wire->tls, host);
    if (wire->tls && !tls)
        on_broken(&wire->stream, "out of memory");
    else if (mx_stream_connect(&wire->stream, host, wire->address.port, tls))
        on_broken(&wire->stream, "the resolver cannot be asked");
}

void mx_wire_pause(struct mx_wire *wire, bool pause)
{
    if (wire->stage == OPEN)
        mx_stream_read(&wire->stream, !pause);
}

void mx_wire_allow(struct mx_wire *wire, size_t limit)
{
    size_t wanted = (limit && limit < LIMIT_MAX ? limit : LIMIT_MAX) + SPLICE_MAX;

    wire->frames.max = wanted > MX_MESSAGE_MAX ? wanted : MX_MESSAGE_MAX;
}

/* ---- from beginning to end ---- */

bool mx_wire_renew(struct mx_wire *wire, const char *token)
{
    struct mcpx_text fresh = mx_formatted("Authorization: Bearer %s\r\n", token);
    bool is_whole = !fresh.failed;

    mcpx_text_fini(is_whole ? &wire->token : &fresh);
    if (is_whole)
        wire->token = fresh;
    return is_whole;
}

bool mx_wire_shows_other(const struct mx_wire *wire, struct mcpx_text *told)
{
    const char *field, *reason = mx_certificate_renewal_fault(wire->tls, wire->cert_file.text,
                                                              wire->key_file.text, &field);
    bool is_key = strcmp(field, "key_file") == 0;

    mx_format(told, "%s: %s", is_key ? &wire->key_file : &wire->cert_file,
              reason ? reason : "it has another certificate now");
    return !reason;
}

enum mcpx_err mx_wire_new(uv_loop_t *loop, const struct mx_address *address,
                          const struct mcpx_client_config *config,
                          void (*tell)(void *user, struct mx_input input), void *user,
                          struct mx_wire **out)
{
    struct mx_wire *wire = calloc(1, sizeof *wire);
    bool is_whole;

    if (!wire)
        return MCPX_ENOMEM;
    wire->loop = loop;
    wire->frames.max = MX_MESSAGE_MAX;
    wire->tell = tell;
    wire->user = user;
    wire->address = *address;
    wire->patience = mx_timer_new(loop, on_impatient, wire);
    mx_url_add_host(&wire->host, address);
    mx_format(&wire->cert_file, "%s", config->cert_file);
    mx_format(&wire->key_file, "%s", config->key_file ? config->key_file : config->cert_file);
    is_whole = wire->patience && !wire->host.failed && !wire->cert_file.failed &&
               !wire->key_file.failed &&
               (!config->token || mx_wire_renew(wire, config->token));
    if (is_whole && address->tls) {
        wire->tls = mx_client_context(config->ca_file);
        wire->room = mx_tls_room_new(MX_TLS_KEY_RECORDS);
    }
    if (is_whole && (!address->tls || (wire->tls && wire->room))) {
        *out = wire;
        return MCPX_OK;
    }
    mx_wire_free(wire);
    return is_whole ? MCPX_ESYSTEM : MCPX_ENOMEM;
}

void mx_wire_free(struct mx_wire *wire)
{
    if (!wire)
        return;
    if (wire->patience)
        mx_wire_drop(wire);
    mx_timer_free(wire->patience);
    mx_tls_room_free(wire->room);
    SSL_CTX_free(wire->tls);
    mcpx_text_fini(&wire->host);
    mcpx_text_fini(&wire->token);
    mcpx_text_fini(&wire->cert_file);
    mcpx_text_fini(&wire->key_file);
    mcpx_text_fini(&wire->out);
    free(wire);
}
