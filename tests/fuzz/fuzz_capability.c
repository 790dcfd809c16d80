/*
 * fuzz_capability.c - any bytes as patterns and a kind: the set, the walk and the oracle agree.
 * The input is lines: the first is the kind, those that follow are patterns, one that begins with
 * "!" is a denial. What does not fit its grammar must be refused with a fault inside it, and is
 * then left out.
 */
#include "lib/protocol/pattern.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/oracle.h"

enum { LINES_MAX = 8 };

struct lines {
    struct mcpx_grant grants[LINES_MAX];
    struct mcpx_slice deny[LINES_MAX];
    size_t grant_count, deny_count;
};

static struct mcpx_slice take_line(struct mcpx_slice *rest)
{
    struct mcpx_slice line = *rest;
    const char *newline = rest->len > 0 ? memchr(rest->text, '\n', rest->len) : NULL;

    if (newline)
        line.len = (size_t)(newline - rest->text);
    rest->text += line.len + (newline != NULL);
    rest->len -= line.len + (newline != NULL);
    return line;
}

static void add_pattern(struct lines *lines, struct mcpx_slice line)
{
    struct mcpx_fault fault = {NULL, NULL, 0};
    bool denies = line.len > 0 && line.text[0] == '!';

    if (denies) {
        line.text++;
        line.len--;
    }
    if (mcpx_pattern_check(line, &fault)) {
        must(fault.reason && fault.field && fault.offset <= line.len);
        return;
    }
    (void)mcpx_pattern_hint(line);
    if (denies)
        lines->deny[lines->deny_count++] = line;
    else
        lines->grants[lines->grant_count++].pattern = line;
}

/* The walk and the oracle, pattern by pattern. */
static bool covers(struct mcpx_slice text, const struct mcpx_kind *kind, bool denies)
{
    struct mx_pattern pattern;
    bool covered;

    must(mx_pattern_parse(text, &pattern, NULL) == MCPX_OK);
    covered = mx_pattern_covers(&pattern, kind, !denies && mcpx_kind_has_dot_segment(kind));
    must(covered == oracle_covers(text, kind->text, denies));
    return covered;
}

static bool expected(const struct lines *lines, const struct mcpx_kind *kind)
{
    bool granted = false;

    for (size_t i = 0; i < lines->grant_count; i++)
        granted |= covers(lines->grants[i].pattern, kind, false);
    for (size_t i = 0; i < lines->deny_count; i++)
        granted &= !covers(lines->deny[i], kind, true);
    return granted && !mcpx_kind_is_reserved(kind);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice rest = {(const char *)data, size};
    struct lines lines = {.grant_count = 0};
    struct mcpx_capset *set = NULL;
    struct mcpx_kind kind;
    struct mcpx_question question = {.kind = &kind};
    struct mcpx_decision decision;

    if (mcpx_kind_parse(take_line(&rest), &kind, NULL))
        kind.text.text = NULL;
    for (int i = 0; i < LINES_MAX && rest.len > 0; i++)
        add_pattern(&lines, take_line(&rest));
    if (!kind.text.text)
        return 0;
    must(mcpx_capset_new(lines.grants, lines.grant_count, lines.deny, lines.deny_count, NULL,
                         NULL, &set) == MCPX_OK);
    must(mcpx_capset_allows(set, &question) == expected(&lines, &kind));
    must(mcpx_capset_allows(set, &question) == expected(&lines, &kind)); /* remembered */
    mcpx_capset_explain(set, &question, &decision);
    must((decision.refusal == MCPX_ALLOWED) == expected(&lines, &kind));
    mcpx_capset_unref(set);
    return 0;
}
