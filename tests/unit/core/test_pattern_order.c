/*
 * What breaks for whom: an administrator with a narrow right gives away a wider one, because a
 * pattern is taken for a part of another that it is not. Protocol: sections 3 and 8.
 */
#include "lib/protocol/pattern.h"
#include "tests/support/oracle.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct mx_pattern parsed(const char *text)
{
    struct mx_pattern pattern;

    cr_assert_eq(mx_pattern_parse(mcpx_slice_of(text), &pattern, NULL), MCPX_OK, "%s", text);
    return pattern;
}

Test(pattern_order, contains)
{
    static const struct {
        const char *outer, *inner;
        bool contains;
    } rows[] = {
        {"chat", "chat", true},
        {"chat", "chat*", false},
        {"chat*", "chat", true},
        {"chat", "chat:*", false},
        {"*", "mcp/*", true},
        {"*", "chat", true},
        {"*", "*", true},
        {"mcp/*", "*", false},
        {"mcp/*", "mcp/request:tools/call:rm", true},
        {"mcp/*", "mcp*", false},
        {"mcp*", "mcp/*", true},
        {"mcp/request", "mcp/request:*", false},
        {"mcp/request:*", "mcp/request", false},
        {"mcp/request:*", "mcp/request:tools/call", true},
        {"mcp/request:*", "mcp/req*", false},
        {"mcp/request:tools/call", "mcp/request:tools/call:*", true},
        {"mcp/request:tools/call:*", "mcp/request:tools/call", true},
        {"mcp/request:tools/call:r*", "mcp/request:tools/call", false},
        {"mcp/request:tools/call:r*", "mcp/request:tools/call:*", false},
        {"mcp/request:tools/call:r*", "mcp/request:tools/call:rm", true},
        {"mcp/request:tools/call:r*", "mcp/request:tools/call:r*m", true},
        {"mcp/request:tools/call:r*m", "mcp/request:tools/call:r*", false},
        {"mcp/request:*/list", "mcp/request:tools/list", true},
        {"mcp/request:*/list", "mcp/request:tools/*", false},
        {"*:*", "chat", false},
        {"*:*", "chat:x", true},
        {"a*b", "a*", false},
        {"a*b", "a*b", true},
        {"a*b*c", "a*c", false},
        {"a*c", "a*b*c", true},
        /* rule 6: a star in a context takes no dot segment, the segment spelt out does */
        {"r:get:/srv/*", "r:get:/srv/../etc", false},
        {"r:get:/srv/*", "r:get:/srv/a", true},
        {"r:get:/srv/*", "r:get:/srv/../*", true},
        {"r:get:*", "r:get:/srv/../etc", true},
        {"r:get", "r:get:/srv/../etc", true},
        {"r:get:/srv/../etc", "r:get:/srv/../etc", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mx_pattern outer = parsed(rows[i].outer), inner = parsed(rows[i].inner);

        cr_expect_eq(mx_pattern_contains(&outer, &inner, false), rows[i].contains, "%s > %s",
                     rows[i].outer, rows[i].inner);
    }
}

Test(pattern_order, a_denial_reaches_dot_segments)
{
    struct mx_pattern outer = parsed("r:get:/srv/*"), inner = parsed("r:get:/srv/../etc");

    cr_expect(mx_pattern_contains(&outer, &inner, true));
}

Test(pattern_order, may_meet)
{
    static const struct {
        const char *one, *other;
        bool meets;
    } rows[] = {
        {"chat", "chat", true},
        {"chat", "chap", false},
        {"chat", "chat:*", false},
        {"cha*", "chat:x", true},
        {"mcp/*", "*", true},
        {"mcp/*", "chat*", false},
        {"mcp/request:*", "mcp/*", true},
        {"mcp/request:*", "mcp/response:*", false},
        {"mcp/request:tools/call:r*", "mcp/request:tools/call:*m", true},
        {"mcp/request:tools/call:r*", "mcp/request:tools/call:l*", false},
        {"mcp/request:tools/call:*x", "mcp/request:tools/call:*y", false},
        {"mcp/request:tools/call:r*", "mcp/request:tools/call", true},
        {"mcp/request:tools/call:r*", "mcp/request:tools/list", false},
        {"mcp/request", "mcp/request:*", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mx_pattern one = parsed(rows[i].one), other = parsed(rows[i].other);

        cr_expect_eq(mx_pattern_may_meet(&one, &other), rows[i].meets, "%s, %s", rows[i].one,
                     rows[i].other);
        cr_expect_eq(mx_pattern_may_meet(&other, &one), rows[i].meets, "%s, %s", rows[i].other,
                     rows[i].one);
    }
}

/* Components over a few bytes, so that patterns and kinds often meet. */
static const char *const components[] = {"a", "b", "ab", "a/b", "*", "a*", "*b", "a*b", "a/*"};
static const char *const contexts[] = {"a",  "ab", "../b", "a/../b", "*",
                                       "a*", "*b", "a*b",  "a/*"};

enum {
    PARTS = sizeof components / sizeof *components,
    TEXTS = PARTS * (1 + PARTS * (1 + PARTS))
};

/* All texts of one to three components: each a pattern, and those without a star a kind. */
static size_t write_texts(char (*texts)[32])
{
    size_t count = 0;

    for (size_t i = 0; i < PARTS; i++) {
        snprintf(texts[count++], 32, "%s", components[i]);
        for (size_t j = 0; j < PARTS; j++) {
            snprintf(texts[count++], 32, "%s:%s", components[i], components[j]);
            for (size_t k = 0; k < PARTS; k++)
                snprintf(texts[count++], 32, "%s:%s:%s", components[i], components[j],
                         contexts[k]);
        }
    }
    return count;
}

/* A grant covers no dotted context by a star among other bytes; the oracle knows that. */
Test(pattern_order, agrees_with_what_patterns_cover)
{
    static char texts[TEXTS][32];
    size_t count = write_texts(texts);
    size_t held = 0, apart = 0;

    cr_assert_eq(count, (size_t)TEXTS);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i % 37; j < count; j += 37) {
            struct mx_pattern one = parsed(texts[i]), other = parsed(texts[j]);
            struct mcpx_slice a = mcpx_slice_of(texts[i]), b = mcpx_slice_of(texts[j]);
            bool contains = mx_pattern_contains(&one, &other, false);
            bool meets = mx_pattern_may_meet(&one, &other);

            held += contains;
            apart += !meets;
            for (size_t k = j % 11; (contains || !meets) && k < count; k += 11) {
                struct mcpx_slice kind = mcpx_slice_of(texts[k]);
                bool in_one = oracle_covers(a, kind, false);
                bool in_other = oracle_covers(b, kind, false);

                cr_assert(!contains || !in_other || in_one, "%s > %s: %s", texts[i], texts[j],
                          texts[k]);
                cr_assert(meets || !in_one || !in_other, "%s, %s: %s", texts[i], texts[j],
                          texts[k]);
            }
        }
    }
    cr_expect_gt(held, 500);
    cr_expect_gt(apart, 500);
}
