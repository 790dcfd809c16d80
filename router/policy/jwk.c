/*
 * jwk.c - numbers and points of a JSON Web Key, put together by OpenSSL. What a key says that it is
 * for is asked first, so that a key for encryption is never looked at.
 */
#include "router/policy/jwk.h"

#include "router/policy/base64url.h"
#include "router/policy/public_key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>

/* Bytes of the longest number: RSA's modulus. */
enum { NUMBER_MAX = JWT_RSA_BITS_MAX / 8 };

static bool is(const json_t *value, const char *text)
{
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

/* Appends the bytes of a member that is base64url; false when it is not there or something else. */
static bool read_bytes(const json_t *object, const char *name, struct mcpx_text *out)
{
    const json_t *value = json_object_get(object, name);
    struct mcpx_slice text = {json_string_value(value), json_string_length(value)};

    return text.len > 0 && text.len <= 2 * (size_t)NUMBER_MAX && base64url_decode(text, out);
}

static EVP_PKEY *assemble(const char *type, OSSL_PARAM_BLD *build)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);
    EVP_PKEY *key = NULL;

    if (context && params && EVP_PKEY_fromdata_init(context) == 1 &&
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        key = NULL;
    OSSL_PARAM_free(params);
    EVP_PKEY_CTX_free(context);
    return key;
}

static EVP_PKEY *make_rsa(const json_t *object)
{
    struct mcpx_text n = {0}, e = {0};
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    BIGNUM *modulus = NULL, *exponent = NULL;
    EVP_PKEY *key = NULL;

    if (build && read_bytes(object, "n", &n) && read_bytes(object, "e", &e)) {
        modulus = BN_bin2bn((const unsigned char *)n.text, (int)n.len, NULL);
        exponent = BN_bin2bn((const unsigned char *)e.text, (int)e.len, NULL);
    }
    if (modulus && exponent && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, modulus) &&
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, exponent))
        key = assemble("RSA", build);
    OSSL_PARAM_BLD_free(build);
    BN_free(modulus);
    BN_free(exponent);
    mcpx_text_fini(&n);
    mcpx_text_fini(&e);
    return key;
}

/* The coordinates have their full length: RFC 7518 section 6.2.1.2. */
static EVP_PKEY *make_ec(const json_t *object, size_t bytes)
{
    const char *curve = json_string_value(json_object_get(object, "crv"));
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    struct mcpx_text point = {0};
    EVP_PKEY *key = NULL;

    mcpx_text_add(&point, "\x04", 1); /* not compressed */
    if (build && read_bytes(object, "x", &point) && point.len == 1 + bytes &&
        read_bytes(object, "y", &point) && point.len == 1 + 2 * bytes &&
        OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, curve, 0) &&
        OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point.text,
                                         point.len))
        key = assemble("EC", build);
    OSSL_PARAM_BLD_free(build);
    mcpx_text_fini(&point);
    return key;
}

static EVP_PKEY *make_ed25519(const json_t *object)
{
    struct mcpx_text x = {0};
    EVP_PKEY *key = NULL;

    if (read_bytes(object, "x", &x))
        key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL,
                                          (const unsigned char *)x.text, x.len);
    mcpx_text_fini(&x);
    return key;
}

/* What a key of type and curve is made by; `known` is false when there is no such way. */
static EVP_PKEY *make(const json_t *object, bool *known)
{
    static const struct {
        const char *curve;
        size_t bytes;
    } curves[] = {{"P-256", 32}, {"P-384", 48}, {"P-521", 66}};
    const json_t *type = json_object_get(object, "kty"),
                 *curve = json_object_get(object, "crv");

    *known = true;
    if (is(type, "RSA"))
        return make_rsa(object);
    for (size_t i = 0; is(type, "EC") && i < sizeof curves / sizeof *curves; i++)
        if (is(curve, curves[i].curve))
            return make_ec(object, curves[i].bytes);
    if (is(type, "OKP") && is(curve, "Ed25519"))
        return make_ed25519(object);
    *known = false;
    return NULL;
}

/* RFC 7517 sections 4.2 and 4.3. */
static bool is_to_verify(const json_t *object)
{
    const json_t *use = json_object_get(object, "use");
    const json_t *operations = json_object_get(object, "key_ops");
    bool found = !operations;

    for (size_t i = 0; i < json_array_size(operations); i++)
        found = found || is(json_array_get(operations, i), "verify");
    return found && (!use || is(use, "sig"));
}

static const char *forbidden(const json_t *object)
{
    static const char *const halves[] = {"d", "p", "q", "dp", "dq", "qi", "oth"};

    if (is(json_object_get(object, "kty"), "oct") || json_object_get(object, "k"))
        return "found a secret, which whoever reads the file could sign with; expected public "
               "keys only";
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++)
        if (json_object_get(object, halves[i]))
            return "found a private key; expected public keys only, without \"d\" and what "
                   "belongs to it";
    return NULL;
}

/* kid and alg of the object; MCPX_ENOTFOUND for an algorithm that is not known. */
static enum mcpx_err read_names(const json_t *object, struct jwk *out, const char **why)
{
    const json_t *kid = json_object_get(object, "kid"), *alg = json_object_get(object, "alg");

    out->kid = kid ? json_string_value(kid) : "";
    if (!out->kid || (kid && json_string_length(kid) == 0) ||
        json_string_length(kid) > KID_BYTES_MAX) {
        *why = "\"kid\" has to be a string of 1..256 bytes";
        return MCPX_ECONFIG;
    }
    if (alg && !json_is_string(alg)) {
        *why = "\"alg\" has to be a string";
        return MCPX_ECONFIG;
    }
    out->alg = alg ? jwt_alg_find(json_string_value(alg)) : NULL;
    *why = "its \"alg\" is not known";
    return alg && !out->alg ? MCPX_ENOTFOUND : MCPX_OK;
}

static enum mcpx_err read_key(const json_t *object, struct jwk *out, const char **why)
{
    bool known;

    out->key = make(object, &known);
    ERR_clear_error();
    if (!known) {
        *why = "its \"kty\" or \"crv\" is not known";
        return MCPX_ENOTFOUND;
    }
    *why = "found a key whose numbers are missing or wrong";
    if (!out->key)
        return MCPX_ECONFIG;
    if (!out->alg)
        out->alg = jwt_alg_implied(out->key);
    *why = out->alg ? jwt_alg_refuses(out->alg, out->key) : "found a key of no known sort";
    return *why ? MCPX_ECONFIG : MCPX_OK;
}

enum mcpx_err jwk_read(const json_t *object, struct jwk *out, const char **why)
{
    struct jwk made = {0};
    enum mcpx_err err;

    *why = json_is_object(object) ? forbidden(object) : "expected an object";
    if (*why)
        return MCPX_ECONFIG;
    *why = "it is not for verifying";
    if (!is_to_verify(object))
        return MCPX_ENOTFOUND;
    err = read_names(object, &made, why);
    if (!err)
        err = read_key(object, &made, why);
    if (err)
        EVP_PKEY_free(made.key);
    else
        *out = made;
    return err;
}
