/*
 * ocsp.c - whoever fetches responses is another program: the router asks nobody. So it believes the
 * file as little as an answer from the network. A response that would be refused by a client is
 * worse than none: some clients go on without one, but none goes on with a false one.
 */
#include "router/edge/ocsp.h"

#include "router/edge/tls_time.h"
#include "router/policy/loading.h"

#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <openssl/ssl.h>

/*
 * RESPONSE_MAX   the largest file, in bytes: a response has at most a chain of certificates in it
 * AHEAD_S        how far the clock of its author may be ahead of ours
 */
enum { RESPONSE_MAX = 65536, AHEAD_S = 300 };

/* The certificate's issuer, of those beside it; NULL when it is not there. */
static X509 *issuer_of(SSL_CTX *context)
{
    X509 *certificate = SSL_CTX_get0_certificate(context);
    STACK_OF(X509) *chain = NULL;

    (void)SSL_CTX_get0_chain_certs(context, &chain);
    for (int i = 0; i < sk_X509_num(chain); i++)
        if (X509_check_issued(sk_X509_value(chain, i), certificate) == X509_V_OK)
            return sk_X509_value(chain, i);
    return X509_check_issued(certificate, certificate) == X509_V_OK ? certificate : NULL;
}

/* Has the issuer signed it, or somebody with its signature under "may sign OCSP responses"? */
static bool is_signed(OCSP_BASICRESP *basic, X509 *issuer)
{
    STACK_OF(X509) *signers = sk_X509_new_null();
    X509_STORE *store = X509_STORE_new();
    bool good = signers && store && sk_X509_push(signers, issuer) &&
                X509_STORE_add_cert(store, issuer) &&
                X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN) &&
                OCSP_basic_verify(basic, signers, store, 0) == 1;

    X509_STORE_free(store);
    sk_X509_free(signers);
    return good;
}

/* The author chooses the digest by which the certificate is named. */
static bool is_named(OCSP_SINGLERESP *single, X509 *certificate, X509 *issuer)
{
    OCSP_CERTID *named = OCSP_CERTID_dup(OCSP_SINGLERESP_get0_id(single)), *ours = NULL;
    ASN1_OBJECT *digest = NULL;
    const EVP_MD *method = NULL;
    bool same;

    if (named && OCSP_id_get0_info(NULL, &digest, NULL, NULL, named))
        method = EVP_get_digestbyobj(digest);
    if (method)
        ours = OCSP_cert_to_id(method, certificate, issuer);
    same = ours && OCSP_id_cmp(ours, named) == 0;
    OCSP_CERTID_free(ours);
    OCSP_CERTID_free(named);
    return same;
}

static OCSP_SINGLERESP *find(OCSP_BASICRESP *basic, X509 *certificate, X509 *issuer)
{
    for (int i = 0; i < OCSP_resp_count(basic); i++)
        if (is_named(OCSP_resp_get0(basic, i), certificate, issuer))
            return OCSP_resp_get0(basic, i);
    return NULL;
}

static const char *judge_times(OCSP_SINGLERESP *single, int64_t wall_ms, int64_t *until_s)
{
    ASN1_GENERALIZEDTIME *begin = NULL, *end = NULL;
    int status = OCSP_single_get0_status(single, NULL, NULL, &begin, &end);

    if (status == V_OCSP_CERTSTATUS_REVOKED)
        return "it says that the certificate is revoked";
    if (status != V_OCSP_CERTSTATUS_GOOD)
        return "it says that its author does not know the certificate";
    if (!end)
        return "it does not say when it ends (nextUpdate)";
    *until_s = tls_time_seconds(end);
    if (*until_s <= wall_ms / 1000)
        return "it has expired";
    if (tls_time_seconds(begin) > wall_ms / 1000 + AHEAD_S)
        return "it is not valid yet; compare the clocks";
    return NULL;
}

static const char *judge(OCSP_BASICRESP *basic, SSL_CTX *context, int64_t wall_ms,
                         int64_t *until_s)
{
    X509 *issuer = issuer_of(context), *certificate = SSL_CTX_get0_certificate(context);
    OCSP_SINGLERESP *single;

    if (!issuer)
        return "tls.certificate_file lacks the certificate's issuer, by which a response is "
               "judged; expected it behind the certificate";
    if (!is_signed(basic, issuer))
        return "neither the certificate's issuer has signed it, nor whom that has appointed";
    single = find(basic, certificate, issuer);
    return single ? judge_times(single, wall_ms, until_s) : "it is about another certificate";
}

static const char *judge_bytes(const struct mcpx_text *bytes, SSL_CTX *context,
                               int64_t wall_ms, int64_t *until_s)
{
    const unsigned char *at = (const unsigned char *)bytes->text;
    OCSP_RESPONSE *response = d2i_OCSP_RESPONSE(NULL, &at, (long)bytes->len);
    OCSP_BASICRESP *basic = NULL;
    const char *why;

    if (!response || at != (const unsigned char *)bytes->text + bytes->len)
        why = "it is no OCSP response in DER, as openssl ocsp -respout writes it";
    else if (OCSP_response_status(response) != OCSP_RESPONSE_STATUS_SUCCESSFUL)
        why = OCSP_response_status_str(OCSP_response_status(response));
    else if (!(basic = OCSP_response_get1_basic(response)))
        why = "it is of a sort that nobody uses";
    else
        why = judge(basic, context, wall_ms, until_s);
    OCSP_BASICRESP_free(basic);
    OCSP_RESPONSE_free(response);
    ERR_clear_error();
    return why;
}

const char *ocsp_read(const char *path, SSL_CTX *context, int64_t wall_ms, struct ocsp *out)
{
    const char *why = file_read(path, RESPONSE_MAX, &out->bytes);

    if (!why && out->bytes.failed)
        why = "memory has run out";
    if (!why)
        why = judge_bytes(&out->bytes, context, wall_ms, &out->until_s);
    if (why) {
        ocsp_fini(out);
        return why;
    }
    out->about = SSL_CTX_get0_certificate(context);
    X509_up_ref(out->about);
    return NULL;
}

bool ocsp_is_about(const struct ocsp *ocsp, const SSL_CTX *context)
{
    return ocsp->about && X509_cmp(ocsp->about, SSL_CTX_get0_certificate(context)) == 0;
}

/* The client has asked. A handshake may have begun with the certificate of before. */
static int on_status(SSL *ssl, void *context)
{
    const struct ocsp *ocsp = context;
    const X509 *shown = SSL_get_certificate(ssl);
    unsigned char *copy;

    if (!ocsp->about || !shown || X509_cmp(ocsp->about, shown) != 0)
        return SSL_TLSEXT_ERR_NOACK;
    copy = OPENSSL_memdup(ocsp->bytes.text, ocsp->bytes.len);
    if (!copy)
        return SSL_TLSEXT_ERR_NOACK;
    SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)ocsp->bytes.len);
    return SSL_TLSEXT_ERR_OK;
}

void ocsp_staple(struct ocsp *ocsp, SSL_CTX *context)
{
    SSL_CTX_set_tlsext_status_cb(context, on_status);
    SSL_CTX_set_tlsext_status_arg(context, ocsp);
}

void ocsp_fini(struct ocsp *ocsp)
{
    mcpx_text_fini(&ocsp->bytes);
    X509_free(ocsp->about);
    *ocsp = (struct ocsp){.about = NULL};
}
