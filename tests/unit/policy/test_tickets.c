/*
 * What breaks for whom: a browser's one ticket lets two in, or somebody into a room it was not
 * issued for, or for ever. Protocol: section 7 (tickets).
 */
#include "lib/base/scoped.h"
#include "tests/support/settled.h"

#include "router/policy/identity/tickets.h"

#include <criterion/criterion.h>

static struct mcpx_now at(int64_t mono_ms)
{
    return (struct mcpx_now){.mono_ms = mono_ms, .wall_ms = 1};
}

static struct grant *make_grant(const char *participant)
{
    struct mcpx_capset *set = NULL;
    struct grant *grant;

    cr_assert_eq(mcpx_capset_new(NULL, 0, NULL, 0, NULL, NULL, &set), MCPX_OK);
    grant = grant_new(mcpx_slice_of(participant), set, ROUTING_DEFAULT, 0);
    cr_assert_not_null(grant);
    mcpx_capset_unref(set);
    return grant;
}

static void issue(struct tickets *tickets, struct grant *grant, struct mcpx_text *ticket)
{
    mcpx_text_reset(ticket);
    cr_assert_eq(tickets_issue(tickets, grant, MCPX_SLICE("t"), at(0), ticket), MCPX_OK);
}

static enum mcpx_err use(struct tickets *tickets, struct mcpx_slice ticket, const char *topic,
                         int64_t mono_ms)
{
    struct grant *grant = NULL;
    enum mcpx_err err =
        tickets_use(tickets, ticket, mcpx_slice_of(topic), at(mono_ms), &grant);

    cr_expect_eq(err == MCPX_OK, grant != NULL);
    grant_unref(grant);
    return err;
}

Test(tickets, admit_once_in_their_topic_in_their_time)
{
    struct tickets *tickets = tickets_new(settled_chance(), 0);
    struct grant *grant = make_grant("a");
    mx_scoped_text ticket = {0};

    issue(tickets, grant, &ticket);
    cr_expect_eq(ticket.len, 43);
    cr_expect_eq(use(tickets, mcpx_text_view(&ticket), "t", 29999), MCPX_OK);
    cr_expect_eq(use(tickets, mcpx_text_view(&ticket), "t", 29999), MCPX_ETOKEN);

    issue(tickets, grant, &ticket);
    cr_expect_eq(use(tickets, mcpx_text_view(&ticket), "t", 30000), MCPX_ETOKEN);

    issue(tickets, grant, &ticket);
    cr_expect_eq(use(tickets, mcpx_text_view(&ticket), "s", 1), MCPX_EFORBIDDEN);
    cr_expect_eq(use(tickets, mcpx_text_view(&ticket), "t", 1), MCPX_ETOKEN,
                 "spent by the attempt");
    cr_expect_eq(grant->refs, 1);
    grant_unref(grant);
    tickets_free(tickets);
}

Test(tickets, are_not_guessed)
{
    static const char *const rows[] = {"", "x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
                                       "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", NULL};
    struct tickets *tickets = tickets_new(settled_chance(), 0);
    struct grant *grant = make_grant("a");
    mx_scoped_text ticket = {0};

    issue(tickets, grant, &ticket);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(use(tickets, mcpx_slice_of(rows[i]), "t", 1), MCPX_ETOKEN, "%s", rows[i]);
    ticket.text[5] ^= 1;
    cr_expect_eq(use(tickets, mcpx_text_view(&ticket), "t", 1), MCPX_ETOKEN);
    ticket.text[5] ^= 1;
    cr_expect_eq(use(tickets, mcpx_text_view(&ticket), "t", 1), MCPX_OK);
    tickets_free(tickets);
    grant_unref(grant);
}

Test(tickets, are_bounded_and_freed_when_they_expire)
{
    struct tickets *tickets = tickets_new(settled_chance(), 0);
    struct grant *grant = make_grant("a");
    mx_scoped_text all = {0}, more = {0};

    for (int i = 0; i < TICKETS_MAX; i++)
        cr_assert_eq(tickets_issue(tickets, grant, MCPX_SLICE("t"), at(i % 2), &all), MCPX_OK);
    cr_expect_eq(all.len, 43 * TICKETS_MAX);
    cr_expect_eq(grant->refs, TICKETS_MAX + 1);
    cr_expect_eq(tickets_issue(tickets, grant, MCPX_SLICE("t"), at(29999), &more),
                 MCPX_ELIMIT);
    cr_expect_eq(more.len, 0);

    /* from the middle, the end and the beginning of the queue */
    cr_expect_eq(use(tickets, (struct mcpx_slice){all.text + 43 * 7, 43}, "t", 2), MCPX_OK);
    cr_expect_eq(
        use(tickets, (struct mcpx_slice){all.text + 43 * (TICKETS_MAX - 1), 43}, "t", 2),
        MCPX_OK);
    cr_expect_eq(use(tickets, (struct mcpx_slice){all.text, 43}, "t", 2), MCPX_OK);
    cr_expect_eq(tickets_issue(tickets, grant, MCPX_SLICE("t"), at(29999), &more), MCPX_OK);
    cr_expect_eq(use(tickets, mcpx_text_view(&more), "t", 40000), MCPX_OK);
    cr_expect_eq(grant->refs, 1, "all others have expired");
    tickets_free(tickets);
    tickets_free(NULL);
    grant_unref(grant);
}

Test(tickets, one_participant_has_a_share)
{
    struct tickets *tickets = tickets_new(settled_chance(), 3);
    struct grant *ann = make_grant("ann"), *bob = make_grant("bob");
    mx_scoped_text ticket = {0};

    for (int i = 0; i < 3; i++)
        issue(tickets, ann, &ticket);
    cr_expect_eq(tickets_issue(tickets, ann, MCPX_SLICE("u"), at(0), &ticket), MCPX_ESHARE);
    issue(tickets, bob, &ticket);
    cr_expect_eq(use(tickets, mcpx_text_view(&ticket), "t", 1), MCPX_OK);
    cr_expect_eq(
        tickets_issue(tickets, ann, MCPX_SLICE("t"), at(TICKETS_LIFE_S * 1000), &ticket),
        MCPX_OK, "its own have expired");
    tickets_free(tickets);
    grant_unref(ann);
    grant_unref(bob);
}
