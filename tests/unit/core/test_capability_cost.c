/*
 * What breaks for whom: whoever is granted a few dozen patterns of a kind makes the router look
 * for them for milliseconds with each message, while everybody else waits. Steps are counted, not
 * time: PCRE2 calls back before each item of an expression that it tries. Protocol: section 3.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "lib/protocol/pattern.h"
#include "tests/support/count.h"

#include <criterion/criterion.h>
#include <pcre2.h>

enum { SOUGHT = MX_PATTERN_SOUGHT_MAX };

/* The linker puts these in place of PCRE2's. */
int __real_pcre2_jit_compile_8(pcre2_code *code, uint32_t options);
int __wrap_pcre2_jit_compile_8(pcre2_code *code, uint32_t options);
int __real_pcre2_jit_match_8(const pcre2_code *code, PCRE2_SPTR text, PCRE2_SIZE len,
                             PCRE2_SIZE from, uint32_t options, pcre2_match_data *data,
                             pcre2_match_context *context);
int __wrap_pcre2_jit_match_8(const pcre2_code *code, PCRE2_SPTR text, PCRE2_SIZE len,
                             PCRE2_SIZE from, uint32_t options, pcre2_match_data *data,
                             pcre2_match_context *context);

static bool without_jit;
static size_t matches; /* of a program */

int __wrap_pcre2_jit_compile_8(pcre2_code *code, uint32_t options)
{
    return without_jit ? PCRE2_ERROR_JIT_BADOPTION : __real_pcre2_jit_compile_8(code, options);
}

int __wrap_pcre2_jit_match_8(const pcre2_code *code, PCRE2_SPTR text, PCRE2_SIZE len,
                             PCRE2_SIZE from, uint32_t options, pcre2_match_data *data,
                             pcre2_match_context *context)
{
    matches++;
    return __real_pcre2_jit_match_8(code, text, len, from, options, data, context);
}

/* A text of `before`, so many times "a", and `after`. */
static struct mcpx_slice written(char out[MCPX_KIND_MAX], const char *before, size_t run,
                                 const char *after)
{
    size_t len = strlen(before) + run + strlen(after);

    cr_assert_leq(len, MCPX_KIND_MAX);
    memcpy(out, before, strlen(before));
    memset(out + strlen(before), 'a', run);
    memcpy(out + strlen(before) + run, after, strlen(after));
    return (struct mcpx_slice){out, len};
}

static int count_step(pcre2_callout_block *block, void *steps)
{
    (void)block;
    ++*(size_t *)steps;
    return 0;
}

/* What it takes to see that the pattern, which is anchored as in a set, does not match. */
static size_t steps_of(const struct mx_pattern *pattern, struct mcpx_slice kind)
{
    struct mcpx_text text = {0};
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    pcre2_code *code;
    PCRE2_SIZE at;
    size_t steps = 0;
    int error;

    mx_pattern_regex(pattern, &text);
    code = pcre2_compile((PCRE2_SPTR)text.text, text.len,
                         PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOTALL |
                             PCRE2_AUTO_CALLOUT | PCRE2_NO_START_OPTIMIZE,
                         &error, &at, NULL);
    cr_assert(code && context && data, "%.*s", (int)text.len, text.text);
    pcre2_set_callout(context, count_step, &steps);
    pcre2_set_match_limit(context, UINT32_MAX);
    cr_expect_eq(
        pcre2_match(code, (PCRE2_SPTR)kind.text, kind.len, 0, PCRE2_NO_JIT, data, context),
        PCRE2_ERROR_NOMATCH, "%.*s", (int)text.len, text.text);
    pcre2_code_free(code);
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    mcpx_text_fini(&text);
    return steps;
}

/* Kinds are as long as kinds can be, and "a" throughout. */
Test(capability_cost, of_an_expression_is_not_the_product_of_lengths)
{
    static const struct {
        const char *before;
        size_t run;
        const char *after, *kind;
        size_t most;
    } rows[] = {
        /* the end of a component is looked at in one place */
        {"x:y:*", 1000, "b", "x:y:", 1100},
        {"x:y:*", 8, "b", "x:y:", 100},
        {"x:*", 1000, "b", "x:", 1100},
        {"x:*", 1000, "b:c", "x:", 1100},
        {"*", 1000, "b", "", 1100},
        {"*a*a*a*", 1000, "b", "", 1200},
        {"x:y:*a*a*", 1000, "b", "x:y:", 1200},
        /* what stands between stars is looked for at each byte */
        {"x:y:*", SOUGHT - 1, "b*", "x:y:", (SOUGHT + 2) * MCPX_KIND_MAX},
        {"x:*", SOUGHT - 1, "b*", "x:", (SOUGHT + 2) * MCPX_KIND_MAX},
        {"*", SOUGHT - 1, "b*", "", (SOUGHT + 2) * MCPX_KIND_MAX},
        {"x:y:*aa*aa*aaa*", SOUGHT - 1, "b*", "x:y:", (SOUGHT + 2) * MCPX_KIND_MAX},
        {"*b*", 1000, "b", "", 4 * MCPX_KIND_MAX},
    };
    char pattern_text[MCPX_KIND_MAX], text[MCPX_KIND_MAX];

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_slice kind =
            written(text, rows[i].kind, MCPX_KIND_MAX - strlen(rows[i].kind), "");
        struct mx_pattern pattern;
        size_t steps;

        cr_assert_eq(
            mx_pattern_parse(written(pattern_text, rows[i].before, rows[i].run, rows[i].after),
                             &pattern, NULL),
            MCPX_OK);
        cr_expect_not(mx_pattern_is_costly(&pattern), "%zu", i);
        steps = steps_of(&pattern, kind);
        cr_expect_leq(steps, rows[i].most, "%s, %zu times a, %s: %zu steps", rows[i].before,
                      rows[i].run, rows[i].after, steps);
    }
}

Test(capability_cost, is_foretold_where_it_would_be)
{
    static const struct {
        const char *before;
        size_t run;
        const char *after;
        bool costly;
    } rows[] = {
        {"*", SOUGHT + 1, "*", true},        {"*", SOUGHT, "*", false},
        {"x*", SOUGHT + 1, "*:y", true},     {"x:*", SOUGHT + 1, "*", true},
        {"x:**", SOUGHT + 1, "**b:y", true}, {"x:y:*", SOUGHT + 1, "*", true},
        {"x:y:*b*", SOUGHT + 1, "*b", true}, {"x:y:*", SOUGHT + 1, "", false},
        {"x:y:", SOUGHT + 1, "*b*", false},  {"*", SOUGHT + 1, ":*", false},
        {"x:*", SOUGHT + 1, ":*", false},    {"", SOUGHT + 1, "", false},
        {"x:y:*:", SOUGHT + 1, ":*b", true}, {"*", SOUGHT + 1, ":*:*", false},
        {"*:*:*", SOUGHT + 1, "**", true},
    };
    char text[MCPX_KIND_MAX];

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_pattern pattern;

        cr_assert_eq(
            mx_pattern_parse(written(text, rows[i].before, rows[i].run, rows[i].after),
                             &pattern, NULL),
            MCPX_OK);
        cr_expect_eq(mx_pattern_is_costly(&pattern), rows[i].costly, "%s, %zu times a, %s",
                     rows[i].before, rows[i].run, rows[i].after);
    }
}

static bool asks(const struct mcpx_grant *grants, size_t count, const char *denial,
                 struct mcpx_slice text, int64_t wall_ms)
{
    struct mcpx_slice deny = mcpx_slice_of(denial);
    struct mcpx_kind kind;
    struct mcpx_question question = {.kind = &kind, .wall_ms = wall_ms};
    struct mcpx_capset *set = NULL;
    bool allowed;

    cr_assert_eq(mcpx_kind_parse(text, &kind, NULL), MCPX_OK);
    cr_assert_eq(mcpx_capset_new(grants, count, &deny, denial != NULL, NULL, NULL, &set),
                 MCPX_OK);
    matches = 0;
    allowed = mcpx_capset_allows(set, &question);
    mcpx_capset_unref(set);
    return allowed;
}

Test(capability_cost, is_spared_by_asking_no_program)
{
    char long_text[MCPX_KIND_MAX], text[MCPX_KIND_MAX];
    struct mcpx_slice run = written(long_text, "x:y:*", SOUGHT + 1, "*");
    struct mcpx_slice kind = written(text, "x:y:c", SOUGHT + 1, "d");
    const struct mcpx_grant grants[] = {
        {.pattern = run}, {.pattern = MCPX_SLICE("x:z:*d")}, {.pattern = MCPX_SLICE("*")}};

    cr_expect(asks(grants, 1, NULL, kind, 0));
    cr_expect_eq(matches, 0, "a costly pattern");
    cr_expect_not(asks(grants, 2, NULL, MCPX_SLICE("x:y:d"), 0));
    cr_expect_eq(matches, 0, "a costly pattern and another");
    cr_expect(asks(grants + 1, 1, NULL, MCPX_SLICE("x:z:d"), 0) && matches == 1);
    cr_expect_not(asks(grants + 1, 1, NULL, MCPX_SLICE("x:z:../d"), 0) || matches);
    long_text[run.len] = '\0';
    cr_expect_not(asks(grants + 2, 1, long_text, kind, 0));
    cr_expect_eq(matches, 0, "a costly denial");
}

Test(capability_cost, is_spared_where_there_is_no_jit)
{
    const struct mcpx_grant grants[] = {{.pattern = MCPX_SLICE("a:b:/srv/*")},
                                        {.pattern = MCPX_SLICE("a:c"), .expires_ms = 100}};

    without_jit = true;
    cr_expect(asks(grants, 2, "a:b:*secret", MCPX_SLICE("a:b:/srv/x"), 0));
    cr_expect_not(asks(grants, 2, "a:b:*secret", MCPX_SLICE("a:b:/srv/secret"), 0));
    cr_expect_not(asks(grants, 2, NULL, MCPX_SLICE("a:b:/srv/../x"), 0), "rule 6");
    cr_expect(asks(grants, 2, NULL, MCPX_SLICE("a:c:d"), 99));
    cr_expect_not(asks(grants, 2, NULL, MCPX_SLICE("a:c:d"), 100));
    cr_expect_eq(matches, 0);
    without_jit = false;
}

/* A verdict that hangs on a condition is not remembered, whoever found it. */
Test(capability_cost, is_not_spared_by_forgetting_conditions)
{
    char long_text[MCPX_KIND_MAX];
    const struct mcpx_grant grants[] = {{.pattern = MCPX_SLICE("a:b"), .expires_ms = 100},
                                        {.pattern = written(long_text, "*", SOUGHT + 1, "*")},
                                        {.pattern = MCPX_SLICE("c")},
                                        {.pattern = MCPX_SLICE("d")}};
    struct mcpx_capset *set = NULL;
    struct mcpx_kind kind;
    struct mcpx_question question = {.kind = &kind, .wall_ms = 99};

    cr_assert_eq(mcpx_kind_parse(MCPX_SLICE("a:b"), &kind, NULL), MCPX_OK);
    cr_assert_eq(mcpx_capset_new(grants, 4, NULL, 0, NULL, NULL, &set), MCPX_OK);
    cr_expect(mcpx_capset_allows(set, &question));
    question.wall_ms = 100;
    cr_expect_not(mcpx_capset_allows(set, &question));
    mcpx_capset_unref(set);
}
