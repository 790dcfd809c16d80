/*
 * tickets.c - a queue in order of issue. All tickets live equally long, so the expired ones are at
 * its head; every call drops them first, and no timer is needed. Only the SHA-256 of a ticket is
 * kept, so a memory dump lets no attacker connect.
 */
#include "router/policy/identity/tickets.h"

#include "lib/base/digits.h"
#include "lib/json/digest.h"

#include <openssl/crypto.h>
#include <stdlib.h>

enum { TICKET_BYTES = 32, TICKET_TEXT = 43 };

struct ticket {
    struct ticket *next;
    unsigned char digest[32];
    struct grant *grant;
    int64_t expires_mono_ms;
    size_t topic_len;
    char topic[];
};

struct tickets {
    struct chance chance;
    size_t each;
    struct ticket *first;
    struct ticket **end; /* where the next one is linked */
    size_t count;
};

struct tickets *tickets_new(struct chance chance, size_t each)
{
    struct tickets *tickets = calloc(1, sizeof *tickets);

    if (!tickets)
        return NULL;
    tickets->chance = chance;
    tickets->each = each;
    tickets->end = &tickets->first;
    return tickets;
}

void tickets_set_each(struct tickets *tickets, size_t each)
{
    tickets->each = each;
}

static void drop(struct tickets *tickets, struct ticket **link)
{
    struct ticket *ticket = *link;

    *link = ticket->next;
    if (!ticket->next)
        tickets->end = link;
    tickets->count--;
    grant_unref(ticket->grant);
    free(ticket);
}

static void drop_expired(struct tickets *tickets, int64_t mono_ms)
{
    while (tickets->first && tickets->first->expires_mono_ms <= mono_ms)
        drop(tickets, &tickets->first);
}

void tickets_free(struct tickets *tickets)
{
    if (!tickets)
        return;
    drop_expired(tickets, INT64_MAX);
    free(tickets);
}

/* Counts all of them: there are few. */
static bool has_its_share(const struct tickets *tickets, struct mcpx_slice identity)
{
    size_t count = 0;

    for (const struct ticket *at = tickets->first; at && tickets->each; at = at->next)
        count += mcpx_slice_equal(at->grant->identity, identity);
    return tickets->each && count >= tickets->each;
}

enum mcpx_err tickets_issue(struct tickets *tickets, struct grant *grant,
                            struct mcpx_slice topic, struct mcpx_now now,
                            struct mcpx_text *ticket)
{
    unsigned char random[TICKET_BYTES];
    size_t begin = ticket->len;
    struct ticket *made;

    drop_expired(tickets, now.mono_ms);
    if (tickets->count >= TICKETS_MAX)
        return MCPX_ELIMIT;
    if (has_its_share(tickets, grant->identity))
        return MCPX_ESHARE;
    made = calloc(1, sizeof *made + topic.len);
    if (!made || !mcpx_text_reserve(ticket, TICKET_TEXT)) {
        free(made);
        return MCPX_ENOMEM;
    }
    tickets->chance.fill(tickets->chance.context, random, sizeof random);
    mx_base64url_encode(random, sizeof random, ticket);
    OPENSSL_cleanse(random, sizeof random);
    if (!mx_sha256((struct mcpx_slice){ticket->text + begin, TICKET_TEXT}, made->digest)) {
        ticket->len = begin;
        free(made);
        return MCPX_ENOMEM;
    }
    made->grant = grant_ref(grant);
    made->expires_mono_ms = now.mono_ms + (int64_t)TICKETS_LIFE_S * 1000;
    made->topic_len = topic.len;
    memcpy(made->topic, topic.text, topic.len);
    *tickets->end = made;
    tickets->end = &made->next;
    tickets->count++;
    return MCPX_OK;
}

size_t tickets_void(struct tickets *tickets, struct mcpx_slice identity,
                    bool (*reaches)(void *context, struct mcpx_slice topic), void *context)
{
    struct ticket **link = &tickets->first;
    size_t count = 0;

    while (*link) {
        struct ticket *at = *link;

        if (mcpx_slice_equal(at->grant->identity, identity) &&
            reaches(context, (struct mcpx_slice){at->topic, at->topic_len})) {
            drop(tickets, link);
            count++;
        } else {
            link = &at->next;
        }
    }
    return count;
}

/* Where the ticket is linked; NULL when it is not there. Every ticket is compared. */
static struct ticket **find(struct tickets *tickets, const unsigned char digest[32])
{
    struct ticket **found = NULL;

    for (struct ticket **link = &tickets->first; *link; link = &(*link)->next) {
        if (CRYPTO_memcmp((*link)->digest, digest, 32) == 0)
            found = link;
    }
    return found;
}

enum mcpx_err tickets_use(struct tickets *tickets, struct mcpx_slice ticket,
                          struct mcpx_slice topic, struct mcpx_now now, struct grant **out)
{
    unsigned char digest[32];
    struct ticket **link, *found;
    bool same_topic;

    drop_expired(tickets, now.mono_ms);
    if (ticket.len != TICKET_TEXT)
        return MCPX_ETOKEN;
    if (!mx_sha256(ticket, digest))
        return MCPX_ENOMEM;
    link = find(tickets, digest);
    if (!link)
        return MCPX_ETOKEN;
    found = *link;
    same_topic = mcpx_slice_equal((struct mcpx_slice){found->topic, found->topic_len}, topic);
    if (same_topic)
        *out = grant_ref(found->grant);
    drop(tickets, link);
    return same_topic ? MCPX_OK : MCPX_EFORBIDDEN;
}
