/*
 * holders.c - a map finds an owner, a heap knows the largest. Rejected: searching a list for the
 * largest; an attacker with many small holders would make each search long.
 */
#include "lib/base/holders.h"

#include "lib/base/rows.h"

#include <assert.h>
#include <stddef.h>

struct mx_holder {
    struct mcpx_slice owner; /* the bytes stand behind the struct */
    uint64_t held;
    size_t place; /* in the heap */
};

void mx_holders_fini(struct mx_holders *holders)
{
    for (size_t i = 0; i < holders->count; i++)
        free(holders->largest_first[i]);
    free(holders->largest_first);
    mx_map_fini(&holders->by_owner);
    *holders =
        (struct mx_holders){.key = holders->key, .cap = holders->cap, .total = holders->total};
}

static struct mx_holder *find_holder(const struct mx_holders *holders, struct mcpx_slice owner)
{
    return mx_map_find(&holders->by_owner, mx_map_hash(holders->key, owner),
                       offsetof(struct mx_holder, owner), owner);
}

uint64_t mx_holders_held(const struct mx_holders *holders, struct mcpx_slice owner)
{
    const struct mx_holder *holder = find_holder(holders, owner);

    return holder ? holder->held : 0;
}

enum mx_sharing mx_holders_ask(const struct mx_holders *holders, struct mcpx_slice owner,
                               uint64_t amount)
{
    uint64_t held = holders->cap ? mx_holders_held(holders, owner) : 0;

    if (holders->cap && (amount > holders->cap || held > holders->cap - amount))
        return MX_SHARING_OVER_CAP;
    if (holders->total && (amount > holders->total || holders->held > holders->total - amount))
        return MX_SHARING_OVER_TOTAL;
    return MX_SHARING_FITS;
}

static void put_at(struct mx_holders *holders, size_t place, struct mx_holder *holder)
{
    holders->largest_first[place] = holder;
    holder->place = place;
}

/* Moves a holder whose amount has changed to its place in the heap. */
static void settle_holder(struct mx_holders *holders, struct mx_holder *holder)
{
    struct mx_holder **heap = holders->largest_first;
    size_t at = holder->place;

    while (at > 0 && heap[(at - 1) / 2]->held < holder->held) {
        put_at(holders, at, heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (size_t child = 2 * at + 1; child < holders->count; child = 2 * at + 1) {
        if (child + 1 < holders->count && heap[child + 1]->held > heap[child]->held)
            child++;
        if (heap[child]->held <= holder->held)
            break;
        put_at(holders, at, heap[child]);
        at = child;
    }
    put_at(holders, at, holder);
}

static struct mx_holder *new_holder(struct mx_holders *holders, struct mcpx_slice owner)
{
    struct mx_holder *holder;

    if (!mx_map_reserve(&holders->by_owner) ||
        !mx_make_room(&holders->largest_first, holders->count, &holders->room,
                      sizeof(struct mx_holder *)) ||
        !(holder = malloc(sizeof *holder + owner.len)))
        return NULL;
    if (owner.len)
        memcpy(holder + 1, owner.text, owner.len);
    *holder = (struct mx_holder){.owner = {(const char *)(holder + 1), owner.len}};
    put_at(holders, holders->count++, holder);
    mx_map_put(&holders->by_owner, mx_map_hash(holders->key, owner), (uintptr_t)holder);
    return holder;
}

bool mx_holders_add(struct mx_holders *holders, struct mcpx_slice owner, uint64_t amount)
{
    struct mx_holder *holder = find_holder(holders, owner);

    if (amount == 0)
        return true;
    if (!holder && !(holder = new_holder(holders, owner)))
        return false;
    holder->held += amount;
    holders->held += amount;
    settle_holder(holders, holder);
    return true;
}

static void free_holder(struct mx_holders *holders, struct mx_holder *holder)
{
    struct mx_holder *last = holders->largest_first[--holders->count];

    assert(holder->held == 0);
    mx_map_remove(&holders->by_owner, mx_map_hash(holders->key, holder->owner),
                  (uintptr_t)holder);
    mx_map_fit(&holders->by_owner);
    if (last != holder) {
        put_at(holders, holder->place, last);
        settle_holder(holders, last);
    }
    free(holder);
}

void mx_holders_remove(struct mx_holders *holders, struct mcpx_slice owner, uint64_t amount)
{
    struct mx_holder *holder = find_holder(holders, owner);

    if (!holder)
        return;
    if (amount > holder->held)
        amount = holder->held;
    holder->held -= amount;
    holders->held -= amount;
    if (holder->held == 0)
        free_holder(holders, holder);
    else
        settle_holder(holders, holder);
}

struct mcpx_slice mx_holders_largest(const struct mx_holders *holders)
{
    return holders->count ? holders->largest_first[0]->owner : (struct mcpx_slice){0};
}
