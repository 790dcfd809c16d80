/*
 * ws_certificate.c - a certificate is read again for each connection: a program that runs for
 * months must show a renewed one.
 */
#include "lib/wire/pem.h"

SSL_CTX *mx_client_context(const char *ca_file)
{
    static const unsigned char protocols[] = "\x08http/1.1";
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());

    if (!context)
        return NULL;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
        SSL_CTX_set_alpn_protos(context, protocols, sizeof protocols - 1) == 0 &&
        (ca_file ? SSL_CTX_load_verify_locations(context, ca_file, NULL)
                 : SSL_CTX_set_default_verify_paths(context)) == 1)
        return context;
    ERR_clear_error();
    SSL_CTX_free(context);
    return NULL;
}

/* Returns a context with both, to be freed; or NULL, with `why`, or without when memory ran out. */
static SSL_CTX *load(const char *cert_file, const char *key_file, const char **field,
                     const char **why)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    enum mx_pair_fault fault;

    *field = "cert_file";
    *why = "out of memory";
    if (!context)
        return NULL;
    fault = mx_key_pair_take(context, cert_file, key_file, why);
    if (fault == MX_PAIR_KEY || fault == MX_PAIR_FOREIGN)
        *field = "key_file";
    if (fault == MX_PAIR_FOREIGN)
        *why = "it does not belong to the certificate";
    return context;
}

const char *mx_certificate_fault(const char *cert_file, const char *key_file,
                                 const char **field)
{
    const char *why;

    SSL_CTX_free(load(cert_file, key_file ? key_file : cert_file, field, &why));
    return why;
}

void mx_certificate_use(SSL_CTX *context, const char *cert_file, const char *key_file)
{
    const char *field, *why;
    SSL_CTX *fresh = load(cert_file, key_file, &field, &why);
    STACK_OF(X509) *chain = NULL;

    if (!why) {
        (void)SSL_CTX_get0_chain_certs(fresh, &chain);
        (void)SSL_CTX_use_cert_and_key(context, SSL_CTX_get0_certificate(fresh),
                                       SSL_CTX_get0_privatekey(fresh), chain, 1);
        ERR_clear_error(); /* the host program's queue of errors stays empty */
    }
    SSL_CTX_free(fresh);
}

const char *mx_certificate_renewal_fault(SSL_CTX *context, const char *cert_file,
                                         const char *key_file, const char **field)
{
    const char *why;
    SSL_CTX *fresh = load(cert_file, key_file, field, &why);

    if (!why &&
        X509_cmp(SSL_CTX_get0_certificate(context), SSL_CTX_get0_certificate(fresh)) == 0)
        why = "it still has the certificate that was refused; expected a renewed one, or one "
              "of a name that stands in the router's tls.client_names";
    SSL_CTX_free(fresh);
    return why;
}
