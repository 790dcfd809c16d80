/*
 * What breaks for whom: a participant shown capabilities it does not have, or not shown those it
 * has; a ticket that outlives its grant. Protocol: section 3 (grants), section 5 (welcome).
 */
#include "router/policy/grants/grant.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>

static const struct mcpx_slice targets[] = {{"fs", 2}, {"a\"b", 3}};

/* Four conditions: none, two addressees, until 1000, and until 2000 to one. */
static struct mcpx_capset *some(size_t count)
{
    const struct mcpx_grant grants[] = {
        {.pattern = MCPX_SLICE("chat")},
        {.pattern = MCPX_SLICE("note"), .to = targets, .to_count = 2},
        {.pattern = MCPX_SLICE("mcp/*"), .expires_ms = 1000},
        {.pattern = MCPX_SLICE("x"), .to = targets, .to_count = 1, .expires_ms = 2000},
    };
    struct mcpx_capset *set = NULL;

    cr_assert_eq(mcpx_capset_new(grants, count, NULL, 0, NULL, NULL, &set), MCPX_OK);
    return set;
}

static struct grant *grant_of(size_t count)
{
    struct mcpx_capset *set = some(count);
    struct grant *grant = grant_new(MCPX_SLICE("alice"), set, ROUTING_DIRECTED, 77);

    mcpx_capset_unref(set);
    cr_assert(grant);
    return grant;
}

static void expect_json(const struct mcpx_text *text, const char *expected)
{
    cr_expect(mcpx_slice_equal(mcpx_text_view(text), mcpx_slice_of(expected)), "%s\n%s",
              text->text, expected);
}

Test(grant, keeps_what_it_was_made_from)
{
    struct grant *grant = grant_of(1);

    cr_expect(mcpx_slice_equal(grant->identity, MCPX_SLICE("alice")));
    cr_expect_eq(grant->routing, ROUTING_DIRECTED);
    cr_expect_eq(grant->expires_ms, 77);
    grant_unref(grant);
    grant_unref(NULL);
}

Test(grant, shows_patterns_and_writes_conditions_out)
{
    struct grant *none = grant_of(0), *plain = grant_of(1), *all = grant_of(4);

    expect_json(&none->capabilities, "[]");
    expect_json(&none->whole, "");
    expect_json(&plain->capabilities, "[\"chat\"]");
    expect_json(&plain->whole, "");
    expect_json(&all->capabilities, "[\"chat\",\"note\",\"mcp/*\",\"x\"]");
    expect_json(&all->whole,
                "[\"chat\",{\"kind\":\"note\",\"to\":[\"fs\",\"a\\\"b\"]},"
                "{\"kind\":\"mcp/*\",\"expires\":\"1970-01-01T00:00:01.000Z\"},"
                "{\"kind\":\"x\",\"to\":[\"fs\"],\"expires\":\"1970-01-01T00:00:02.000Z\"}]");
    grant_unref(none);
    grant_unref(plain);
    grant_unref(all);
}

Test(grant, leaves_out_what_has_expired_by_then)
{
    static const struct {
        int64_t wall_ms;
        const char *capabilities;
        const char *whole;
    } rows[] = {
        {999, "[\"chat\",\"note\",\"mcp/*\",\"x\"]", NULL},
        {1000, "[\"chat\",\"note\",\"x\"]", NULL},
        {2000, "[\"chat\",\"note\"]",
         "[\"chat\",{\"kind\":\"note\",\"to\":[\"fs\",\"a\\\"b\"]}]"},
    };
    struct grant *grant = grant_of(4);

    grant->instances = 5;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grant *then = grant_at(grant, rows[i].wall_ms);

        cr_assert(then);
        expect_json(&then->capabilities, rows[i].capabilities);
        if (rows[i].whole)
            expect_json(&then->whole, rows[i].whole);
        cr_expect_eq(then->capset, grant->capset, "the compiled set is shared");
        cr_expect_eq(then->instances, 5);
        grant_unref(then);
    }
    grant_unref(grant);
}

Test(grant, is_the_same_as_long_as_nothing_expires)
{
    struct grant *grant = grant_of(4), *first = grant_at(grant, 1500);
    struct grant *second = grant_at(first, 1999), *third = grant_at(first, 2000);

    cr_expect_neq(first, grant);
    cr_expect_eq(second, first);
    cr_expect_neq(third, first);
    grant_unref(third);
    grant_unref(second);
    grant_unref(first);
    first = grant_at(grant, 10);
    cr_expect_eq(first, grant);
    grant_unref(first);
    grant_unref(grant);
}

Test(grant, lives_until_the_last_reference_is_given_back)
{
    struct grant *grant = grant_of(1);

    cr_expect_eq(grant_ref(grant), grant);
    grant_unref(grant);
    expect_json(&grant->capabilities, "[\"chat\"]");
    grant_unref(grant);
}

Test(grant, leaves_nothing_behind_when_memory_runs_out)
{
    struct mcpx_capset *set = some(4);
    struct grant *grant = NULL;

    FAULT_ALLOC_EACH(nth, 2) {
        grant_unref(grant);
        grant = grant_new(MCPX_SLICE("alice"), set, ROUTING_ALL, 0);
        cr_assert_lt(nth, 100);
    }
    cr_expect(grant);
    grant_unref(grant);
    mcpx_capset_unref(set);
}
