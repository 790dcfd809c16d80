/*
 * revocation.c - OpenSSL checks lists in a handshake: who is revoked, or whose list has ended, has
 * not begun or is missing, does not come in. A list that has ended says nothing of the certificates
 * that were stolen since, so going on with it was refused. A missing one shows when the file is
 * read, before everybody of that authority is locked out.
 *
 * The lists do not lie where OpenSSL keeps authorities: each connection holds on to that, so each
 * version of a large list would stay as long as somebody who came in under it. OpenSSL asks the
 * lists before it verifies signatures, and so for whoever claims to be of an authority; here, those
 * whose signatures are good.
 *
 * Of those who are in, only what was revoked is asked, by number: to verify a chain again takes
 * signatures, and ten thousand of them would hold up the loop.
 */
#include "router/edge/revocation.h"

#include "lib/core/format.h"
#include "router/edge/crl.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

enum { NAME_SIZE = 256 };

/* All of them are asked: each then knows who has signed it. */
static bool has_list(const struct revocation *revocation, X509 *authority)
{
    bool found = false;

    for (int i = 0; i < sk_X509_CRL_num(revocation->lists); i++) {
        X509_CRL *list = sk_X509_CRL_value(revocation->lists, i);

        if (X509_NAME_cmp(X509_CRL_get_issuer(list), X509_get_subject_name(authority)) == 0)
            found |= X509_CRL_verify(list, X509_get0_pubkey(authority)) == 1;
    }
    ERR_clear_error();
    return found;
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
        X509_NAME_oneline(X509_get_subject_name(authority), name, sizeof name);
        mx_format(errors,
                  "has no list that %s has signed; expected one of each authority of "
                  "tls.client_ca_file",
                  name);
        return MCPX_ESYSTEM;
    }
    return MCPX_OK;
}

/* Of the authority of list `first`: when its first list begins, and when its last one ends. */
static void note_times(struct revocation *revocation, int first)
{
    const X509_CRL *list = sk_X509_CRL_value(revocation->lists, first);
    int64_t from_s = crl_from_s(list), until_s = crl_until_s(list);

    for (int i = 0; i < sk_X509_CRL_num(revocation->lists); i++) {
        const X509_CRL *other = sk_X509_CRL_value(revocation->lists, i);
        int64_t begins_s, ends_s;

        if (!crl_is_of_one(list, other))
            continue;
        begins_s = crl_from_s(other);
        ends_s = crl_until_s(other);
        if (begins_s < from_s)
            from_s = begins_s;
        if (ends_s == 0 || (until_s && ends_s > until_s))
            until_s = ends_s;
    }
    if (from_s > revocation->from_s)
        revocation->from_s = from_s;
    if (until_s && (!revocation->until_s || until_s < revocation->until_s))
        revocation->until_s = until_s;
}

enum mcpx_err revocation_read(const char *path, const SSL_CTX *context,
                              struct mcpx_text *errors, struct revocation *out)
{
    const char *why;

    out->lists = sk_X509_CRL_new_null();
    if (!out->lists)
        return MCPX_ENOMEM;
    why = crl_read(path, out->lists);
    if (why) {
        mcpx_text_puts(errors, why);
        return MCPX_ESYSTEM;
    }
    for (int i = 0; i < sk_X509_CRL_num(out->lists); i++)
        note_times(out, i);
    return check_all_listed(out, SSL_CTX_get_cert_store(context), errors);
}

static int ask_lists(const struct revocation *revocation, X509_STORE_CTX *client)
{
    X509_STORE_CTX_set0_crls(client, revocation->lists);
    X509_STORE_CTX_set_flags(client, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    return X509_STORE_CTX_get_check_revocation(client)(client);
}

static int verify_client(X509_STORE_CTX *client, void *context)
{
    const struct revocation *revocation = context;
    int verdict = X509_verify_cert(client);

    if (verdict > 0 && revocation->lists)
        verdict = ask_lists(revocation, client);
    if (verdict <= 0)
        ERR_clear_error(); /* the verdict says more of it */
    return verdict;
}

void revocation_check(const struct revocation *revocation, SSL_CTX *context)
{
    SSL_CTX_set_cert_verify_callback(context, verify_client, (void *)revocation);
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
                       const X509 *issuer, int64_t wall_s)
{
    X509_REVOKED *entry;

    for (int i = 0; i < sk_X509_CRL_num(revocation->lists); i++) {
        X509_CRL *list = sk_X509_CRL_value(revocation->lists, i);

        if (X509_CRL_get0_by_cert(list, &entry, certificate) == 1 && is_of(list, issuer) &&
            crl_from_s(list) <= wall_s)
            return true;
    }
    return false;
}

bool revocation_has(const struct revocation *revocation, const STACK_OF(X509) * chain,
                    int64_t wall_s)
{
    for (int i = 0; i < sk_X509_num(chain); i++)
        if (is_revoked(revocation, sk_X509_value(chain, i), sk_X509_value(chain, i + 1),
                       wall_s))
            return true;
    return false;
}

bool revocation_has_begun(struct revocation *revocation, int64_t wall_s)
{
    if (!revocation->lists || revocation->next_s > wall_s)
        return false;
    revocation->next_s = INT64_MAX;
    for (int i = 0; i < sk_X509_CRL_num(revocation->lists); i++) {
        int64_t from_s = crl_from_s(sk_X509_CRL_value(revocation->lists, i));

        if (from_s > wall_s && from_s < revocation->next_s)
            revocation->next_s = from_s;
    }
    return true;
}

void revocation_fini(struct revocation *revocation)
{
    sk_X509_CRL_pop_free(revocation->lists, X509_CRL_free);
    *revocation = (struct revocation){.lists = NULL};
}
