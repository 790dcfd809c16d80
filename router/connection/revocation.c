/*
 * revocation.c - a client's chain is verified first, as if there were no lists. Then each
 * certificate of the chain is looked up in the list of its authority: the newest one that has
 * begun, signed by the key that has signed the certificate. So nobody is looked up who is only
 * claimed to be of an authority. A list that has ended says nothing of the certificates that were
 * stolen since, so its authority's clients stay out. An authority without a list shows when the
 * file is read, before everybody of that authority is locked out.
 *
 * OpenSSL's own check of lists was refused: it hashes a list of 100,000 entries in each handshake,
 * and asks it before it verifies signatures. A list that holds only some of its authority's
 * certificates (a critical extension says which) is refused, too.
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
 * LISTS_MAX    in a file: a handshake looks at each
 * ENTRIES_MAX  in all lists of a file; they take some 250 MiB of memory
 */
enum { LISTS_MAX = 256, ENTRIES_MAX = 1000000, NAME_SIZE = 256 };

/*
 * One list. A list of a hundred thousand entries takes 90 ms to be read, 40 to be sorted, 3 to be
 * hashed for its signature, and 70 to be freed.
 *
 * from_s,until_s  when it begins and ends, in seconds since 1970; an end of 0 = never
 */
struct crl {
    X509_CRL *list;
    EVP_PKEY *signer; /* whose key has signed it; NULL until that was asked of the right one */
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

/* The list is the file's from now on. OpenSSL would sort it when somebody is looked up. */
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

/* Are both of one authority, with one key as far as they say? */
static bool is_of_one(const X509_CRL *one, const X509_CRL *other)
{
    const ASN1_OCTET_STRING *key = key_of(one), *another = key_of(other);

    if (X509_NAME_cmp(X509_CRL_get_issuer(one), X509_CRL_get_issuer(other)) != 0)
        return false;
    return key && another ? ASN1_OCTET_STRING_cmp(key, another) == 0 : key == another;
}

/* Of the authority of a list: when its first list begins, and when its last one ends. */
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

/* ---- whose list it is ---- */

/* An authority with a new key has the name of before, and counts its certificates anew. */
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

/* Has this authority signed it? The signature is verified once. */
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

/* All lists are asked: the thread that reads them finds out who has signed each. */
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

/* Who writes the file may have put a pipe there since it was judged, which nobody waits for. */
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

/* ---- who is revoked ---- */

static bool has_ended(const struct crl *crl, int64_t wall_s)
{
    return crl->until_s && crl->until_s <= wall_s;
}

/* Of two lists that have begun, one that has not ended says more, and else the newer one. */
static bool says_more(const struct crl *one, const struct crl *other, int64_t wall_s)
{
    bool ended = has_ended(one, wall_s), other_ended = has_ended(other, wall_s);

    return ended == other_ended ? one->from_s >= other->from_s : other_ended;
}

/* X509_V_OK, or what the certificate at a place of a verified chain is refused for. */
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
        ERR_clear_error(); /* the verdict says more of it */
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
