/*
 * tls_files.c - the TLS settings for all connections: versions and ciphers. Compression and
 * renegotiation are off, because they have caused security holes. Session tickets are off as well:
 * a connection lives for hours, so a new handshake costs little, and no key exists that decrypts
 * recorded traffic later.
 *
 * Reading a large CRL takes a second, and a lost disk does not answer for minutes. So a thread
 * checks the times of the files, reads them, and frees the previous contents; the loop only swaps
 * them. Files are read once they are unchanged for a second: certificate and key do not match
 * between their two changes. After a failure they are read again now and then: a descriptor or the
 * disk may have been missing.
 */
#include "router/connection/tls_files.h"

#include "lib/edge/file.h"
#include "lib/json/json_write.h"
#include "lib/wire/pem.h"
#include "lib/wire/tls.h"
#include "router/connection/refusal.h"
#include "router/process/log.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>

/* Ephemeral keys and authenticated encryption only; TLS 1.3 has nothing else. */
static const char ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
static const char groups[] = "X25519:P-256:P-384";

/*
 * CLIENT_CHAIN_MAX   the longest chain of a client, in bytes
 * TLS_AGAIN_LOOKS    after a failure: the number of looks for each reading
 * TLS_LISTS_MAX      bytes of the file with CRLs; a million entries take 45 MiB
 * TLS_FILE_MAX       bytes of each other file
 */
enum {
    CLIENT_CHAIN_MAX = 32768,
    TLS_AGAIN_LOOKS = 5,
    TLS_LISTS_MAX = 64 << 20,
    TLS_FILE_MAX = 1 << 20
};

static const char *const file_settings[TLS_FILES] = {
    "tls.certificate_file", "tls.key_file", "tls.client_ca_file", "tls.client_crl_file"};

static enum mcpx_err fault(const struct tls_settings *settings, enum tls_file which,
                           const char *what, struct mcpx_text *errors)
{
    mx_format(errors, "%s: %s: %s\n", file_settings[which], settings->files[which], what);
    return MCPX_ESYSTEM;
}

/* OpenSSL would wait for the end of a pipe, and read any number of bytes. */
static enum mcpx_err judge_sizes(const struct tls_settings *settings, struct mcpx_text *errors)
{
    for (size_t i = 0; i < TLS_FILES; i++) {
        uint64_t max = i == TLS_CLIENT_CRL ? TLS_LISTS_MAX : TLS_FILE_MAX;

        if (mx_file_is_bounded(settings->files[i], max))
            continue;
        mx_format(errors, "%s: %s: expected a regular file of at most %s bytes\n",
                  file_settings[i], settings->files[i], max);
        return MCPX_ESYSTEM;
    }
    return MCPX_OK;
}

/* RFC 7301 section 3.2: a client with other protocols only gets an alert. */
static int choose_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *len,
                           const unsigned char *offered, unsigned offered_len, void *context)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *found = NULL;

    (void)ssl;
    (void)context;
    if (SSL_select_next_proto(&found, len, ours, sizeof ours - 1, offered, offered_len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *make(const struct tls_settings *settings)
{
    int oldest = settings->only_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    if (!context)
        return NULL;
    SSL_CTX_set_options(context,
                        SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_cert_list(context, CLIENT_CHAIN_MAX);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    if (SSL_CTX_set_min_proto_version(context, oldest) &&
        SSL_CTX_set_cipher_list(context, ciphers) &&
        SSL_CTX_set1_groups_list(context, groups) && SSL_CTX_set_num_tickets(context, 0))
        return context;
    SSL_CTX_free(context);
    return NULL;
}

static enum mcpx_err take_pair(const struct tls_settings *settings, SSL_CTX *context,
                               struct mcpx_text *errors)
{
    const char *why = NULL;
    enum mx_pair_fault pair = mx_key_pair_take(context, settings->files[TLS_CERTIFICATE],
                                               settings->files[TLS_KEY], &why);

    if (pair == MX_PAIR_SOUND)
        return MCPX_OK;
    if (pair == MX_PAIR_FOREIGN)
        why =
            "does not belong to tls.certificate_file; expected the key that it was made with";
    return fault(settings, pair == MX_PAIR_CERTIFICATE ? TLS_CERTIFICATE : TLS_KEY, why,
                 errors);
}

/* Clients may show a certificate; the router accepts only those of these CAs. */
static enum mcpx_err take_authorities(const struct tls_settings *settings, SSL_CTX *context,
                                      struct mcpx_text *errors)
{
    static const unsigned char id[] = "mcpx-router";
    const char *path = settings->files[TLS_CLIENT_CA];
    STACK_OF(X509_NAME) * names;

    if (!*path)
        return MCPX_OK;
    names = SSL_load_client_CA_file(path);
    if (!names || SSL_CTX_load_verify_file(context, path) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return fault(settings, TLS_CLIENT_CA, mx_openssl_reason(), errors);
    }
    SSL_CTX_set_client_CA_list(context, names);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return SSL_CTX_set_session_id_context(context, id, sizeof id - 1) ? MCPX_OK : MCPX_ENOMEM;
}

static enum mcpx_err take_lists(const struct tls_settings *settings, struct tls_files *files,
                                struct mcpx_text *errors)
{
    mx_scoped_text why = {0};
    enum mcpx_err err;

    if (!*settings->files[TLS_CLIENT_CRL])
        return MCPX_OK;
    err = revocation_read(settings->files[TLS_CLIENT_CRL], files->context, &why,
                          &files->revoked);
    if (why.len > 0)
        (void)fault(settings, TLS_CLIENT_CRL, why.text, errors);
    return err;
}

enum mcpx_err tls_files_read(const struct tls_settings *settings, struct mcpx_text *errors,
                             struct tls_files *out)
{
    struct tls_files files = {0};
    enum mcpx_err err = judge_sizes(settings, errors);

    if (err)
        return err;
    ERR_clear_error();
    files.context = make(settings);
    if (!files.context)
        return MCPX_ENOMEM;
    err = take_pair(settings, files.context, errors);
    if (!err)
        err = take_authorities(settings, files.context, errors);
    if (!err)
        err = take_lists(settings, &files, errors);
    if (err) {
        tls_files_fini(&files);
        return err;
    }
    files.until_s =
        tls_time_seconds(X509_get0_notAfter(SSL_CTX_get0_certificate(files.context)));
    *out = files;
    return MCPX_OK;
}

void tls_files_fini(struct tls_files *files)
{
    SSL_CTX_free(files->context);
    revocation_fini(&files->revoked);
    *files = (struct tls_files){0};
}

/* ---- kept up to date ---- */

struct tls_watch {
    /* A copy: a reload frees those of the configuration, and changes none of them. */
    struct tls_settings settings;
    /* Of the files at the last reading, and at the last look; used by the thread. */
    struct mx_file_stamp stamp[TLS_FILES], seen[TLS_FILES];
    struct tls_files retired; /* the previous ones, for the thread to free */
    unsigned looks;           /* counts */
    struct mcpx_text told;    /* the last logged failure */
    /* `has_read`, `err`, `errors`, `files`: the result of the thread, if it has read the files. */
    bool has_read;
    enum mcpx_err err;
    struct mcpx_text errors;
    struct tls_files files;
};

/* ---- on the thread: the loop does not touch its data meanwhile ---- */

static void look(struct edge *edge)
{
    struct tls_watch *watch = edge->tls.watch;
    struct mx_file_stamp now[TLS_FILES];
    bool has_settled, is_again;

    for (size_t i = 0; i < TLS_FILES; i++)
        now[i] = mx_file_stamp_take(watch->settings.files[i]);
    has_settled = memcmp(now, watch->stamp, sizeof now) != 0 &&
                  memcmp(now, watch->seen, sizeof now) == 0;
    is_again = edge->tls.figures.stale && ++watch->looks % TLS_AGAIN_LOOKS == 0;
    memcpy(watch->seen, now, sizeof now);
    tls_files_fini(&watch->retired);
    watch->has_read = edge->tls.errand.is_asked || has_settled || is_again;
    if (!watch->has_read)
        return;
    memcpy(watch->stamp, now, sizeof now);
    watch->err = tls_files_read(&watch->settings, &watch->errors, &watch->files);
}

/* ---- on the loop ---- */

static void put_lists(struct edge *edge)
{
    struct edge_tls *tls = &edge->tls;
    struct revocation *revoked = &tls->files.revoked;
    int64_t wall_s = edge_now(edge).wall_ms / 1000;

    tls->figures.crl_until_s = revoked->until_s;
    tls->lists_ended = false;
    if (!revoked->lists)
        return;
    revocation_check(revoked, tls->files.context);
    (void)revocation_has_begun(revoked, wall_s);
    edge->generation++; /* connected clients may be revoked */
    if (revoked->from_s > wall_s)
        LOG(LOG_ERROR, "tls_crl_early",
            log_string("file", tls->watch->settings.files[TLS_CLIENT_CRL]),
            log_number("begins", revoked->from_s),
            log_string("hint",
                       "each client with a certificate of its authority is refused until "
                       "then; compare the clocks"));
}

static void put_files(struct edge *edge)
{
    struct edge_tls *tls = &edge->tls;

    tls->watch->retired = tls->files;
    tls->files = tls->watch->files;
    tls->watch->files = (struct tls_files){.context = NULL};
    tls->figures.until_s = tls->files.until_s;
    put_lists(edge);
}

static void put(struct edge *edge)
{
    struct tls_watch *watch = edge->tls.watch;
    bool is_news =
        !edge->tls.figures.stale || edge->tls.errand.is_asked ||
        !mcpx_slice_equal(mcpx_text_view(&watch->told), mcpx_text_view(&watch->errors));

    edge->tls.figures.stale = watch->err != MCPX_OK;
    mcpx_text_fini(&watch->told);
    watch->told = watch->errors;
    watch->errors = (struct mcpx_text){0};
    if (watch->err && is_news) {
        LOG(LOG_ERROR, "tls_files_unusable", log_text("reason", mcpx_text_view(&watch->told)),
            log_string("hint", "the certificate that was read before stays in force"));
    } else if (!watch->err) {
        record(edge, &(struct audit_note){.what = AUDIT_KEYS, .reason = MCPX_SLICE("/tls")});
        put_files(edge);
        LOG(LOG_INFO, "tls_files_read", log_number("expires", edge->tls.files.until_s));
    }
}

static bool take(struct edge *edge)
{
    struct tls_watch *watch = edge->tls.watch;

    if (watch->has_read && !edge->stopping)
        put(edge);
    mcpx_text_fini(&watch->errors);
    tls_files_fini(&watch->files);
    return false;
}

static const struct errand_sort looking = {NULL, look, take};

void tls_watch_lists(struct edge *edge)
{
    struct edge_tls *tls = &edge->tls;
    int64_t until_s = tls->files.revoked.until_s, wall_s = edge_now(edge).wall_ms / 1000;

    if (revocation_has_begun(&tls->files.revoked, wall_s))
        edge->generation++;
    if (!until_s || until_s > wall_s || tls->lists_ended)
        return;
    tls->lists_ended = true;
    LOG(LOG_ERROR, "tls_crl_expired",
        log_string("file", tls->watch->settings.files[TLS_CLIENT_CRL]),
        log_string("hint",
                   "each client with a certificate of its authority is refused until there "
                   "is another list"));
}

/* ---- public keys of tokens ---- */

static bool begin_file(struct edge *edge)
{
    struct key_watch *watch = &edge->keys;
    struct key_file *file =
        edge->stopping ? NULL : tokens_key_file(edge->config->tokens, watch->index);

    watch->index = file ? watch->index + 1 : 0;
    watch->file = file ? key_file_ref(file) : NULL;
    watch->reading = (struct key_reading){0};
    return file != NULL;
}

static void read_changed(struct edge *edge)
{
    struct key_watch *watch = &edge->keys;

    watch->has_read = key_file_has_changed(watch->file);
    if (watch->has_read)
        key_file_read(watch->file, &watch->reading);
}

static void tell_keys(struct edge *edge, const struct key_file *file,
                      const struct key_reading *reading)
{
    if (reading->err) {
        LOG(LOG_ERROR, "keys_refused", log_string("file", file->path),
            log_string("reason",
                       reading->why.text ? reading->why.text : mcpx_strerror(reading->err)),
            log_string("hint", "the keys that were read before stay in force"));
        return;
    }
    LOG(LOG_INFO, "keys_read", log_string("file", file->path),
        log_number("keys", (int64_t)file->keys.count),
        log_number("passed_over", (int64_t)reading->passed_over));
    record(edge,
           &(struct audit_note){.what = AUDIT_KEYS, .reason = mcpx_slice_of(file->setting)});
}

static bool take_file(struct edge *edge)
{
    struct key_watch *watch = &edge->keys;

    if (watch->has_read && key_file_take(watch->file, &watch->reading))
        tell_keys(edge, watch->file, &watch->reading);
    key_reading_fini(&watch->reading);
    key_file_unref(watch->file);
    return true;
}

static const struct errand_sort reading_keys = {begin_file, read_changed, take_file};

/* ---- beginning and end ---- */

static enum mcpx_err read_first(struct edge *edge, struct mcpx_text *errors)
{
    const struct tls_settings *settings = &edge->config->tls;
    struct tls_watch *watch = edge->tls.watch;

    watch->settings.only_1_3 = settings->only_1_3;
    for (size_t i = 0; i < TLS_FILES; i++) {
        watch->settings.files[i] = strdup(settings->files[i]);
        if (!watch->settings.files[i])
            return MCPX_ENOMEM;
    }
    edge->tls.errand = (struct errand){.sort = &looking, .is_asked = true};
    look(edge);
    if (watch->err) {
        mcpx_text_slice(errors, mcpx_text_view(&watch->errors));
        return watch->err;
    }
    edge->api.tls = &edge->tls.figures;
    put_files(edge);
    return MCPX_OK;
}

enum mcpx_err file_watch_open(struct edge *edge, struct mcpx_text *errors)
{
    struct edge_tls *tls = &edge->tls;

    edge->keys.errand.sort = &reading_keys;
    if (!edge->config->tls.wanted)
        return MCPX_OK;
    tls->room = mx_tls_room_new(MX_TLS_KEY_RECORDS);
    tls->watch = calloc(1, sizeof *tls->watch);
    return tls->room && tls->watch ? read_first(edge, errors) : MCPX_ENOMEM;
}

void file_watch_close(struct edge *edge)
{
    struct tls_watch *watch = edge->tls.watch;

    tls_files_fini(&edge->tls.files);
    mx_tls_room_free(edge->tls.room);
    if (!watch)
        return;
    mcpx_text_fini(&watch->errors);
    mcpx_text_fini(&watch->told);
    tls_files_fini(&watch->files);
    tls_files_fini(&watch->retired);
    for (size_t i = 0; i < TLS_FILES; i++)
        free(watch->settings.files[i]);
    free(watch);
}
