/*
 * revocation.c - OpenSSL first verifies a client's chain without CRLs. Then the router looks up
 * each certificate of the chain in a CRL of its CA: the newest one in effect, signed by the key of
 * the certificate's signer. So a forged name of a CA has no effect. An expired CRL lacks the
 * certificates stolen since, so all clients of its CA are refused. A CA without a CRL is an error
 * when the file is read, before its clients are refused.
 *
 * Rejected: OpenSSL's own check of CRLs; it hashes a CRL of 100,000 entries in each handshake,
 * before it verifies signatures. Rejected: CRLs for only some certificates of a CA, marked by a
 * critical extension.
 */
#include "router/connection/tls_files.h"

#include "lib/edge/file.h"
#include "lib/json/json_write.h"
#include "lib/wire/pem.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <time.h>

/*
 * LISTS_MAX    CRLs in a file: a handshake examines each
 * ENTRIES_MAX  in all lists of a file; they take some 250 MiB of memory
 */
enum { LISTS_MAX = 256, ENTRIES_MAX = 1000000, NAME_SIZE = 256 };

/*
 * One CRL. Reading 100,000 entries takes 90 ms, sorting them 40, hashing them for the signature 3,
 * freeing them 70.
 *
 * from_s,until_s  when it begins and ends, in seconds since 1970; an end of 0 = never
 */
struct crl {
    X509_CRL *list;
    EVP_PKEY *signer; /* the key that signed it; NULL until a check has found it */
    int64_t from_s, until_s;
};

int64_t tls_time_seconds(const ASN1_TIME *time)
{
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    int days = 0, seconds = 0;

    if (time && epoch)
        (void)ASN1_TIME_diff(&days, &seconds, epoch, time);
    ASN1_TIME_free(epoch);
    return (int64_t)days * 86400 + seconds;
}

/* ---- reading ---- */

static bool is_whole(const X509_CRL *list)
{
    STACK_OF(X509_REVOKED) *entries = X509_CRL_get_REVOKED((X509_CRL *)list);

    if (X509_CRL_get_ext_by_critical(list, 1, -1) >= 0)
        return false;
    for (int i = 0; i < sk_X509_REVOKED_num(entries); i++)
        if (X509_REVOKED_get_ext_by_critical(sk_X509_REVOKED_value(entries, i), 1, -1) >= 0)
            return false;
    return true;
}

/* Moves the list into `out`, and sorts it: OpenSSL would do that in a handshake. */
static const char *add_list(struct revocation *out, X509_CRL *list, int *entries)
{
    const ASN1_TIME *end = X509_CRL_get0_nextUpdate(list);
    int count = sk_X509_REVOKED_num(X509_CRL_get_REVOKED(list));

    if (out->count == LISTS_MAX || !is_whole(list)) {
        X509_CRL_free(list);
        return out->count == LISTS_MAX
                   ? "has too many lists; expected at most 256"
                   : "has a list of only some certificates, as its critical extension says; "
                     "expected whole lists";
    }
    sk_X509_REVOKED_sort(X509_CRL_get_REVOKED(list));
    out->lists[out->count++] =
        (struct crl){.list = list,
                     .from_s = tls_time_seconds(X509_CRL_get0_lastUpdate(list)),
                     .until_s = end ? tls_time_seconds(end) : 0};
    *entries += count > 0 ? count : 0;
    return *entries > ENTRIES_MAX ? "has more than 1000000 entries" : NULL;
}

static const char *read_all(BIO *file, struct revocation *out)
{
    const char *why = NULL;
    X509_CRL *list;
    int entries = 0;

    while (!why && (list = PEM_read_bio_X509_CRL(file, NULL, mx_no_passphrase, NULL)))
        why = add_list(out, list, &entries);
    if (why)
        return why;
    if (out->count == 0 || ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
        return mx_openssl_reason();
    ERR_clear_error();
    return NULL;
}

static const ASN1_OCTET_STRING *key_of(const X509_CRL *list)
{
    int at = X509_CRL_get_ext_by_NID(list, NID_authority_key_identifier, -1);

    return at < 0 ? NULL : X509_EXTENSION_get_data(X509_CRL_get_ext(list, at));
}

/* True when both are of one CA, and of one key as far as they name it. */
static bool is_of_one(const X509_CRL *one, const X509_CRL *other)
{
    const ASN1_OCTET_STRING *key = key_of(one), *another = key_of(other);

    if (X509_NAME_cmp(X509_CRL_get_issuer(one), X509_CRL_get_issuer(other)) != 0)
        return false;
    return key && another ? ASN1_OCTET_STRING_cmp(key, another) == 0 : key == another;
}

/* Finds when the first list of the same CA begins, and when the last one ends. */
static void note_times(struct revocation *revocation, const struct crl *first)
{
    int64_t from_s = first->from_s, until_s = first->until_s;

    for (size_t i = 0; i < revocation->count; i++) {
        const struct crl *other = &revocation->lists[i];

        if (!is_of_one(first->list, other->list))
            continue;
        if (other->from_s < from_s)
            from_s = other->from_s;
        if (other->until_s == 0 || (until_s && other->until_s > until_s))
            until_s = other->until_s;
    }
    if (from_s > revocation->from_s)
        revocation->from_s = from_s;
    if (until_s && (!revocation->until_s || until_s < revocation->until_s))
        revocation->until_s = until_s;
}

/* ---- the signer of a list ---- */

/* A CA with a new key keeps its name but numbers its certificates anew, so the key counts, too. */
static bool names(const X509_CRL *list, const X509 *authority)
{
    AUTHORITY_KEYID *id;
    bool same;

    if (X509_NAME_cmp(X509_CRL_get_issuer(list), X509_get_subject_name(authority)) != 0)
        return false;
    id = X509_CRL_get_ext_d2i(list, NID_authority_key_identifier, NULL, NULL);
    same = !id || X509_check_akid(authority, id) == X509_V_OK;
    AUTHORITY_KEYID_free(id);
    return same;
}

/* True when this CA has signed the list. Its signature is verified once. */
static bool is_signed_by(struct crl *crl, X509 *authority)
{
    EVP_PKEY *key = X509_get0_pubkey(authority);

    if (!names(crl->list, authority) || !(X509_get_key_usage(authority) & KU_CRL_SIGN))
        return false;
    if (crl->signer)
        return EVP_PKEY_eq(crl->signer, key) == 1;
    if (X509_CRL_verify(crl->list, key) != 1) {
        ERR_clear_error();
        return false;
    }
    if (EVP_PKEY_up_ref(key))
        crl->signer = key;
    return true;
}

/* Examines all lists: so the reading thread, not a handshake, finds the signer of each. */
static bool has_list(struct revocation *revocation, X509 *authority)
{
    bool found = false;

    for (size_t i = 0; i < revocation->count; i++)
        found |= is_signed_by(&revocation->lists[i], authority);
    return found;
}

static enum mcpx_err check_all_listed(struct revocation *revocation, X509_STORE *store,
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

/* The file may have become a pipe since its check; mx_file_open does not wait for one. */
static const char *read_file(const char *path, struct revocation *out)
{
    const char *why;
    int fd = mx_file_open(AT_FDCWD, path, &why);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    BIO *bio = file ? BIO_new_fp(file, BIO_CLOSE) : NULL;

    if (fd < 0)
        return why;
    why = bio ? read_all(bio, out) : strerror(errno);
    BIO_free(bio);
    return why;
}

enum mcpx_err revocation_read(const char *path, const SSL_CTX *context,
                              struct mcpx_text *errors, struct revocation *out)
{
    const char *why;

    out->lists = calloc(LISTS_MAX, sizeof *out->lists);
    if (!out->lists)
        return MCPX_ENOMEM;
    why = read_file(path, out);
    if (why) {
        mcpx_text_puts(errors, why);
        return MCPX_ESYSTEM;
    }
    for (size_t i = 0; i < out->count; i++)
        note_times(out, &out->lists[i]);
    return check_all_listed(out, SSL_CTX_get_cert_store(context), errors);
}

/* ---- revoked certificates ---- */

static bool has_ended(const struct crl *crl, int64_t wall_s)
{
    return crl->until_s && crl->until_s <= wall_s;
}

/* Of two lists in effect, an unexpired one precedes an expired one, and else the newer one. */
static bool says_more(const struct crl *one, const struct crl *other, int64_t wall_s)
{
    bool ended = has_ended(one, wall_s), other_ended = has_ended(other, wall_s);

    return ended == other_ended ? one->from_s >= other->from_s : other_ended;
}

/* Returns X509_V_OK, or the reason to refuse certificate number `at` of a verified chain. */
static int judge(struct revocation *revocation, const STACK_OF(X509) * chain, int at,
                 int64_t wall_s)
{
    X509 *certificate = sk_X509_value(chain, at), *next = sk_X509_value(chain, at + 1);
    X509 *authority = next ? next : certificate; /* the last one has signed itself */
    const struct crl *best = NULL;
    bool early = false;
    X509_REVOKED *entry;

    for (size_t i = 0; i < revocation->count; i++) {
        struct crl *crl = &revocation->lists[i];

        if (!is_signed_by(crl, authority))
            continue;
        early |= crl->from_s > wall_s;
        if (crl->from_s <= wall_s && (!best || says_more(crl, best, wall_s)))
            best = crl;
    }
    if (!best)
        return early ? X509_V_ERR_CRL_NOT_YET_VALID : X509_V_ERR_UNABLE_TO_GET_CRL;
    if (X509_CRL_get0_by_cert(best->list, &entry, certificate) == 1)
        return X509_V_ERR_CERT_REVOKED;
    return has_ended(best, wall_s) ? X509_V_ERR_CRL_HAS_EXPIRED : X509_V_OK;
}

static int verify_client(X509_STORE_CTX *client, void *context)
{
    struct revocation *revocation = context;
    int verdict = X509_verify_cert(client), error = X509_V_OK;
    const STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(client);

    for (int i = 0; verdict > 0 && revocation->lists && i < sk_X509_num(chain); i++) {
        error = judge(revocation, chain, i, time(NULL));
        if (error == X509_V_OK)
            continue;
        X509_STORE_CTX_set_error_depth(client, i);
        X509_STORE_CTX_set_error(client, error);
        verdict = 0;
    }
    if (verdict <= 0)
        ERR_clear_error(); /* the error is in `client` */
    return verdict;
}

void revocation_check(struct revocation *revocation, SSL_CTX *context)
{
    SSL_CTX_set_cert_verify_callback(context, verify_client, revocation);
}

bool revocation_has(struct revocation *revocation, const STACK_OF(X509) * chain,
                    int64_t wall_s)
{
    for (int i = 0; i < sk_X509_num(chain); i++)
        if (judge(revocation, chain, i, wall_s) == X509_V_ERR_CERT_REVOKED)
            return true;
    return false;
}

bool revocation_has_begun(struct revocation *revocation, int64_t wall_s)
{
    if (!revocation->lists || revocation->next_s > wall_s)
        return false;
    revocation->next_s = INT64_MAX;
    for (size_t i = 0; i < revocation->count; i++) {
        int64_t from_s = revocation->lists[i].from_s;

        if (from_s > wall_s && from_s < revocation->next_s)
            revocation->next_s = from_s;
    }
    return true;
}

void revocation_fini(struct revocation *revocation)
{
    for (size_t i = 0; i < revocation->count; i++) {
        X509_CRL_free(revocation->lists[i].list);
        EVP_PKEY_free(revocation->lists[i].signer);
    }
    free(revocation->lists);
    *revocation = (struct revocation){.lists = NULL};
}
