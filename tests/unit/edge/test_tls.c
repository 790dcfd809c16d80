/*
 * What breaks for whom: everybody, when a stranger who is not let in yet, or a participant, has the
 * router compute new keys all day, or open records that hold a byte; and when what one client has
 * sent is read as another's.
 */
#include "lib/wire/tls.h"

#include <criterion/criterion.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/*
 * What a client may have changed for nothing, as it counts: some, and never hundreds. The router
 * sends KEY_RECORDS with one key.
 */
enum { SOME = 4, TOO_MANY = 200, KEY_RECORDS = 50, READ_MAX = 98304 };

/* Both ends of the connection of a test. */
static struct {
    SSL_CTX *server, *client;
    struct mx_tls_room *room;
    struct mx_tls *tls;
    SSL *ssl;
    BIO *in, *out;
    struct mx_tls_opened opened;
} ends;

static char bytes[READ_MAX];

static void certify(SSL_CTX *context)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_EXTENSION *names = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name,
                                                "DNS:router.example,IP:127.0.0.1,IP:::1");

    X509_set_version(certificate, X509_VERSION_3);
    X509_add_ext(certificate, names, -1);
    X509_EXTENSION_free(names);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    cr_assert(X509_sign(certificate, key, EVP_sha256()));
    cr_assert(SSL_CTX_use_certificate(context, certificate));
    cr_assert(SSL_CTX_use_PrivateKey(context, key));
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_num_tickets(context, 0);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

/* The router reads all that the client has written, and the client what is answered. */
static void deliver(void)
{
    int len = BIO_read(ends.out, bytes, sizeof bytes);

    mx_tls_open(ends.tls, bytes, len > 0 ? (size_t)len : 0, &ends.opened);
    if (ends.opened.sealed.len)
        BIO_write(ends.in, ends.opened.sealed.text, (int)ends.opened.sealed.len);
}

static void connect_ends(int version)
{
    ends.server = SSL_CTX_new(TLS_server_method());
    if (!ends.client)
        ends.client = SSL_CTX_new(TLS_client_method());
    certify(ends.server);
    SSL_CTX_set_max_proto_version(ends.client, version);
    ends.room = mx_tls_room_new(KEY_RECORDS);
    ends.tls = mx_tls_new(ends.room, ends.server, NULL);
    ends.ssl = SSL_new(ends.client);
    ends.in = BIO_new(BIO_s_mem());
    ends.out = BIO_new(BIO_s_mem());
    SSL_set_bio(ends.ssl, ends.in, ends.out);
    SSL_set_connect_state(ends.ssl);
    while (SSL_do_handshake(ends.ssl) != 1)
        deliver();
    deliver();
    cr_assert(mx_tls_is_open(ends.tls));
    cr_assert_null(ends.opened.failed);
}

static void free_ends(void)
{
    SSL_free(ends.ssl);
    mx_tls_free(ends.tls);
    mx_tls_room_free(ends.room);
    SSL_CTX_free(ends.client);
    SSL_CTX_free(ends.server);
    memset(&ends, 0, sizeof ends);
}

TestSuite(tls, .fini = free_ends);

static void change_keys(int times)
{
    for (int i = 0; i < times; i++) {
        cr_assert(SSL_key_update(ends.ssl, SSL_KEY_UPDATE_REQUESTED));
        cr_assert_eq(SSL_do_handshake(ends.ssl), 1);
    }
}

static void say(size_t len)
{
    static const char text[16384];
    size_t written;

    for (; len > 0; len -= written) {
        cr_assert(
            SSL_write_ex(ends.ssl, text, len < sizeof text ? len : sizeof text, &written));
        deliver();
        cr_assert_null(ends.opened.failed);
    }
}

/* Answers would fill what nobody reads. */
static void read_answers(void)
{
    char byte;

    cr_assert_leq(SSL_read(ends.ssl, &byte, 1), 0);
}

Test(tls, keys_are_changed_for_who_says_something)
{
    connect_ends(TLS1_3_VERSION);
    for (int i = 0; i < TOO_MANY; i++) {
        change_keys(1);
        say(65536);
        read_answers();
    }
}

Test(tls, keys_are_not_changed_all_day)
{
    connect_ends(TLS1_3_VERSION);
    change_keys(SOME);
    deliver();
    cr_expect_eq(ends.opened.renewals, SOME);
    cr_assert_null(ends.opened.failed);
    change_keys(TOO_MANY);
    deliver();
    cr_assert_str_eq(ends.opened.failed, "the client changes its keys too often");
    cr_expect_lt(ends.opened.renewals, TOO_MANY / 4, "%zu were computed",
                 ends.opened.renewals);
}

Test(tls, nor_in_many_small_reads)
{
    int times = 0;

    connect_ends(TLS1_3_VERSION);
    while (!ends.opened.failed && times < TOO_MANY) {
        change_keys(1);
        deliver();
        times++;
    }
    cr_expect_gt(times, SOME);
    cr_expect_lt(times, TOO_MANY / 4);
}

Test(tls, a_wish_to_renegotiate_counts_as_well)
{
    connect_ends(TLS1_2_VERSION);
    cr_assert(SSL_renegotiate(ends.ssl));
    (void)SSL_do_handshake(ends.ssl);
    deliver();
    cr_assert_null(ends.opened.failed);
    cr_expect_eq(ends.opened.renewals, 1);
}

Test(tls, of_many_records_some_are_opened_at_once)
{
    enum { SMALL = 4000 };
    size_t written, len, said = 0, calls = 0;

    connect_ends(TLS1_3_VERSION);
    for (size_t i = 0; i < SMALL; i++)
        cr_assert(SSL_write_ex(ends.ssl, (char[]){(char)i}, 1, &written));
    len = (size_t)BIO_read(ends.out, bytes, sizeof bytes);
    ends.opened.left = (struct mcpx_slice){bytes, len};
    for (; ends.opened.left.len > 0; calls++) {
        mx_tls_open(ends.tls, ends.opened.left.text, ends.opened.left.len, &ends.opened);
        cr_assert_null(ends.opened.failed);
        cr_assert_leq(ends.opened.plain_len, MX_TLS_RECORDS);
        cr_assert_eq(ends.opened.records, ends.opened.plain_len);
        for (size_t i = 0; i < ends.opened.plain_len; i++, said++)
            cr_assert_eq(ends.opened.plain[i], (char)said);
    }
    cr_expect_eq(said, SMALL);
    cr_expect_geq(calls, SMALL / MX_TLS_RECORDS);
}

Test(tls, a_client_trusts_the_certificate_of_whom_it_goes_to)
{
    static const struct {
        const char *host;
        enum mx_tls_fault fault;
    } rows[] = {
        {"router.example", MX_TLS_SOUND}, {"127.0.0.1", MX_TLS_SOUND}, {"::1", MX_TLS_SOUND},
        {"other.example", MX_TLS_DOUBT},  {"127.0.0.2", MX_TLS_DOUBT}, {"::2", MX_TLS_DOUBT},
    };
    struct mx_tls_room *room = mx_tls_room_new(KEY_RECORDS);
    struct mx_tls_opened opened;

    ends.server = SSL_CTX_new(TLS_server_method());
    ends.client = SSL_CTX_new(TLS_client_method());
    ends.room = mx_tls_room_new(KEY_RECORDS);
    certify(ends.server);
    SSL_CTX_set_verify(ends.client, SSL_VERIFY_PEER, NULL);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(ends.client),
                        SSL_CTX_get0_certificate(ends.server));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mx_tls *client = mx_tls_new(room, ends.client, rows[i].host);

        ends.tls = mx_tls_new(ends.room, ends.server, NULL);
        mx_tls_open(client, NULL, 0, &opened);
        while (opened.sealed.len && !opened.failed) {
            mx_tls_open(ends.tls, opened.sealed.text, opened.sealed.len, &ends.opened);
            mx_tls_open(client, ends.opened.sealed.text, ends.opened.sealed.len, &opened);
        }
        cr_expect_eq(opened.fault, rows[i].fault, "%s: %s", rows[i].host, opened.failed);
        cr_expect_eq(mx_tls_is_open(client), rows[i].fault == MX_TLS_SOUND);
        mx_tls_free(client);
        mx_tls_free(ends.tls);
    }
    ends.tls = NULL;
    mx_tls_room_free(room);
}

/* ---- records that no client of good will writes ---- */

enum { HEAD = 5, TAG = 16, SECRET = 32, KEY = 16, NONCE = 12 };

static unsigned char secret[SECRET];

/* Keeps what the client's records are sealed with after the handshake. */
static void keep_secret(const SSL *ssl, const char *line)
{
    static const char label[] = "CLIENT_TRAFFIC_SECRET_0 ";
    const char *hex = strrchr(line, ' ');

    (void)ssl;
    if (strncmp(line, label, sizeof label - 1) != 0)
        return;
    for (size_t i = 0; i < SECRET; i++)
        cr_assert_eq(sscanf(hex + 1 + 2 * i, "%2hhx", &secret[i]), 1);
}

/* RFC 8446 section 7.1, HKDF-Expand-Label. */
static void expand(const char *label, unsigned char *out, size_t len)
{
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
    int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    unsigned char info[32] = {0, (unsigned char)len, (unsigned char)strlen(label)};
    size_t info_len = 4 + strlen(label);
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret, SECRET),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info, info_len),
        OSSL_PARAM_construct_end()};

    memcpy(info + 3, label, strlen(label));
    cr_assert_eq(EVP_KDF_derive(context, out, len, params), 1);
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
}

/* Writes the client's record with a number: `said`, and what it is. Returns its length. */
static size_t seal_record(uint64_t number, const char *said, unsigned char *out)
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    unsigned char key[KEY], nonce[NONCE], inner[8];
    size_t len = strlen(said) + 1;
    int passed;

    expand("tls13 key", key, sizeof key);
    expand("tls13 iv", nonce, sizeof nonce);
    for (size_t i = 0; i < sizeof number; i++)
        nonce[NONCE - 1 - i] ^= (unsigned char)(number >> 8 * i);
    memcpy(inner, said, len - 1);
    inner[len - 1] = SSL3_RT_APPLICATION_DATA;
    memcpy(out, (char[]){SSL3_RT_APPLICATION_DATA, 3, 3, 0, (char)(len + TAG)}, HEAD);
    cr_assert(EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, key, nonce));
    cr_assert(EVP_EncryptUpdate(context, NULL, &passed, out, HEAD));
    cr_assert(EVP_EncryptUpdate(context, out + HEAD, &passed, inner, (int)len));
    cr_assert(EVP_EncryptFinal_ex(context, inner, &passed));
    cr_assert(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG, out + HEAD + len));
    EVP_CIPHER_CTX_free(context);
    return HEAD + len + TAG;
}

/* The router reads `bytes` until nothing is left of them. Returns what was said. */
static size_t open_in_turns(size_t len, size_t *records)
{
    size_t said = 0;

    *records = 0;
    ends.opened.left = (struct mcpx_slice){bytes, len};
    while (ends.opened.left.len > 0) {
        mx_tls_open(ends.tls, ends.opened.left.text, ends.opened.left.len, &ends.opened);
        cr_assert_null(ends.opened.failed, "%s", ends.opened.failed);
        cr_assert_leq(ends.opened.records, MX_TLS_RECORDS + 1);
        said += ends.opened.plain_len;
        *records += ends.opened.records;
    }
    return said;
}

/* OpenSSL bears 32 of them in a row. */
Test(tls, of_empty_records_some_are_opened_at_once)
{
    enum { MANY = 3200, EACH = 32 };
    size_t len = 0, records;

    ends.client = SSL_CTX_new(TLS_client_method());
    cr_assert(SSL_CTX_set_ciphersuites(ends.client, "TLS_AES_128_GCM_SHA256"));
    SSL_CTX_set_keylog_callback(ends.client, keep_secret);
    connect_ends(TLS1_3_VERSION);
    for (size_t i = 0; i < MANY; i++)
        len += seal_record(i, i % EACH ? "" : "x", (unsigned char *)bytes + len);
    cr_expect_eq(open_in_turns(len, &records), MANY / EACH);
    cr_expect_eq(records, MANY, "whoever opens them pays for %zu", records);
}

Test(tls, of_a_handshake_in_small_pieces_some_are_read_at_once)
{
    static char hello[READ_MAX];
    size_t len, records;

    connect_ends(TLS1_3_VERSION);
    SSL_clear(ends.ssl);
    (void)SSL_do_handshake(ends.ssl);
    len = (size_t)BIO_read(ends.out, hello, sizeof hello);
    for (size_t i = HEAD; i < len; i++) {
        char *piece = bytes + (i - HEAD) * (HEAD + 1);

        memcpy(piece, (char[]){SSL3_RT_HANDSHAKE, 3, 1, 0, 1, hello[i]}, HEAD + 1);
    }
    mx_tls_free(ends.tls);
    ends.tls = mx_tls_new(ends.room, ends.server, NULL);
    (void)open_in_turns((len - HEAD) * (HEAD + 1), &records);
    cr_expect_eq(records, len - HEAD);
    cr_expect_gt(ends.opened.sealed.len, 0, "it is answered");
}

/* All sessions read from the same place. */
Test(tls, what_one_has_sent_is_not_read_by_another)
{
    struct mx_tls *other;
    size_t len = 5; /* the head of a record */

    connect_ends(TLS1_3_VERSION);
    SSL_clear(ends.ssl);
    (void)SSL_do_handshake(ends.ssl);
    memset(bytes, 'x', len);
    len += (size_t)BIO_read(ends.out, bytes + len, (int)(sizeof bytes - len));
    mx_tls_open(ends.tls, bytes, len, &ends.opened);
    cr_assert_not_null(ends.opened.failed);

    other = mx_tls_new(ends.room, ends.server, NULL);
    cr_expect_null(mx_tls_seal(other, "x", 1).text, "nobody is there yet who could read it");
    mx_tls_open(other, bytes + 5, len - 5, &ends.opened);
    cr_expect_null(ends.opened.failed, "%s", ends.opened.failed);
    cr_expect_gt(ends.opened.sealed.len, 0);
    mx_tls_free(other);
}

/* ---- what is sent ---- */

static void expect(const char *text, size_t len)
{
    size_t got;

    for (; len > 0; text += got, len -= got) {
        static char found[READ_MAX];

        cr_assert(SSL_read_ex(ends.ssl, found, len, &got));
        cr_assert_arr_eq(found, text, got);
    }
}

static void send_text(const char *text, size_t len)
{
    struct mcpx_slice sealed = mx_tls_seal(ends.tls, text, len);

    cr_assert_not_null(sealed.text);
    BIO_write(ends.in, sealed.text, (int)sealed.len);
    expect(text, len);
}

/* Each change of the router's keys, as its client sees them. */
static void count_changes(int ours, int version, int type, const void *message, size_t len,
                          SSL *ssl, void *count)
{
    (void)version;
    (void)len;
    (void)ssl;
    if (!ours && type == SSL3_RT_HANDSHAKE && *(const char *)message == SSL3_MT_KEY_UPDATE)
        ++*(int *)count;
}

/* RFC 8446 section 5.5: a reader that stays for days would be sent more than a key may seal. */
Test(tls, a_key_seals_so_many_records_and_then_another_one_does)
{
    static char text[READ_MAX];

    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        struct mcpx_slice end;
        int changes = 0;

        connect_ends(version);
        SSL_set_msg_callback(ends.ssl, count_changes);
        SSL_set_msg_callback_arg(ends.ssl, &changes);
        for (int i = 0; i < 4 * KEY_RECORDS; i++) {
            memset(text, i, sizeof text);
            send_text(text, 1 + (size_t)i * 50);
        }
        cr_expect_eq(changes, version == TLS1_2_VERSION ? 0 : 4, "%d changes", changes);
        send_text(text, sizeof text);
        end = mx_tls_end(ends.tls);
        BIO_write(ends.in, end.text, (int)end.len);
        cr_expect_eq(SSL_get_error(ends.ssl, SSL_read(ends.ssl, text, 1)),
                     SSL_ERROR_ZERO_RETURN);
        cr_expect_null(mx_tls_seal(ends.tls, "x", 1).text, "the end was said");
        free_ends();
    }
}

Test(tls, a_reader_is_told_what_is_wrong)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    char junk[] = "\x17\x03\x03\x00\x20 this cannot have been sealed by it", byte;

    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        connect_ends(versions[i]);
        send_text("first", 5);
        send_text("second", 6);
        BIO_write(ends.out, junk, sizeof junk);
        deliver();
        cr_assert_not_null(ends.opened.failed);
        cr_expect_null(mx_tls_seal(ends.tls, "x", 1).text, "nothing follows an alert");
        ERR_clear_error();
        cr_assert_leq(SSL_read(ends.ssl, &byte, 1), 0);
        cr_expect_eq(ERR_GET_REASON(ERR_peek_error()), SSL_R_SSLV3_ALERT_BAD_RECORD_MAC);
        free_ends();
    }
}

/* RFC 6066 section 4. OpenSSL's client bears no record that is longer than it has asked for. */
Test(tls, who_has_little_memory_gets_small_records)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    static char text[READ_MAX];

    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        ends.client = SSL_CTX_new(TLS_client_method());
        cr_assert(SSL_CTX_set_tlsext_max_fragment_length(ends.client,
                                                         TLSEXT_max_fragment_length_512));
        connect_ends(versions[i]);
        send_text("first", 5);
        send_text(text, sizeof text);
        free_ends();
    }
}

/* A fatal alert of the client's ends both directions, whatever it sends then. */
Test(tls, who_has_failed_is_not_heard_again)
{
    /* OpenSSL 3.5 calls it by another name than 3.0. */
    unsigned long alert = ERR_PACK(ERR_LIB_SSL, 0, SSL_R_SSLV3_ALERT_BAD_RECORD_MAC);
    connect_ends(TLS1_3_VERSION);
    send_text("first", 5);
    send_text("second", 6);
    BIO_write(ends.in, "\x17\x03\x03\x00\x20 this cannot have been sealed by it", 37);
    read_answers();
    for (int i = 0; i < 3; i++) {
        deliver();
        cr_assert_str_eq(ends.opened.failed, ERR_reason_error_string(alert));
        cr_expect_null(mx_tls_seal(ends.tls, "x", 1).text);
    }
}

/* A client may go on when the router has said its end. */
Test(tls, nothing_is_said_behind_the_end)
{
    connect_ends(TLS1_3_VERSION);
    send_text("first", 5);
    send_text("second", 6);
    cr_assert_gt(mx_tls_end(ends.tls).len, 0);
    say(1);
    cr_expect_null(mx_tls_seal(ends.tls, "x", 1).text);
}
