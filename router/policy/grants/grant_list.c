/*
 * grant_list.c - one reader of grants for the configuration, for tokens and for POST /v0.1/check,
 * so that a grant means the same wherever it is written. Strings stay in the JSON values; only the
 * arrays are allocated here. Rejected: a reader for each source, because three readers could
 * differ.
 */
#include "router/policy/grants/grant_list.h"

#include "lib/base/ident.h"
#include "lib/base/rows.h"
#include "lib/base/scoped.h"
#include "lib/json/digest.h"
#include <mcpx/envelope.h>

#include <stdlib.h>

bool names_read(struct names *names, const json_t *array)
{
    size_t count = json_array_size(array);
    struct names made = {.text = calloc(count + 1, sizeof *made.text)};

    for (size_t i = 0; made.text && i < count; i++) {
        made.text[i] = strdup(json_string_value(json_array_get(array, i)));
        if (!made.text[i])
            names_fini(&made);
        else
            made.count++;
    }
    if (!made.text)
        return false;
    names_fini(names);
    *names = made;
    return true;
}

void names_fini(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->text[i]);
    free(names->text);
    *names = (struct names){0};
}

void grant_list_fini(struct grant_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free((void *)list->grants[i].to);
    free(list->grants);
    free(list->deny);
    *list = (struct grant_list){0};
}

enum mcpx_err grant_refuse(struct mcpx_fault *fault, const char *field, const char *reason)
{
    *fault = (struct mcpx_fault){.reason = reason, .field = field};
    return MCPX_EREQUEST;
}

static enum mcpx_err read_to(const json_t *value, struct mcpx_grant *grant,
                             struct mcpx_fault *fault)
{
    size_t count = json_array_size(value);
    struct mcpx_slice *to;

    /* An empty `to` would be stored as "no condition", which is the opposite of its meaning. */
    if (!json_is_array(value) || count == 0 || count > MCPX_TO_MAX)
        return grant_refuse(fault, "to", "expected a list of 1..256 participant ids");
    for (size_t i = 0; i < count; i++) {
        if (!mcpx_identity_is_valid(json_slice(json_array_get(value, i))))
            return grant_refuse(
                fault, "to",
                "expected participant ids of 1..256 bytes that do not end in ~ and "
                "digits; instances are covered by their participant's id");
    }
    to = calloc(count, sizeof *to);
    if (!to)
        return MCPX_ENOMEM;
    for (size_t i = 0; i < count; i++)
        to[i] = json_slice(json_array_get(value, i));
    grant->to = to;
    grant->to_count = count;
    return MCPX_OK;
}

static enum mcpx_err read_expires(const json_t *value, struct mcpx_grant *grant,
                                  struct mcpx_fault *fault)
{
    struct mcpx_slice text = json_slice(value);

    if (!text.text || !mx_time_parse(text, &grant->expires_ms))
        return grant_refuse(fault, "expires", "expected a date like 2026-12-31T23:59:59Z");
    if (grant->expires_ms < 1)
        grant->expires_ms = 1; /* 0 would mean never */
    return MCPX_OK;
}

static enum mcpx_err read_object(const json_t *value, struct mcpx_grant *grant,
                                 struct mcpx_fault *fault)
{
    const json_t *to = json_object_get(value, "to");
    const json_t *expires = json_object_get(value, "expires");
    size_t known = 1u + (to ? 1u : 0u) + (expires ? 1u : 0u);
    enum mcpx_err err = MCPX_OK;

    grant->pattern = json_slice(json_object_get(value, "kind"));
    if (!grant->pattern.text)
        return grant_refuse(fault, "kind", "expected a capability pattern as \"kind\"");
    if (json_object_size(value) != known)
        return grant_refuse(fault, "",
                            "expected no members but \"kind\", \"to\" and \"expires\"");
    if (expires)
        err = read_expires(expires, grant, fault);
    if (!err && to)
        err = read_to(to, grant, fault);
    return err;
}

enum mcpx_err grant_list_add(struct grant_list *list, const json_t *value,
                             struct mcpx_fault *fault)
{
    struct mcpx_grant grant = {.pattern = json_slice(value)};
    enum mcpx_err err;

    if (!grant.pattern.text && !json_is_object(value))
        return grant_refuse(fault, "",
                            "expected a capability pattern or an object with \"kind\"");
    if (!mx_make_room(&list->grants, list->count, &list->room, sizeof *list->grants))
        return MCPX_ENOMEM;
    err = grant.pattern.text ? MCPX_OK : read_object(value, &grant, fault);
    if (!err)
        err = mcpx_pattern_check(grant.pattern, fault);
    if (err) {
        free((void *)grant.to);
        return err;
    }
    list->grants[list->count++] = grant;
    return MCPX_OK;
}

enum mcpx_err grant_list_deny(struct grant_list *list, const json_t *value,
                              struct mcpx_fault *fault)
{
    struct mcpx_slice pattern = json_slice(value);
    enum mcpx_err err;

    if (!pattern.text)
        return grant_refuse(fault, "", "expected a capability pattern");
    err = mcpx_pattern_check(pattern, fault);
    if (err)
        return err;
    if (!mx_make_room(&list->deny, list->deny_count, &list->deny_room, sizeof *list->deny))
        return MCPX_ENOMEM;
    list->deny[list->deny_count++] = pattern;
    return MCPX_OK;
}

enum mcpx_err grant_list_add_all(struct grant_list *list, const json_t *grants,
                                 const json_t *deny, struct mcpx_fault *fault)
{
    enum mcpx_err err = MCPX_OK;

    if (grants && !json_is_array(grants))
        return grant_refuse(fault, "", "expected a list of grants");
    for (size_t i = 0; !err && i < json_array_size(grants); i++)
        err = grant_list_add(list, json_array_get(grants, i), fault);
    for (size_t i = 0; !err && i < json_array_size(deny); i++)
        err = grant_list_deny(list, json_array_get(deny, i), fault);
    return err;
}

/*
 * Compiling a set takes a hundred times as long as a lookup, and thousands of tokens have the same
 * grants. The key is a digest of the array's compact text, so its size is fixed. When the cache is
 * full, all entries are dropped: sets in use live on by their own references. Rejected: an order of
 * use, because the cache is hardly ever full.
 */
struct remembered {
    struct mcpx_slice name; /* the key */
    unsigned char key[32];
    struct mcpx_capset *set;
};

void capset_cache_fini(struct mx_map *cache)
{
    for (size_t i = 0; i < cache->size; i++) {
        struct remembered *each = (void *)(uintptr_t)cache->slots[i].value;

        if (each)
            mcpx_capset_unref(each->set);
        free(each);
    }
    mx_map_fini(cache);
}

static bool digest(const json_t *array, unsigned char key[32])
{
    char *text = json_dumps(array, JSON_COMPACT);
    bool done = text && mx_sha256(mcpx_slice_of(text), key);

    free(text);
    return done;
}

enum mcpx_err capset_compile(const json_t *array, struct mcpx_fault *fault,
                             struct mcpx_capset **out)
{
    MX_SCOPED(grant_list_fini) struct grant_list list = {0};
    enum mcpx_err err = grant_list_add_all(&list, array, NULL, fault);

    if (!err)
        err = mcpx_capset_new(list.grants, list.count, NULL, 0, NULL, fault, out);
    return err == MCPX_ELIMIT
               ? grant_refuse(fault, "", "expected at most 1024 patterns of 65536 bytes")
               : err;
}

/* Takes the set over; false when memory runs out. */
static bool remember(struct mx_map *cache, uint64_t hash, const unsigned char key[32],
                     struct mcpx_capset *set)
{
    struct remembered *made = malloc(sizeof *made);

    if (cache->count == CAPSET_CACHE_MAX)
        capset_cache_fini(cache);
    if (!made || !mx_map_reserve(cache)) {
        free(made);
        return false;
    }
    made->set = set;
    memcpy(made->key, key, sizeof made->key);
    made->name = (struct mcpx_slice){(const char *)made->key, sizeof made->key};
    mx_map_put(cache, hash, (uint64_t)(uintptr_t)made);
    return true;
}

enum mcpx_err capset_cache_get(struct mx_map *cache, const json_t *array,
                               struct mcpx_fault *fault, struct mcpx_capset **out)
{
    unsigned char key[32] = {0}; /* the key of "no grants" */
    const struct mcpx_slice name = {(const char *)key, sizeof key};
    const struct remembered *found;
    struct mcpx_capset *set;
    uint64_t hash;
    enum mcpx_err err;

    if (array && !json_is_array(array))
        return grant_refuse(fault, "", "expected a list of grants");
    if (array && !digest(array, key))
        return MCPX_ENOMEM;
    memcpy(&hash, key, sizeof hash); /* as good as random */
    found = mx_map_find(cache, hash, offsetof(struct remembered, name), name);
    set = found ? found->set : NULL;
    if (!found) {
        err = capset_compile(array, fault, &set);
        if (err)
            return err;
        if (!remember(cache, hash, key, set)) {
            mcpx_capset_unref(set);
            return MCPX_ENOMEM;
        }
    }
    *out = mcpx_capset_ref(set);
    return MCPX_OK;
}
