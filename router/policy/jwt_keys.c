/*
 * jwt_keys.c - a plain array: there are few keys, and a token is compared with their names before
 * it is verified with any.
 */
#include "router/policy/jwt_keys.h"

#include <openssl/crypto.h>
#include <openssl/x509.h>
#include <stdlib.h>

/* The longest secret there can be (docs/configuration.md). */
enum { SECRET_MAX = 4096 };

void jwt_keys_fini(struct jwt_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        EVP_PKEY_free(keys->rows[i].key); /* wipes a secret */
        free(keys->rows[i].kid);
    }
    free(keys->rows);
    *keys = (struct jwt_keys){0};
}

static bool digest_secret(const EVP_PKEY *key, unsigned char digest[32])
{
    unsigned char secret[SECRET_MAX];
    size_t len = sizeof secret;
    bool done = EVP_PKEY_get_raw_private_key(key, secret, &len) == 1 &&
                EVP_Digest(secret, len, digest, NULL, EVP_sha256(), NULL) == 1;

    OPENSSL_cleanse(secret, sizeof secret);
    return done;
}

static bool digest_key(const EVP_PKEY *key, unsigned char digest[32])
{
    unsigned char *text = NULL;
    int len;
    bool done;

    if (EVP_PKEY_is_a(key, "HMAC"))
        return digest_secret(key, digest);
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

bool jwt_keys_have(const struct jwt_keys *keys, const char *kid, const struct jwt_alg *alg)
{
    for (size_t i = 0; i < keys->count; i++)
        if (keys->rows[i].alg == alg && strcmp(keys->rows[i].kid, kid) == 0)
            return true;
    return false;
}
