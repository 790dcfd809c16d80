/*
 * jwt.c - keys and signatures only. cjose verifies a token only after the checks of
 * jwt_check.c, and only with a key that was configured for the algorithm in the token's header.
 * So a token never chooses how it is verified (RFC 8725 section 3.1).
 */
#include "router/policy/jwt_ring.h"

#include <cjose/header.h>
#include <cjose/jws.h>
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

enum mcpx_err jwt_ring_add(struct jwt_ring *ring, const char *kid, const char *alg,
                           struct mcpx_slice secret, bool exp_optional)
{
    struct jwt_key key = {.kid = strdup(kid ? kid : ""), .exp_optional = exp_optional};
    struct jwt_key *keys;

    if (!key.kid)
        return MCPX_ENOMEM;
    key.alg = jwt_alg_name(alg);
    key.jwk = cjose_jwk_create_oct_spec((const uint8_t *)secret.text, secret.len, NULL);
    keys = key.jwk ? realloc(ring->keys, (ring->count + 1) * sizeof *keys) : NULL;
    if (!keys) {
        cjose_jwk_release(key.jwk);
        free(key.kid);
        return MCPX_ENOMEM;
    }
    ring->keys = keys;
    ring->keys[ring->count++] = key;
    return MCPX_OK;
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

static bool key_fits(const struct jwt_key *key, const struct jwt_header *header)
{
    if (strcmp(key->alg, header->alg) != 0)
        return false;
    return !header->kid || !*key->kid || strcmp(key->kid, header->kid) == 0;
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
    if (!err && !key->exp_optional && !json_object_get(found, "exp")) {
        json_decref(found);
        err = MCPX_ETOKEN;
    }
    if (!err)
        *claims = found;
    return err;
}

enum mcpx_err jwt_verify(const struct jwt_ring *ring, struct mcpx_slice token,
                         struct mcpx_now now, json_t **claims)
{
    struct jwt_header header;
    json_t *found = NULL;
    enum mcpx_err err;

    if (token.len > JWT_BYTES_MAX)
        return MCPX_ETOKEN;
    err = jwt_header_read(token, &header);
    if (err)
        return err;
    err = MCPX_ETOKEN;
    for (size_t i = 0; err && i < ring->count; i++) {
        if (key_fits(&ring->keys[i], &header))
            err = verify_with(&ring->keys[i], token, &found);
    }
    json_decref(header.json);
    if (!err && !jwt_claims_hold(found, jwt_ring_issuer(ring), jwt_ring_audience(ring), now)) {
        json_decref(found);
        err = MCPX_ETOKEN;
    }
    if (!err)
        *claims = found;
    return err;
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
