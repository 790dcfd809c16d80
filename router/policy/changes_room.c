/*
 * changes_room.c - how many changes there may be. All are counted anew for each that comes: that
 * happens once for each request of an administrator, and there are few enough of them.
 */
#include "router/policy/changes_inside.h"

static const struct mcpx_slice anybody = {NULL, 0};

/* How many, and how many bytes, of a sort. */
struct load {
    enum change_sort sort;
    size_t count, bytes;
};

/* Adds those of a list that somebody has made; of everybody when `by` is absent. */
static void weigh(struct load *load, const struct changed *changed, struct mcpx_slice by)
{
    for (size_t i = 0; changed && i < changed->count; i++) {
        const struct change *change = changed->list[i];

        if (change->sort != load->sort || (by.text && !mcpx_slice_equal(change->by, by)))
            continue;
        load->count++;
        load->bytes += change->size;
    }
}

/* Those of the whole table, with the draft in its place. */
static struct load weigh_all(const struct changes *changes, const struct changed *draft,
                             enum change_sort sort, struct mcpx_slice by)
{
    const struct changed *before = changes_find(changes, draft->identity, draft->topic);
    struct load load = {.sort = sort};

    weigh(&load, draft, by);
    for (size_t i = 0; i < changes->count; i++)
        if (changes->all[i] != before)
            weigh(&load, changes->all[i], by);
    return load;
}

static bool exceeds(struct load load, size_t share)
{
    return load.count > CHANGES_MAX / share || load.bytes > CHANGES_BYTES_MAX / share;
}

static enum mcpx_err check_room(const struct changes *changes, const struct changed *draft,
                                enum change_sort sort, struct mcpx_slice by)
{
    const struct changed *before = changes_find(changes, draft->identity, draft->topic);
    struct load had = {.sort = sort}, has = {.sort = sort};

    weigh(&had, before, anybody);
    weigh(&has, draft, anybody);
    if (has.count > CHANGES_EACH)
        return MCPX_ELIMIT;
    if (has.count <= had.count && has.bytes <= had.bytes)
        return MCPX_OK;
    if (exceeds(weigh_all(changes, draft, sort, anybody), 1))
        return MCPX_EFULL;
    return exceeds(weigh_all(changes, draft, sort, by), CHANGES_SHARE) ? MCPX_ESHARE : MCPX_OK;
}

enum mcpx_err changed_check_room(const struct changes *changes, const struct changed *draft,
                                 struct mcpx_slice by)
{
    enum mcpx_err err = MCPX_OK;

    for (int sort = 0; !err && sort < CHANGE_SORTS; sort++)
        err = check_room(changes, draft, (enum change_sort)sort, by);
    return err;
}
