/*
 * revocation.c - OpenSSL checks lists in a handshake: who is revoked, or whose list has ended, has
 * not begun or is missing, does not come in. A list that has ended says nothing of the certificates
 * that were stolen since, so going on with it was refused. A missing one shows when the file is
 * read, before everybody of that authority is locked out. The lists do not lie where OpenSSL keeps
 * authorities: each connection holds on to that, so each version of a large list would stay as long
 * as somebody who came in under it. OpenSSL asks the lists before it verifies signatures, and so
 * for whoever claims to be of an authority; here, those whose signatures are good. Of those who are
 * in, only what was revoked is asked, by number: to verify a chain again takes signatures, and ten
 * thousand of them would hold up the loop.
 */
#include "router/edge/revocation.h"

#include "lib/core/json_write.h"
#include "lib/core/pem.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

int64_t tls_time_seconds(const ASN1_TIME *time)
{
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    int days = 0, seconds = 0;

    if (time && epoch)
        (void)ASN1_TIME_diff(&days, &seconds, epoch, time);
    ASN1_TIME_free(epoch);
    return (int64_t)days * 86400 + seconds;
}

/*
 * One list. Of a hundred thousand entries it takes 90 ms to be read, 40 to be sorted, 70 to be
 * freed and 3 to be hashed. OpenSSL sorts it when somebody is looked up for the first time, and
 * hashes it in each handshake. So lists are read with a method of their own: sorted from the
 * beginning, and with the key that has signed them, which is asked for only once.
 */
/* What is signed is the first part of the whole, as it was read. */
static bool has_signed(EVP_PKEY *key, const X509_CRL *list)
{
    const ASN1_BIT_STRING *signature;
    const X509_ALGOR *algorithm;
    unsigned char *der = NULL;
    int len = i2d_X509_CRL(list, &der);
    const unsigned char *at = der;
    ASN1_SEQUENCE_ANY *parts = len > 0 ? d2i_ASN1_SEQUENCE_ANY(NULL, &at, len) : NULL;
    bool is_good;

    X509_CRL_get0_signature(list, &signature, &algorithm);
    is_good = parts && ASN1_item_verify(ASN1_ITEM_rptr(ASN1_ANY), algorithm, signature,
                                        sk_ASN1_TYPE_value(parts, 0), key) == 1;
    sk_ASN1_TYPE_pop_free(parts, ASN1_TYPE_free);
    OPENSSL_free(der);
    return is_good;
}

static int verify(X509_CRL *list, EVP_PKEY *key)
{
    EVP_PKEY *signer = X509_CRL_get_meth_data(list);

    if (signer && EVP_PKEY_eq(signer, key) == 1)
        return 1;
    if (!has_signed(key, list))
        return 0;
    if (!signer && EVP_PKEY_up_ref(key))
        X509_CRL_set_meth_data(list, key);
    return 1;
}

static int forget(X509_CRL *list)
{
    EVP_PKEY_free(X509_CRL_get_meth_data(list));
    X509_CRL_set_meth_data(list, NULL);
    return 1;
}

static bool is_taken_back(const X509_REVOKED *entry)
{
    ASN1_ENUMERATED *reason = X509_REVOKED_get_ext_d2i(entry, NID_crl_reason, NULL, NULL);
    bool is_so = reason && ASN1_ENUMERATED_get(reason) == CRL_REASON_REMOVE_FROM_CRL;

    ASN1_ENUMERATED_free(reason);
    return is_so;
}

/* The entry with that number, of those that are sorted by it; NULL when there is none. */
static X509_REVOKED *find(const STACK_OF(X509_REVOKED) * entries, const ASN1_INTEGER *number)
{
    int low = 0, high = sk_X509_REVOKED_num(entries);

    while (low < high) {
        int middle = low + (high - low) / 2;
        X509_REVOKED *entry = sk_X509_REVOKED_value(entries, middle);
        int order = ASN1_STRING_cmp(X509_REVOKED_get0_serialNumber(entry), number);

        if (order == 0)
            return entry;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* As OpenSSL's own, but for lists of several authorities, which it is not asked for. */
static int look_up(X509_CRL *list, X509_REVOKED **out, const ASN1_INTEGER *number,
                   const X509_NAME *issuer)
{
    X509_REVOKED *entry;

    if (issuer && X509_NAME_cmp(issuer, X509_CRL_get_issuer(list)) != 0)
        return 0;
    entry = find(X509_CRL_get_REVOKED(list), number);
    if (!entry)
        return 0;
    if (out)
        *out = entry;
    return is_taken_back(entry) ? 2 : 1;
}

/* Nothing else in the process reads lists. */
static bool set_method(void)
{
    static X509_CRL_METHOD *method;

    if (!method)
        method = X509_CRL_METHOD_new(NULL, forget, look_up, verify);
    X509_CRL_set_default_method(method);
    return method != NULL;
}

static const char *read_all(BIO *file, STACK_OF(X509_CRL) * lists)
{
    X509_CRL *list;

    while ((list = PEM_read_bio_X509_CRL(file, NULL, mx_no_passphrase, NULL))) {
        sk_X509_REVOKED_sort(X509_CRL_get_REVOKED(list));
        if (!sk_X509_CRL_push(lists, list)) {
            X509_CRL_free(list);
            return mx_openssl_reason();
        }
        if (sk_X509_CRL_num(lists) > CRL_LISTS_MAX)
            return "has too many lists; expected at most 256";
    }
    if (sk_X509_CRL_num(lists) == 0 ||
        ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
        return mx_openssl_reason();
    ERR_clear_error();
    return NULL;
}

/* Who writes the file may have put a pipe there since it was judged, which nobody waits for. */
static BIO *open_file(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

    if (file)
        return BIO_new_fp(file, BIO_CLOSE);
    ERR_raise(ERR_LIB_SYS, errno);
    if (fd >= 0)
        close(fd);
    return NULL;
}

const char *crl_read(const char *path, STACK_OF(X509_CRL) * lists)
{
    BIO *file = set_method() ? open_file(path) : NULL;
    const char *why = file ? read_all(file, lists) : mx_openssl_reason();

    BIO_free(file);
    return why;
}

int64_t crl_from_s(const X509_CRL *list)
{
    const ASN1_TIME *begin = X509_CRL_get0_lastUpdate(list);

    return begin ? tls_time_seconds(begin) : 0;
}

int64_t crl_until_s(const X509_CRL *list)
{
    const ASN1_TIME *end = X509_CRL_get0_nextUpdate(list);

    return end ? tls_time_seconds(end) : 0;
}

static const ASN1_OCTET_STRING *key_of(const X509_CRL *list)
{
    int at = X509_CRL_get_ext_by_NID(list, NID_authority_key_identifier, -1);

    return at < 0 ? NULL : X509_EXTENSION_get_data(X509_CRL_get_ext(list, at));
}

bool crl_is_of_one(const X509_CRL *one, const X509_CRL *other)
{
    const ASN1_OCTET_STRING *key = key_of(one), *another = key_of(other);

    if (X509_NAME_cmp(X509_CRL_get_issuer(one), X509_CRL_get_issuer(other)) != 0)
        return false;
    return key && another ? ASN1_OCTET_STRING_cmp(key, another) == 0 : key == another;
}

/* ---- all lists ---- */

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
