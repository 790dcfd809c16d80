/*
 * subs.c - a plain list: subscriptions are few, and every question about them wants
 * another order.
 */
#include "tools/mcpx-bridge/import/subs.h"

#include "lib/core/ident.h"
#include "lib/core/room.h"
#include "tools/mcpx-bridge/share.h"

#include <mcpx/envelope.h>

#include <stdlib.h>

static void free_row(const struct import_sub *row)
{
    free((void *)row->uri.text);
}

void import_subs_fini(struct import_subs *subs)
{
    for (size_t i = 0; i < subs->count; i++)
        free_row(&subs->rows[i]);
    free(subs->rows);
    *subs = (struct import_subs){0};
}

/* Index of the subscription; count when there is none. */
static size_t find(const struct import_subs *subs, struct mcpx_slice uri,
                   struct import_who who)
{
    size_t i = 0;

    while (i < subs->count && !(mcpx_slice_equal(subs->rows[i].uri, uri) &&
                                import_who_is(subs->rows[i].who, who)))
        i++;
    return i;
}

bool import_subs_may_add(const struct import_subs *subs, struct mcpx_slice uri,
                         struct import_who who)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id);
    size_t own = 0;

    if (find(subs, uri, who) < subs->count)
        return true;
    for (size_t i = 0; i < subs->count; i++)
        if (subs->rows[i].who.topic == who.topic &&
            mcpx_slice_equal(mcpx_identity_of(subs->rows[i].who.id), identity))
            own++;
    return bridge_may_have(own + 1, subs->count + 1, IMPORT_SUBS_MAX);
}

bool import_subs_add(struct import_subs *subs, struct mcpx_slice uri, struct import_who who)
{
    struct import_sub *rows;
    char *memory;

    if (find(subs, uri, who) < subs->count)
        return true;
    if (!import_subs_may_add(subs, uri, who))
        return false;
    rows = mx_room(subs->rows, subs->count, &subs->size, sizeof *rows);
    if (!rows)
        return false;
    subs->rows = rows;
    memory = malloc(uri.len + who.id.len + 1);
    if (!memory)
        return false;
    memcpy(memory, uri.text, uri.len);
    memcpy(memory + uri.len, who.id.text, who.id.len);
    subs->rows[subs->count++] =
        (struct import_sub){{memory, uri.len}, {who.topic, {memory + uri.len, who.id.len}}};
    return true;
}

void import_subs_remove(struct import_subs *subs, struct mcpx_slice uri, struct import_who who)
{
    size_t at = find(subs, uri, who);

    if (at == subs->count)
        return;
    free_row(&subs->rows[at]);
    subs->count--;
    memmove(&subs->rows[at], &subs->rows[at + 1], (subs->count - at) * sizeof *subs->rows);
}

bool import_subs_others(const struct import_subs *subs, struct mcpx_slice uri,
                        struct import_who who)
{
    for (size_t i = 0; i < subs->count; i++)
        if (mcpx_slice_equal(subs->rows[i].uri, uri) && !import_who_is(subs->rows[i].who, who))
            return true;
    return false;
}

/* True when no earlier row is about the same resource. */
static bool is_first(const struct import_subs *subs, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (mcpx_slice_equal(subs->rows[i].uri, subs->rows[at].uri))
            return false;
    return true;
}

const struct import_sub *import_subs_next(const struct import_subs *subs, size_t *at)
{
    while (*at < subs->count) {
        size_t i = (*at)++;

        if (is_first(subs, i))
            return &subs->rows[i];
    }
    return NULL;
}

const struct import_sub *import_subs_of(const struct import_subs *subs, struct import_who who)
{
    for (size_t i = 0; i < subs->count; i++)
        if (subs->rows[i].who.topic == who.topic &&
            (!who.id.text || mcpx_slice_equal(subs->rows[i].who.id, who.id)))
            return &subs->rows[i];
    return NULL;
}

static bool is_part(struct mcpx_slice uri, struct mcpx_slice of)
{
    return uri.len > of.len && memcmp(uri.text, of.text, of.len) == 0;
}

static bool is_watched(const struct import_subs *subs, struct mcpx_slice uri)
{
    for (size_t i = 0; i < subs->count; i++)
        if (mcpx_slice_equal(subs->rows[i].uri, uri))
            return true;
    return false;
}

size_t import_subs_readers(const struct import_subs *subs, struct mcpx_slice uri, size_t topic,
                           struct mcpx_slice *out, size_t max)
{
    bool whole = is_watched(subs, uri);
    size_t count = 0;

    for (size_t i = 0; i < subs->count; i++) {
        const struct import_sub *row = &subs->rows[i];

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
