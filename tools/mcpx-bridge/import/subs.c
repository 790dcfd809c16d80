/*
 * subs.c - an array in the order of URIs, in which all subscriptions of a resource stand together.
 * A participant may have thousands, and who leaves ends all of them at once: so no step may look
 * through all of them for each.
 */
#include "tools/mcpx-bridge/import/state.h"

#include "lib/base/ident.h"
#include "lib/base/rows.h"

#include <mcpx/envelope.h>

#include <stdlib.h>

void import_subs_fini(struct import_subs *subs)
{
    for (size_t i = 0; i < subs->count; i++)
        free(subs->rows[i]);
    free(subs->rows);
    *subs = (struct import_subs){0};
}

/* The place of the first subscription of a resource, or where it would be. */
static size_t place_of(const struct import_subs *subs, struct mcpx_slice uri)
{
    size_t low = 0, high = subs->count, row;

    MX_SEARCH(low, high, row, mcpx_slice_compare(subs->rows[row]->uri, uri) < 0);
    return low;
}

static bool is_of(const struct import_subs *subs, size_t at, struct mcpx_slice uri)
{
    return at < subs->count && mcpx_slice_equal(subs->rows[at]->uri, uri);
}

/* Its place, and that behind the last one of the resource when there is none: false. */
static bool find(const struct import_subs *subs, struct mcpx_slice uri, struct bridge_who who,
                 size_t *at)
{
    *at = place_of(subs, uri);
    while (is_of(subs, *at, uri) && !bridge_who_is(subs->rows[*at]->who, who))
        ++*at;
    return is_of(subs, *at, uri);
}

/* True when there is room for one more of that participant. */
static bool has_room(const struct import_subs *subs, struct bridge_who who)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id);
    size_t own = 0;

    for (size_t i = 0; i < subs->count; i++)
        if (subs->rows[i]->who.topic == who.topic &&
            mcpx_slice_equal(mcpx_identity_of(subs->rows[i]->who.id), identity))
            own++;
    return bridge_may_have(own + 1, subs->count + 1, IMPORT_SUBS_MAX);
}

bool import_subs_add(struct import_subs *subs, struct mcpx_slice uri, struct bridge_who who)
{
    struct import_sub *sub;
    size_t at;
    char *text;

    if (find(subs, uri, who, &at))
        return true;
    if (!has_room(subs, who))
        return false;
    mx_make_room(&subs->rows, subs->count, &subs->size, sizeof(struct import_sub *));
    sub = bridge_room(sizeof *sub, uri.len + who.id.len, &text);
    sub->uri = mx_keep(&text, uri);
    sub->who = (struct bridge_who){who.topic, mx_keep(&text, who.id)};
    memmove(&subs->rows[at + 1], &subs->rows[at], (subs->count - at) * sizeof *subs->rows);
    subs->rows[at] = sub;
    subs->count++;
    return true;
}

void import_subs_remove(struct import_subs *subs, struct mcpx_slice uri, struct bridge_who who)
{
    size_t at;

    if (!find(subs, uri, who, &at))
        return;
    free(subs->rows[at]);
    subs->count--;
    memmove(&subs->rows[at], &subs->rows[at + 1], (subs->count - at) * sizeof *subs->rows);
}

bool import_subs_others(const struct import_subs *subs, struct mcpx_slice uri,
                        struct bridge_who who)
{
    size_t at = place_of(subs, uri);

    while (is_of(subs, at, uri) && bridge_who_is(subs->rows[at]->who, who))
        at++;
    return is_of(subs, at, uri);
}

const struct import_sub *import_subs_next(const struct import_subs *subs, size_t *at)
{
    const struct import_sub *sub = *at < subs->count ? subs->rows[*at] : NULL;

    while (sub && is_of(subs, *at, sub->uri))
        ++*at;
    return sub;
}

struct import_sub *import_subs_end(struct import_subs *subs, struct bridge_who who)
{
    struct import_sub *ended = NULL, **end = &ended;
    size_t kept = 0;

    for (size_t i = 0; i < subs->count; i++) {
        struct import_sub *sub = subs->rows[i];

        if (sub->who.topic != who.topic ||
            (who.id.text && !mcpx_slice_equal(sub->who.id, who.id))) {
            subs->rows[kept++] = sub;
            continue;
        }
        *end = sub;
        end = &sub->next;
    }
    subs->count = kept;
    return ended;
}

static bool is_part(struct mcpx_slice uri, struct mcpx_slice of)
{
    return uri.len > of.len && memcmp(uri.text, of.text, of.len) == 0;
}

size_t import_subs_readers(const struct import_subs *subs, struct mcpx_slice uri, size_t topic,
                           struct mcpx_slice *out, size_t max)
{
    bool whole = is_of(subs, place_of(subs, uri), uri);
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
