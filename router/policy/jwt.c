/*
 * jwt.c - keys and signatures only. cjose verifies a token only after the checks of
 * jwt_check.c, and only with a key that was configured for the algorithm in the token's header.
 * So a token never chooses how it is verified (RFC 8725 section 3.1).
 */
#include "router/policy/jwt_ring.h"

#include <cjose/header.h>
#include <cjose/jws.h>
#include <cjose/util.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>

struct jwt_ring *jwt_ring_new(void)
{
    return calloc(1, sizeof(struct jwt_ring));
}

void jwt_ring_free(struct jwt_ring *ring)
{
    if (!ring)
        return;
    for (size_t i = 0; i < ring->count; i++) {
        cjose_jwk_release(ring->keys[i].jwk); /* wipes an octet key */
        free(ring->keys[i].kid);
    }
    free(ring->keys);
    free(ring->issuer);
    free(ring->audience);
    free(ring);
}

size_t jwt_ring_count(const struct jwt_ring *ring)
{
    return ring->count;
}

const char *jwt_ring_issuer(const struct jwt_ring *ring)
{
    return ring->issuer ? ring->issuer : "";
}

const char *jwt_ring_audience(const struct jwt_ring *ring)
{
    return ring->audience ? ring->audience : "";
}

/* The text holds the secret: it is wiped. */
static bool digest_key(cjose_jwk_t *jwk, unsigned char digest[32])
{
    char *text = jwk ? cjose_jwk_to_json(jwk, true, NULL) : NULL;
    size_t len = text ? strlen(text) : 0;
    bool done = text && EVP_Digest(text, len, digest, NULL, EVP_sha256(), NULL) == 1;

    if (text)
        OPENSSL_cleanse(text, len);
    cjose_get_dealloc()(text);
    return done;
}

/* Takes what the key holds, in any case. */
static enum mcpx_err add_key(struct jwt_ring *ring, struct jwt_key *key)
{
    struct jwt_key *keys = NULL;

    if (key->kid && digest_key(key->jwk, key->digest))
        keys = realloc(ring->keys, (ring->count + 1) * sizeof *keys);
    if (!keys) {
        cjose_jwk_release(key->jwk);
        free(key->kid);
        return MCPX_ENOMEM;
    }
    ring->keys = keys;
    ring->keys[ring->count++] = *key;
    return MCPX_OK;
}

enum mcpx_err jwt_ring_add(struct jwt_ring *ring, const char *kid, const char *alg,
                           struct mcpx_slice secret, bool exp_optional)
{
    struct jwt_key key = {
        .kid = strdup(kid ? kid : ""),
        .alg = jwt_alg_name(alg),
        .exp_optional = exp_optional,
        .jwk = cjose_jwk_create_oct_spec((const uint8_t *)secret.text, secret.len, NULL)};

    return add_key(ring, &key);
}

enum mcpx_err jwt_ring_expect(struct jwt_ring *ring, const char *issuer, const char *audience)
{
    char *iss = strdup(issuer ? issuer : "");
    char *aud = strdup(audience ? audience : "");

    if (!iss || !aud) {
        free(iss);
        free(aud);
        return MCPX_ENOMEM;
    }
    free(ring->issuer);
    free(ring->audience);
    ring->issuer = iss;
    ring->audience = aud;
    return MCPX_OK;
}

static bool key_fits(const struct jwt_key *key, const char *alg, const char *kid)
{
    return strcmp(key->alg, alg) == 0 && (!kid || !*key->kid || strcmp(key->kid, kid) == 0);
}

static bool key_needs_exp(const struct jwt_key *key, const json_t *claims)
{
    return !key->exp_optional && !json_object_get(claims, "exp");
}

static bool claims_hold(const struct jwt_ring *ring, const json_t *claims, struct mcpx_now now)
{
    return jwt_claims_hold(claims, jwt_ring_issuer(ring), jwt_ring_audience(ring), now);
}

/* cjose keeps the digest of one attempt inside the token, so each key gets a fresh one. */
static enum mcpx_err verify_with(const struct jwt_key *key, struct mcpx_slice token,
                                 json_t **claims)
{
    cjose_jws_t *jws = cjose_jws_import(token.text, token.len, NULL);
    enum mcpx_err err = MCPX_ETOKEN;
    json_t *found = NULL;
    uint8_t *text = NULL;
    size_t len = 0;

    if (jws && cjose_jws_verify(jws, key->jwk, NULL) &&
        cjose_jws_get_plaintext(jws, &text, &len, NULL))
        err = jwt_parse((struct mcpx_slice){(const char *)text, len}, &found);
    cjose_jws_release(jws);
    if (!err && key_needs_exp(key, found)) {
        json_decref(found);
        err = MCPX_ETOKEN;
    }
    if (!err)
        *claims = found;
    return err;
}

void jwt_proof_fini(struct jwt_proof *proof)
{
    json_decref(proof->claims);
    json_decref(proof->header);
    *proof = (struct jwt_proof){.claims = NULL};
}

enum mcpx_err jwt_verify(const struct jwt_ring *ring, struct mcpx_slice token,
                         struct mcpx_now now, struct jwt_proof *proof)
{
    struct jwt_proof made = {.claims = NULL};
    struct jwt_header header;
    enum mcpx_err err;

    if (token.len > JWT_BYTES_MAX)
        return MCPX_ETOKEN;
    err = jwt_header_read(token, &header);
    if (err)
        return err;
    err = MCPX_ETOKEN;
    for (size_t i = 0; err && i < ring->count; i++) {
        const struct jwt_key *key = &ring->keys[i];

        if (key_fits(key, header.alg, header.kid))
            err = verify_with(key, token, &made.claims);
        memcpy(made.key, key->digest, sizeof made.key);
    }
    if (!err && !claims_hold(ring, made.claims, now))
        err = MCPX_ETOKEN;
    if (!err) {
        made.header = json_pack("{s:s, s:s*}", "alg", header.alg, "kid", header.kid);
        err = made.header ? MCPX_OK : MCPX_ENOMEM;
    }
    json_decref(header.json);
    if (err)
        jwt_proof_fini(&made);
    else
        *proof = made;
    return err;
}

bool jwt_holds(const struct jwt_ring *ring, const struct jwt_proof *proof, struct mcpx_now now)
{
    const char *alg = json_string_value(json_object_get(proof->header, "alg"));
    const char *kid = json_string_value(json_object_get(proof->header, "kid"));

    for (size_t i = 0; alg && i < ring->count; i++) {
        const struct jwt_key *key = &ring->keys[i];

        if (CRYPTO_memcmp(key->digest, proof->key, sizeof proof->key) == 0 &&
            key_fits(key, alg, kid) && !key_needs_exp(key, proof->claims))
            return claims_hold(ring, proof->claims, now);
    }
    return false;
}

static cjose_header_t *make_header(const struct jwt_key *key)
{
    cjose_header_t *header = cjose_header_new(NULL);

    if (header && cjose_header_set(header, CJOSE_HDR_ALG, key->alg, NULL) &&
        (!*key->kid || cjose_header_set(header, CJOSE_HDR_KID, key->kid, NULL)))
        return header;
    cjose_header_release(header);
    return NULL;
}

enum mcpx_err jwt_sign(const struct jwt_ring *ring, const json_t *claims,
                       struct mcpx_text *token)
{
    enum mcpx_err err = MCPX_ENOMEM;
    char *text = NULL;
    cjose_header_t *header = NULL;
    cjose_jws_t *jws = NULL;
    const char *compact = NULL;

    if (ring->count == 0)
        return MCPX_ENOTFOUND;
    text = json_dumps(claims, JSON_COMPACT);
    header = text ? make_header(&ring->keys[0]) : NULL;
    if (header)
        jws = cjose_jws_sign(ring->keys[0].jwk, header, (const uint8_t *)text, strlen(text),
                             NULL);
    if (jws && cjose_jws_export(jws, &compact, NULL)) {
        mcpx_text_puts(token, compact);
        err = token->failed ? MCPX_ENOMEM : MCPX_OK;
    }
    cjose_jws_release(jws);
    cjose_header_release(header);
    free(text);
    return err;
}
