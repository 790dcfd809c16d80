/*
 * tls_files.c - all that is decided about TLS before anybody connects: versions, ciphers, and what
 * is left out because it has been a hole elsewhere (compression, renegotiation). Tickets are left
 * out as well: a connection lives for hours, so to come back costs little, and without tickets no
 * key exists by which what was recorded can be read later.
 */
#include "router/edge/tls_files.h"

#include "lib/core/format.h"
#include "lib/core/ident.h"
#include "lib/core/key_pair.h"
#include "router/edge/gcm.h"
#include "router/edge/ocsp.h"
#include "router/edge/tls.h"
#include "router/edge/tls_time.h"
#include "router/policy/loading.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

/* Ephemeral keys and authenticated encryption only; those of TLS 1.3 have nothing else. */
static const char ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";
static const char groups[] = "X25519:P-256:P-384";

/*
 * CLIENT_CHAIN_MAX   the longest chain of a client, in bytes
 * RENEW_DAYS         how long a certificate has to be good when nobody is to be warned; as the
 *                    alert McpxCertificateEnds
 */
enum { CLIENT_CHAIN_MAX = 32768, RENEW_DAYS = 14, DAY_S = 86400 };

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

OSSL_LIB_CTX *tls_files_library(const struct tls_settings *settings)
{
    return settings->ipsec_mb ? gcm_library() : NULL;
}

static SSL_CTX *make(const struct tls_settings *settings, OSSL_LIB_CTX *library)
{
    int oldest = settings->only_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
    SSL_CTX *context = SSL_CTX_new_ex(library, GCM_PREFERENCE, TLS_server_method());

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

enum mcpx_err tls_files_read(const struct tls_settings *settings, OSSL_LIB_CTX *library,
                             struct mcpx_text *errors, struct tls_files *out)
{
    struct tls_files files = {0};
    enum mcpx_err err = judge_sizes(settings, errors);

    if (err)
        return err;
    ERR_clear_error();
    files.context = make(settings, library);
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

void tls_files_describe(const struct tls_settings *settings, const struct tls_files *files,
                        int64_t wall_ms, struct mcpx_text *out)
{
    struct mcpx_text names = {0};
    int64_t left_s = files->until_s - wall_ms / 1000;
    char end[MX_TIME_LEN + 1];

    tls_add_names(SSL_CTX_get0_certificate(files->context), &names);
    for (size_t i = 0; i < names.len; i++)
        if (names.text[i] == '\0')
            names.text[i] = ' ';
    mx_time_format(files->until_s * 1000, end);
    mx_format(out, "certificate: %s: %sends %s, in %s days\n", settings->certificate_file,
              mcpx_text_view(&names), end, left_s > 0 ? left_s / DAY_S : 0);
    mcpx_text_fini(&names);
}

static void warn_of_end(const char *path, int64_t left_s, struct mcpx_text *warnings)
{
    if (left_s <= 0)
        mx_format(warnings,
                  "tls.certificate_file: %s: has expired, so clients refuse it; expected one "
                  "that is valid today\n",
                  path);
    else if (left_s < RENEW_DAYS * DAY_S)
        mx_format(warnings,
                  "tls.certificate_file: %s: ends in %s days; expected one that is good for "
                  "%s days more\n",
                  path, left_s / DAY_S, (int64_t)RENEW_DAYS);
}

/* RFC 7633: "must staple". */
static bool wants_staple(const SSL_CTX *context)
{
    return X509_get_ext_by_NID(SSL_CTX_get0_certificate(context), NID_tlsfeature, -1) >= 0;
}

void tls_files_warn(const struct tls_settings *settings, const struct tls_files *files,
                    int64_t wall_ms, struct mcpx_text *warnings)
{
    struct stat status;
    struct ocsp response = {.about = NULL};
    const char *why = NULL;

    warn_of_end(settings->certificate_file, files->until_s - wall_ms / 1000, warnings);
    if (stat(settings->key_file, &status) == 0 && (status.st_mode & S_IROTH))
        mx_format(warnings,
                  "tls.key_file: %s: everybody on this machine may read it; chmod o-r mends "
                  "that\n",
                  settings->key_file);
    if (files->revoked.until_s && files->revoked.until_s <= wall_ms / 1000)
        (void)fault(warnings, "tls.client_crl_file", settings->client_crl_file,
                    "has a list that has expired, so everybody of its authority who shows a "
                    "certificate is refused; expected lists that are valid today");
    if (files->revoked.from_s > wall_ms / 1000)
        (void)fault(warnings, "tls.client_crl_file", settings->client_crl_file,
                    "has a list that has not begun, so everybody of its authority who shows a "
                    "certificate is refused; expected lists that are valid today");
    if (*settings->ocsp_file)
        why = ocsp_read(settings->ocsp_file, files->context, wall_ms, &response);
    else if (wants_staple(files->context))
        mcpx_text_puts(warnings,
                       "tls.ocsp_file: is empty, but the certificate says that clients shall "
                       "refuse it without an OCSP response; expected the path of one\n");
    if (why)
        (void)fault(warnings, "tls.ocsp_file", settings->ocsp_file, why);
    ocsp_fini(&response);
}

void tls_files_fini(struct tls_files *files)
{
    SSL_CTX_free(files->context);
    revocation_fini(&files->revoked);
    *files = (struct tls_files){0};
}

struct tls_stamp tls_files_stamp(const struct tls_settings *settings)
{
    return (struct tls_stamp){
        {file_stamp_take(settings->certificate_file), file_stamp_take(settings->key_file),
         file_stamp_take(settings->client_ca_file), file_stamp_take(settings->client_crl_file),
         file_stamp_take(settings->ocsp_file)}};
}

bool tls_stamp_equals(const struct tls_stamp *one, const struct tls_stamp *other)
{
    bool equal = true;

    for (size_t i = 0; i < TLS_FILE_COUNT; i++)
        equal &= file_stamp_equals(&one->files[i], &other->files[i]);
    return equal;
}
