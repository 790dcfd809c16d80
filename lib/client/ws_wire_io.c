/*
 * ws_wire_io.c - what libwebsockets calls, and what it is told to write. A message comes in as
 * pieces of frames and is handed on whole. Writing goes past the writable callback as long as
 * nothing is left over: with libuv that callback costs four system calls per message.
 */
#include "lib/client/ws_wire_state.h"

#include "lib/json/json_write.h"
#include "lib/wire/frame_head.h"
#include <mcpx/json.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <sys/socket.h>

/* The most that limits.message_bytes can be, and what the router may add. Protocol: section 1. */
enum { LIMIT_MAX = 1 << 30, SPLICE_MAX = 65536 };

enum { BODY_MAX = 16384, KEEP_MAX = 1 << 20, BODY_DEPTH = 16, ANSWER_S = 3 };

enum { BAD_GATEWAY = 1014 }; /* a close code of what stands before a router */

void mx_wire_reason(struct mx_wire *wire, struct mcpx_slice reason)
{
    size_t len = reason.len < MX_REASON_MAX ? reason.len : MX_REASON_MAX;

    memcpy(wire->reason, reason.text ? reason.text : "", len);
    wire->reason[len] = '\0';
}

void mx_wire_detach(struct mx_wire *wire)
{
    if (wire->wsi)
        lws_set_opaque_user_data(wire->wsi, NULL);
    wire->wsi = NULL;
    wire->open = wire->finishing = wire->full = false;
    mcpx_text_fini(&wire->message);
}

void mx_wire_forget_addresses(struct mx_wire *wire)
{
    uv_freeaddrinfo(wire->found);
    wire->found = wire->next = NULL;
}

static void tell_ended(struct mx_wire *wire)
{
    int status = wire->foreign ? -wire->status : wire->status;
    int code = wire->code ? wire->code : status;
    struct mcpx_text why = {0};

    mx_wire_forget_addresses(wire);
    if (!code && !wire->open)
        mx_format(&why, "cannot connect to %s%s", &wire->host, *wire->reason ? ": " : "");
    mcpx_text_puts(&why, wire->reason);
    mx_wire_detach(wire);
    wire->events->ended(wire->user, code, mcpx_text_view(&why));
    mcpx_text_fini(&why);
}

/* Once for each attempt: detached, it has lost its pointer to us, and libwebsockets may take its
 * time with it. */
void mx_wire_over(struct mx_wire *wire)
{
    if (wire->open || wire->status || !wire->next) {
        tell_ended(wire);
        return;
    }
    mx_wire_detach(wire);
    mx_alarm_set(wire->again, 0); /* not from within a callback of the old attempt */
}

/* The error that has this name on the wire; MCPX_ERR_COUNT when none has. */
static enum mcpx_err err_named(struct mcpx_slice name)
{
    enum mcpx_err err = MCPX_OK + 1;

    while (err < MCPX_ERR_COUNT &&
           !mcpx_slice_equal(name, mcpx_slice_of(mcpx_error_wire(err))))
        err++;
    return err;
}

/* A gateway's page has none of the codes that routers name. */
static bool is_word_of_router(struct mcpx_slice problem)
{
    struct mcpx_text code = {0};
    bool is_word = mcpx_json_add_unescaped(&code, mcpx_json_get(problem, "code")) &&
                   err_named(mcpx_text_view(&code)) < MCPX_ERR_COUNT;

    mcpx_text_fini(&code);
    return is_word;
}

/* A refused upgrade's reason: what the answer's body says, or the bare status. */
static void read_refusal(struct mx_wire *wire)
{
    struct mcpx_slice body = mcpx_text_view(&wire->body), value = {0};
    struct mcpx_text why = {0};

    if (mcpx_json_check(body, BODY_DEPTH, &value, NULL) == MCPX_OK &&
        !mcpx_json_add_unescaped(&why, mcpx_json_get(value, "detail")))
        mcpx_json_add_unescaped(&why, mcpx_json_get(value, "title"));
    wire->foreign = !is_word_of_router(value);
    if (!why.len)
        mx_format(&why, "the answer is HTTP status %s", wire->status);
    mx_wire_reason(wire, mcpx_text_view(&why));
    mcpx_text_fini(&why);
}

static int append_headers(struct mx_wire *wire, unsigned char **at, size_t room)
{
    if (!wire->token.len)
        return 0;
    return lws_add_http_header_by_token(wire->wsi, WSI_TOKEN_HTTP_AUTHORIZATION,
                                        (const unsigned char *)wire->token.text,
                                        (int)wire->token.len, at, *at + room);
}

/* The router writes its refusals whole, so what there is of the body has come. Answering 0 lets
 * libwebsockets find out about the status itself and end without writing a close frame. */
static int on_answer(struct mx_wire *wire, struct lws *wsi)
{
    char *piece = NULL;
    int len = 0;

    wire->status = (int)lws_http_client_http_response(wsi);
    if (wire->status == 101) {
        wire->status = 0;
        return 0;
    }
    lws_http_client_read(wsi, &piece, &len);
    read_refusal(wire);
    return 0;
}

/* One piece is enough; -1 ends the reading, before it completes a transaction. */
static int on_body(struct mx_wire *wire, const char *in, size_t len)
{
    mcpx_text_add(&wire->body, in, len < BODY_MAX ? len : BODY_MAX);
    return -1;
}

static int on_established(struct mx_wire *wire)
{
    wire->open = true;
    mx_wire_reason(wire, mcpx_slice_of("the connection broke"));
    wire->events->opened(wire->user);
    return 0;
}

/* What a frame is masked with. Chance is asked for many keys at once. */
static const unsigned char *next_key(struct mx_wire *wire)
{
    if (wire->keys_left == 0) {
        mx_chance_fill(NULL, wire->keys, sizeof wire->keys);
        wire->keys_left = sizeof wire->keys / sizeof *wire->keys;
    }
    return wire->keys[--wire->keys_left];
}

/* Frames are made here: libwebsockets masks byte by byte, and asks the system for every key.
 * Returns false when the connection is broken. */
static bool put(struct mx_wire *wire, enum mx_opcode opcode, struct mcpx_slice body)
{
    const unsigned char *key = next_key(wire);
    struct mcpx_text *out = &wire->out;
    char head[MX_FRAME_HEAD_MAX];
    size_t len = mx_frame_head_mask(head, opcode, body.len, key);
    bool is_put;

    mcpx_text_reset(out);
    mcpx_text_reserve(out, len + body.len);
    mcpx_text_add(out, head, len);
    mcpx_text_slice(out, body);
    is_put = !out->failed;
    if (is_put)
        mx_unmask((unsigned char *)out->text + len, body.len, key, 0);
    is_put = is_put &&
             lws_write(wire->wsi, (unsigned char *)out->text, out->len, LWS_WRITE_RAW) >= 0;
    if (out->size > KEEP_MAX)
        mcpx_text_fini(out);
    return is_put;
}

/* A frame of our own behind the data: closing by libwebsockets' means overtakes what is left over,
 * and loses the frame on libuv. Returns false when the connection is broken. */
static bool send_close(struct mx_wire *wire, int code)
{
    const char body[] = {(char)(code >> 8), (char)(code & 255)};

    return put(wire, MX_CLOSE, (struct mcpx_slice){body, sizeof body});
}

/* In the middle of a frame -1 must not be returned: libwebsockets forgets to empty its buffer then,
 * reads on until its own close frame is answered, and writes past the end. So it is left to read
 * for nobody, for as long as an answer may take. */
static int refuse_message(struct mx_wire *wire, enum mcpx_err err, const char *why)
{
    struct lws *wsi = wire->wsi;

    wire->code = mcpx_error_close(err);
    send_close(wire, wire->code);
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, ANSWER_S);
    mx_wire_reason(wire, mcpx_slice_of(why));
    mx_wire_over(wire);
    return 0;
}

static int on_piece(struct mx_wire *wire, const char *in, size_t len)
{
    size_t rest = lws_remaining_packet_payload(wire->wsi);
    bool last = lws_is_final_fragment(wire->wsi);

    if (lws_frame_is_binary(wire->wsi))
        return refuse_message(wire, MCPX_EBINARY, "the router sent a binary message");
    if (rest > wire->message_max || wire->message.len + len + rest > wire->message_max)
        return refuse_message(wire, MCPX_ETOOBIG,
                              "the router sent a longer message than it said there would be");
    if (last && !wire->message.len) {
        wire->events->text(wire->user, (struct mcpx_slice){in ? in : "", len});
        return 0;
    }
    if (!wire->message.len)
        mcpx_text_reserve(&wire->message, len + rest);
    mcpx_text_add(&wire->message, in, len);
    if (wire->message.failed)
        return refuse_message(wire, MCPX_ENOMEM, "out of memory for a message");
    if (!last)
        return 0;
    wire->events->text(wire->user, mcpx_text_view(&wire->message));
    if (wire->message.size > KEEP_MAX)
        mcpx_text_fini(&wire->message);
    else
        mcpx_text_reset(&wire->message);
    return 0;
}

/*
 * libwebsockets 4.1 gives out 1012, 1013 and 1014 as 1002, for RFC 6455 lists none of them; the
 * reason tells them apart. A router that means 1002 says so, by name or text. One that refuses
 * somebody after the upgrade names an error. All else is said by what stands before a router, and
 * is taken for a restart: who gave up would be gone for good after each of them. Protocol: sections
 * 6 and 7.
 */
static enum mcpx_err meant_by_1002(struct mcpx_slice reason)
{
    enum mcpx_err err = err_named(reason);

    if (mcpx_slice_equal(reason, mcpx_slice_of(mcpx_strerror(MCPX_EFRAMES))))
        return MCPX_EFRAMES;
    if (err == MCPX_EFRAMES)
        return err;
    return err == MCPX_ERR_COUNT || err == MCPX_ERESTART ? MCPX_ERESTART : MCPX_ENOTNOW;
}

static int code_of(const unsigned char *in, size_t len)
{
    int code = len >= 2 ? in[0] << 8 | in[1] : 1005;

    if (code == BAD_GATEWAY) /* libwebsockets 4.3 gives out what was sent */
        return mcpx_error_close(MCPX_ERESTART);
    if (code != mcpx_error_close(MCPX_EFRAMES))
        return code;
    return mcpx_error_close(meant_by_1002((struct mcpx_slice){(const char *)in + 2, len - 2}));
}

/* Returning 0 has libwebsockets answer with the same code; ours was the first word already. */
static int on_close_frame(struct mx_wire *wire, const unsigned char *in, size_t len)
{
    wire->code = code_of(in, len);
    mx_wire_reason(wire, mcpx_slice_of("the router closed the connection"));
    if (len > 2)
        mx_wire_reason(wire, (struct mcpx_slice){(const char *)in + 2, len - 2});
    return wire->finishing ? -1 : 0;
}

/* What libwebsockets says about a failed handshake does not name the reason. */
static int on_certificate(struct mx_wire *wire, X509_STORE_CTX *store, bool good)
{
    if (good)
        return 0;
    snprintf(wire->reason, sizeof wire->reason, "the router's certificate is not trusted: %s",
             X509_verify_cert_error_string(X509_STORE_CTX_get_error(store)));
    wire->distrusted = true;
    return 0;
}

/* With TLS 1.3 the router judges after the handshake has ended for us: what follows is an alert. */
static void on_tls_event(const SSL *ssl, int where, int alert)
{
    struct mx_wire *wire = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));

    if (where & (SSL_CB_HANDSHAKE_START | SSL_CB_HANDSHAKE_DONE))
        wire->shaking = where & SSL_CB_HANDSHAKE_START;
    if (!(where & SSL_CB_READ) || !(where & SSL_CB_ALERT) || alert >> 8 != SSL3_AL_FATAL ||
        wire->open)
        return;
    snprintf(wire->reason, sizeof wire->reason, "the router refuses %s: %s",
             wire->cert_file.len ? "the certificate that it was shown" : "the TLS handshake",
             SSL_alert_desc_string_long(alert));
    wire->distrusted = true;
}

static int on_tls_made(struct mx_wire *wire, SSL_CTX *tls)
{
    wire->tls = tls;
    SSL_CTX_set_app_data(tls, wire);
    SSL_CTX_set_info_callback(tls, on_tls_event);
    return 0;
}

/*
 * A socket that could not connect knows why; libwebsockets says "closed before established". Of a
 * handshake that failed for no certificate it says what OpenSSL says, in words of each version's.
 */
static int on_failure(struct mx_wire *wire, const char *in, size_t len)
{
    int error = 0;
    socklen_t size = sizeof error;
    struct mcpx_slice why = {in, in ? strnlen(in, len) : 0};

    getsockopt(lws_get_socket_fd(wire->wsi), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error)
        why = mcpx_slice_of(uv_strerror(-error));
    else if (wire->shaking)
        why =
            MCPX_SLICE("the TLS handshake has failed; a port that speaks no TLS wants ws://");
    if (why.text && !wire->status && !wire->distrusted)
        mx_wire_reason(wire, why);
    mx_wire_over(wire);
    return 0;
}

static int on_writable(struct mx_wire *wire)
{
    wire->full = false;
    if (!wire->finishing)
        wire->events->writable(wire->user);
    return 0;
}

int mx_wire_dispatch(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                     size_t len)
{
    struct mx_wire *wire = lws_get_opaque_user_data(wsi);

    if (reason == LWS_CALLBACK_OPENSSL_LOAD_EXTRA_CLIENT_VERIFY_CERTS)
        return on_tls_made(lws_context_user(lws_get_context(wsi)), user);
    if (!wire) /* libwebsockets' own, or let go */
        return 0;
    wire->wsi = wsi; /* not told before the first callback */
    switch (reason) {
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
        return append_headers(wire, in, len);
    case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
        return on_answer(wire, wsi);
    case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ:
        return on_body(wire, in, len);
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        return on_established(wire);
    case LWS_CALLBACK_CLIENT_RECEIVE:
        return on_piece(wire, in, len);
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
        wire->events->alive(wire->user);
        return 0;
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        return on_close_frame(wire, in, len);
    case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
        return on_certificate(wire, user, len != 0);
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        return on_writable(wire);
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        return on_failure(wire, in, len);
    case LWS_CALLBACK_CLIENT_CLOSED:
        mx_wire_over(wire);
        return 0;
    default:
        return 0;
    }
}

/* Nothing can be written any more; CLIENT_CLOSED follows. */
static void give_up(struct mx_wire *wire)
{
    wire->full = true;
    lws_set_timeout(wire->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
    lws_cancel_service(wire->lws);
}

static void send_frame(struct mx_wire *wire, enum mx_opcode opcode, struct mcpx_slice body)
{
    if (!put(wire, opcode, body)) {
        give_up(wire);
    } else if (lws_partial_buffered(wire->wsi)) {
        wire->full = true;
        lws_callback_on_writable(wire->wsi);
    }
}

bool mx_wire_write(struct mx_wire *wire, struct mcpx_slice text)
{
    if (!wire->open || wire->full || wire->finishing)
        return false;
    send_frame(wire, MX_TEXT, text);
    return true;
}

void mx_wire_yield(struct mx_wire *wire)
{
    if (wire->open)
        lws_callback_on_writable(wire->wsi);
}

void mx_wire_ping(struct mx_wire *wire)
{
    /* A pong without payload is not told of. */
    if (wire->open && !wire->full && !wire->finishing)
        send_frame(wire, MX_PING, MCPX_SLICE("?"));
}

void mx_wire_finish(struct mx_wire *wire)
{
    if (!wire->open || wire->full || wire->finishing)
        return;
    wire->finishing = true;
    if (!send_close(wire, mcpx_error_close(MCPX_ECLOSED)))
        give_up(wire);
}

void mx_wire_allow(struct mx_wire *wire, size_t limit)
{
    size_t wanted = (limit && limit < LIMIT_MAX ? limit : LIMIT_MAX) + SPLICE_MAX;

    wire->message_max = wanted > MX_MESSAGE_MAX ? wanted : MX_MESSAGE_MAX;
}

void mx_wire_pause(struct mx_wire *wire, bool pause)
{
    if (wire->open)
        lws_rx_flow_control(wire->wsi, !pause);
}
