/*
 * tokens.c - verifies tokens for the edge, and turns them into grants. It knows only the SHA-256 of
 * a static token, so the configuration file alone lets no attacker connect. Digests of equal length
 * are compared in constant time, so timing helps no attacker. Other tokens may be JWTs. A JWT with
 * a claim of a wrong type is refused. Rejected: ignoring such a claim, because `capabilities` as a
 * string means something, and the router must not guess. A token of a configured participant gives
 * the configured grants, or is refused.
 */
#include "lib/base/match.h"
#include "lib/base/scoped.h"
#include "lib/json/digest.h"
#include "router/policy/identity/tokens_make.h"

#include <mcpx/envelope.h>
#include <openssl/crypto.h>
#include <stdlib.h>

static const struct mcpx_slice any = {NULL, 0};

struct mcpx_slice tokens_topic_pattern(const struct tokens_entry *person,
                                       struct mcpx_slice topic)
{
    for (size_t i = 0; person && i < person->topics.count; i++) {
        struct mcpx_slice pattern = mcpx_slice_of(person->topics.text[i]);

        if (!topic.text || mx_glob_matches(pattern, topic))
            return pattern;
    }
    return (struct mcpx_slice){NULL, 0};
}

/* May the participant join the topic? Any when that is absent. */
static bool may_join(const struct tokens_entry *person, struct mcpx_slice topic)
{
    return !topic.text || tokens_topic_pattern(person, topic).text;
}

static enum mcpx_err grant_of_person(const struct tokens_entry *person,
                                     struct mcpx_slice topic, struct grant **out)
{
    if (!may_join(person, topic))
        return MCPX_EFORBIDDEN;
    *out = grant_ref(person->grant);
    return MCPX_OK;
}

/* ---- from the claims of a JWT to a grant; `why` explains a refusal ---- */

static enum mcpx_err refuse(struct jwt_proof *proof, const char *why)
{
    proof->why = why;
    return MCPX_ETOKEN;
}

/* `participantId`, or `sub` when it is missing. Each must be a string if it is there. */
static bool read_participant(const json_t *claims, struct mcpx_slice *out)
{
    const json_t *participant = json_object_get(claims, "participantId");
    const json_t *sub = json_object_get(claims, "sub");

    if ((participant && !json_is_string(participant)) || (sub && !json_is_string(sub)))
        return false;
    *out = json_slice(participant ? participant : sub);
    return out->text && mcpx_identity_is_valid(*out);
}

/* Compares exact names; a token without topics is valid for none. */
static enum mcpx_err check_topic(struct jwt_proof *proof, struct mcpx_slice topic)
{
    bool named;

    if (!jwt_claim_has(json_object_get(proof->claims, "topic"), topic, &named))
        return refuse(proof, "its topic is neither a string nor an array of strings");
    return named ? MCPX_OK : MCPX_EFORBIDDEN;
}

/* `capabilities`, else the named profile, else nothing may be sent. */
static enum mcpx_err find_set(struct tokens *tokens, struct jwt_proof *proof,
                              struct mcpx_capset *compiled, struct mcpx_capset **set,
                              enum routing *routing)
{
    const json_t *capabilities = json_object_get(proof->claims, "capabilities");
    const json_t *name = json_object_get(proof->claims, "profile");
    const struct tokens_entry *profile =
        json_is_string(name) ? tokens_find_profile(tokens, json_slice(name)) : NULL;
    struct mcpx_fault fault;
    enum mcpx_err err;

    if (!capabilities && name) {
        if (!profile)
            return refuse(
                proof, "its profile is not the name of one in the configuration (profiles)");
        *set = mcpx_capset_ref(profile->grant->capset);
        *routing = profile->grant->routing;
        return MCPX_OK;
    }
    if (compiled && capabilities) {
        *set = mcpx_capset_ref(compiled);
        return MCPX_OK;
    }
    err = capset_cache_get(&tokens->sets, capabilities, &fault, set);
    return !err || err == MCPX_ENOMEM
               ? err
               : refuse(proof,
                        "its capabilities are not an array of at most 1024 valid grants");
}

/*
 * When the connection must end. A token that is valid only by the leeway is valid until the
 * leeway ends; otherwise its connection would end at once.
 */
static int64_t end_of(const json_t *claims, struct mcpx_now now)
{
    int64_t exp = 0;

    if (!jwt_date(json_object_get(claims, "exp"), &exp))
        return 0;
    return exp > now.wall_ms ? exp : exp + JWT_LEEWAY_MS;
}

/* A grant with the rights in the claims. Without `instances` the router's setting applies. */
static enum mcpx_err grant_of_claims(struct tokens *tokens, struct jwt_proof *proof,
                                     struct mcpx_capset *compiled, struct mcpx_now now,
                                     struct mcpx_slice participant, struct grant **out)
{
    const json_t *claim = json_object_get(proof->claims, "instances");
    json_int_t instances = json_integer_value(claim);
    struct mcpx_capset *set = NULL;
    enum routing routing = ROUTING_DEFAULT;
    enum mcpx_err err;

    if (claim && (!json_is_integer(claim) || instances < 1 || instances > INSTANCES_MAX))
        return refuse(proof, "its instances is not a number from 1 to 64");
    err = find_set(tokens, proof, compiled, &set, &routing);
    if (err)
        return err;
    *out = grant_new(participant, set, routing, end_of(proof->claims, now));
    mcpx_capset_unref(set);
    if (!*out)
        return MCPX_ENOMEM;
    (*out)->instances = (unsigned)instances;
    return MCPX_OK;
}

/*
 * A grant with the rights of the entry. A token with rights of its own is refused, because one of
 * the two would be ignored.
 */
static enum mcpx_err grant_of_entry(const struct tokens_entry *person, struct jwt_proof *proof,
                                    struct mcpx_now now, struct grant **out)
{
    const struct grant *own = person->grant;

    if (!person->by_jwt)
        return refuse(proof, "its participant is one of the configuration, whose entry does "
                             "not accept JWTs (jwt)");
    if (json_object_get(proof->claims, "capabilities") ||
        json_object_get(proof->claims, "profile") ||
        json_object_get(proof->claims, "instances"))
        return refuse(proof,
                      "it has capabilities, profile or instances, but its participant is one "
                      "of the configuration, whose entry says them");
    *out = grant_new(own->identity, own->capset, own->routing, end_of(proof->claims, now));
    if (!*out)
        return MCPX_ENOMEM;
    (*out)->instances = own->instances;
    return MCPX_OK;
}

/*
 * From verified claims to a grant without credential.
 *
 * compiled   the earlier compiled set of their `capabilities`; NULL = to be compiled
 * out        filled with a reference the caller owns; untouched on failure
 *
 * Returns MCPX_OK; MCPX_ETOKEN for claims of a wrong shape, or if the participant's entry does not
 * accept JWTs, or not with their own grants; MCPX_EFORBIDDEN for another topic; MCPX_ENOMEM.
 */
static enum mcpx_err grant_of_proof(struct tokens *tokens, struct jwt_proof *proof,
                                    struct mcpx_capset *compiled, struct mcpx_slice topic,
                                    struct mcpx_now now, struct grant **out)
{
    const struct tokens_entry *person;
    struct mcpx_slice participant;
    struct grant *grant = NULL;
    enum mcpx_err err;

    if (!read_participant(proof->claims, &participant))
        return refuse(proof,
                      "its participantId, or else its sub, is not a valid participant id");
    person = tokens_find_id(tokens, participant);
    err = person ? grant_of_entry(person, proof, now, &grant)
                 : grant_of_claims(tokens, proof, compiled, now, participant, &grant);
    if (!err)
        err = check_topic(proof, topic);
    if (!err && person && !may_join(person, topic))
        err = MCPX_EFORBIDDEN;
    if (err)
        grant_unref(grant);
    else
        *out = grant;
    return err;
}

/*
 * ---- credentials. A grant outlives its configuration, so it keeps its own: the digest of a token,
 * or the claims of a JWT and its signer's key. It does not keep the token: a reader of the router's
 * memory could connect with that. It keeps only the decisive claims; of `capabilities` only their
 * presence, because the grant has their compiled set.
 */

static const char header_name[] = "header", claims_name[] = "claims";

static json_t *keep_decisive(const json_t *claims)
{
    static const char *const decisive[] = {"participantId", "sub", "topic", "profile",
                                           "instances",     "exp", "nbf",   "iat",
                                           "iss",           "aud"};
    json_t *kept = json_object();
    int failed = 0;

    for (size_t i = 0; i < sizeof decisive / sizeof *decisive; i++) {
        json_t *value = json_object_get(claims, decisive[i]);

        failed |= value ? json_object_set(kept, decisive[i], value) : 0;
    }
    if (json_object_get(claims, "capabilities"))
        failed |= json_object_set_new(kept, "capabilities", json_true());
    if (!failed)
        return kept;
    json_decref(kept);
    return NULL;
}

static enum mcpx_err note_proof(const struct tokens *tokens, const struct jwt_proof *proof,
                                struct grant *grant)
{
    json_auto_t *claims = keep_decisive(proof->claims);
    json_auto_t *whole =
        claims ? json_pack("{s:O, s:O}", header_name, proof->header, claims_name, claims)
               : NULL;
    char *text = whole ? json_dumps(whole, JSON_COMPACT) : NULL;

    if (text)
        grant->credential =
            credential_new(proof->token, tokens_find_id(tokens, grant->identity) != NULL,
                           mcpx_slice_of(text));
    if (grant->credential)
        memcpy(grant->credential->key, proof->key, sizeof proof->key);
    free(text);
    return grant->credential ? MCPX_OK : MCPX_ENOMEM;
}

static enum mcpx_err recheck_proof(struct tokens *tokens, const struct grant *base,
                                   struct mcpx_slice topic, struct mcpx_now now,
                                   struct grant **out)
{
    const struct credential *credential = base->credential;
    json_auto_t *whole = json_loadb(credential->proof.text, credential->proof.len, 0, NULL);
    struct jwt_proof proof = {.claims = json_object_get(whole, claims_name),
                              .header = json_object_get(whole, header_name)};
    struct grant *grant;
    enum mcpx_err err;

    if (!whole)
        return MCPX_ENOMEM; /* we wrote the text: it is JSON */
    memcpy(proof.key, credential->key, sizeof proof.key);
    if (!jwt_holds(&tokens->ring, &proof, now))
        return MCPX_ETOKEN;
    err = grant_of_proof(tokens, &proof, base->capset, topic, now, &grant);
    if (err)
        return err;
    grant->credential = credential_ref(base->credential);
    grant->credential->of_entry = tokens_find_id(tokens, grant->identity) != NULL;
    *out = grant;
    return MCPX_OK;
}

enum mcpx_err tokens_recheck(struct tokens *tokens, const struct grant *base,
                             struct mcpx_slice topic, struct mcpx_now now, struct grant **out)
{
    const struct tokens_entry *person = tokens_find_id(tokens, base->identity);

    if (!base->credential || (base->credential->of_entry && !person))
        return MCPX_ENOTFOUND;
    if (base->credential->proof.len > 0)
        return recheck_proof(tokens, base, topic, now, out);
    if (CRYPTO_memcmp(person->grant->credential->token, base->credential->token, 32) != 0)
        return MCPX_ETOKEN;
    return grant_of_person(person, topic, out);
}

/* ---- the caller ---- */

/*
 * The bearer of a token or certificate: a configured participant, or the claims of a JWT. `person`
 * is NULL when it is a JWT; `proof` is then filled, as by jwt_verify.
 */
static enum mcpx_err identify(const struct tokens *tokens,
                              const struct credentials *credentials, struct mcpx_now now,
                              const struct tokens_entry **person, struct jwt_proof *proof)
{
    struct mcpx_slice bearer = credentials->bearer;
    unsigned char digest[32] = {0};
    enum mcpx_err err;

    if (credentials->named.text) {
        *person = tokens_find_id(tokens, credentials->named);
        if (!*person || !bearer.text)
            return *person ? MCPX_OK : MCPX_ETOKEN;
        *person = NULL;
    }
    if (bearer.len > 0 && bearer.len <= JWT_BYTES_MAX) {
        if (!mx_sha256(bearer, digest))
            return MCPX_ENOMEM;
        *person = tokens_find_bearer(tokens, digest);
        if (*person)
            return MCPX_OK;
    }
    err = jwt_verify(&tokens->ring, bearer, credentials->signature, now, proof);
    if (!err)
        memcpy(proof->token, digest, sizeof digest);
    return err;
}

enum mcpx_err tokens_ask(struct tokens *tokens, const struct credentials *credentials,
                         struct mcpx_slice topic, struct mcpx_now now, struct grant **out)
{
    const struct tokens_entry *person = NULL;
    MX_SCOPED(jwt_proof_fini) struct jwt_proof proof = {.claims = NULL};
    struct grant *grant = NULL;
    enum mcpx_err err = identify(tokens, credentials, now, &person, &proof);

    if (!err)
        err = person ? grant_of_person(person, topic, &grant)
                     : grant_of_proof(tokens, &proof, NULL, topic, now, &grant);
    if (!err && !person)
        err = note_proof(tokens, &proof, grant);
    if (!err && credentials->named.text &&
        !mcpx_slice_equal(grant->identity, credentials->named))
        err = MCPX_ETOKEN;
    if (err == MCPX_ETOKEN && credentials->why)
        *credentials->why = proof.why;
    if (err)
        grant_unref(grant);
    else
        *out = grant;
    return err;
}

/* The work of comparing one topic, with a few bytes for the start of each pattern. */
static size_t work_of(const struct tokens_entry *person, const struct credentials *credentials)
{
    size_t work = credentials->bearer.len + 1;

    for (size_t i = 0; person && i < person->topics.count; i++)
        work += strlen(person->topics.text[i]) + 8;
    return work;
}

enum mcpx_err tokens_check_topics(struct tokens *tokens, const struct credentials *credentials,
                                  struct mcpx_now now, struct token_topics *topics)
{
    const struct tokens_entry *person = NULL;
    MX_SCOPED(jwt_proof_fini) struct jwt_proof proof = {.claims = NULL};
    struct grant *grant = NULL;
    enum mcpx_err err = identify(tokens, credentials, now, &person, &proof);
    size_t each, count = 0;

    /* The other claims must be valid, too. */
    if (!err && !person)
        err = grant_of_proof(tokens, &proof, NULL, any, now, &grant);
    if (err)
        return err;
    each = work_of(person, credentials);
    if (!person)
        person = tokens_find_id(tokens, grant->identity);
    for (; count < topics->count && (count == 0 || topics->work >= each); count++) {
        struct token_topic *topic = &topics->rows[count];

        topic->covered = (!person || may_join(person, topic->name)) &&
                         (!grant || !check_topic(&proof, topic->name));
        topics->work -= each < topics->work ? each : topics->work;
    }
    topics->count = count;
    grant_unref(grant);
    return MCPX_OK;
}
