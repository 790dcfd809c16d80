/*
 * subs.c - an array in the order of subscribing, and a table by URI, in which all subscriptions of
 * a resource stand under one hash. A participant may have thousands, and who leaves ends all of
 * them at once: so no step may look through all of them for each.
 */
#include "tools/mcpx-bridge/import/state.h"

#include "lib/base/ident.h"
#include "lib/base/rows.h"
#include "tools/mcpx-bridge/bridge.h"

#include <mcpx/envelope.h>

#include <stdlib.h>

void import_subs_fini(struct import_subs *subs)
{
    struct import_sub *sub;

    while ((sub = import_subs_take_ended(subs)) != NULL)
        free(sub);
    for (size_t i = 0; i < subs->count; i++)
        free(subs->rows[i]);
    free(subs->rows);
    mx_map_fini(&subs->by_uri);
    *subs = (struct import_subs){.key = subs->key};
}

/* The next subscription of a resource; NULL behind the last. `at` is 0 at first. */
static struct import_sub *next_of(const struct import_subs *subs, struct mcpx_slice uri,
                                  size_t *at)
{
    uint64_t hash = mx_map_hash(subs->key, uri), value;

    while ((value = mx_map_next(&subs->by_uri, hash, at))) {
        struct import_sub *sub = (struct import_sub *)(uintptr_t)value;

        if (mcpx_slice_equal(sub->uri, uri))
            return sub;
    }
    return NULL;
}

static struct import_sub *find(const struct import_subs *subs, struct mcpx_slice uri,
                               struct bridge_who who)
{
    struct import_sub *sub;
    size_t at = 0;

    while ((sub = next_of(subs, uri, &at)) != NULL && !bridge_who_is(sub->who, who))
        ;
    return sub;
}

/* True when there is room for one more of that participant, or it has this one. */
static bool import_subs_may_add(const struct import_subs *subs, struct mcpx_slice uri,
                                struct bridge_who who)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id);
    size_t own = 0;

    if (find(subs, uri, who))
        return true;
    for (size_t i = 0; i < subs->count; i++)
        if (subs->rows[i]->who.topic == who.topic &&
            mcpx_slice_equal(mcpx_identity_of(subs->rows[i]->who.id), identity))
            own++;
    return bridge_may_have(own + 1, subs->count + 1, IMPORT_SUBS_MAX);
}

bool import_subs_add(struct import_subs *subs, struct mcpx_slice uri, struct bridge_who who)
{
    struct import_sub *sub;
    char *at;

    if (find(subs, uri, who))
        return true;
    if (!import_subs_may_add(subs, uri, who))
        return false;
    mx_map_reserve(&subs->by_uri);
    subs->rows = mx_room(subs->rows, subs->count, &subs->size, sizeof(struct import_sub *));
    sub = bridge_room(sizeof *sub, uri.len + who.id.len, &at);
    sub->uri = bridge_copy(&at, uri);
    sub->who = (struct bridge_who){who.topic, bridge_copy(&at, who.id)};
    sub->number = ++subs->last_number;
    subs->rows[subs->count++] = sub;
    mx_map_put(&subs->by_uri, mx_map_hash(subs->key, uri), (uintptr_t)sub);
    return true;
}

static void remove_from_map(struct import_subs *subs, struct import_sub *sub)
{
    mx_map_remove(&subs->by_uri, mx_map_hash(subs->key, sub->uri), (uintptr_t)sub);
}

void import_subs_remove(struct import_subs *subs, struct mcpx_slice uri, struct bridge_who who)
{
    struct import_sub *sub = find(subs, uri, who);
    size_t at = 0;

    if (!sub)
        return;
    while (subs->rows[at] != sub)
        at++;
    subs->count--;
    memmove(&subs->rows[at], &subs->rows[at + 1], (subs->count - at) * sizeof *subs->rows);
    remove_from_map(subs, sub);
    free(sub);
}

bool import_subs_others(const struct import_subs *subs, struct mcpx_slice uri,
                        struct bridge_who who)
{
    const struct import_sub *sub;
    size_t at = 0;

    while ((sub = next_of(subs, uri, &at)) != NULL && bridge_who_is(sub->who, who))
        ;
    return sub != NULL;
}

/* True when no earlier one is about the same resource. */
static bool is_first(const struct import_subs *subs, const struct import_sub *one)
{
    const struct import_sub *sub;
    size_t at = 0;

    while ((sub = next_of(subs, one->uri, &at)) != NULL && sub->number >= one->number)
        ;
    return !sub;
}

const struct import_sub *import_subs_next(const struct import_subs *subs, size_t *at)
{
    while (*at < subs->count) {
        const struct import_sub *sub = subs->rows[(*at)++];

        if (is_first(subs, sub))
            return sub;
    }
    return NULL;
}

void import_subs_end(struct import_subs *subs, struct bridge_who who)
{
    struct import_sub **end = &subs->ended;
    size_t kept = 0;

    while (*end)
        end = &(*end)->next;
    for (size_t i = 0; i < subs->count; i++) {
        struct import_sub *sub = subs->rows[i];

        if (sub->who.topic != who.topic ||
            (who.id.text && !mcpx_slice_equal(sub->who.id, who.id))) {
            subs->rows[kept++] = sub;
            continue;
        }
        remove_from_map(subs, sub);
        *end = sub;
        end = &sub->next;
    }
    subs->count = kept;
}

struct import_sub *import_subs_take_ended(struct import_subs *subs)
{
    struct import_sub *sub = subs->ended;

    if (sub)
        subs->ended = sub->next;
    return sub;
}

bool import_subs_are_of(const struct import_subs *subs, struct mcpx_slice uri)
{
    size_t at = 0;

    return next_of(subs, uri, &at) != NULL;
}

static bool is_part(struct mcpx_slice uri, struct mcpx_slice of)
{
    return uri.len > of.len && memcmp(uri.text, of.text, of.len) == 0;
}

size_t import_subs_readers(const struct import_subs *subs, struct mcpx_slice uri, size_t topic,
                           struct mcpx_slice *out, size_t max)
{
    bool whole = import_subs_are_of(subs, uri);
    size_t count = 0;

    for (size_t i = 0; i < subs->count; i++) {
        const struct import_sub *row = subs->rows[i];

        if (row->who.topic != topic ||
            !(whole ? mcpx_slice_equal(row->uri, uri) : is_part(uri, row->uri)) ||
            mx_id_is_among(row->who.id, out, count < max ? count : max))
            continue;
        if (count < max)
            out[count] = row->who.id;
        count++;
    }
    return count;
}
