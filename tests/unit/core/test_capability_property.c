/*
 * What breaks for whom: a corner of the rules nobody wrote a row for. A quarter of a million
 * random questions to random sets, answered by the library and by the oracle; the texts are built
 * from few pieces so that near misses are common. A failure prints its seed and texts.
 * Protocol: section 3.
 */
#include "lib/protocol/pattern.h"
#include "tests/support/oracle.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { SETS = 6000, KINDS_PER_SET = 42, PATTERNS_MAX = 6, TEXT_MAX = 2000 };

static uint64_t state;

/* splitmix64: the same sequence everywhere. */
static uint64_t roll(uint64_t below)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % below;
}

struct text {
    char bytes[TEXT_MAX];
    size_t len;
};

static void put(struct text *text, const char *bytes)
{
    size_t len = strlen(bytes);

    cr_assert(text->len + len < TEXT_MAX);
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
}

/* Between two stars too many for a program. */
static const char many_bytes[] =
    "abababababababababababababababababababababababababababababababababab";

/* One segment of a type or method. */
static void put_segment(struct text *text, bool stars)
{
    static const char *const pieces[] = {"a",   "b",    "ab",     "a.", "$",
                                         "mcp", "chat", "system", "x-", many_bytes};

    for (uint64_t i = 0, n = 1 + roll(3); i < n; i++)
        put(text, stars && roll(3) == 0 ? "*" : pieces[roll(roll(4) ? 3 : 10)]);
}

static void put_segments(struct text *text, bool stars)
{
    put_segment(text, stars);
    while (roll(3) == 0) {
        put(text, "/");
        put_segment(text, stars);
    }
}

static void put_context(struct text *text, bool stars)
{
    static const char *const pieces[] = {
        "a", "b", "/",   ":",   ".", "..",  "%2e",      "%2E",  "%2f",
        "(", "|", "\\",  "\\E", "+", "[a]", "\xc3\xa9", "/../", "/list",
        " ", "%", "a:b", "*",   "$", "^",   many_bytes};

    for (uint64_t i = 0, n = 1 + roll(6); i < n; i++)
        put(text, stars && roll(3) == 0 ? "*" : pieces[roll(roll(2) ? 5 : 25)]);
}

static struct mcpx_slice random_text(struct text *text, bool stars)
{
    text->len = 0;
    if (stars && roll(40) == 0)
        put(text, "*");
    else
        put_segments(text, stars);
    if (roll(4) > 0) {
        put(text, ":");
        put_segments(text, stars);
        if (roll(3) > 0) {
            put(text, ":");
            put_context(text, stars);
        }
    }
    return (struct mcpx_slice){text->bytes, text->len};
}

/* Fills the stars of a pattern in, so that it often covers the result. */
static struct mcpx_slice filled_in(struct text *text, struct mcpx_slice pattern)
{
    static const char *const fills[] = {"",  "a", "b",   "ab",  "a/b",
                                        ":", "x", "a:b", "/..", "*"};

    text->len = 0;
    for (size_t i = 0; i < pattern.len; i++) {
        char byte[2] = {pattern.text[i], '\0'};

        put(text, byte[0] == '*' ? fills[roll(roll(2) ? 5 : 10)] : byte);
    }
    if (roll(4) == 0)
        put(text, ":a");
    return (struct mcpx_slice){text->bytes, text->len};
}

struct scene {
    struct text texts[PATTERNS_MAX];
    struct mcpx_grant grants[PATTERNS_MAX];
    struct mcpx_slice deny[PATTERNS_MAX];
    size_t grant_count, deny_count;
};

/* Random patterns that fit the grammar ("." and ".." as segments do not). */
static void make_scene(struct scene *scene)
{
    scene->grant_count = roll(5);
    scene->deny_count = roll(3) ? 0 : 1 + roll(2);
    if (scene->grant_count + scene->deny_count == 0)
        scene->grant_count = 1;
    for (size_t i = 0; i < scene->grant_count + scene->deny_count; i++) {
        struct mcpx_slice pattern;

        do {
            pattern = random_text(&scene->texts[i], true);
        } while (mcpx_pattern_check(pattern, NULL));
        if (i < scene->grant_count)
            scene->grants[i] = (struct mcpx_grant){.pattern = pattern};
        else
            scene->deny[i - scene->grant_count] = pattern;
    }
}

static bool is_costly(const struct scene *scene)
{
    struct mx_pattern pattern;
    bool costly = false;

    for (size_t i = 0; i < scene->grant_count + scene->deny_count; i++) {
        const struct text *text = &scene->texts[i];

        costly |= mx_pattern_parse((struct mcpx_slice){text->bytes, text->len}, &pattern,
                                   NULL) == MCPX_OK &&
                  mx_pattern_is_costly(&pattern);
    }
    return costly;
}

static bool oracle_allows(const struct scene *scene, struct mcpx_slice kind)
{
    bool granted = false;

    for (size_t i = 0; i < scene->grant_count; i++)
        granted |= oracle_covers(scene->grants[i].pattern, kind, false);
    for (size_t i = 0; i < scene->deny_count; i++)
        granted &= !oracle_covers(scene->deny[i], kind, true);
    return granted && !oracle_is_reserved(kind);
}

/* The set's answer with the pattern `would_allow` added. */
static bool allows_with(const struct scene *scene, struct mcpx_slice pattern,
                        const struct mcpx_question *question)
{
    struct mcpx_grant grants[PATTERNS_MAX + 1];
    struct mcpx_capset *set = NULL;
    bool allowed;

    memcpy(grants, scene->grants, sizeof scene->grants);
    grants[scene->grant_count] = (struct mcpx_grant){.pattern = pattern};
    cr_assert_eq(mcpx_capset_new(grants, scene->grant_count + 1, scene->deny,
                                 scene->deny_count, NULL, NULL, &set),
                 MCPX_OK, "would_allow is no pattern: %.*s", (int)pattern.len, pattern.text);
    allowed = mcpx_capset_allows(set, question);
    mcpx_capset_unref(set);
    return allowed;
}

/* Asks one question in every way there is; counts those allowed. */
static size_t compare(const struct scene *scene, struct mcpx_capset *set,
                      const struct mcpx_kind *kind)
{
    struct mcpx_question question = {.kind = kind};
    struct mcpx_decision decision;
    bool expected = oracle_allows(scene, kind->text);
    bool allowed = mcpx_capset_allows(set, &question);

    cr_assert_eq(allowed, expected, "%.*s with %.*s first", (int)kind->text.len,
                 kind->text.text, (int)scene->texts[0].len, scene->texts[0].bytes);
    cr_assert_eq(mcpx_kind_has_dot_segment(kind), oracle_is_dotted(kind->text), "%.*s",
                 (int)kind->text.len, kind->text.text);
    mcpx_capset_explain(set, &question, &decision);
    cr_assert_eq(decision.refusal == MCPX_ALLOWED, expected);
    cr_assert_eq(decision.would_allow.text != NULL,
                 !expected && decision.refusal != MCPX_DENIED &&
                     decision.refusal != MCPX_RESERVED_NAMESPACE);
    if (decision.would_allow.text && roll(16) == 0)
        cr_assert(allows_with(scene, decision.would_allow, &question),
                  "%.*s does not allow %.*s", (int)decision.would_allow.len,
                  decision.would_allow.text, (int)kind->text.len, kind->text.text);
    return allowed;
}

Test(capability_property, sets_answer_like_the_oracle)
{
    size_t asked = 0, allowed = 0, costly = 0;

    state = 20261121;
    for (size_t i = 0; i < SETS; i++) {
        struct scene scene = {.grant_count = 0};
        struct mcpx_capset *set = NULL;

        make_scene(&scene);
        costly += is_costly(&scene);
        cr_assert_eq(mcpx_capset_new(scene.grants, scene.grant_count, scene.deny,
                                     scene.deny_count, NULL, NULL, &set),
                     MCPX_OK);
        for (size_t j = 0; j < KINDS_PER_SET;) {
            struct text text;
            const struct text *some = &scene.texts[roll(scene.grant_count + scene.deny_count)];
            struct mcpx_slice near = {some->bytes, some->len};
            struct mcpx_kind kind;

            near = roll(4) ? filled_in(&text, near) : random_text(&text, false);
            if (mcpx_kind_parse(near, &kind, NULL))
                near = random_text(&text, false);
            if (mcpx_kind_parse(near, &kind, NULL))
                continue;
            allowed += compare(&scene, set, &kind);
            asked++;
            j++;
        }
        mcpx_capset_unref(set);
    }
    cr_log_info("%zu questions, %zu allowed", asked, allowed);
    cr_expect_geq(asked, 200000);
    cr_expect_geq(costly, SETS / 50, "sets that have no program: %zu", costly);
    cr_expect(allowed > asked / 10 && allowed < asked * 9 / 10, "%zu of %zu", allowed, asked);
}

Test(capability_property, the_walk_covers_what_the_oracle_covers)
{
    struct text pattern_text, text;

    state = 7;
    for (size_t i = 0; i < 300000; i++) {
        struct mx_pattern pattern;
        struct mcpx_kind kind;
        bool denies = roll(2);

        if (mx_pattern_parse(random_text(&pattern_text, true), &pattern, NULL))
            continue;
        if (mcpx_kind_parse(filled_in(&text, pattern.parts.text), &kind, NULL))
            continue;
        cr_assert_eq(
            mx_pattern_covers(&pattern, &kind, !denies && mcpx_kind_has_dot_segment(&kind)),
            oracle_covers(pattern.parts.text, kind.text, denies), "%.*s %.*s",
            (int)pattern.parts.text.len, pattern.parts.text.text, (int)kind.text.len,
            kind.text.text);
    }
}
