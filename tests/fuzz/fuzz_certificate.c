/*
 * fuzz_certificate.c - any names in the certificate of a client that was signed by the authority
 * which the router believes. Authorities sign much; whatever it is, each name that comes out says
 * of what sort it is, and cannot be read as two. Input: the common name up to the first newline,
 * whose first byte chooses its ASN.1 type; then the DER text of the extension subjectAltName.
 */
#include "lib/base/scoped.h"
#include "lib/wire/tls.h"
#include "tests/fuzz/fuzz.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

/* An authority, the router's end that believes it, and the key of every client. */
static struct {
    EVP_PKEY *key;
    X509 *authority;
    SSL_CTX *server;
    struct mx_tls_room *room;
} world;

static X509 *make_certificate(long version)
{
    X509 *made = X509_new();
    X509_NAME *issuer = X509_get_issuer_name(made);

    must(made && X509_set_version(made, version) && X509_set_pubkey(made, world.key));
    X509_gmtime_adj(X509_getm_notBefore(made), -60);
    X509_gmtime_adj(X509_getm_notAfter(made), 86400);
    X509_NAME_add_entry_by_txt(issuer, "O", MBSTRING_ASC, (const uint8_t *)"authority", -1, -1,
                               0);
    return made;
}

static void begin(void)
{
    X509 *own;

    world.key = EVP_EC_gen("P-256");
    world.authority = make_certificate(X509_VERSION_1);
    X509_set_subject_name(world.authority, X509_get_issuer_name(world.authority));
    must(X509_sign(world.authority, world.key, EVP_sha256()));
    own = make_certificate(X509_VERSION_1);
    must(X509_sign(own, world.key, EVP_sha256()));
    world.server = SSL_CTX_new(TLS_server_method());
    must(SSL_CTX_use_certificate(world.server, own) &&
         SSL_CTX_use_PrivateKey(world.server, world.key));
    X509_STORE_add_cert(SSL_CTX_get_cert_store(world.server), world.authority);
    SSL_CTX_set_verify(world.server, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_session_cache_mode(world.server, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(world.server, 0);
    world.room = mx_tls_room_new(MX_TLS_KEY_RECORDS);
    must(world.room);
    X509_free(own);
}

static void add_common_name(X509 *out, const uint8_t *name, size_t len)
{
    static const int types[] = {V_ASN1_UTF8STRING, V_ASN1_PRINTABLESTRING, V_ASN1_BMPSTRING,
                                V_ASN1_T61STRING,  V_ASN1_UNIVERSALSTRING, V_ASN1_IA5STRING};

    if (len > 1)
        X509_NAME_add_entry_by_NID(X509_get_subject_name(out), NID_commonName,
                                   types[name[0] % (sizeof types / sizeof *types)], name + 1,
                                   (int)len - 1, -1, 0);
}

static void add_alternatives(X509 *out, const uint8_t *der, size_t len)
{
    ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
    X509_EXTENSION *extension;

    must(value && ASN1_OCTET_STRING_set(value, der, (int)len));
    extension = X509_EXTENSION_create_by_NID(NULL, NID_subject_alt_name, 0, value);
    must(extension && X509_add_ext(out, extension, -1));
    X509_EXTENSION_free(extension);
    ASN1_OCTET_STRING_free(value);
}

/* Both ends in turn, until the router's is open, or has said why not. False when it did
 * not open. */
static bool connect_ends(struct mx_tls *tls, SSL *client, BIO *in, BIO *out)
{
    static char bytes[65536];
    struct mx_tls_opened opened = {0};
    int len;

    for (int turn = 0; turn < 4 && !opened.failed && !mx_tls_is_open(tls); turn++) {
        SSL_do_handshake(client);
        len = BIO_read(out, bytes, sizeof bytes);
        mx_tls_open(tls, bytes, len > 0 ? (size_t)len : 0, &opened);
        BIO_write(in, opened.sealed.text, (int)opened.sealed.len);
    }
    return mx_tls_is_open(tls);
}

static void check_names(const struct mx_tls *tls)
{
    static const char *const sorts[] = {"dns:", "uri:", "email:", "cn:"};
    mx_scoped_text names = {0};

    must(mx_tls_names(tls, &names));
    for (size_t at = 0; at < names.len; at += strlen(names.text + at) + 1) {
        const char *name = names.text + at;
        bool is_known = false;

        for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++)
            is_known |= strncmp(name, sorts[i], strlen(sorts[i])) == 0;
        must(is_known && strchr(name, ':')[1] != ' ');
        for (; *name; name++)
            must((unsigned char)*name >= ' ');
    }
    must(names.len == 0 || names.text[names.len - 1] == '\0');
}

static void show(X509 *certificate)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    struct mx_tls *tls = mx_tls_new(world.room, world.server, NULL);
    SSL *client;

    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, world.key);
    client = SSL_new(context);
    SSL_set_bio(client, in, out);
    SSL_set_connect_state(client);
    if (connect_ends(tls, client, in, out) && SSL_get_certificate(client))
        check_names(tls);
    SSL_free(client);
    mx_tls_free(tls);
    SSL_CTX_free(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
    size_t name_len = newline ? (size_t)(newline - data) : size;
    X509 *certificate;

    if (!world.room)
        begin();
    certificate = make_certificate(X509_VERSION_3);
    add_common_name(certificate, data, name_len);
    if (newline)
        add_alternatives(certificate, newline + 1, size - name_len - 1);
    if (X509_sign(certificate, world.key, EVP_sha256()))
        show(certificate);
    X509_free(certificate);
    return 0;
}
