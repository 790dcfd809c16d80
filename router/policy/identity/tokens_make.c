/*
 * tokens_make.c - fills and frees the table of participants that may connect: arrays that are
 * filled when a configuration is read, and maps that find participants by their id and by the
 * digest of their token. The time of a search may show whether the first bytes of a digest are
 * known. That helps no attacker: they do not give the token. Comparing every row was refused: with
 * 20,000 rows a bad token took 0.25 ms.
 */
#include "router/policy/identity/tokens_make.h"
#include "lib/protocol/capset.h"

#include <openssl/crypto.h>
#include <stdlib.h>

/* Some of them a millisecond. */
static const size_t freed_at_once = 512;

struct tokens *tokens_new(void)
{
    struct tokens *tokens = calloc(1, sizeof *tokens);

    if (tokens)
        tokens->ring = jwt_ring_new();
    if (tokens && !tokens->ring) {
        free(tokens);
        return NULL;
    }
    return tokens;
}

static void person_fini(struct person *person)
{
    for (size_t i = 0; i < person->topic_count; i++)
        free(person->topics[i]);
    free(person->topics);
    if (!person->shared)
        grant_unref(person->grant);
}

static void profile_fini(struct profile *profile)
{
    free(profile->name);
    if (!profile->shared)
        mcpx_capset_unref(profile->set);
}

bool tokens_free_some(struct tokens *tokens)
{
    for (size_t i = 0; i < freed_at_once && tokens->people_count > 0; i++)
        person_fini(&tokens->people[--tokens->people_count]);
    if (tokens->people_count > 0)
        return false;
    for (size_t i = 0; i < tokens->profile_count; i++)
        profile_fini(&tokens->profiles[i]);
    free(tokens->profiles);
    free(tokens->people);
    mx_map_fini(&tokens->people_digests);
    mx_map_fini(&tokens->people_ids);
    mx_map_fini(&tokens->profile_names);
    free(tokens->by_id);
    capset_cache_fini(&tokens->sets);
    jwt_ring_free(tokens->ring);
    free(tokens);
    return true;
}

void tokens_free(struct tokens *tokens)
{
    while (tokens && !tokens_free_some(tokens))
        ;
}

void tokens_share(struct tokens *tokens, const struct tokens *before)
{
    tokens->before = before;
}

void tokens_take_shared(struct tokens *tokens, struct tokens *before)
{
    if (tokens->before != before)
        return;
    for (size_t i = 0; i < tokens->people_count; i++) {
        if (tokens->people[i].shared)
            grant_ref(tokens->people[i].grant);
        tokens->people[i].shared = false;
    }
    for (size_t i = 0; i < tokens->profile_count; i++) {
        if (tokens->profiles[i].shared)
            mcpx_capset_ref(tokens->profiles[i].set);
        tokens->profiles[i].shared = false;
    }
    capset_cache_fini(&tokens->sets);
    tokens->sets = before->sets; /* they depend on no configuration */
    before->sets = (struct capset_cache){.entries = NULL};
    tokens->before = NULL;
}

struct jwt_ring *tokens_ring(struct tokens *tokens)
{
    return tokens->ring;
}

static bool is_of(const struct mcpx_capset *set, const struct grant_list *list)
{
    return mx_capset_is_of(set, list->grants, list->count, list->deny, list->deny_count);
}

/* The set of the list: that of the profile which was there before, or a new one. */
static enum mcpx_err make_set(const struct tokens *tokens, const struct grant_list *list,
                              struct mcpx_fault *fault, struct profile *profile)
{
    const struct profile *before =
        tokens->before ? tokens_find_profile(tokens->before, profile->name) : NULL;

    profile->shared = before && is_of(before->set, list);
    if (!profile->shared)
        return grant_list_compile(list, fault, &profile->set);
    profile->set = before->set;
    return MCPX_OK;
}

static uint64_t name_hash(struct mcpx_slice name)
{
    static const struct mx_map_key key;

    return mx_map_hash(key, name);
}

enum mcpx_err tokens_add_profile(struct tokens *tokens, const char *name,
                                 const struct grant_list *list, enum routing routing,
                                 struct mcpx_fault *fault)
{
    struct profile profile = {.name = strdup(name), .routing = routing};
    struct profile *profiles;
    enum mcpx_err err = profile.name ? make_set(tokens, list, fault, &profile) : MCPX_ENOMEM;

    if (err) {
        profile_fini(&profile);
        return err;
    }
    profiles = realloc(tokens->profiles, (tokens->profile_count + 1) * sizeof *profiles);
    if (profiles)
        tokens->profiles = profiles;
    if (!profiles || !mx_map_reserve(&tokens->profile_names)) {
        profile_fini(&profile);
        return MCPX_ENOMEM;
    }
    tokens->profiles[tokens->profile_count++] = profile;
    mx_map_put(&tokens->profile_names, name_hash(mcpx_slice_of(name)), tokens->profile_count);
    return MCPX_OK;
}

static bool copy_topics(struct person *to, const json_t *from)
{
    size_t count = json_array_size(from);

    to->topics = calloc(count + 1, sizeof *to->topics);
    for (size_t i = 0; to->topics && i < count; i++) {
        to->topics[i] = strdup(json_string_value(json_array_get(from, i)));
        if (!to->topics[i])
            return false;
        to->topic_count++;
    }
    return to->topics != NULL;
}

/* A digest is as good as random already. */
static uint64_t digest_hash(const unsigned char digest[32])
{
    uint64_t prefix;

    memcpy(&prefix, digest, sizeof prefix);
    return prefix;
}

/* Is the grant that was there before the one that the entry asks for? */
static bool is_grant_of(const struct grant *grant, const struct tokens_person *person)
{
    return grant->routing == person->routing && grant->instances == person->instances &&
           memcmp(grant->credential->token, person->token_sha256, 32) == 0 &&
           is_of(grant->capset, person->grants);
}

static enum mcpx_err make_grant(const struct tokens *tokens,
                                const struct tokens_person *person, struct mcpx_fault *fault,
                                struct person *made)
{
    const struct person *before =
        tokens->before ? tokens_find_person(tokens->before, person->id) : NULL;
    struct mcpx_capset *set = NULL;
    enum mcpx_err err;

    made->shared = before && is_grant_of(before->grant, person);
    if (made->shared) {
        made->grant = before->grant;
        return MCPX_OK;
    }
    err = grant_list_compile(person->grants, fault, &set);
    if (err)
        return err;
    made->grant = grant_new(person->id, set, person->routing, 0);
    mcpx_capset_unref(set);
    if (!made->grant)
        return MCPX_ENOMEM;
    made->grant->instances = person->instances;
    made->grant->credential =
        credential_new(person->token_sha256, true, (struct mcpx_slice){NULL, 0});
    return made->grant->credential ? MCPX_OK : MCPX_ENOMEM;
}

enum mcpx_err tokens_add_person(struct tokens *tokens, const struct tokens_person *person,
                                struct mcpx_fault *fault)
{
    struct person made = {.by_jwt = person->by_jwt};
    enum mcpx_err err = make_grant(tokens, person, fault, &made);
    struct person *people =
        realloc(tokens->people, (tokens->people_count + 1) * sizeof *people);

    if (people)
        tokens->people = people;
    if (!err && (!people || !mx_map_reserve(&tokens->people_digests) ||
                 !mx_map_reserve(&tokens->people_ids) || !copy_topics(&made, person->topics)))
        err = MCPX_ENOMEM;
    if (err) {
        person_fini(&made);
        return err;
    }
    memcpy(made.token_sha256, person->token_sha256, sizeof made.token_sha256);
    tokens->people[tokens->people_count++] = made;
    mx_map_put(&tokens->people_ids, name_hash(person->id), tokens->people_count);
    mx_map_put(&tokens->people_digests, digest_hash(made.token_sha256), tokens->people_count);
    return MCPX_OK;
}

/* May everybody be sent the kind? A set is not asked: somebody else may be asking it just now. */
static bool sends_to_all(const struct mcpx_capset *set, const struct mcpx_kind *kind)
{
    bool sends = false;

    for (size_t i = 0; i < set->deny_count; i++)
        if (mx_pattern_covers(&set->patterns[set->grant_count + i], kind, false))
            return false;
    for (size_t i = 0; i < set->grant_count && !sends; i++)
        sends =
            set->grants[i].to_count == 0 && mx_pattern_covers(&set->patterns[i], kind, false);
    return sends;
}

size_t tokens_answerers(const struct tokens *tokens)
{
    struct mcpx_kind kind;
    size_t count = 0;

    (void)mcpx_kind_parse(MCPX_SLICE("mcp/response:tools/call"), &kind, NULL);
    for (size_t i = 0; i < tokens->people_count; i++) {
        const struct grant *grant = tokens->people[i].grant;

        count += grant->routing != ROUTING_DIRECTED && sends_to_all(grant->capset, &kind);
    }
    return count;
}

const struct profile *tokens_find_profile(const struct tokens *tokens, const char *name)
{
    uint64_t hash = name_hash(mcpx_slice_of(name)), value;
    size_t at = 0;

    while ((value = mx_map_next(&tokens->profile_names, hash, &at)) != 0)
        if (strcmp(tokens->profiles[value - 1].name, name) == 0)
            return &tokens->profiles[value - 1];
    return NULL;
}

const struct person *tokens_find_person(const struct tokens *tokens, struct mcpx_slice id)
{
    uint64_t hash = name_hash(id), value;
    size_t at = 0;

    while ((value = mx_map_next(&tokens->people_ids, hash, &at)) != 0)
        if (mcpx_slice_equal(tokens->people[value - 1].grant->identity, id))
            return &tokens->people[value - 1];
    return NULL;
}

const struct person *tokens_find_bearer(const struct tokens *tokens,
                                        const unsigned char digest[32])
{
    uint64_t hash = digest_hash(digest), value;
    size_t at = 0;

    while ((value = mx_map_next(&tokens->people_digests, hash, &at)) != 0)
        if (CRYPTO_memcmp(tokens->people[value - 1].token_sha256, digest, 32) == 0)
            return &tokens->people[value - 1];
    return NULL;
}

/*
 * Participants and profiles as administrators see them: nothing that a token could be made or
 * guessed from.
 */

static struct tokens_entry entry_of(const struct person *person)
{
    return (struct tokens_entry){.name = person->grant->identity,
                                 .set = person->grant->capset,
                                 .grant = person->grant,
                                 .topics = person->topics,
                                 .topic_count = person->topic_count,
                                 .by_jwt = person->by_jwt};
}

struct place {
    struct mcpx_slice id;
    size_t index;
};

static int compare_places(const void *one, const void *other)
{
    return mcpx_slice_compare(((const struct place *)one)->id,
                              ((const struct place *)other)->id);
}

/* Sorted where it is read, which is not on the loop: a hundred thousand would hold that up. */
bool tokens_sort(struct tokens *tokens)
{
    size_t count = tokens->people_count;
    struct place *places = calloc(count + 1, sizeof *places);

    free(tokens->by_id);
    tokens->by_id = calloc(count + 1, sizeof *tokens->by_id);
    if (places && tokens->by_id) {
        for (size_t i = 0; i < count; i++)
            places[i] = (struct place){tokens->people[i].grant->identity, i};
        qsort(places, count, sizeof *places, compare_places);
        for (size_t i = 0; i < count; i++)
            tokens->by_id[i] = places[i].index;
    }
    free(places);
    return places && tokens->by_id;
}

bool tokens_participant_at(const struct tokens *tokens, size_t index, struct tokens_entry *out)
{
    if (index >= tokens->people_count)
        return false;
    *out = entry_of(&tokens->people[tokens->by_id[index]]);
    return true;
}

size_t tokens_participants_up_to(const struct tokens *tokens, struct mcpx_slice id)
{
    size_t begin = 0, end = tokens->people_count;

    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;

        if (mcpx_slice_compare(tokens->people[tokens->by_id[middle]].grant->identity, id) <= 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

bool tokens_profile_at(const struct tokens *tokens, size_t index, struct tokens_entry *out)
{
    if (index >= tokens->profile_count)
        return false;
    *out = (struct tokens_entry){.name = mcpx_slice_of(tokens->profiles[index].name),
                                 .set = tokens->profiles[index].set};
    return true;
}

bool tokens_entry(const struct tokens *tokens, struct mcpx_slice id, struct tokens_entry *out)
{
    const struct person *person = tokens_find_person(tokens, id);

    if (person)
        *out = entry_of(person);
    return person;
}
