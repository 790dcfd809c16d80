/*
 * jwt.c - which keys a token is tried with. Only keys that were configured for the algorithm in the
 * token's header are, and only after the checks of jwt_check.c. So a token never chooses how it is
 * verified (RFC 8725 section 3.1).
 */
#include "router/policy/identity/jwt.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"

#include <openssl/crypto.h>
#include <stdlib.h>

struct jwt_ring *jwt_ring_new(void)
{
    return calloc(1, sizeof(struct jwt_ring));
}

void jwt_ring_free(struct jwt_ring *ring)
{
    if (!ring)
        return;
    for (size_t i = 0; i < ring->file_count; i++)
        key_file_unref(ring->files[i]);
    jwt_keys_fini(&ring->secrets);
    free(ring->files);
    free(ring->issuer);
    free(ring->audience);
    free(ring);
}

size_t jwt_ring_count(const struct jwt_ring *ring)
{
    size_t count = ring->secrets.count;

    for (size_t i = 0; i < ring->file_count; i++)
        count += ring->files[i]->keys.count;
    return count;
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
    struct jwt_key key = {.kid = (char *)kid,
                          .alg = jwt_alg_find(alg),
                          .exp_optional = exp_optional,
                          .key = jwt_alg_secret(secret)};

    return jwt_keys_add(&ring->secrets, &key);
}

enum mcpx_err jwt_ring_add_file(struct jwt_ring *ring, struct key_file *file)
{
    struct key_file **files =
        realloc(ring->files, (ring->file_count + 1) * sizeof(struct key_file *));

    if (!files)
        return MCPX_ENOMEM;
    ring->files = files;
    ring->files[ring->file_count++] = key_file_ref(file);
    return MCPX_OK;
}

struct key_file *jwt_ring_file(const struct jwt_ring *ring, size_t index)
{
    return index < ring->file_count ? ring->files[index] : NULL;
}

enum mcpx_err jwt_ring_share(struct jwt_ring *ring, const struct jwt_ring *other)
{
    struct jwt_key key;

    if (other->secrets.count == 0)
        return MCPX_ENOTFOUND;
    key = other->secrets.rows[0];
    return EVP_PKEY_up_ref(key.key) == 1 ? jwt_keys_add(&ring->secrets, &key) : MCPX_ENOMEM;
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

/*
 * A search for the key that has signed a token.
 *
 * named   a key has the token's kid, or one of the two has none
 * fits    one of those is for the token's algorithm
 * tries   public keys that were asked
 */
struct search {
    const struct jwt_parts *parts;
    bool named, fits;
    size_t tries;
};

static bool names(const struct jwt_key *key, const char *kid)
{
    return !kid || !*key->kid || strcmp(key->kid, kid) == 0;
}

/* Has the key signed it? Where that is to be found out elsewhere, it has not yet. */
static bool has_signed(const struct jwt_key *key, const struct jwt_parts *parts)
{
    struct mcpx_slice bytes = mcpx_text_view(&parts->signature);

    if (key->alg->family == JWT_HMAC || !parts->known)
        return jwt_alg_verify(key->alg, key->key, parts->covered, bytes);
    return jwt_signature_is_by(parts->known, key, parts->covered, bytes);
}

static const struct jwt_key *find_key(const struct jwt_keys *keys, struct search *search)
{
    const struct jwt_parts *parts = search->parts;

    for (size_t i = 0; i < keys->count; i++) {
        const struct jwt_key *key = &keys->rows[i];

        if (!names(key, parts->kid))
            continue;
        search->named = true;
        if (key->alg != parts->alg)
            continue;
        search->fits = true;
        if (key->alg->family != JWT_HMAC && search->tries++ >= JWT_TRIES_MAX)
            return NULL;
        if (has_signed(key, parts))
            return key;
    }
    return NULL;
}

/* NULL, with `why`, when none of ours has signed it. */
static const struct jwt_key *find_signer(const struct jwt_ring *ring,
                                         const struct jwt_parts *parts, const char **why)
{
    struct search search = {.parts = parts};
    const struct jwt_key *key = find_key(&ring->secrets, &search);

    for (size_t i = 0; !key && i < ring->file_count; i++)
        key = find_key(&ring->files[i]->keys, &search);
    if (!search.named)
        *why = "no configured key has its kid";
    else if (!search.fits)
        *why = "no configured key with its kid is for its alg";
    else
        *why = "no configured key has signed it";
    return key;
}

static bool lacks_exp(const struct jwt_key *key, const json_t *claims)
{
    return !key->exp_optional && !json_object_get(claims, "exp");
}

static const char *claims_fault(const struct jwt_ring *ring, const json_t *claims,
                                struct mcpx_now now)
{
    return jwt_claims_fault(claims, jwt_ring_issuer(ring), jwt_ring_audience(ring), now);
}

void jwt_proof_fini(struct jwt_proof *proof)
{
    json_decref(proof->claims);
    json_decref(proof->header);
    *proof = (struct jwt_proof){.claims = NULL};
}

/* What came of it: `proof` filled in part on failure, and then why. */
struct verified {
    struct jwt_proof proof;
    const char *why;
};

static enum mcpx_err prove(const struct jwt_ring *ring, const struct jwt_parts *parts,
                           struct mcpx_now now, struct verified *made)
{
    const struct jwt_key *key = find_signer(ring, parts, &made->why);
    struct jwt_proof *proof = &made->proof;
    enum mcpx_err err;

    if (!key && parts->known && parts->known->count && !jwt_signature_is_known(parts->known))
        return jwt_signature_want(parts->known, parts->covered,
                                  mcpx_text_view(&parts->signature));
    if (!key)
        return MCPX_ETOKEN;
    made->why = "its claims are no JSON object in which every name stands once";
    err = jwt_parse(mcpx_text_view(&parts->payload), &proof->claims);
    if (err)
        return err;
    made->why = claims_fault(ring, proof->claims, now);
    if (!made->why && lacks_exp(key, proof->claims))
        made->why = "it has no exp, and its key wants one";
    if (made->why)
        return MCPX_ETOKEN;
    memcpy(proof->key, key->digest, sizeof proof->key);
    proof->header = json_pack("{s:s, s:s*}", "alg", parts->alg->name, "kid", parts->kid);
    return proof->header ? MCPX_OK : MCPX_ENOMEM;
}

static enum mcpx_err verify(const struct jwt_ring *ring, struct mcpx_slice token,
                            struct jwt_signature *signature, struct mcpx_now now,
                            struct verified *made)
{
    struct jwt_parts parts = {.known = signature};
    enum mcpx_err err;

    made->why = "it is longer than 8192 bytes";
    if (token.len > JWT_BYTES_MAX)
        return MCPX_ETOKEN;
    err = jwt_parts_read(token, &parts, &made->why);
    if (!err)
        err = prove(ring, &parts, now, made);
    jwt_parts_fini(&parts);
    if (err)
        jwt_proof_fini(&made->proof);
    return err;
}

enum mcpx_err jwt_verify(const struct jwt_ring *ring, struct mcpx_slice token,
                         struct jwt_signature *signature, struct mcpx_now now,
                         struct jwt_proof *proof)
{
    struct verified made = {.why = NULL};
    enum mcpx_err err = verify(ring, token, signature, now, &made);

    if (!err)
        *proof = made.proof;
    return err;
}

const char *jwt_fault(const struct jwt_ring *ring, struct mcpx_slice token,
                      struct jwt_signature *signature, struct mcpx_now now)
{
    struct verified made = {.why = NULL};
    enum mcpx_err err = verify(ring, token, signature, now, &made);

    if (!err)
        jwt_proof_fini(&made.proof);
    return err == MCPX_ETOKEN ? made.why : NULL;
}

/* The key that has signed it, as long as its name and algorithm fit; NULL when it is gone. */
static const struct jwt_key *find_proven(const struct jwt_keys *keys,
                                         const struct jwt_proof *proof)
{
    const char *alg = json_string_value(json_object_get(proof->header, "alg"));
    const char *kid = json_string_value(json_object_get(proof->header, "kid"));

    for (size_t i = 0; alg && i < keys->count; i++) {
        const struct jwt_key *key = &keys->rows[i];

        if (CRYPTO_memcmp(key->digest, proof->key, sizeof proof->key) == 0 &&
            strcmp(key->alg->name, alg) == 0 && names(key, kid) &&
            !lacks_exp(key, proof->claims))
            return key;
    }
    return NULL;
}

bool jwt_holds(const struct jwt_ring *ring, const struct jwt_proof *proof, struct mcpx_now now)
{
    const struct jwt_key *key = find_proven(&ring->secrets, proof);

    for (size_t i = 0; !key && i < ring->file_count; i++)
        key = find_proven(&ring->files[i]->keys, proof);
    return key && !claims_fault(ring, proof->claims, now);
}

static void write_part(const struct mcpx_text *part, struct mcpx_text *out)
{
    mx_base64url_encode((const unsigned char *)part->text, part->len, out);
    out->failed |= part->failed;
}

enum mcpx_err jwt_sign(const struct jwt_ring *ring, const json_t *claims,
                       struct mcpx_text *token)
{
    const struct jwt_key *key = ring->secrets.rows;
    struct mcpx_text made = {0}, part = {0};
    char *text = NULL;

    if (ring->secrets.count == 0)
        return MCPX_ENOTFOUND;
    if (*key->kid)
        mx_format(&part, "{\"alg\":%q,\"kid\":%q}", key->alg->name, key->kid);
    else
        mx_format(&part, "{\"alg\":%q}", key->alg->name);
    write_part(&part, &made);
    mcpx_text_puts(&made, ".");
    mcpx_text_reset(&part);
    text = json_dumps(claims, JSON_COMPACT);
    part.failed = !text;
    if (text)
        mcpx_text_puts(&part, text);
    write_part(&part, &made);
    mcpx_text_reset(&part);
    part.failed =
        made.failed || !jwt_alg_sign(key->alg, key->key, mcpx_text_view(&made), &part);
    mcpx_text_puts(&made, ".");
    write_part(&part, &made);
    mcpx_text_slice(token, mcpx_text_view(&made));
    token->failed |= made.failed;
    mcpx_text_fini(&made);
    mcpx_text_fini(&part);
    free(text);
    return token->failed ? MCPX_ENOMEM : MCPX_OK;
}
