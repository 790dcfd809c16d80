/*
 * tokens_make.c - fills and frees the table of configured participants: arrays, filled when a
 * configuration is read, and maps to find participants by id and by the digest of their token. The
 * time of a search may reveal the first bytes of a known digest. They do not help an attacker,
 * because they do not give the token. Rejected: comparing every row, because with 20,000 rows a bad
 * token took 0.25 ms.
 */
#include "router/policy/identity/tokens_make.h"

#include "lib/base/rows.h"
#include "lib/protocol/capset.h"

#include <mcpx/envelope.h>
#include <openssl/crypto.h>
#include <stdlib.h>

/* These take about a millisecond. */
static const size_t freed_at_once = 512;

struct tokens *tokens_new(const struct tokens *before)
{
    struct tokens *tokens = calloc(1, sizeof *tokens);

    if (tokens)
        tokens->before = before;
    return tokens;
}

static void entry_free(struct tokens_entry *entry)
{
    if (!entry)
        return;
    names_fini(&entry->topics);
    if (!entry->shared)
        grant_unref(entry->grant);
    free(entry);
}

/* True when all are freed. */
static bool table_free_some(struct tokens_table *table)
{
    for (size_t i = 0; i < freed_at_once && table->count > 0; i++)
        entry_free(table->rows[--table->count]);
    if (table->count > 0)
        return false;
    free(table->rows);
    mx_map_fini(&table->names);
    *table = (struct tokens_table){.rows = NULL};
    return true;
}

bool tokens_free_some(struct tokens *tokens)
{
    if (!table_free_some(&tokens->people) || !table_free_some(&tokens->profiles))
        return false;
    mx_map_fini(&tokens->digests);
    capset_cache_fini(&tokens->sets);
    jwt_ring_fini(&tokens->ring);
    free(tokens);
    return true;
}

void tokens_free(struct tokens *tokens)
{
    while (tokens && !tokens_free_some(tokens))
        ;
}

static void count_shared(struct tokens_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i]->shared)
            grant_ref(table->rows[i]->grant);
        table->rows[i]->shared = false;
    }
}

void tokens_take_shared(struct tokens *tokens, struct tokens *before)
{
    if (tokens->before != before)
        return;
    count_shared(&tokens->people);
    count_shared(&tokens->profiles);
    capset_cache_fini(&tokens->sets);
    tokens->sets = before->sets; /* they depend on no configuration */
    before->sets = (struct mx_map){.slots = NULL};
    tokens->before = NULL;
}

struct key_file *tokens_key_file(const struct tokens *tokens, size_t index)
{
    return index < tokens->ring.file_count ? tokens->ring.files[index] : NULL;
}

/* The names come from the configuration, so the hash needs no secret key. */
static uint64_t name_hash(struct mcpx_slice name)
{
    static const struct mx_map_key key;

    return mx_map_hash(key, name);
}

/* A digest is as good as random already. */
static uint64_t digest_hash(const unsigned char digest[32])
{
    uint64_t prefix;

    memcpy(&prefix, digest, sizeof prefix);
    return prefix;
}

static bool is_grant_of(const struct grant *grant, const struct tokens_person *person)
{
    const struct grant_list *list = person->grants;

    return grant->routing == person->routing && grant->instances == person->instances &&
           (person->is_profile ||
            memcmp(grant->credential->token, person->token_sha256, 32) == 0) &&
           mx_capset_is_of(grant->capset, list->grants, list->count, list->deny,
                           list->deny_count);
}

static enum mcpx_err make_grant(const struct tokens_person *person, struct mcpx_fault *fault,
                                struct tokens_entry *made)
{
    const struct grant_list *list = person->grants;
    struct mcpx_capset *set = NULL;
    enum mcpx_err err = mcpx_capset_new(list->grants, list->count, list->deny,
                                        list->deny_count, NULL, fault, &set);

    if (err)
        return err;
    made->grant = grant_new(person->id, set, person->routing, 0);
    mcpx_capset_unref(set);
    if (!made->grant)
        return MCPX_ENOMEM;
    made->grant->instances = person->instances;
    if (person->is_profile)
        return MCPX_OK;
    made->grant->credential =
        credential_new(person->token_sha256, true, (struct mcpx_slice){NULL, 0});
    return made->grant->credential ? MCPX_OK : MCPX_ENOMEM;
}

enum mcpx_err tokens_add(struct tokens *tokens, const struct tokens_person *person,
                         struct mcpx_fault *fault)
{
    struct tokens_table *table = person->is_profile ? &tokens->profiles : &tokens->people;
    const struct tokens *before = tokens->before;
    const struct tokens_entry *was = NULL;
    struct tokens_entry *made = calloc(1, sizeof *made);
    enum mcpx_err err = MCPX_OK;

    if (before)
        was = tokens_table_find(person->is_profile ? &before->profiles : &before->people,
                                person->id);
    if (made && was && is_grant_of(was->grant, person)) {
        made->shared = true;
        made->grant = was->grant;
    } else {
        err = made ? make_grant(person, fault, made) : MCPX_ENOMEM;
    }
    if (!err && (!mx_make_room(&table->rows, table->count, &table->room,
                               sizeof(struct tokens_entry *)) ||
                 !mx_map_reserve(&table->names) || !mx_map_reserve(&tokens->digests) ||
                 !names_read(&made->topics, person->topics)))
        err = MCPX_ENOMEM;
    if (err) {
        entry_free(made);
        return err;
    }
    made->name = made->grant->identity;
    made->by_jwt = person->by_jwt;
    table->rows[table->count++] = made;
    mx_map_put(&table->names, name_hash(made->name), (uint64_t)(uintptr_t)made);
    if (!person->is_profile)
        mx_map_put(&tokens->digests, digest_hash(person->token_sha256),
                   (uint64_t)(uintptr_t)made);
    return MCPX_OK;
}

/* May the kind be sent to everybody? Does not query the set: another thread may do so now. */
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
    for (size_t i = 0; i < tokens->people.count; i++) {
        const struct grant *grant = tokens->people.rows[i]->grant;

        count += grant->routing != ROUTING_DIRECTED && sends_to_all(grant->capset, &kind);
    }
    return count;
}

/* ---- found ---- */

struct tokens_entry *tokens_table_find(const struct tokens_table *table,
                                       struct mcpx_slice name)
{
    return mx_map_find(&table->names, name_hash(name), offsetof(struct tokens_entry, name),
                       name);
}

const struct tokens_entry *tokens_find_id(const struct tokens *tokens, struct mcpx_slice id)
{
    return tokens_table_find(&tokens->people, id);
}

const struct tokens_entry *tokens_find_profile(const struct tokens *tokens,
                                               struct mcpx_slice name)
{
    return tokens_table_find(&tokens->profiles, name);
}

const struct tokens_entry *tokens_find_bearer(const struct tokens *tokens,
                                              const unsigned char digest[32])
{
    uint64_t hash = digest_hash(digest), value;
    size_t at = 0;

    while ((value = mx_map_next(&tokens->digests, hash, &at)) != 0) {
        const struct tokens_entry *entry = (void *)(uintptr_t)value;

        if (CRYPTO_memcmp(entry->grant->credential->token, digest, 32) == 0)
            return entry;
    }
    return NULL;
}

static int compare_ids(const void *one, const void *other)
{
    return mcpx_slice_compare((*(struct tokens_entry *const *)one)->name,
                              (*(struct tokens_entry *const *)other)->name);
}

/* Sorts on the thread of the reading: a hundred thousand rows would block the event loop. */
void tokens_sort(struct tokens *tokens)
{
    if (tokens->people.count > 0)
        qsort(tokens->people.rows, tokens->people.count, sizeof(struct tokens_entry *),
              compare_ids);
}

const struct tokens_entry *tokens_participant_at(const struct tokens *tokens, size_t index)
{
    return index < tokens->people.count ? tokens->people.rows[index] : NULL;
}

size_t tokens_participants_up_to(const struct tokens *tokens, struct mcpx_slice id)
{
    size_t begin = 0, end = tokens->people.count, row;

    MX_SEARCH(begin, end, row, mcpx_slice_compare(tokens->people.rows[row]->name, id) <= 0);
    return begin;
}

const struct tokens_entry *tokens_profile_at(const struct tokens *tokens, size_t index)
{
    return index < tokens->profiles.count ? tokens->profiles.rows[index] : NULL;
}

/* ---- tokens of dev mode ---- */

/* A day: programs that run longer request another token. */
static const json_int_t life_s = 86400;

/* The claims of a new token; NULL when memory runs out. `capabilities` is kept. */
static json_t *make_claims(const struct tokens *tokens, struct mcpx_slice participant,
                           struct mcpx_slice topic, json_t *capabilities, json_int_t now_s)
{
    const char *issuer = tokens->ring.issuer, *audience = tokens->ring.audience;

    return json_pack("{s:s%, s:s%, s:O, s:I, s:I, s:s*, s:s*}", "participantId",
                     participant.text, participant.len, "topic", topic.text, topic.len,
                     "capabilities", capabilities, "iat", now_s, "exp", now_s + life_s, "iss",
                     issuer && *issuer ? issuer : NULL, "aud",
                     audience && *audience ? audience : NULL);
}

enum mcpx_err tokens_issue(struct tokens *tokens, struct mcpx_slice participant,
                           struct mcpx_slice topic, struct mcpx_slice capabilities_json,
                           struct mcpx_now now, struct mcpx_fault *fault,
                           struct mcpx_text *token)
{
    struct mcpx_slice text =
        capabilities_json.text ? capabilities_json : MCPX_SLICE("[\"mcp/*\",\"chat\"]");
    json_auto_t *capabilities = NULL, *claims = NULL;
    struct mcpx_capset *set;
    enum mcpx_err err;

    if (!mcpx_identity_is_valid(participant))
        return grant_refuse(
            fault, "participantId",
            "expected 1..256 bytes without controls, not ending in ~ and digits");
    if (tokens_find_id(tokens, participant))
        return grant_refuse(fault, "participantId",
                            "is configured under participants and comes with its own token");
    if (!mcpx_topic_name_is_valid(topic))
        return grant_refuse(fault, "topic", "expected 1..256 bytes without controls");
    capabilities = json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_array(capabilities))
        return grant_refuse(fault, "capabilities", "expected a JSON array of grants");
    err = capset_cache_get(&tokens->sets, capabilities, fault, &set);
    if (err)
        return err;
    mcpx_capset_unref(set); /* the cache has it */
    claims = make_claims(tokens, participant, topic, capabilities, now.wall_ms / 1000);
    return claims ? jwt_sign(&tokens->ring, claims, token) : MCPX_ENOMEM;
}
