/*
 * ws_certificate.c - libwebsockets would read the files by itself, once: it would ask the terminal
 * for the passphrase of a key, say nothing of the reason when it fails, and show a certificate that
 * was renewed long ago.
 */
#include "lib/edge/ws_certificate.h"

#include "lib/core/openssl_reason.h"
#include "lib/core/passphrase.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>

/* `context` is only good for taking things out of it. */
static const char *load(SSL_CTX *context, const char *cert_file, const char *key_file,
                        const char **field)
{
    bool is_locked = false;

    ERR_clear_error();
    SSL_CTX_set_default_passwd_cb(context, mx_no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(context, &is_locked);
    *field = "cert_file";
    if (SSL_CTX_use_certificate_chain_file(context, cert_file) != 1)
        return mx_openssl_reason();
    *field = "key_file";
    if (SSL_CTX_use_PrivateKey_file(context, key_file, SSL_FILETYPE_PEM) != 1 &&
        ERR_GET_LIB(ERR_peek_last_error()) != ERR_LIB_X509) {
        const char *why = mx_openssl_reason();

        return is_locked ? MX_PASSPHRASE_WANTED : why;
    }
    if (SSL_CTX_check_private_key(context) == 1)
        return NULL;
    ERR_clear_error();
    return "it does not belong to the certificate";
}

const char *mx_certificate_fault(const char *cert_file, const char *key_file,
                                 const char **field)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    const char *why = "out of memory";

    if (context)
        why = load(context, cert_file, key_file ? key_file : cert_file, field);
    SSL_CTX_free(context);
    return why;
}

const char *mx_certificate_use(SSL_CTX *context, const char *cert_file, const char *key_file)
{
    SSL_CTX *fresh = SSL_CTX_new(TLS_client_method());
    const char *field, *why = "out of memory";
    STACK_OF(X509) *chain = NULL;

    if (fresh)
        why = load(fresh, cert_file, key_file, &field);
    if (!why)
        (void)SSL_CTX_get0_chain_certs(fresh, &chain);
    if (!why && SSL_CTX_use_cert_and_key(context, SSL_CTX_get0_certificate(fresh),
                                         SSL_CTX_get0_privatekey(fresh), chain, 1) != 1)
        why = mx_openssl_reason();
    SSL_CTX_free(fresh);
    return why;
}
