/*
 * What breaks for whom: a router short of memory lets a participant in with half of its denials,
 * or dies with all its topics; a decision that allocates costs every message.
 * Protocol: section 3.
 */
#include "tests/support/count.h"
#include "tests/support/fault_alloc.h"
#include <mcpx/capability.h>

#include <criterion/criterion.h>

enum { DENIALS_MAX = 240 };

static const struct mcpx_slice fs[] = {{"fs", 2}};

static const struct mcpx_grant grants[] = {
    {.pattern = {"chat", 4}},
    {.pattern = {"a:b:/srv/*", 10}}, /* dotted contexts are walked */
    {{"a:c", 3}, fs, 1, 100},        /* has conditions */
};

/* Denials that fill a third of a program, or a single one. */
static size_t fill_denials(bool many, struct mcpx_slice *deny)
{
    for (size_t i = 0; many && i < DENIALS_MAX; i++)
        deny[i] = MCPX_SLICE("denied/with/a/rather/long/name*");
    deny[many ? DENIALS_MAX - 1 : 0] = MCPX_SLICE("a:b:*secret");
    return many ? DENIALS_MAX : 1;
}

static bool asks(struct mcpx_capset *set, const char *text)
{
    struct mcpx_kind kind;
    struct mcpx_question question = {&kind, fs, 1, 99};
    struct mcpx_decision decision;
    bool allowed;

    cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(text), &kind, NULL), MCPX_OK);
    allowed = mcpx_capset_allows(set, &question);
    mcpx_capset_explain(set, &question, &decision);
    cr_expect_eq(decision.refusal == MCPX_ALLOWED, allowed);
    return allowed;
}

/* What every set that was made has to say. */
static void check(struct mcpx_capset *set)
{
    cr_expect(asks(set, "chat"));
    cr_expect(asks(set, "a:b:/srv/x"));
    cr_expect(asks(set, "a:c"));
    cr_expect_not(asks(set, "a:b:/srv/secret"));
    cr_expect_not(asks(set, "a:b:/srv/../x"));
    cr_expect_not(asks(set, "denied/with/a/rather/long/name"));
}

Test(capability_memory, a_set_is_whole_or_not_at_all)
{
    static struct mcpx_slice deny[DENIALS_MAX];

    for (int many = 0; many < 2; many++) {
        size_t count = fill_denials(many, deny), failures = 0;

        FAULT_ALLOC_EACH(nth, 8) {
            struct mcpx_capset *set = NULL;
            enum mcpx_err err =
                mcpx_capset_new(grants, COUNT(grants), deny, count, NULL, NULL, &set);
            bool failed = fault_alloc_disarm();

            failures += err == MCPX_ENOMEM;
            cr_expect(err == MCPX_OK || (failed && err == MCPX_ENOMEM), "allocation %zu: %s",
                      nth, mcpx_strerror(err));
            cr_expect_eq(set != NULL, err == MCPX_OK, "allocation %zu", nth);
            if (set) /* perhaps without a JIT, whose lack costs time only */
                check(set);
            mcpx_capset_unref(set);
        }
        cr_expect_geq(failures, 8);
    }
}

Test(capability_memory, a_decision_asks_for_none)
{
    struct mcpx_slice deny = MCPX_SLICE("a:b:*secret");
    struct mcpx_capset *set = NULL;

    cr_assert_eq(mcpx_capset_new(grants, COUNT(grants), &deny, 1, NULL, NULL, &set), MCPX_OK);
    fault_alloc_arm(0);
    check(set);
    cr_expect_eq(fault_alloc_count(), 0);
    mcpx_capset_unref(set);
}
