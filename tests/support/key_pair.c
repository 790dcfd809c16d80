/*
 * key_pair.c - what an issuer's library does, in the few lines of OpenSSL that it comes to.
 */
#include "tests/support/key_pair.h"

#include "tests/support/jwt.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *made)
{
    if (!made)
        abort();
    return made;
}

EVP_PKEY *key_pair_new(const char *sort)
{
    if (strncmp(sort, "RSA-", 4) == 0)
        return must(EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)atoi(sort + 4)));
    if (strncmp(sort, "ED", 2) == 0)
        return must(EVP_PKEY_Q_keygen(NULL, NULL, sort));
    return must(EVP_PKEY_Q_keygen(NULL, NULL, "EC", sort));
}

char *key_pair_pem(EVP_PKEY *pair, int with_private)
{
    BIO *bio = must(BIO_new(BIO_s_mem()));
    char *bytes, *text;
    long len;

    if (with_private)
        PEM_write_bio_PrivateKey(bio, pair, NULL, NULL, 0, NULL, NULL);
    else
        PEM_write_bio_PUBKEY(bio, pair);
    len = BIO_get_mem_data(bio, &bytes);
    text = must(strndup(bytes, (size_t)len));
    BIO_free(bio);
    return text;
}

/* A number as a member has it, with at least `bytes` bytes. */
static char *number_of(EVP_PKEY *pair, const char *name, int bytes)
{
    unsigned char buffer[1024];
    BIGNUM *number = NULL;
    int len;
    char *text;

    if (EVP_PKEY_get_bn_param(pair, name, &number) != 1)
        abort();
    len = BN_num_bytes(number) > bytes ? BN_num_bytes(number) : bytes;
    BN_bn2binpad(number, buffer, len);
    text = jwt_encode(buffer, (size_t)len);
    BN_free(number);
    return text;
}

/* {"kty":TYPE,FIRST:ONE,SECOND:TWO MORE} with the names in `shape`, which has three strings. */
static char *object_of(const char *const shape[3], char *one, char *two, const char *more)
{
    char *out = must(malloc(4096));

    snprintf(out, 4096, "{%s,\"%s\":\"%s\",\"%s\":\"%s\"%s}", shape[0], shape[1], one,
             shape[2], two, more);
    free(one);
    free(two);
    return out;
}

char *key_pair_jwk(EVP_PKEY *pair, const char *more)
{
    static const char *const rsa[] = {"\"kty\":\"RSA\"", "n", "e"};
    static const char *const ed[] = {"\"kty\":\"OKP\"", "crv", "x"};
    static const char *const curves[][3] = {{"\"kty\":\"EC\",\"crv\":\"P-256\"", "x", "y"},
                                            {"\"kty\":\"EC\",\"crv\":\"P-384\"", "x", "y"},
                                            {"\"kty\":\"EC\",\"crv\":\"P-521\"", "x", "y"}};
    int bits = EVP_PKEY_get_bits(pair);
    unsigned char raw[64];
    size_t len = sizeof raw;

    if (EVP_PKEY_is_a(pair, "RSA"))
        return object_of(rsa, number_of(pair, OSSL_PKEY_PARAM_RSA_N, 0),
                         number_of(pair, OSSL_PKEY_PARAM_RSA_E, 0), more);
    if (EVP_PKEY_is_a(pair, "EC"))
        return object_of(curves[bits == 256   ? 0
                                : bits == 384 ? 1
                                              : 2],
                         number_of(pair, OSSL_PKEY_PARAM_EC_PUB_X, (bits + 7) / 8),
                         number_of(pair, OSSL_PKEY_PARAM_EC_PUB_Y, (bits + 7) / 8), more);
    EVP_PKEY_get_raw_public_key(pair, raw, &len);
    return object_of(ed, must(strdup("Ed25519")), jwt_encode(raw, len), more);
}

/* r and s side by side. */
static size_t raw_of(const unsigned char *der, size_t len, int half, unsigned char *raw)
{
    ECDSA_SIG *pair = must(d2i_ECDSA_SIG(NULL, &der, (long)len));

    BN_bn2binpad(ECDSA_SIG_get0_r(pair), raw, half);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair), raw + half, half);
    ECDSA_SIG_free(pair);
    return 2 * (size_t)half;
}

static size_t sign_text(EVP_PKEY *pair, const char *alg, const char *text,
                        unsigned char *signature)
{
    EVP_MD_CTX *context = must(EVP_MD_CTX_new());
    EVP_PKEY_CTX *settings = NULL;
    unsigned char made[1024];
    size_t len = sizeof made;
    char digest[16];

    snprintf(digest, sizeof digest, "SHA%.3s", strpbrk(alg, "235") ? strpbrk(alg, "235") : "");
    if (EVP_DigestSignInit_ex(context, &settings, strcmp(alg, "EdDSA") == 0 ? NULL : digest,
                              NULL, NULL, pair, NULL) != 1)
        abort();
    if (strncmp(alg, "PS", 2) == 0) {
        EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING);
        EVP_PKEY_CTX_set_rsa_pss_saltlen(settings,
                                         strstr(alg, "-0") ? 0 : RSA_PSS_SALTLEN_DIGEST);
    }
    if (EVP_DigestSign(context, made, &len, (const unsigned char *)text, strlen(text)) != 1)
        abort();
    EVP_MD_CTX_free(context);
    if (strncmp(alg, "ES", 2) == 0)
        return raw_of(made, len, (EVP_PKEY_get_bits(pair) + 7) / 8, signature);
    memcpy(signature, made, len);
    return len;
}

char *key_pair_sign(EVP_PKEY *pair, const char *header, const char *claims, const char *alg)
{
    char *head = jwt_encode(header, strlen(header)),
         *body = jwt_encode(claims, strlen(claims));
    size_t size = strlen(head) + strlen(body) + 2048, len;
    char *token = must(malloc(size)), *last;
    unsigned char signature[1024];

    snprintf(token, size, "%s.%s", head, body);
    len = sign_text(pair, alg, token, signature);
    last = jwt_encode(signature, len);
    snprintf(token, size, "%s.%s.%s", head, body, last);
    free(head);
    free(body);
    free(last);
    return token;
}
