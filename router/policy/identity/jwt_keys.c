/*
 * jwt_keys.c - all algorithms through one interface of OpenSSL, EVP_DigestVerify. Rejected: a
 * library for JSON Web Signatures, because it would read the header again by its own rules, take
 * the algorithm from there, and those of Debian lack EdDSA.
 */
#include "router/policy/identity/jwt.h"

#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdlib.h>

/* ---- algorithms ---- */

#define RSA_2048 "an RSA key of 2048 to 8192 bits"

static const struct jwt_alg algs[] = {
    {"HS256", JWT_HMAC, "SHA256", 32, "HMAC", NULL, "a secret", false},
    {"HS384", JWT_HMAC, "SHA384", 48, "HMAC", NULL, "a secret", false},
    {"HS512", JWT_HMAC, "SHA512", 64, "HMAC", NULL, "a secret", false},
    {"RS256", JWT_RSA, "SHA256", 0, "RSA", NULL, RSA_2048, true},
    {"RS384", JWT_RSA, "SHA384", 0, "RSA", NULL, RSA_2048, false},
    {"RS512", JWT_RSA, "SHA512", 0, "RSA", NULL, RSA_2048, false},
    {"PS256", JWT_PSS, "SHA256", 0, "RSA", NULL, RSA_2048, false},
    {"PS384", JWT_PSS, "SHA384", 0, "RSA", NULL, RSA_2048, false},
    {"PS512", JWT_PSS, "SHA512", 0, "RSA", NULL, RSA_2048, false},
    {"ES256", JWT_ECDSA, "SHA256", 64, "EC", "prime256v1", "a key on curve P-256", true},
    {"ES384", JWT_ECDSA, "SHA384", 96, "EC", "secp384r1", "a key on curve P-384", true},
    {"ES512", JWT_ECDSA, "SHA512", 132, "EC", "secp521r1", "a key on curve P-521", true},
    {"EdDSA", JWT_EDDSA, NULL, 64, "ED25519", NULL, "an Ed25519 key", true},
};

enum { ALG_COUNT = sizeof algs / sizeof *algs };

const struct jwt_alg *jwt_alg_find(const char *name)
{
    for (size_t i = 0; i < ALG_COUNT; i++)
        if (strcmp(algs[i].name, name) == 0)
            return &algs[i];
    return NULL;
}

static bool is_of_sort(const struct jwt_alg *alg, const EVP_PKEY *key)
{
    char group[32] = "";

    if (!EVP_PKEY_is_a(key, alg->key_type))
        return false;
    return !alg->group || (EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1 &&
                           strcmp(group, alg->group) == 0);
}

const struct jwt_alg *jwt_alg_implied(const EVP_PKEY *key)
{
    for (size_t i = 0; i < ALG_COUNT; i++)
        if (algs[i].implied && is_of_sort(&algs[i], key))
            return &algs[i];
    return NULL;
}

/* False for a point off its curve or a prime modulus: RFC 8725 section 3.4. */
static bool is_sound(const EVP_PKEY *key)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, (EVP_PKEY *)key, NULL);
    bool sound = context && EVP_PKEY_public_check(context) == 1;

    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return sound;
}

const char *jwt_alg_refuses(const struct jwt_alg *alg, const EVP_PKEY *key)
{
    int bits = EVP_PKEY_get_bits(key);

    if (!is_of_sort(alg, key))
        return "a key of another sort";
    if (EVP_PKEY_is_a(key, "RSA") && bits < JWT_RSA_BITS_MIN)
        return "an RSA key that is too short";
    if (EVP_PKEY_is_a(key, "RSA") && bits > JWT_RSA_BITS_MAX)
        return "an RSA key that is too long";
    return is_sound(key) ? NULL : "a key that is not sound";
}

size_t jwt_alg_sign(const struct jwt_alg *alg, EVP_PKEY *key, struct mcpx_slice text,
                    unsigned char mac[EVP_MAX_MD_SIZE])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    size_t len = EVP_MAX_MD_SIZE;
    bool made =
        context &&
        EVP_DigestSignInit_ex(context, NULL, alg->digest, NULL, NULL, key, NULL) == 1 &&
        EVP_DigestSign(context, mac, &len, (const unsigned char *)text.text, text.len) == 1;

    EVP_MD_CTX_free(context);
    return made ? len : 0;
}

static bool verify_secret(const struct jwt_alg *alg, EVP_PKEY *key, struct mcpx_slice text,
                          struct mcpx_slice signature)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    size_t len = jwt_alg_sign(alg, key, text, mac);

    return len > 0 && len == signature.len && CRYPTO_memcmp(mac, signature.text, len) == 0;
}

/*
 * A JWS has r and s side by side, OpenSSL needs them in DER (RFC 7518 section 3.4). `der` is to be
 * freed with OPENSSL_free; absent when memory runs out.
 */
static struct mcpx_slice to_der(struct mcpx_slice raw, unsigned char **der)
{
    const unsigned char *bytes = (const unsigned char *)raw.text;
    int half = (int)raw.len / 2, len = 0;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(bytes, half, NULL), *s = BN_bin2bn(bytes + half, half, NULL);

    if (pair && r && s && ECDSA_SIG_set0(pair, r, s) == 1) {
        r = s = NULL; /* they belong to the pair now */
        len = i2d_ECDSA_SIG(pair, der);
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(pair);
    return (struct mcpx_slice){(const char *)*der, len > 0 ? (size_t)len : 0};
}

static bool verify_public(const struct jwt_alg *alg, EVP_PKEY *key, struct mcpx_slice text,
                          struct mcpx_slice signature)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *settings = NULL;
    bool holds = context && EVP_DigestVerifyInit_ex(context, &settings, alg->digest, NULL,
                                                    NULL, key, NULL) == 1;

    if (holds && alg->family == JWT_PSS) /* the salt is as long as the digest: section 3.5 */
        holds = EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1 &&
                EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) == 1;
    holds = holds &&
            EVP_DigestVerify(context, (const unsigned char *)signature.text, signature.len,
                             (const unsigned char *)text.text, text.len) == 1;
    EVP_MD_CTX_free(context);
    return holds;
}

bool jwt_alg_verify(const struct jwt_alg *alg, EVP_PKEY *key, struct mcpx_slice text,
                    struct mcpx_slice signature)
{
    unsigned char *der = NULL;
    bool holds = alg->bytes == 0 || signature.len == alg->bytes;

    if (holds && alg->family == JWT_ECDSA)
        signature = to_der(signature, &der);
    if (holds)
        holds = alg->family == JWT_HMAC ? verify_secret(alg, key, text, signature)
                                        : verify_public(alg, key, text, signature);
    OPENSSL_free(der);
    ERR_clear_error();
    return holds;
}

/* ---- keys ---- */

void jwt_keys_fini(struct jwt_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        EVP_PKEY_free(keys->rows[i].key); /* wipes a secret */
        free(keys->rows[i].kid);
    }
    free(keys->rows);
    *keys = (struct jwt_keys){0};
}

static bool digest_key(EVP_PKEY *key, unsigned char digest[32])
{
    unsigned char mac[EVP_MAX_MD_SIZE] = {0}, *text = NULL;
    int len;
    bool done;

    if (EVP_PKEY_is_a(key, "HMAC")) {
        done = jwt_alg_sign(jwt_alg_find("HS256"), key, MCPX_SLICE("digest"), mac);
        memcpy(digest, mac, 32);
        return done;
    }
    len = i2d_PUBKEY(key, &text);
    done = len > 0 && EVP_Digest(text, (size_t)len, digest, NULL, EVP_sha256(), NULL) == 1;
    OPENSSL_free(text);
    return done;
}

enum mcpx_err jwt_keys_add(struct jwt_keys *keys, const struct jwt_key *row)
{
    struct jwt_key key = *row;
    struct jwt_key *rows = NULL;

    key.kid = strdup(row->kid ? row->kid : "");
    if (key.kid && key.key && digest_key(key.key, key.digest))
        rows = realloc(keys->rows, (keys->count + 1) * sizeof *rows);
    if (!rows) {
        EVP_PKEY_free(key.key);
        free(key.kid);
        return MCPX_ENOMEM;
    }
    keys->rows = rows;
    keys->rows[keys->count++] = key;
    return MCPX_OK;
}
