/*
 * tokens_claims.c - turns a verified token into a grant. A token with a claim of a wrong type
 * is refused. Ignoring such a claim was refused: an issuer that writes `capabilities` as a
 * string means something, and the router must not guess what. A configured participant has the
 * grants of the configuration: a token that names it gives those, or is refused.
 */
#include "router/policy/identity/tokens_make.h"

#include <mcpx/envelope.h>

#include <openssl/crypto.h>
#include <stdlib.h>

static enum mcpx_err refuse(struct claimed *claimed, const char *why)
{
    claimed->why = why;
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

/* Exact names: a token that names no topic is good for none. */
static enum mcpx_err check_topic(struct claimed *claimed, struct mcpx_slice topic)
{
    const json_t *claim = json_object_get(claimed->claims, "topic");
    bool lists = json_is_array(claim), found = !topic.text;
    size_t count = lists ? json_array_size(claim) : claim != NULL;

    for (size_t i = 0; i < count; i++) {
        struct mcpx_slice name = json_slice(lists ? json_array_get(claim, i) : claim);

        if (!name.text)
            return refuse(claimed, "its topic is neither a string nor an array of strings");
        found = found || mcpx_slice_equal(name, topic);
    }
    return found ? MCPX_OK : MCPX_EFORBIDDEN;
}

/* `capabilities`, else the named profile, else nothing may be sent. */
static enum mcpx_err find_set(struct tokens *tokens, struct claimed *claimed,
                              struct mcpx_capset **set, enum routing *routing)
{
    const json_t *capabilities = json_object_get(claimed->claims, "capabilities");
    const json_t *name = json_object_get(claimed->claims, "profile");
    const struct tokens_entry *profile =
        json_is_string(name) ? tokens_find_profile(tokens, json_slice(name)) : NULL;
    struct mcpx_fault fault;
    enum mcpx_err err;

    if (!capabilities && name) {
        if (!profile)
            return refuse(
                claimed, "its profile is not the name of one in the configuration (profiles)");
        *set = mcpx_capset_ref(profile->grant->capset);
        *routing = profile->grant->routing;
        return MCPX_OK;
    }
    if (claimed->set && capabilities) {
        *set = mcpx_capset_ref(claimed->set);
        return MCPX_OK;
    }
    err = capset_cache_get(&tokens->sets, capabilities, &fault, set);
    return !err || err == MCPX_ENOMEM
               ? err
               : refuse(claimed,
                        "its capabilities are not an array of at most 1024 valid grants");
}

/* 0 where the token leaves it to the router. */
static bool read_instances(const json_t *claim, unsigned *out)
{
    json_int_t value = json_integer_value(claim);

    if (claim && (!json_is_integer(claim) || value < 1 || value > INSTANCES_MAX))
        return false;
    *out = (unsigned)value;
    return true;
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

/* A grant with the rights in the claims. */
static enum mcpx_err grant_of_claims(struct tokens *tokens, struct claimed *claimed,
                                     struct mcpx_now now, struct mcpx_slice participant,
                                     struct grant **out)
{
    const json_t *claims = claimed->claims;
    struct mcpx_capset *set = NULL;
    enum routing routing = ROUTING_DEFAULT;
    struct grant *grant = NULL;
    unsigned instances;
    enum mcpx_err err;

    if (!read_instances(json_object_get(claims, "instances"), &instances))
        return refuse(claimed, "its instances is not a number from 1 to 64");
    err = find_set(tokens, claimed, &set, &routing);
    if (!err) {
        grant = grant_new(participant, set, routing, end_of(claims, now));
        err = grant ? MCPX_OK : MCPX_ENOMEM;
    }
    if (grant) {
        grant->instances = instances;
        *out = grant;
    }
    mcpx_capset_unref(set);
    return err;
}

/*
 * A grant with the rights of the entry. If the token had rights too, one of the two would have
 * to be ignored.
 */
static enum mcpx_err grant_of_entry(const struct tokens_entry *person, struct claimed *claimed,
                                    struct mcpx_now now, struct grant **out)
{
    const struct grant *own = person->grant;
    struct grant *grant;

    if (!person->by_jwt)
        return refuse(claimed,
                      "its participant is one of the configuration, whose entry does not "
                      "accept JWTs (jwt)");
    if (json_object_get(claimed->claims, "capabilities") ||
        json_object_get(claimed->claims, "profile") ||
        json_object_get(claimed->claims, "instances"))
        return refuse(claimed,
                      "it has capabilities, profile or instances, but its participant is one "
                      "of the configuration, whose entry says them");
    grant = grant_new(own->identity, own->capset, own->routing, end_of(claimed->claims, now));
    if (!grant)
        return MCPX_ENOMEM;
    grant->instances = own->instances;
    *out = grant;
    return MCPX_OK;
}

enum mcpx_err tokens_grant_of(struct tokens *tokens, struct claimed *claimed,
                              struct mcpx_slice topic, struct mcpx_now now, struct grant **out)
{
    const struct tokens_entry *person;
    struct mcpx_slice participant;
    struct grant *grant = NULL;
    enum mcpx_err err;

    if (!read_participant(claimed->claims, &participant))
        return refuse(claimed,
                      "its participantId, or else its sub, is not a valid participant id");
    person = tokens_find_person(tokens, participant);
    err = person ? grant_of_entry(person, claimed, now, &grant)
                 : grant_of_claims(tokens, claimed, now, participant, &grant);
    if (!err)
        err = check_topic(claimed, topic);
    if (!err && person && !tokens_may_join(person, topic))
        err = MCPX_EFORBIDDEN;
    if (err)
        grant_unref(grant);
    else
        *out = grant;
    return err;
}

bool tokens_claims_cover(const struct tokens *tokens, const json_t *claims,
                         struct mcpx_slice topic)
{
    struct claimed claimed = {.claims = claims};
    const struct tokens_entry *person;
    struct mcpx_slice participant;

    if (!read_participant(claims, &participant) || check_topic(&claimed, topic))
        return false;
    person = tokens_find_person(tokens, participant);
    return !person || tokens_may_join(person, topic);
}

/*
 * A grant outlives the configuration under which it was earned, so what it was earned with is kept
 * beside it: the digest of a token, or what a JWT claims and which key has signed it. The token
 * itself is not: whoever reads our memory could connect with it. Of the claims only those are kept
 * that decide, and of `capabilities` only that they are there: the grant has their compiled set.
 */

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
static enum mcpx_err rejudge_token(const struct tokens_entry *person, const struct grant *base,
                                   struct mcpx_slice topic, struct grant **out)
{
    if (CRYPTO_memcmp(person->grant->credential->token, base->credential->token, 32) != 0)
        return MCPX_ETOKEN;
    if (!tokens_may_join(person, topic))
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
    struct grant *grant;
    enum mcpx_err err = MCPX_ENOMEM; /* we wrote the text: it is JSON */

    memcpy(proof.key, credential->key, sizeof proof.key);
    if (whole)
        err = jwt_holds(tokens->ring, &proof, now)
                  ? tokens_grant_of(tokens, &claimed, topic, now, &grant)
                  : MCPX_ETOKEN;
    if (!err) {
        grant->credential = credential_ref(base->credential);
        grant->credential->of_entry = tokens_find_person(tokens, grant->identity) != NULL;
        *out = grant;
    }
    json_decref(whole);
    return err;
}

enum mcpx_err tokens_rejudge(struct tokens *tokens, const struct grant *base,
                             struct mcpx_slice topic, struct mcpx_now now, struct grant **out)
{
    const struct tokens_entry *person = tokens_find_person(tokens, base->identity);

    if (!base->credential || (base->credential->of_entry && !person))
        return MCPX_ENOTFOUND;
    return base->credential->proof.len > 0 ? rejudge_proof(tokens, base, topic, now, out)
                                           : rejudge_token(person, base, topic, out);
}
