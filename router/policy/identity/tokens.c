/*
 * tokens.c - verifies tokens for the edge. Of a static token only the SHA-256 is known, so
 * nobody can connect with the configuration file alone. Digests of equal length are compared in
 * constant time, so timing helps no attacker. A token that is no static token may be a JWT.
 */
#include "lib/base/match.h"
#include "router/policy/identity/tokens_make.h"

#include <mcpx/envelope.h>
#include <openssl/evp.h>

/* A day: a program that runs longer asks for another token of dev mode. */
static const json_int_t dev_life_s = 86400;

/*
 * The bearer of a token: a configured participant, or the claims of a JWT. `person` is NULL
 * when it is a JWT; `proof` is then filled, as by jwt_verify.
 */
static enum mcpx_err identify(const struct tokens *tokens, const struct claimant *claimant,
                              struct mcpx_now now, const struct tokens_entry **person,
                              struct jwt_proof *proof)
{
    struct mcpx_slice bearer = claimant->bearer;
    unsigned char digest[32] = {0};
    enum mcpx_err err;

    if (bearer.len > 0 && bearer.len <= JWT_BYTES_MAX) {
        if (EVP_Digest(bearer.text, bearer.len, digest, NULL, EVP_sha256(), NULL) != 1)
            return MCPX_ENOMEM;
        *person = tokens_find_bearer(tokens, digest);
        if (*person)
            return MCPX_OK;
    }
    err = jwt_verify(tokens->ring, bearer, claimant->signature, now, proof);
    if (!err)
        memcpy(proof->token, digest, sizeof digest);
    return err;
}

static enum mcpx_err grant_of_person(const struct tokens_entry *person,
                                     struct mcpx_slice topic, struct grant **out)
{
    if (!tokens_may_join(person, topic))
        return MCPX_EFORBIDDEN;
    *out = grant_ref(person->grant);
    return MCPX_OK;
}

static enum mcpx_err verify(struct tokens *tokens, const struct claimant *claimant,
                            struct mcpx_slice topic, struct mcpx_now now, struct grant **out)
{
    const struct tokens_entry *person = NULL;
    struct jwt_proof proof = {.claims = NULL};
    struct grant *grant = NULL;
    enum mcpx_err err = identify(tokens, claimant, now, &person, &proof);

    if (err)
        return err;
    if (person)
        return grant_of_person(person, topic, out);
    err =
        tokens_grant_of(tokens, &(struct claimed){.claims = proof.claims}, topic, now, &grant);
    if (!err)
        err = tokens_note_proof(tokens, &proof, grant);
    if (err)
        grant_unref(grant);
    else
        *out = grant;
    jwt_proof_fini(&proof);
    return err;
}

enum mcpx_err tokens_ask(struct tokens *tokens, const struct claimant *claimant,
                         struct mcpx_slice topic, struct mcpx_now now, struct grant **out)
{
    const struct tokens_entry *person;
    struct grant *grant = NULL;
    enum mcpx_err err;

    if (!claimant->named.text)
        return verify(tokens, claimant, topic, now, out);
    person = tokens_find_person(tokens, claimant->named);
    if (!person)
        return MCPX_ETOKEN;
    if (!claimant->bearer.text)
        return grant_of_person(person, topic, out);
    err = verify(tokens, claimant, topic, now, &grant);
    if (err)
        return err;
    if (!mcpx_slice_equal(grant->identity, claimant->named)) {
        grant_unref(grant);
        return MCPX_ETOKEN;
    }
    *out = grant;
    return MCPX_OK;
}

/* What comparing one topic takes, with a few bytes for beginning with each pattern. */
static size_t work_of(const struct tokens_entry *person, const struct claimant *claimant)
{
    size_t work = claimant->bearer.len + 1;

    for (size_t i = 0; person && i < person->topics.count; i++)
        work += strlen(person->topics.text[i]) + 8;
    return work;
}

enum mcpx_err tokens_cover(struct tokens *tokens, const struct claimant *claimant,
                           struct mcpx_now now, struct token_topics *topics)
{
    const struct mcpx_slice any = {NULL, 0};
    const struct tokens_entry *person = NULL;
    struct grant *grant = NULL;
    struct jwt_proof proof = {.claims = NULL};
    enum mcpx_err err = MCPX_OK;
    size_t each, count = 0;

    if (claimant->bearer.text || !claimant->named.text)
        err = identify(tokens, claimant, now, &person, &proof);
    else if (!(person = tokens_find_person(tokens, claimant->named)))
        err = MCPX_ETOKEN;
    /* The other claims have to be in order too. */
    if (!err && !person)
        err = tokens_grant_of(tokens, &(struct claimed){.claims = proof.claims}, any, now,
                              &grant);
    if (err)
        goto out;
    each = work_of(person, claimant);
    for (; count < topics->count && (count == 0 || topics->work >= each); count++) {
        struct token_topic *topic = &topics->rows[count];

        topic->covered = person ? tokens_may_join(person, topic->name)
                                : tokens_claims_cover(tokens, proof.claims, topic->name);
        topics->work -= each < topics->work ? each : topics->work;
    }
    topics->count = count;
out:
    grant_unref(grant);
    jwt_proof_fini(&proof);
    return err;
}

const char *tokens_fault(struct tokens *tokens, const struct claimant *claimant,
                         struct mcpx_now now)
{
    const struct mcpx_slice any = {NULL, 0};
    const struct tokens_entry *person = NULL;
    struct jwt_proof proof = {.claims = NULL};
    struct claimed claimed = {.claims = NULL};
    struct grant *grant = NULL;

    if (identify(tokens, claimant, now, &person, &proof))
        return proof.why;
    claimed.claims = proof.claims;
    if (!person)
        (void)tokens_grant_of(tokens, &claimed, any, now, &grant);
    grant_unref(grant);
    jwt_proof_fini(&proof);
    return claimed.why;
}

struct key_file *tokens_key_file(const struct tokens *tokens, size_t index)
{
    return index < tokens->ring->file_count ? tokens->ring->files[index] : NULL;
}

/* The claims of a new token; NULL when memory runs out. `capabilities` is kept. */
static json_t *make_claims(const struct tokens *tokens, struct mcpx_slice participant,
                           struct mcpx_slice topic, json_t *capabilities, json_int_t now_s)
{
    const char *issuer = tokens->ring->issuer, *audience = tokens->ring->audience;
    json_t *claims =
        json_pack("{s:s%, s:s%, s:O, s:I, s:I}", "participantId", participant.text,
                  participant.len, "topic", topic.text, topic.len, "capabilities",
                  capabilities, "iat", now_s, "exp", now_s + dev_life_s);
    bool failed = !claims;

    if (!failed && *issuer)
        failed = json_object_set_new(claims, "iss", json_string(issuer)) != 0;
    if (!failed && *audience)
        failed = json_object_set_new(claims, "aud", json_string(audience)) != 0;
    if (failed) {
        json_decref(claims);
        return NULL;
    }
    return claims;
}

static enum mcpx_err read_array(struct mcpx_slice text, struct mcpx_fault *fault, json_t **out)
{
    json_t *array = json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, NULL);

    if (!json_is_array(array)) {
        json_decref(array);
        return grant_refuse(fault, "capabilities", "expected a JSON array of grants");
    }
    *out = array;
    return MCPX_OK;
}

enum mcpx_err tokens_issue(struct tokens *tokens, struct mcpx_slice participant,
                           struct mcpx_slice topic, struct mcpx_slice capabilities_json,
                           struct mcpx_now now, struct mcpx_fault *fault,
                           struct mcpx_text *token)
{
    struct mcpx_slice text = capabilities_json;
    struct mcpx_capset *set = NULL;
    json_t *capabilities = NULL;
    json_t *claims = NULL;
    enum mcpx_err err;

    if (!mcpx_identity_is_valid(participant))
        return grant_refuse(
            fault, "participantId",
            "expected 1..256 bytes without controls, not ending in ~ and digits");
    if (tokens_find_person(tokens, participant))
        return grant_refuse(fault, "participantId",
                            "is configured under participants and comes with its own token");
    if (!mcpx_topic_name_is_valid(topic))
        return grant_refuse(fault, "topic", "expected 1..256 bytes without controls");
    if (!text.text)
        text = MCPX_SLICE("[\"mcp/*\",\"chat\"]");
    err = read_array(text, fault, &capabilities);
    if (!err)
        err = capset_cache_get(&tokens->sets, capabilities, fault, &set);
    if (!err) {
        claims = make_claims(tokens, participant, topic, capabilities, now.wall_ms / 1000);
        err = claims ? jwt_sign(tokens->ring, claims, token) : MCPX_ENOMEM;
    }
    json_decref(claims);
    json_decref(capabilities);
    mcpx_capset_unref(set);
    return err;
}

enum mcpx_err tokens_participant(struct tokens *tokens, struct mcpx_slice id,
                                 struct grant **out)
{
    const struct tokens_entry *person = tokens_find_person(tokens, id);

    if (!person)
        return MCPX_ENOTFOUND;
    *out = grant_ref(person->grant);
    return MCPX_OK;
}

struct mcpx_slice tokens_topic_pattern(const struct tokens *tokens, struct mcpx_slice id,
                                       struct mcpx_slice topic)
{
    const struct tokens_entry *person = tokens_find_person(tokens, id);

    for (size_t i = 0; person && i < person->topics.count; i++) {
        struct mcpx_slice pattern = mcpx_slice_of(person->topics.text[i]);

        if (!topic.text || mx_glob_matches(pattern, topic))
            return pattern;
    }
    return (struct mcpx_slice){NULL, 0};
}
