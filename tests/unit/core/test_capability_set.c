/*
 * What breaks for whom: an expired grant that still opens doors, a grant for one colleague used
 * on another, a configuration mistake reported at the wrong place, a set too large for one
 * program that quietly loses grants. Protocol: section 3.
 */
#include <mcpx/capability.h>

#include "tests/support/count.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* "a b c" to slices of its words; NULL is none. Returns how many. */
static size_t words(const char *text, struct mcpx_slice *out)
{
    size_t count = 0;

    while (text && *text) {
        out[count++] = (struct mcpx_slice){text, strcspn(text, " ")};
        text += strcspn(text, " ");
        text += *text == ' ';
    }
    return count;
}

static struct mcpx_capset *make(const struct mcpx_grant *grants, size_t grant_count,
                                const char *denials)
{
    struct mcpx_slice deny[8];
    struct mcpx_capset *set = NULL;

    cr_assert_eq(
        mcpx_capset_new(grants, grant_count, deny, words(denials, deny), NULL, NULL, &set),
        MCPX_OK);
    return set;
}

static bool asks(struct mcpx_capset *set, const char *text, const char *to, int64_t wall_ms)
{
    struct mcpx_slice addressees[8];
    struct mcpx_kind kind;
    struct mcpx_question question = {&kind, addressees, words(to, addressees), wall_ms};

    cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(text), &kind, NULL), MCPX_OK, "%s", text);
    return mcpx_capset_allows(set, &question);
}

Test(capability_set, holds_conditions_to_the_letter)
{
    const struct mcpx_slice one[] = {MCPX_SLICE("fs")};
    const struct mcpx_slice two[] = {MCPX_SLICE("fs"), MCPX_SLICE("web")};
    const struct mcpx_grant grants[] = {
        {MCPX_SLICE("a:one"), one, 1, 0},      {MCPX_SLICE("a:two:x*"), two, 2, 0},
        {MCPX_SLICE("a:until"), NULL, 0, 100}, {MCPX_SLICE("a:both"), one, 1, 100},
        {MCPX_SLICE("chat"), NULL, 0, 0},      {MCPX_SLICE("a:twice"), one, 1, 0},
        {MCPX_SLICE("a:tw*"), NULL, 0, 50},
    };
    static const struct {
        const char *kind, *to;
        int64_t wall_ms;
        bool allowed;
    } rows[] = {
        {"a:one", "fs", 0, true},          {"a:one:ctx", "fs", 0, true},
        {"a:one", NULL, 0, false},         {"a:one", "web", 0, false},
        {"a:one", "fs web", 0, false},     {"a:one", "fs fs", 0, true},
        {"a:one", "f", 0, false},          {"a:one", "fss", 0, false},
        {"a:one", "FS", 0, false},         {"a:two:xy", "fs", 0, true},
        {"a:two:xy", "web fs", 0, true},   {"a:two:xy", "web fs db", 60, false},
        {"a:two:xy", NULL, 60, false},     {"a:two:y", "fs", 60, false},
        {"a:two:x/../y", "fs", 60, false}, {"a:until", NULL, 99, true},
        {"a:until", "anyone", 99, true},   {"a:until", NULL, 100, false},
        {"a:until", NULL, 101, false},     {"a:both", "fs", 99, true},
        {"a:both", "fs", 100, false},      {"a:both", NULL, 99, false},
        {"chat", NULL, 1000, true},        {"chat", "fs web", 1000, true},
        {"a:twice", "fs", 1000, true},     {"a:twice", "web", 1000, false},
        {"a:twice", "web", 49, true},      {"a:twice", NULL, 49, true},
    };
    struct mcpx_capset *set = make(grants, COUNT(grants), NULL);
    struct mcpx_capset *fewer = make(grants, COUNT(grants), "a:one a:until");

    for (size_t asked = 0; asked < 2 * COUNT(rows); asked++) { /* again, when some are known */
        size_t i = asked % COUNT(rows);
        bool denied =
            strncmp(rows[i].kind, "a:one", 5) == 0 || strcmp(rows[i].kind, "a:until") == 0;

        cr_expect_eq(asks(set, rows[i].kind, rows[i].to, rows[i].wall_ms), rows[i].allowed,
                     "%s to %s at %lld", rows[i].kind, rows[i].to ? rows[i].to : "everyone",
                     (long long)rows[i].wall_ms);
        cr_expect_eq(asks(fewer, rows[i].kind, rows[i].to, rows[i].wall_ms),
                     rows[i].allowed && !denied, "with denials: %s", rows[i].kind);
    }
    mcpx_capset_unref(set);
    mcpx_capset_unref(fewer);
}

Test(capability_set, never_answers_with_what_another_set_said)
{
    const struct mcpx_grant grants[] = {{.pattern = MCPX_SLICE("a")},
                                        {.pattern = MCPX_SLICE("b")},
                                        {.pattern = MCPX_SLICE("c")},
                                        {.pattern = MCPX_SLICE("chat")}};
    size_t count = COUNT(grants);

    for (int i = 0; i < 100; i++) { /* freed and made again, most likely in the same place */
        struct mcpx_capset *with = make(grants, count, NULL);
        struct mcpx_capset *without = make(grants, count, "chat");

        for (int again = 0; again < 2; again++) {
            cr_expect(asks(with, "chat", NULL, 0));
            cr_expect_not(asks(without, "chat", NULL, 0));
        }
        mcpx_capset_unref(with);
        mcpx_capset_unref(without);
        without = make(grants, count, "chat");
        cr_expect_not(asks(without, "chat", NULL, 0));
        mcpx_capset_unref(without);
    }
}

Test(capability_set, knows_when_its_next_grant_ends)
{
    const struct mcpx_grant grants[] = {
        {MCPX_SLICE("a"), NULL, 0, 300},
        {MCPX_SLICE("b"), NULL, 0, 0},
        {MCPX_SLICE("c"), NULL, 0, 100},
        {MCPX_SLICE("d"), NULL, 0, 200},
    };
    static const struct {
        int64_t wall_ms, next;
    } rows[] = {{0, 100}, {99, 100}, {100, 200}, {199, 200}, {200, 300}, {300, 0}, {999, 0}};
    struct mcpx_capset *set = make(grants, COUNT(grants), NULL);
    struct mcpx_capset *endless = make(grants + 1, 1, NULL);

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(mcpx_capset_next_expiry(set, rows[i].wall_ms), rows[i].next, "at %lld",
                     (long long)rows[i].wall_ms);
    cr_expect_eq(mcpx_capset_next_expiry(endless, -5), 0);
    mcpx_capset_unref(set);
    mcpx_capset_unref(endless);
}

Test(capability_set, keeps_copies_and_counts_holders)
{
    char pattern[] = "a:b:x", id[] = "fs", denied[] = "a:c";
    struct mcpx_slice to = mcpx_slice_of(id), deny = mcpx_slice_of(denied);
    struct mcpx_grant grant = {mcpx_slice_of(pattern), &to, 1, 7};
    struct mcpx_capset *set = NULL;

    cr_assert_eq(mcpx_capset_new(&grant, 1, &deny, 1, NULL, NULL, &set), MCPX_OK);
    memset(pattern, 'z', sizeof pattern);
    memset(id, 'z', sizeof id);
    memset(denied, 'z', sizeof denied);
    to = (struct mcpx_slice){NULL, 0};
    cr_expect_eq(mcpx_capset_ref(set), set);
    mcpx_capset_unref(set);
    cr_assert_eq(mcpx_capset_count(set), 1);
    cr_expect(mcpx_slice_equal(mcpx_capset_grant(set, 0)->pattern, MCPX_SLICE("a:b:x")));
    cr_assert_eq(mcpx_capset_grant(set, 0)->to_count, 1);
    cr_expect(mcpx_slice_equal(mcpx_capset_grant(set, 0)->to[0], MCPX_SLICE("fs")));
    cr_expect_eq(mcpx_capset_grant(set, 0)->expires_ms, 7);
    cr_expect(asks(set, "a:b:x", "fs", 6));
    mcpx_capset_unref(set);
    mcpx_capset_unref(NULL);
}

Test(capability_set, names_the_pattern_the_place_and_the_reason)
{
    static const struct {
        const char *pattern, *field;
        size_t offset;
    } rows[] = {
        {"", "pattern", 0},
        {":", "type", 0},
        {"a:", "method", 2},
        {"a:b:", "context", 4},
        {"a::b", "method", 2},
        {"a::*", "method", 2},
        {"/a", "type", 0},
        {"a/", "type", 2},
        {"mcp//x:*", "type", 4},
        {"a:*/", "method", 4},
        {"..", "type", 0},
        {"a/./b", "type", 2},
        {"a:../*", "method", 2},
        {"a b", "type", 1},
        {"a:b c", "method", 3},
        {"\xc3\xa9*", "type", 0},
        {"a:b\xc2\xa0", "method", 3},
        {"a:b:x\n", "context", 5},
        {"a:b:\x7f", "context", 4},
        {"a:b\\*", "method", 3},
        {"a:(b)", "method", 2},
        {"a+", "type", 1},
        {"[a]", "type", 0},
        {"^a", "type", 0},
        {"a|b", "type", 1},
        {"a?", "type", 1},
        {"!a", "type", 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_grant grants[] = {{.pattern = MCPX_SLICE("chat")},
                                      {.pattern = mcpx_slice_of(rows[i].pattern)}};
        struct mcpx_slice deny[] = {MCPX_SLICE("chat"), grants[1].pattern};
        struct mcpx_fault fault = {NULL, "", 999};
        struct mcpx_capset *set = NULL;
        size_t failed = 99;

        cr_expect_eq(mcpx_pattern_check(grants[1].pattern, &fault), MCPX_EPATTERN, "%s",
                     rows[i].pattern);
        cr_expect_str_eq(fault.field, rows[i].field, "%s: %s", rows[i].pattern, fault.field);
        cr_expect_eq(fault.offset, rows[i].offset, "%s: %zu", rows[i].pattern, fault.offset);
        cr_expect(fault.reason && *fault.reason, "%s", rows[i].pattern);
        cr_expect_eq(mcpx_capset_new(grants, 2, NULL, 0, &failed, &fault, &set),
                     MCPX_EPATTERN);
        cr_expect_eq(failed, 1);
        cr_expect_eq(mcpx_capset_new(grants, 1, deny, 2, &failed, &fault, &set),
                     MCPX_EPATTERN);
        cr_expect_eq(failed, 2, "denials are counted after grants");
        cr_expect_eq(mcpx_capset_new(grants, 2, NULL, 0, NULL, NULL, &set), MCPX_EPATTERN);
        cr_expect_null(set, "untouched on failure");
    }
}

Test(capability_set, accepts_stars_wherever_they_may_stand)
{
    static const char *const rows[] = {
        "*",        "**",    "mcp/*", "*/x",     "a/*/b",   "a*b/c",  "mcp/request:*",
        "a:*/list", "a:*:*", "*:*:*", "a:b:*",   "a:b:\\*", "a:b:c:", "a:b::",
        "$/x:$/y",  ".*",    "..*",   "a/..*:b", "a:*.*",   "a:b: ",
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(mcpx_pattern_check(mcpx_slice_of(rows[i]), NULL), MCPX_OK, "%s", rows[i]);
}

Test(capability_set, hints_at_patterns_nobody_can_mean)
{
    static const struct {
        const char *pattern, *says;
    } rows[] = {
        {"mcp/request", "append ':*'"},
        {"mcp/response", "append ':*'"},
        {"mcp/proposal", "append ':*'"},
        {"system/*", "router's own"},
        {"Presence", "router's own"},
        {"chat:*", "plain kind"},
        {"chat/acknowledge:*", "plain kind"},
        {"mcp/withdraw:*", "plain kind"},
        {"mcp/withdraw:tools/call:t", "plain kind"},
        {"mcp/reject:*", "plain kind"},
        {"admin/grant:*", "plain kind"},
        {"mcp/withdraw", NULL},
        {"mcp/reject", NULL},
        {"mcp/*/x", NULL},
        {"mcp/own", NULL},
        {"chat:room", NULL},
        {"admin/*", NULL},
        {"a:b:file:///srv/../x*", "dot segment"},
        {"a:b:x\\*", "backslash"},
        {"mcp/*", NULL},
        {"mcp/request:*", NULL},
        {"chat", NULL},
        {"*", NULL},
        {"a:b:*", NULL},
        {"a:b:file:///srv/*", NULL},
        {"a:b:file:///srv/../x", NULL},
        {"not valid", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *hint = mcpx_pattern_hint(mcpx_slice_of(rows[i].pattern));

        cr_expect(rows[i].says ? hint && strstr(hint, rows[i].says) : !hint, "%s: %s",
                  rows[i].pattern, hint ? hint : "no hint");
    }
}

/* A set of patterns "<prefix><i>", padded with x to `len` bytes each, freed by the caller. */
static struct mcpx_grant *numbered(size_t count, size_t len, const char *prefix)
{
    struct mcpx_grant *grants = calloc(count, sizeof *grants);
    char *room = malloc(count * (len + 1) + 1);

    cr_assert(grants && room);
    for (size_t i = 0; i < count; i++) {
        char *text = room + i * (len + 1);

        snprintf(text, len + 1, "%s%zu-", prefix, i);
        memset(text + strlen(text), 'x', len - strlen(text));
        grants[i].pattern = (struct mcpx_slice){text, len};
    }
    return grants;
}

static void free_numbered(struct mcpx_grant *grants)
{
    free((char *)(uintptr_t)grants[0].pattern.text);
    free(grants);
}

Test(capability_set, larger_than_one_program_loses_nothing)
{
    enum { COUNT = MCPX_CAPSET_PATTERNS_MAX, LEN = MCPX_CAPSET_BYTES_MAX / COUNT };
    static const char *const prefixes[] = {"a:b:", "a/", "a:", "a:b:.+(", "a:b:*."};
    struct mcpx_slice deny[COUNT];

    for (size_t p = 0; p < COUNT(prefixes); p++) {
        struct mcpx_grant *grants = numbered(COUNT, LEN, prefixes[p]);
        struct mcpx_grant everything = {.pattern = MCPX_SLICE("a*")};
        struct mcpx_capset *set = make(grants, COUNT, NULL), *but = NULL;

        for (size_t i = 0; i < COUNT; i++)
            deny[i] = grants[i].pattern;
        cr_assert_eq(mcpx_capset_new(&everything, 1, deny, COUNT - 1, NULL, NULL, &but),
                     MCPX_OK);
        for (size_t i = 0; i < COUNT; i++) {
            char text[LEN + 1];

            memcpy(text, grants[i].pattern.text, LEN);
            text[LEN] = '\0';
            cr_expect(asks(set, text, NULL, 0), "%s", text);
            cr_expect_eq(asks(but, text, NULL, 0), i == COUNT - 1, "all but %s", text);
            text[LEN - 1] = 'y';
            cr_expect_not(asks(set, text, NULL, 0), "%s", text);
            cr_expect(asks(but, text, NULL, 0), "all but others than %s", text);
        }
        mcpx_capset_unref(set);
        mcpx_capset_unref(but);
        free_numbered(grants);
    }
}

Test(capability_set, larger_than_one_program_keeps_its_conditions)
{
    enum { COUNT = 1000, LEN = 60 };
    struct mcpx_grant *grants = numbered(COUNT, LEN, "a:b:*.");
    struct mcpx_capset *set;

    for (size_t i = 0; i < COUNT; i++)
        grants[i].expires_ms = (int64_t)i + 1;
    set = make(grants, COUNT, NULL);
    for (size_t i = 0; i < COUNT; i++) {
        char text[LEN + 1];

        memcpy(text, grants[i].pattern.text, LEN);
        text[LEN] = '\0';
        cr_expect(asks(set, text, NULL, (int64_t)i), "%s", text);
        cr_expect_not(asks(set, text, NULL, (int64_t)i + 1), "%s", text);
    }
    mcpx_capset_unref(set);
    free_numbered(grants);
}

Test(capability_set, is_bounded_in_patterns_and_bytes)
{
    enum { COUNT = MCPX_CAPSET_PATTERNS_MAX + 1, LEN = MCPX_CAPSET_BYTES_MAX / 64 };
    struct mcpx_grant *many = numbered(COUNT, 12, "a:b:");
    struct mcpx_grant *big = numbered(65, LEN, "a:b:");
    struct mcpx_slice one = MCPX_SLICE("chat");
    struct mcpx_fault fault = {NULL, NULL, 0};
    struct mcpx_capset *set = NULL;
    size_t failed = 0;

    cr_expect_eq(mcpx_capset_new(many, COUNT, NULL, 0, &failed, &fault, &set), MCPX_ELIMIT);
    cr_expect_eq(failed, COUNT - 1);
    cr_expect_not_null(fault.reason);
    cr_expect_eq(mcpx_capset_new(many, COUNT - 1, &one, 1, &failed, NULL, &set), MCPX_ELIMIT);
    cr_expect_eq(failed, COUNT - 1);
    cr_expect_eq(mcpx_capset_new(big, 65, NULL, 0, &failed, NULL, &set), MCPX_ELIMIT);
    cr_expect_eq(failed, 64);
    cr_expect_null(set, "untouched on failure");
    cr_expect_eq(mcpx_capset_new(big, 64, NULL, 0, &failed, NULL, &set), MCPX_OK);
    mcpx_capset_unref(set);
    free_numbered(many);
    free_numbered(big);
}
