/*
 * crl.c - a list of a hundred thousand entries takes 90 ms to be read, 40 to be sorted, 70 to be
 * freed and 3 to be hashed. OpenSSL sorts it when somebody is looked up for the first time, and
 * hashes it in each handshake. So lists are read with a method of their own: sorted from the
 * beginning, and with the key that has signed them, which is asked for only once.
 */
#include "router/edge/crl.h"

#include "lib/core/openssl_reason.h"
#include "lib/core/passphrase.h"
#include "router/edge/tls_time.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

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
