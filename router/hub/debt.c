/*
 * debt.c - buckets fill within a minute, so a debt is short-lived and the list is short: a walk
 * per join is cheaper than an index to be kept in step. Includes debt.h only.
 */
#include "router/hub/debt.h"

#include <stdlib.h>

struct debt {
    struct link in_list;
    struct rates rates;
    struct mcpx_slice participant;
};

void debts_init(struct debts *debts)
{
    list_init(&debts->list);
    debts->count = 0;
}

static void forgive(struct debts *debts, struct debt *debt)
{
    list_remove(&debt->in_list);
    debts->count--;
    free(debt);
}

void debts_fini(struct debts *debts)
{
    struct link *link = debts->list.next;

    while (link != &debts->list) {
        struct debt *debt = LIST_ELEMENT(link, struct debt, in_list);

        link = link->next;
        free(debt);
    }
    debts_init(debts);
}

static bool is_full(const struct bucket *bucket, struct mcpx_now now)
{
    return bucket_wait_ms(bucket, bucket->per_minute, now) == 0;
}

static bool owes_nothing(const struct rates *rates, struct mcpx_now now)
{
    return is_full(&rates->messages, now) && is_full(&rates->bytes, now) &&
           is_full(&rates->refusals, now);
}

void debts_note(struct debts *debts, struct mcpx_slice participant, const struct rates *rates,
                struct mcpx_now now)
{
    struct debt *debt;

    if (owes_nothing(rates, now))
        return;
    debt = malloc(sizeof *debt + participant.len);
    if (!debt)
        return;
    debt->rates = *rates;
    debt->participant = (struct mcpx_slice){(const char *)(debt + 1), participant.len};
    memcpy(debt + 1, participant.text, participant.len);
    list_init(&debt->in_list);
    list_append(&debts->list, &debt->in_list);
    if (++debts->count > DEBTS_MAX)
        forgive(debts, LIST_ELEMENT(debts->list.next, struct debt, in_list));
}

void debts_collect(struct debts *debts, struct mcpx_slice participant, struct rates *rates)
{
    for (struct link *link = debts->list.next; link != &debts->list; link = link->next) {
        struct debt *debt = LIST_ELEMENT(link, struct debt, in_list);

        if (!mcpx_slice_equal(debt->participant, participant))
            continue;
        *rates = debt->rates;
        forgive(debts, debt);
        return;
    }
}

void debts_expire(struct debts *debts, struct mcpx_now now)
{
    struct link *next;

    for (struct link *link = debts->list.next; link != &debts->list; link = next) {
        struct debt *debt = LIST_ELEMENT(link, struct debt, in_list);

        next = link->next;
        if (owes_nothing(&debt->rates, now))
            forgive(debts, debt);
    }
}
