/*
 * tls_files.c - all that is decided about TLS before anybody connects: versions, ciphers, and what
 * is left out because it has been a hole elsewhere (compression, renegotiation). Tickets are left
 * out as well: a connection lives for hours, so to come back costs little, and without tickets no
 * key exists by which what was recorded can be read later.
 *
 * A large revocation list takes a second to be read, and a disk that has gone away answers nothing
 * for minutes. So a thread asks the files for their times, reads them, and frees what was in force
 * before; the loop only exchanges one for the other. Files are read again when they have not
 * changed for a second: certificate and key are two files, and between the first and the second
 * change they do not belong together. After a failure they are read again now and then: there may
 * have been no descriptor left, or no disk.
 */
#include "router/connection/tls_files.h"

#include "lib/json/json_write.h"
#include "lib/wire/pem.h"
#include "router/connection/refusal.h"
#include "router/policy/identity/key_file.h"
#include "router/process/log.h"
#include "router/tls/revocation.h"
#include "router/tls/tls.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <stdlib.h>

/* Ephemeral keys and authenticated encryption only; those of TLS 1.3 have nothing else. */
static const char ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
static const char groups[] = "X25519:P-256:P-384";

/*
 * CLIENT_CHAIN_MAX   the longest chain of a client, in bytes
 * TLS_AGAIN_LOOKS    after a failure: one reading in so many looks
 * TLS_LISTS_MAX      how large files may be: lists, of which a million entries take 45 MiB
 * TLS_FILE_MAX       others
 */
enum {
    CLIENT_CHAIN_MAX = 32768,
    TLS_FILE_COUNT = 4,
    TLS_AGAIN_LOOKS = 5,
    TLS_LISTS_MAX = 64 << 20,
    TLS_FILE_MAX = 1 << 20
};

static enum mcpx_err fault(struct mcpx_text *errors, const char *setting, const char *path,
                           const char *what)
{
    mx_format(errors, "%s: %s: %s\n", setting, path, what);
    return MCPX_ESYSTEM;
}

/* OpenSSL would wait for the end of a pipe, and take whatever comes. */
static enum mcpx_err judge_sizes(const struct tls_settings *settings, struct mcpx_text *errors)
{
    const struct {
        const char *setting, *path;
        size_t max;
    } rows[] = {{"tls.certificate_file", settings->certificate_file, TLS_FILE_MAX},
                {"tls.key_file", settings->key_file, TLS_FILE_MAX},
                {"tls.client_ca_file", settings->client_ca_file, TLS_FILE_MAX},
                {"tls.client_crl_file", settings->client_crl_file, TLS_LISTS_MAX}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (file_is_bounded(rows[i].path, rows[i].max))
            continue;
        mx_format(errors, "%s: %s: expected a regular file of at most %s bytes\n",
                  rows[i].setting, rows[i].path, (uint64_t)rows[i].max);
        return MCPX_ESYSTEM;
    }
    return MCPX_OK;
}

/* RFC 7301 section 3.2: who offers something, and not this, is told so. */
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

    switch (mx_key_pair_take(context, settings->certificate_file, settings->key_file, &why)) {
    case MX_PAIR_CERTIFICATE:
        return fault(errors, "tls.certificate_file", settings->certificate_file, why);
    case MX_PAIR_KEY:
        return fault(errors, "tls.key_file", settings->key_file, why);
    case MX_PAIR_FOREIGN:
        return fault(errors, "tls.key_file", settings->key_file,
                     "does not belong to tls.certificate_file; expected the key that it was "
                     "made with");
    case MX_PAIR_SOUND:
        break;
    }
    return MCPX_OK;
}

/* Clients may show a certificate; those that do are believed only when it is one of these. */
static enum mcpx_err take_authorities(const struct tls_settings *settings, SSL_CTX *context,
                                      struct mcpx_text *errors)
{
    static const unsigned char id[] = "mcpx-router";
    STACK_OF(X509_NAME) * names;

    if (!*settings->client_ca_file)
        return MCPX_OK;
    names = SSL_load_client_CA_file(settings->client_ca_file);
    if (!names || SSL_CTX_load_verify_file(context, settings->client_ca_file) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return fault(errors, "tls.client_ca_file", settings->client_ca_file,
                     mx_openssl_reason());
    }
    SSL_CTX_set_client_CA_list(context, names);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return SSL_CTX_set_session_id_context(context, id, sizeof id - 1) ? MCPX_OK : MCPX_ENOMEM;
}

static enum mcpx_err take_lists(const struct tls_settings *settings, struct tls_files *files,
                                struct mcpx_text *errors)
{
    struct mcpx_text why = {0};
    enum mcpx_err err;

    if (!*settings->client_crl_file)
        return MCPX_OK;
    err = revocation_read(settings->client_crl_file, files->context, &why, &files->revoked);
    if (why.len > 0)
        (void)fault(errors, "tls.client_crl_file", settings->client_crl_file, why.text);
    mcpx_text_fini(&why);
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

/* Which content of all files it was; one for each that the settings of TLS name. */
struct tls_stamp {
    struct file_stamp files[TLS_FILE_COUNT];
};

static struct tls_stamp tls_files_stamp(const struct tls_settings *settings)
{
    return (struct tls_stamp){{file_stamp_take(settings->certificate_file),
                               file_stamp_take(settings->key_file),
                               file_stamp_take(settings->client_ca_file),
                               file_stamp_take(settings->client_crl_file)}};
}

static bool tls_stamp_equals(const struct tls_stamp *one, const struct tls_stamp *other)
{
    bool equal = true;

    for (size_t i = 0; i < TLS_FILE_COUNT; i++)
        equal &= file_stamp_equals(&one->files[i], &other->files[i]);
    return equal;
}

/* What the thread has found; `has_read`: all files were read. */
struct found {
    bool has_read;
    enum mcpx_err err;
    struct mcpx_text errors;
    struct tls_files files;
};

/*
 * settings       a copy: those of the configuration go with it at a reload, which changes none
 * stamp, seen    of the files, when they were read last and when they were looked at last; the
 *                thread's
 * retired        in force before, for the thread to be freed
 * busy           a thread looks or, `forced`, reads in any case; `asked`: it is to read once more
 * looked_ms      mono_ms when the loop looked last; `looks` counts
 * told           the failure that was logged last
 */
struct tls_watch {
    struct edge *edge;
    uv_work_t work;
    struct tls_settings settings;
    struct tls_stamp stamp, seen;
    struct tls_files retired;
    bool busy, forced, asked;
    int64_t looked_ms;
    unsigned looks;
    struct mcpx_text told;
    struct found found;
};

/* ---- on the thread: the loop does not touch what it looks at ---- */

static void look(uv_work_t *work)
{
    struct tls_watch *watch = work->data;
    struct tls_stamp now = tls_files_stamp(&watch->settings);
    bool has_settled =
        !tls_stamp_equals(&now, &watch->stamp) && tls_stamp_equals(&now, &watch->seen);
    bool is_again = watch->edge->tls.figures.stale && ++watch->looks % TLS_AGAIN_LOOKS == 0;

    tls_files_fini(&watch->retired);
    watch->seen = now;
    watch->found.has_read = watch->forced || has_settled || is_again;
    if (!watch->found.has_read)
        return;
    watch->stamp = now;
    watch->found.err =
        tls_files_read(&watch->settings, &watch->found.errors, &watch->found.files);
}

/* ---- on the loop ---- */

static void forget_found(struct found *found)
{
    mcpx_text_fini(&found->errors);
    tls_files_fini(&found->files);
    *found = (struct found){.has_read = false};
}

static void put_lists(struct edge *edge)
{
    struct revocation *revoked = &edge->tls.files.revoked;
    int64_t wall_s = edge_now(edge).wall_ms / 1000;

    edge->tls.figures.crl_until_s = revoked->until_s;
    edge->tls.lists_ended = false;
    if (!revoked->lists)
        return;
    revocation_check(revoked, edge->tls.files.context);
    (void)revocation_has_begun(revoked, wall_s);
    edge->generation++; /* who is in may be revoked */
    if (revoked->from_s > wall_s)
        LOG(LOG_ERROR, "tls_crl_early", log_string("file", edge->config->tls.client_crl_file),
            log_number("begins", revoked->from_s),
            log_string("hint", "whoever shows a certificate of its authority is refused until "
                               "then; compare the clocks"));
}

static void take_files(struct edge *edge, struct tls_files *files)
{
    struct edge_tls *tls = &edge->tls;

    tls->watch->retired = tls->files;
    tls->files = *files;
    *files = (struct tls_files){.context = NULL};
    tls->figures.until_s = tls->files.until_s;
    put_lists(edge);
}

static void take(struct edge *edge, struct found *found)
{
    struct mcpx_text *told = &edge->tls.watch->told;
    bool is_news = !edge->tls.figures.stale || edge->tls.watch->forced ||
                   !mcpx_slice_equal(mcpx_text_view(told), mcpx_text_view(&found->errors));

    edge->tls.figures.stale = found->err != MCPX_OK;
    mcpx_text_fini(told);
    *told = found->errors;
    found->errors = (struct mcpx_text){0};
    if (found->err && is_news) {
        LOG(LOG_ERROR, "tls_files_unusable", log_text("reason", mcpx_text_view(told)),
            log_string("hint", "the certificate that was read before stays in force"));
    } else if (!found->err) {
        record_keys(edge, "/tls");
        take_files(edge, &found->files);
        LOG(LOG_INFO, "tls_files_read", log_number("expires", edge->tls.files.until_s));
    }
}

static void on_looked(uv_work_t *work, int status);

static void begin(struct edge *edge)
{
    struct tls_watch *watch = edge->tls.watch;

    watch->busy = true;
    watch->forced = watch->asked;
    watch->asked = false;
    watch->work.data = watch;
    if (uv_queue_work(&edge->loop, &watch->work, look, on_looked))
        abort(); /* it only fails without a function */
}

static void on_looked(uv_work_t *work, int status)
{
    struct tls_watch *watch = work->data;
    struct edge *edge = watch->edge;

    (void)status; /* it is never cancelled */
    watch->busy = false;
    if (watch->found.has_read && !edge->stopping)
        take(edge, &watch->found);
    forget_found(&watch->found);
    if (watch->asked && !edge->stopping)
        begin(edge);
}

void tls_watch_reread(struct edge *edge)
{
    struct tls_watch *watch = edge->tls.watch;

    if (!watch || edge->stopping)
        return;
    watch->asked = true;
    if (!watch->busy)
        begin(edge);
}

bool tls_watch_is_rereading(const struct edge *edge)
{
    const struct tls_watch *watch = edge->tls.watch;

    return watch && (watch->asked || (watch->busy && watch->forced));
}

static void tell_lists_ended(struct edge *edge)
{
    struct edge_tls *tls = &edge->tls;
    int64_t until_s = tls->files.revoked.until_s;

    if (!until_s || until_s > edge_now(edge).wall_ms / 1000 || tls->lists_ended)
        return;
    tls->lists_ended = true;
    LOG(LOG_ERROR, "tls_crl_expired", log_string("file", edge->config->tls.client_crl_file),
        log_string("hint",
                   "whoever shows a certificate of its authority is refused until there "
                   "is another list"));
}

void tls_watch_look(struct edge *edge)
{
    struct tls_watch *watch = edge->tls.watch;
    struct mcpx_now now = edge_now(edge);

    if (!watch || now.mono_ms - watch->looked_ms < TICK_MS)
        return;
    watch->looked_ms = now.mono_ms;
    tell_lists_ended(edge);
    if (revocation_has_begun(&edge->tls.files.revoked, now.wall_ms / 1000))
        edge->generation++;
    if (!watch->busy && !edge->stopping)
        begin(edge);
}

/* ---- beginning and end ---- */

static bool copy(const struct tls_settings *from, struct tls_settings *to)
{
    to->only_1_3 = from->only_1_3;
    to->certificate_file = strdup(from->certificate_file);
    to->key_file = strdup(from->key_file);
    to->client_ca_file = strdup(from->client_ca_file);
    to->client_crl_file = strdup(from->client_crl_file);
    return to->certificate_file && to->key_file && to->client_ca_file && to->client_crl_file;
}

static enum mcpx_err read_first(struct edge *edge, struct mcpx_text *errors)
{
    struct tls_watch *watch = edge->tls.watch;
    struct found *found = &watch->found;

    if (!copy(&edge->config->tls, &watch->settings))
        return MCPX_ENOMEM;
    watch->edge = edge;
    watch->work.data = watch;
    watch->forced = true;
    look(&watch->work);
    watch->forced = false;
    if (found->err) {
        mcpx_text_slice(errors, mcpx_text_view(&found->errors));
        return found->err;
    }
    edge->api.tls = &edge->tls.figures;
    take_files(edge, &found->files);
    forget_found(found);
    return MCPX_OK;
}

enum mcpx_err tls_watch_open(struct edge *edge, struct mcpx_text *errors)
{
    struct edge_tls *tls = &edge->tls;

    if (!edge->config->tls.wanted)
        return MCPX_OK;
    tls->room = tls_room_new(TLS_KEY_RECORDS);
    tls->watch = calloc(1, sizeof *tls->watch);
    return tls->room && tls->watch ? read_first(edge, errors) : MCPX_ENOMEM;
}

void tls_watch_close(struct edge *edge)
{
    struct tls_watch *watch = edge->tls.watch;

    tls_files_fini(&edge->tls.files);
    tls_room_free(edge->tls.room);
    if (!watch)
        return;
    forget_found(&watch->found);
    mcpx_text_fini(&watch->told);
    tls_files_fini(&watch->retired);
    free(watch->settings.certificate_file);
    free(watch->settings.key_file);
    free(watch->settings.client_ca_file);
    free(watch->settings.client_crl_file);
    free(watch);
}
