/*
 * tls.c - OpenSSL between two texts, without a socket. Bytes from the socket are put into the one;
 * OpenSSL's output is collected in the other and leaves in one write, many records together. So no
 * write is ever half done. Unsent bytes wait in the connection's output buffer, counted and bounded
 * (wire.h).
 *
 * Rejected: to give OpenSSL the socket. It would write each record of 16 KiB by itself and must be
 * called again with the same bytes. So the kernel cannot encrypt for it; that would spare a copy,
 * not the encryption.
 *
 * A key seals a limited number of records (RFC 8446 section 5.5); OpenSSL leaves this to its
 * caller. So a session counts the records that it has sent and asks for another key in time.
 */
#include "lib/wire/tls.h"

#include "lib/base/digits.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

/*
 * RECORD_MAX      the most that a record holds
 * RENEWALS_FREE   times that a client may change its keys, or ask for it; and once more for each
 * RENEWAL_BYTES   that it says. A change costs as much as thousands of bytes do, and a read can
 *                 hold thousands of changes; those who mean well change their keys after gigabytes
 */
enum { RECORD_MAX = 16384, RENEWALS_FREE = 16, RENEWAL_BYTES = 65536 };

/*
 * key_records  of mx_tls_room_new
 * bio       the one end of all sessions: reads from `in`, writes to `out`
 * records   how many were begun in this call
 * plain     what was decrypted
 */
struct mx_tls_room {
    uint64_t key_records;
    BIO_METHOD *method;
    BIO *bio;
    struct mcpx_slice in;
    size_t records;
    struct mcpx_text out, plain;
};

struct mx_tls {
    struct mx_tls_room *room;
    SSL *ssl;
    bool open; /* the handshake is done */
    bool over; /* nothing may be sealed any more: it has failed, or mx_tls_end was called */
    bool rekeys_too_often; /* it has changed its keys too often, and is not read any more */
    uint64_t renewals;     /* how often it has, since the handshake */
    uint64_t said;         /* bytes that it has said */
    /* Records that were sent with the key in force, and more where the client had it changed. */
    uint64_t sealed;
    const char *failed; /* the first error; nothing more is read */
};

/* ---- the end that OpenSSL sees ---- */

/* OpenSSL reads on by itself behind a record that gives it nothing: an empty one, or a piece of a
 * handshake. So it is stopped here, behind the head of one too many. */
static int bio_read(BIO *bio, char *into, size_t max, size_t *got)
{
    struct mx_tls_room *room = BIO_get_data(bio);
    size_t len = room->in.len < max ? room->in.len : max;

    BIO_clear_retry_flags(bio);
    if (len == 0 || room->records > MX_TLS_RECORDS) {
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(into, room->in.text, len);
    room->in = mx_behind(room->in, len);
    *got = len;
    return 1;
}

static int bio_write(BIO *bio, const char *bytes, size_t len, size_t *written)
{
    struct mx_tls_room *room = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    mcpx_text_add(&room->out, bytes, len);
    *written = len;
    return !room->out.failed;
}

static long bio_ctrl(BIO *bio, int what, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return what == BIO_CTRL_FLUSH;
}

struct mx_tls_room *mx_tls_room_new(uint64_t key_records)
{
    struct mx_tls_room *room = calloc(1, sizeof *room);

    if (!room)
        return NULL;
    room->key_records = key_records;
    room->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "texts");
    if (room->method && BIO_meth_set_read_ex(room->method, bio_read) &&
        BIO_meth_set_write_ex(room->method, bio_write) &&
        BIO_meth_set_ctrl(room->method, bio_ctrl))
        room->bio = BIO_new(room->method);
    if (!room->bio) {
        mx_tls_room_free(room);
        return NULL;
    }
    BIO_set_data(room->bio, room);
    BIO_set_init(room->bio, 1);
    return room;
}

void mx_tls_room_free(struct mx_tls_room *room)
{
    if (!room)
        return;
    BIO_free(room->bio);
    BIO_meth_free(room->method);
    mcpx_text_fini(&room->out);
    mcpx_text_fini(&room->plain);
    free(room);
}

/* ---- sessions ---- */

/* Each record, and each message behind the handshake, is work that costs its sender next to
 * nothing. */
static void note_message(int ours, int version, int type, const void *message, size_t len,
                         SSL *ssl, void *context)
{
    struct mx_tls *tls = context;

    (void)version;
    (void)ssl;
    (void)message;
    (void)len;
    if (type == SSL3_RT_HEADER && ours)
        tls->sealed++;
    else if (type == SSL3_RT_HEADER)
        tls->room->records++;
    if (!tls->open || ours || type != SSL3_RT_HANDSHAKE)
        return;
    tls->renewals++;
    tls->rekeys_too_often = tls->renewals > RENEWALS_FREE + tls->said / RENEWAL_BYTES;
    if (tls->rekeys_too_often)
        tls->room->in.len = 0; /* OpenSSL reads on by itself as long as there is something */
}

/* Sets the server's name for SNI and verification. An address is not sent as SNI. */
static bool aim(SSL *ssl, const char *host)
{
    SSL_set_connect_state(ssl);
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1 ||
           (SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1);
}

struct mx_tls *mx_tls_new(struct mx_tls_room *room, struct ssl_ctx_st *context,
                          const char *host)
{
    struct mx_tls *tls = calloc(1, sizeof *tls);

    if (!tls)
        return NULL;
    tls->room = room;
    tls->ssl = SSL_new(context);
    if (!tls->ssl || (host && !aim(tls->ssl, host)) || !BIO_up_ref(room->bio)) {
        mx_tls_free(tls);
        return NULL;
    }
    SSL_set_bio(tls->ssl, room->bio, room->bio);
    if (!host)
        SSL_set_accept_state(tls->ssl);
    SSL_set_msg_callback(tls->ssl, note_message);
    SSL_set_msg_callback_arg(tls->ssl, tls);
    return tls;
}

void mx_tls_free(struct mx_tls *tls)
{
    if (!tls)
        return;
    SSL_free(tls->ssl);
    free(tls);
}

bool mx_tls_is_open(const struct mx_tls *tls)
{
    return tls->open;
}

/* Of what OpenSSL could not do. An alert has two names; a client is told the one for people. */
static void explain(const SSL *ssl, struct mx_tls_opened *out)
{
    unsigned long code = ERR_peek_error();
    int number = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;

    out->failed = ERR_reason_error_string(code);
    out->fault = MX_TLS_CUT;
    if (number == SSL_R_HTTP_REQUEST)
        out->fault = MX_TLS_PLAIN;
    if (number == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        out->fault = MX_TLS_DOUBT;
        out->failed = X509_verify_cert_error_string(SSL_get_verify_result(ssl));
    }
    if (number > SSL_AD_REASON_OFFSET && !SSL_is_server(ssl)) {
        out->fault = MX_TLS_ALERT;
        out->failed = SSL_alert_desc_string_long(number - SSL_AD_REASON_OFFSET);
    }
    if (!out->failed)
        out->failed = "the connection was cut";
}

/* Translates the error of a failed call. */
static void judge(struct mx_tls *tls, int result, struct mx_tls_opened *out)
{
    int error = SSL_get_error(tls->ssl, result);

    out->ended = error == SSL_ERROR_ZERO_RETURN;
    if (error != SSL_ERROR_ZERO_RETURN && error != SSL_ERROR_WANT_READ)
        explain(tls->ssl, out);
}

static bool shake_hands(struct mx_tls *tls, struct mx_tls_opened *out)
{
    int result = SSL_do_handshake(tls->ssl);

    if (result != 1)
        judge(tls, result, out);
    tls->open = result == 1;
    return tls->open;
}

/* A call reads one record, and takes no byte of the next one from `in`. */
static void read_some(struct mx_tls *tls, struct mx_tls_opened *out)
{
    struct mcpx_text *plain = &tls->room->plain;
    size_t got = 0;

    while (tls->room->records < MX_TLS_RECORDS) {
        int result;

        if (!mcpx_text_reserve(plain, RECORD_MAX)) {
            out->failed = "memory has run out";
            return;
        }
        result = SSL_read_ex(tls->ssl, plain->text + plain->len, RECORD_MAX, &got);
        if (result != 1) {
            judge(tls, result, out);
            return;
        }
        tls->said += got;
        plain->len += got;
    }
}

void mx_tls_open(struct mx_tls *tls, const char *bytes, size_t len, struct mx_tls_opened *out)
{
    struct mx_tls_room *room = tls->room;
    bool was_open = tls->open;
    uint64_t renewals = tls->renewals;

    *out = (struct mx_tls_opened){.failed = tls->failed};
    if (tls->failed)
        return;
    room->in = (struct mcpx_slice){bytes, len};
    room->records = 0;
    mcpx_text_reset(&room->out);
    mcpx_text_reset(&room->plain);
    ERR_clear_error();
    if (was_open || shake_hands(tls, out))
        read_some(tls, out);
    if (!out->failed && !out->ended)
        out->left = room->in;
    room->in = (struct mcpx_slice){NULL, 0}; /* of one that has failed, no other may read it */
    if (tls->rekeys_too_often && !out->failed)
        out->failed = SSL_is_server(tls->ssl) ? "the client changes its keys too often"
                                              : "the server changes its keys too often";
    if (room->out.failed && !out->failed)
        out->failed = "memory has run out";
    tls->failed = out->failed;
    tls->over = tls->over || out->failed;
    out->plain = room->plain.text;
    out->plain_len = room->plain.len;
    out->sealed = mcpx_text_view(&room->out);
    out->records = room->records;
    out->renewals = tls->renewals - renewals;
}

/* OpenSSL announces the new key before the next bytes. A key of TLS 1.2 cannot be changed. */
static bool has_fresh_key(struct mx_tls *tls)
{
    if (tls->sealed < tls->room->key_records || SSL_version(tls->ssl) < TLS1_3_VERSION)
        return true;
    tls->sealed = 0;
    return SSL_key_update(tls->ssl, SSL_KEY_UPDATE_NOT_REQUESTED) == 1;
}

struct mcpx_slice mx_tls_seal(struct mx_tls *tls, const char *bytes, size_t len)
{
    size_t written;

    mcpx_text_reset(&tls->room->out);
    if (tls->over || !has_fresh_key(tls) ||
        SSL_write_ex(tls->ssl, bytes, len, &written) != 1 || written != len ||
        tls->room->out.failed)
        return (struct mcpx_slice){NULL, 0};
    return mcpx_text_view(&tls->room->out);
}

struct mcpx_slice mx_tls_end(struct mx_tls *tls)
{
    mcpx_text_reset(&tls->room->out);
    ERR_clear_error();
    tls->over = true;
    if (mx_tls_is_open(tls))
        (void)SSL_shutdown(tls->ssl);
    return mcpx_text_view(&tls->room->out);
}

/* ---- who the client is ---- */

/* A name with a control character in it is left out: it could be read as two names. */
static void add_name(const char *sort, const ASN1_STRING *name, struct mcpx_text *out)
{
    unsigned char *text = NULL;
    int len = ASN1_STRING_to_UTF8(&text, name);
    bool clean = len > 0;

    for (int i = 0; clean && i < len; i++)
        clean = text[i] > ' ' || (text[i] == ' ' && i > 0);
    if (clean) {
        mcpx_text_puts(out, sort);
        mcpx_text_add(out, (const char *)text, (size_t)len);
        mcpx_text_add(out, "", 1);
    }
    OPENSSL_free(text);
}

static void add_alternative(const GENERAL_NAME *name, struct mcpx_text *out)
{
    static const char *const sorts[] = {
        [GEN_EMAIL] = "email:", [GEN_DNS] = "dns:", [GEN_URI] = "uri:"};
    int type = 0;
    const ASN1_STRING *value = GENERAL_NAME_get0_value(name, &type);

    if ((size_t)type < sizeof sorts / sizeof *sorts && sorts[type])
        add_name(sorts[type], value, out);
}

void mx_tls_add_names(const X509 *certificate, struct mcpx_text *out)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    const X509_NAME *subject = X509_get_subject_name(certificate);

    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++)
        add_alternative(sk_GENERAL_NAME_value(names, i), out);
    GENERAL_NAMES_free(names);
    for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, NID_commonName, i)) >= 0;)
        add_name("cn:", X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, i)), out);
}

bool mx_tls_names(const struct mx_tls *tls, struct mcpx_text *out)
{
    const X509 *certificate = SSL_get0_peer_certificate(tls->ssl);

    if (!certificate || SSL_get_verify_result(tls->ssl) != X509_V_OK)
        return false;
    mx_tls_add_names(certificate, out);
    return !out->failed;
}

const STACK_OF(X509) * mx_tls_chain(const struct mx_tls *tls)
{
    return SSL_get0_verified_chain(tls->ssl);
}
