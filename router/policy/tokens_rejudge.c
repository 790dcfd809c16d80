/*
 * tokens_rejudge.c - a grant outlives the configuration under which it was earned, so what it was
 * earned with is kept beside it: the digest of a token, or what a JWT claims and which key has
 * signed it. The token itself is not: whoever reads our memory could connect with it. Of the claims
 * only those are kept that decide, and of `capabilities` only that they are there: the grant has
 * their compiled set.
 */
#include "lib/core/match.h"
#include "router/policy/tokens_inside.h"

#include <openssl/crypto.h>
#include <stdlib.h>

/* The names of a proof's text: what the header said, and the claims. */
static const char header_name[] = "header", claims_name[] = "claims";

/* `capabilities` is not among them; tokens_note_proof notes that they are there. */
static const char *const decisive[] = {"participantId", "sub", "topic", "profile", "instances",
                                       "exp",           "nbf", "iat",   "iss",     "aud"};

static json_t *keep_decisive(const json_t *claims)
{
    json_t *kept = json_object();
    bool failed = !kept;

    for (size_t i = 0; !failed && i < sizeof decisive / sizeof *decisive; i++) {
        json_t *value = json_object_get(claims, decisive[i]);

        failed = value && json_object_set(kept, decisive[i], value) != 0;
    }
    if (!failed && json_object_get(claims, "capabilities"))
        failed = json_object_set_new(kept, "capabilities", json_true()) != 0;
    if (!failed)
        return kept;
    json_decref(kept);
    return NULL;
}

enum mcpx_err tokens_note_proof(const struct tokens *tokens, const struct jwt_proof *proof,
                                struct grant *grant)
{
    json_t *claims = keep_decisive(proof->claims);
    json_t *whole =
        claims ? json_pack("{s:O, s:O}", header_name, proof->header, claims_name, claims)
               : NULL;
    char *text = whole ? json_dumps(whole, JSON_COMPACT) : NULL;

    if (text)
        grant->credential =
            credential_new(proof->token, tokens_find_person(tokens, grant->identity) != NULL,
                           mcpx_slice_of(text));
    if (grant->credential)
        memcpy(grant->credential->key, proof->key, sizeof proof->key);
    free(text);
    json_decref(whole);
    json_decref(claims);
    return grant->credential ? MCPX_OK : MCPX_ENOMEM;
}

/* The token of a configured participant. */
static enum mcpx_err rejudge_token(const struct person *person, const struct grant *base,
                                   struct mcpx_slice topic, struct grant **out)
{
    if (CRYPTO_memcmp(person->token_sha256, base->credential->token, 32) != 0)
        return MCPX_ETOKEN;
    if (topic.text && !mx_glob_any_matches(person->topics, person->topic_count, topic))
        return MCPX_EFORBIDDEN;
    *out = grant_ref(person->grant);
    return MCPX_OK;
}

static enum mcpx_err rejudge_proof(struct tokens *tokens, const struct grant *base,
                                   struct mcpx_slice topic, struct mcpx_now now,
                                   struct grant **out)
{
    const struct credential *credential = base->credential;
    json_t *whole = json_loadb(credential->proof.text, credential->proof.len, 0, NULL);
    struct jwt_proof proof = {.claims = json_object_get(whole, claims_name),
                              .header = json_object_get(whole, header_name)};
    struct claimed claimed = {.claims = proof.claims, .set = base->capset};
    struct grant *grant = NULL;
    enum mcpx_err err = MCPX_ENOMEM; /* we wrote the text: it is JSON */

    memcpy(proof.token, credential->token, sizeof proof.token);
    memcpy(proof.key, credential->key, sizeof proof.key);
    if (whole)
        err = jwt_holds(tokens->ring, &proof, now)
                  ? tokens_grant_of(tokens, &claimed, topic, now, &grant)
                  : MCPX_ETOKEN;
    if (!err)
        err = tokens_note_proof(tokens, &proof, grant);
    if (err)
        grant_unref(grant);
    else
        *out = grant;
    json_decref(whole);
    return err;
}

enum mcpx_err tokens_rejudge(struct tokens *tokens, const struct grant *base,
                             struct mcpx_slice topic, struct mcpx_now now, struct grant **out)
{
    const struct person *person = tokens_find_person(tokens, base->identity);

    if (!base->credential || (base->credential->of_entry && !person))
        return MCPX_ENOTFOUND;
    return base->credential->proof.len > 0 ? rejudge_proof(tokens, base, topic, now, out)
                                           : rejudge_token(person, base, topic, out);
}
