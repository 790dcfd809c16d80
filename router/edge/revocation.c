/*
 * revocation.c - OpenSSL checks lists in a handshake: who is revoked, or whose list has ended or is
 * missing, does not come in. A list that has ended says nothing of the certificates that were
 * stolen since, so going on with it was refused. A missing one shows when the file is read, before
 * everybody of that authority is locked out.
 *
 * Of those who are in, only what was revoked is asked, by number: to verify a chain again takes
 * signatures, and ten thousand of them would hold up the loop.
 */
#include "router/edge/revocation.h"

#include "lib/core/format.h"
#include "lib/core/openssl_reason.h"
#include "lib/core/passphrase.h"
#include "router/edge/tls_time.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

enum { NAME_SIZE = 256 };

static bool add(X509_CRL *list, X509_STORE *store, struct revocation *out)
{
    const ASN1_TIME *end = X509_CRL_get0_nextUpdate(list);
    int64_t until_s = end ? tls_time_seconds(end) : 0;

    if (until_s && (!out->until_s || until_s < out->until_s))
        out->until_s = until_s;
    if (sk_X509_CRL_push(out->lists, list))
        return X509_STORE_add_crl(store, list) == 1;
    X509_CRL_free(list);
    return false;
}

/* True when there was at least one, and nothing else. */
static bool read_lists(BIO *file, X509_STORE *store, struct revocation *out)
{
    X509_CRL *list;

    while ((list = PEM_read_bio_X509_CRL(file, NULL, mx_no_passphrase, NULL)))
        if (!add(list, store, out))
            return false;
    if (sk_X509_CRL_num(out->lists) == 0 ||
        ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
        return false;
    ERR_clear_error();
    return true;
}

static bool has_list(const struct revocation *revocation, X509 *authority)
{
    for (int i = 0; i < sk_X509_CRL_num(revocation->lists); i++) {
        X509_CRL *list = sk_X509_CRL_value(revocation->lists, i);

        if (X509_NAME_cmp(X509_CRL_get_issuer(list), X509_get_subject_name(authority)) == 0 &&
            X509_CRL_verify(list, X509_get0_pubkey(authority)) == 1)
            return true;
    }
    return false;
}

static enum mcpx_err check_all_listed(const struct revocation *revocation, X509_STORE *store,
                                      struct mcpx_text *errors)
{
    const STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(store);
    char name[NAME_SIZE];

    for (int i = 0; i < sk_X509_OBJECT_num(objects); i++) {
        X509 *authority = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));

        if (!authority || has_list(revocation, authority))
            continue;
        ERR_clear_error();
        X509_NAME_oneline(X509_get_subject_name(authority), name, sizeof name);
        mx_format(errors,
                  "has no list that %s has signed; expected one of each authority of "
                  "tls.client_ca_file",
                  name);
        return MCPX_ESYSTEM;
    }
    return MCPX_OK;
}

enum mcpx_err revocation_read(const char *path, SSL_CTX *context, struct mcpx_text *errors,
                              struct revocation *out)
{
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    BIO *file = BIO_new_file(path, "r");

    out->lists = sk_X509_CRL_new_null();
    if (!file || !read_lists(file, store, out)) {
        BIO_free(file);
        mcpx_text_puts(errors, mx_openssl_reason());
        return MCPX_ESYSTEM;
    }
    BIO_free(file);
    if (!X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context),
                                     X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL))
        return MCPX_ENOMEM;
    return check_all_listed(out, store, errors);
}

/* An authority with a new key has the name of before, and counts anew; its lists say of which key
 * they are. */
static bool is_of(const X509_CRL *list, const X509 *issuer)
{
    AUTHORITY_KEYID *id = X509_CRL_get_ext_d2i(list, NID_authority_key_identifier, NULL, NULL);
    bool same = !id || !issuer || X509_check_akid(issuer, id) == X509_V_OK;

    AUTHORITY_KEYID_free(id);
    return same;
}

static bool is_revoked(const struct revocation *revocation, X509 *certificate,
                       const X509 *issuer)
{
    X509_REVOKED *entry;

    for (int i = 0; i < sk_X509_CRL_num(revocation->lists); i++) {
        X509_CRL *list = sk_X509_CRL_value(revocation->lists, i);

        if (X509_CRL_get0_by_cert(list, &entry, certificate) == 1 && is_of(list, issuer))
            return true;
    }
    return false;
}

bool revocation_has(const struct revocation *revocation, const STACK_OF(X509) * chain)
{
    for (int i = 0; i < sk_X509_num(chain); i++)
        if (is_revoked(revocation, sk_X509_value(chain, i), sk_X509_value(chain, i + 1)))
            return true;
    return false;
}

void revocation_fini(struct revocation *revocation)
{
    sk_X509_CRL_pop_free(revocation->lists, X509_CRL_free);
    *revocation = (struct revocation){.lists = NULL};
}
