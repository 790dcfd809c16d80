/*
 * What breaks for whom: a grant that covers more than it says lets an agent delete what it was
 * only to propose; one that covers less stops it from working and nobody sees why.
 * Protocol: section 3. Every row is asked of the compiled set, of the walk that explains, and of
 * the oracle, once as a grant and once as a denial.
 */
#include "lib/protocol/pattern.h"
#include "tests/support/count.h"
#include "tests/support/oracle.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define REQ "mcp/request:"
#define CALL "mcp/request:tools/call"
#define READ "mcp/request:resources/read"
#define SRV READ ":file:///srv/"
#define LONG "abababababababababababababababababababababababababababababababababab"

static const struct row {
    const char *rule, *pattern, *kind;
    bool covered;
} rows[] = {
    /* protocol section 3, the table */
    {"table", "mcp/*", "mcp/request:tools/call", true},
    {"table", "mcp/*", "mcp/response:tools/call:x", true},
    {"table", "mcp/*", "mcp/proposal:a", true},
    {"table", "mcp/*", "chat", false},
    {"table", "mcp/*", "mcpx/request:a", false},
    {"table", "mcp/request:*", "mcp/request:tools/call:rm", true},
    {"table", "mcp/request:*", "mcp/request:ping", true},
    {"table", "mcp/request:*", "mcp/response:ping", false},
    {"table", "mcp/request:*", "mcp/requestX:a", false},
    {"table", "mcp/request:tools/*", "mcp/request:tools/list", true},
    {"table", "mcp/request:tools/*", "mcp/request:tools/call:x", true},
    {"table", "mcp/request:tools/*", "mcp/request:toolsX", false},
    {"table", "mcp/request:*/list", "mcp/request:tools/list", true},
    {"table", "mcp/request:*/list", "mcp/request:resources/templates/list", true},
    {"table", "mcp/request:*/list", CALL ":evil/list", false},
    {"table", CALL, CALL, true},
    {"table", CALL, CALL ":read_file", true},
    {"table", CALL, CALL "X", false},
    {"table", CALL, CALL "X:y", false},
    {"table", CALL ":*", CALL, true},
    {"table", CALL ":*", CALL ":read_file", true},
    {"table", CALL ":*", CALL "X", false},
    {"table", CALL ":*", CALL "X:y", false},
    {"table", CALL ":write_*", CALL ":write_file", true},
    {"table", CALL ":write_*", CALL ":write_", true},
    {"table", CALL ":write_*", CALL, false},
    {"table", CALL ":write_*", CALL ":rewrite_file", false},
    {"table", SRV "*", SRV "a/b", true},
    {"table", SRV "*", SRV "../etc/passwd", false},
    {"table", SRV "*", SRV "%2e%2e/x", false},
    {"table", "chat", "chat", true},
    {"table", "chat", "chat:x", false},
    {"table", "chat", "chat/acknowledge", false},
    /* what agents and gateways of v0.1 rely on */
    {"v0.1", "mcp/*", "mcp/response:resources/read:file:///a", true},
    {"v0.1", "mcp/*", "mcp", false},
    {"v0.1", "mcp/request:*", "mcp/request:initialize", true},
    {"v0.1", "mcp/request:*", "mcp/response:tools/call", false},
    {"v0.1", "mcp/request:tools/*", "mcp/request:toolsX/call", false},
    {"v0.1", CALL, "mcp/request:tools/calls", false},
    {"v0.1", CALL, CALL "/x", false},
    {"v0.1", CALL ":*", "mcp/request:tools/list", false},
    {"v0.1", CALL ":read_*", CALL ":read_file", true},
    {"v0.1", CALL ":read_*", CALL ":write_file", false},
    {"v0.1", CALL ":read_*", CALL, false},
    {"v0.1", CALL ":read_*", CALL ":read_", true},
    {"v0.1", CALL ":read_*", CALL ":READ_x", false},
    {"v0.1", CALL ":read_file", CALL ":read_file", true},
    {"v0.1", CALL ":read_file", CALL ":read_file2", false},
    {"v0.1", CALL ":read_file", CALL, false},
    {"v0.1", CALL ":read_file", CALL ":read_file:x", false},
    {"v0.1", "mcp/proposal:tools/call:delete_file", "mcp/proposal:tools/call:delete_file",
     true},
    {"v0.1", "mcp/proposal:tools/call:delete_file", CALL ":delete_file", false},
    {"v0.1", "mcp/response:*", "mcp/response:tools/call", true},
    {"v0.1", "mcp/response:tools/*", "mcp/response:tools/call:x", true},
    {"v0.1", "mcp/request:*/list", "mcp/request:tools/list:x", true},
    {"v0.1", "mcp/request:*/list", CALL, false},
    {"v0.1", "mcp/request:*/list", CALL ":x:y/list", false},
    {"v0.1", "mcp/request:*/list", "mcp/request:list", false},
    {"v0.1", "mcp/*:tools/list", "mcp/request:tools/list", true},
    {"v0.1", "mcp/*:tools/list", "mcp/response:tools/list", true},
    {"v0.1", "mcp/*:tools/list", CALL ":a:tools/list", false},
    {"v0.1", READ ":file:///pub/*", READ ":file:///pub/a:b/c*d.txt", true},
    {"v0.1", READ ":file:///pub/*", READ ":file:///private/x", false},
    {"v0.1", READ ":*.txt", READ ":file:///a.txt", true},
    {"v0.1", READ ":*.txt", READ ":file:///a.bin", false},
    {"v0.1", READ ":file:///a\\*", READ ":file:///a*", false},
    {"v0.1", READ ":file:///a\\*", READ ":file:///a\\b", true},
    {"v0.1", READ ":file:///a\\*", READ ":file:///ab", false},
    {"v0.1", "chat/*", "chat/acknowledge", true},
    {"v0.1", "chat/*", "chat", false},
    {"v0.1", "*", "chat", true},
    {"v0.1", "*", CALL ":x", true},
    {"v0.1", "mcp/request", CALL, false},
    {"v0.1", "a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
    {"v0.1", "a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", true},
    /* rule 1: split at the first two colons */
    {"1", "a:b:c", "a:b:c", true},
    {"1", "a:b:c:d", "a:b:c:d", true},
    {"1", "a:b:c:d", "a:b:c", false},
    {"1", "a:b:c", "a:b:c:d", false},
    {"1", "a:b", "b:a", false},
    {"1", "a/b", "a:b", false},
    {"1", "a:b", "a/b", false},
    {"1", "a:b:c", "a:b/c", false},
    {"1", "a:*:c", "a:b:c", true},
    {"1", "a:*:c", "a:b:x:c", false},
    {"1", "*:c", "a:b:c", false},
    {"1", "*:c", "a:c", true},
    {"1", "*:c", "a:c:d", true},
    {"1", "*:b:c", "a:b:c", true},
    {"1", "*:b:c", "a:b", false},
    {"1", "*/b:c", "a/b:c", true},
    {"1", "*/b:c", "a/x/b:c", true},
    {"1", "*/b:c", "b:c", false},
    /* rule 2: a star stays in its component, a last one does not */
    {"2", "chat*", "chat", true},
    {"2", "chat*", "chats", true},
    {"2", "chat*", "chat/x", true},
    {"2", "chat*", "chat:x", true},
    {"2", "chat*", "chat:x:y:z", true},
    {"2", "chat*", "cha", false},
    {"2", "c*t", "chat", true},
    {"2", "c*t", "ct", true},
    {"2", "c*t", "c/a/t", true},
    {"2", "c*t", "chat:t", false},
    {"2", "c*t", "chats", false},
    {"2", "a*b*", "aXbY:m:c", true},
    {"2", "a*b*", "aX:b", false},
    {"2", "**", "chat", true},
    {"2", "**", "a:b:c", true},
    {"2", "a**b", "ab", true},
    {"2", "a**b", "axxb", true},
    {"2", "a:b*", "a:b", true},
    {"2", "a:b*", "a:bc:d", true},
    {"2", "a:b*", "a:c", false},
    {"2", "a:*b*c*", "a:xbycz:q", true},
    {"2", "a:*b*c*", "a:xcyb:bc", false},
    {"2", "*a*", "a", true},
    {"2", "*a*", "xax:y", true},
    {"2", "*a*", "x:a", false},
    {"2", "a:**", "a:b:c", true},
    {"2", "a:**", "a", false},
    {"2", "a:b:x*z", "a:b:xz", true},
    {"2", "a:b:x*z", "a:b:x:y:z", true},
    {"2", "a:b:x*z", "a:b:x/y/z", true},
    {"2", "a:b:x*z", "a:b:x:y:z:", false},
    {"2", "a:b:*x*", "a:b:x", true},
    {"2", "a:b:*x*", "a:b:yxy", true},
    {"2", "a:b:*x*", "a:b:y", false},
    {"2", "a:b:*ab", "a:b:aab", true},
    {"2", "a:b:*ab*ab", "a:b:abab", true},
    {"2", "a:b:*ab*ab", "a:b:ab", false},
    {"2", "a:b:*aba*aba", "a:b:ababa", false},
    {"2", "*a/b", "a/a/b", true},
    /* what stands around a star does not overlap */
    {"2", "ab*ba", "aba", false},
    {"2", "ab*ba", "abba", true},
    {"2", "ab*ba", "ababa", true},
    {"2", "a:ab*ba", "a:aba", false},
    {"2", "a:ab*ba", "a:abba", true},
    {"2", "a:ab*ba", "a:abba:c", true},
    {"2", "a:ab*ba", "a:ab:ba", false},
    {"2", "a:ab*ba", "a:abx:xba", false},
    {"2", "a:ab*ba:c", "a:aba:c", false},
    {"2", "a:ab*ba:c", "a:abba:c", true},
    {"2", "a:b:ab*ba", "a:b:aba", false},
    {"2", "a:b:ab*ba", "a:b:abba", true},
    {"2", "a:b:ab*ba", "a:b:ab:ba", true},
    {"2", "a:b:*aba*ba", "a:b:aba", false},
    {"2", "a:b:*aba*ba", "a:b:ababa", true},
    {"2", "a:b:*aba*aba*aba", "a:b:abaabaaba", true},
    {"2", "a:b:*aba*aba*aba", "a:b:abaababa", false},
    {"2", "*a*a", "a", false},
    {"2", "*a*a", "aa", true},
    {"2", "*ab", "b", false},
    {"2", "b:*:ab", "b:x:b", false},
    {"2", "a:*b:c", "a:b:c", true},
    /* so many bytes between stars that no program looks for them */
    {"2", "a:b:*" LONG "*", "a:b:" LONG, true},
    {"2", "a:b:*" LONG "*", "a:b:x:" LONG "y", true},
    {"2", "a:b:*" LONG "*", "a:b:ab" LONG "ab", true},
    {"2", "a:b:*" LONG "*", "a:b", false},
    {"2", "a:b:*" LONG "*ba", "a:b:" LONG "a", false},
    {"2", "a:b:*" LONG "*ba", "a:b:" LONG "ba", true},
    {"2", "a:*" LONG "*", "a:b/" LONG ":c", true},
    {"2", "a:*" LONG "*", "a:b:" LONG, false},
    {"2", "a:*" LONG "*:c", "a:" LONG ":c", true},
    {"2", "a:*" LONG "*:c", "a:" LONG, false},
    {"2", "*" LONG "*", LONG ":a:b", true},
    {"2", "*" LONG "*", "a:" LONG, false},
    {"2", "*" LONG "*a", LONG "a:b", false},
    {"6", "a:b:*" LONG "*", "a:b:../" LONG, false},
    {"6", "*" LONG "*", LONG ":b:../x", true},
    {"8", "*" LONG "*", "system:" LONG, false},
    {"2", "a:*x/list", "a:x/x/list", true},
    /* rule 3: the short grant, inner stars included; a context needs a context */
    {"3", "mcp/*:tools/call", "mcp/request:tools/call:rm", true},
    {"3", "mcp/*:tools/call", "mcp/request:tools/call", true},
    {"3", "mcp/*:tools/call", "mcp/request:tools/callX", false},
    {"3", "a:b:c*", "a:b", false},
    {"3", "a:b:c:*", "a:b:c", false},
    {"3", "a:b:c:*", "a:b:c:", true},
    {"3", "a:b:c:*", "a:b", false},
    {"3", "a:b:*c", "a:b", false},
    {"3", "a:*:c", "a:b", false},
    /* rule 4: a lone star as context; as method it wants one */
    {"4", "a:b:**", "a:b", true},
    {"4", "a:b:**", "a:b:c", true},
    {"4", "a:*:*", "a:b", true},
    {"4", "a:*:*", "a:b:c", true},
    {"4", "a:*:*", "a", false},
    {"4", "*:*", "a", false},
    {"4", "*:*", "a:b", true},
    {"4", "*:*:*", "a:b:c", true},
    {"4", "*:*:*", "a", false},
    {"4", "chat:*", "chat", false},
    {"4", "chat:*", "chat:x", true},
    {"4", "mcp/request:*", "mcp/request", false},
    /* rule 5: only a type is exact */
    {"5", "mcp/request", "mcp/request", true},
    {"5", "mcp/request", "mcp/request:ping", false},
    {"5", "mcp/request", "mcp/request/x", false},
    {"5", "*/request", "mcp/request", true},
    {"5", "*/request", "mcp/request:ping", false},
    /* rule 6: dot segments */
    {"6", SRV "*", SRV "..", false},
    {"6", SRV "*", SRV ".", false},
    {"6", SRV "*", SRV "a/..", false},
    {"6", SRV "*", SRV "./a", false},
    {"6", SRV "*", SRV "a/%2E%2e/b", false},
    {"6", SRV "*", SRV "a%2f..%2Fb", false},
    {"6", SRV "*", SRV "a/.%2E", false},
    {"6", SRV "*", SRV "..\\..\\etc\\passwd", false},
    {"6", SRV "*", SRV "..?x", false},
    {"6", SRV "*", SRV "...", true},
    {"6", SRV "*", SRV ".git/a..b", true},
    {"6", SRV "*", SRV "%2e%2e%2e", true},
    {"6", SRV "*", SRV "%252e%252e/x", true},
    {"6", SRV "../x", SRV "../x", true},
    {"6", SRV "../x*", SRV "../x", false},
    {"6", READ ":*/x/../y", READ ":file:///x/../y", false},
    {"6", "*:*:*/x", "a:b:../x", false},
    {"6", READ, SRV "../etc/passwd", true},
    {"6", READ ":*", SRV "../etc/passwd", true},
    {"6", READ ":**", SRV "../etc/passwd", true},
    {"6", "mcp/request:resources/*", SRV "../x", true},
    {"6", "mcp/*", SRV "../x", true},
    {"6", "*", SRV "../x", true},
    {"6", "mcp/*:resources/read", SRV "../x", true},
    {"6", "*:*/read:a/../b", "x:y/read:a/../b", true},
    {"6", "a:b:..", "a:b:..", true},
    /* rule 7: everything else is literal */
    {"7", "a.b", "a.b", true},
    {"7", "a.b", "axb", false},
    {"7", "a$", "a$", true},
    {"7", "a$", "a", false},
    {"7", "a-b:c-d", "a-b:c-d", true},
    {"7", "a:b:[a-z]+", "a:b:[a-z]+", true},
    {"7", "a:b:[a-z]+", "a:b:x", false},
    {"7", "a:b:.+", "a:b:xy", false},
    {"7", "a:b:.*", "a:b:xy", false},
    {"7", "a:b:.*", "a:b:.y", true},
    {"7", "a:b:(x|y)", "a:b:x", false},
    {"7", "a:b:(x|y)", "a:b:(x|y)", true},
    {"7", "a:b:x|a:b:y", "a:b:y", false},
    {"7", "a:b:x|a:b:y", "a:b:x|a:b:y", true},
    {"7", "a:b:)|(?:", "a:b:)|(?:", true},
    {"7", "a:b:)|(?:", "chat", false},
    {"7", "a:b:x{2}", "a:b:xx", false},
    {"7", "a:b:x{2}", "a:b:x{2}", true},
    {"7", "a:b:x?", "a:b:x", false},
    {"7", "a:b:^x$", "a:b:x", false},
    {"7", "a:b:^x$", "a:b:^x$", true},
    {"7", "a:b:\\d", "a:b:5", false},
    {"7", "a:b:\\d", "a:b:\\d", true},
    {"7", "a:b:\\Ex\\E", "a:b:\\Ex\\E", true},
    {"7", "a:b:\\Ex*", "a:b:\\Exyz", true},
    {"7", "a:b:\\E.*", "a:b:xyz", false},
    {"7", "a:b:\\Q*\\E", "a:b:\\Qx\\E", true},
    {"7", "a:b:\\", "a:b:\\", true},
    {"7", "a:b:\\", "a:b:x", false},
    {"7", "a:b:(?i)x", "a:b:X", false},
    {"7", "a:b:(*ACCEPT)", "a:b:(xACCEPT)", true},
    {"7", "a:b:(*ACCEPT)", "a:b:x", false},
    {"7", "a:b:(?C1)", "a:b:(?C1)", true},
    {"7", "a:b:#x", "a:b:#x", true},
    {"7", "a:b:x y", "a:b:x y", true},
    {"7", "a:b:x y", "a:b:xy", false},
    {"7", "a:b:'\"`", "a:b:'\"`", true},
    {"7", "a:b:*", "a:b:*", true},
    {"7", "a:b:x", "a:b:*", false},
    {"7", "a:b:x*", "a:b:x*", true},
    {"7", "a:b:caf\xc3\xa9", "a:b:caf\xc3\xa9", true},
    {"7", "a:b:caf\xc3\xa9", "a:b:cafe\xcc\x81", false},
    {"7", "a:b:caf*", "a:b:caf\xc3\xa9", true},
    {"7", "a:b:\xc3*", "a:b:\xc3\xa9", true},
    {"7", "a:b:*\xa9", "a:b:\xc3\xa9", true},
    {"7", "a:b:\xff\xfe", "a:b:\xff\xfe", true},
    {"7", "a:b:*\xe2\x80\xa7*", "a:b:x\xe2\x80\xa7y", true},
    {"7", "Chat", "chat", false},
    {"7", "a:B", "a:b", false},
    /* rule 8: not even "*" */
    {"8", "*", "system/error", false},
    {"8", "*", "System/error", false},
    {"8", "*", "SYSTEM", false},
    {"8", "*", "presence/join", false},
    {"8", "*", "Presence:a:b", false},
    {"8", "*", "systems/error", true},
    {"8", "system/*", "system/presence", false},
    {"8", "system/error", "system/error", false},
    {"8", "s*", "system:x:y", false},
    {"8", "*:*", "presence:x", false},
};

static struct mcpx_kind kind_of(struct mcpx_slice text)
{
    struct mcpx_kind kind;

    cr_assert_eq(mcpx_kind_parse(text, &kind, NULL), MCPX_OK, "%.*s", (int)text.len,
                 text.text);
    return kind;
}

/* Asks a set of one grant and one denial (each absent when NULL). */
static bool asks(const char *grant, const char *denial, const char *text)
{
    struct mcpx_grant grants = {.pattern = mcpx_slice_of(grant)};
    struct mcpx_slice deny = mcpx_slice_of(denial);
    struct mcpx_kind kind = kind_of(mcpx_slice_of(text));
    struct mcpx_question question = {.kind = &kind};
    struct mcpx_capset *set = NULL;
    bool allowed;

    cr_assert_eq(
        mcpx_capset_new(&grants, grant != NULL, &deny, denial != NULL, NULL, NULL, &set),
        MCPX_OK, "%s", grant ? grant : denial);
    allowed = mcpx_capset_allows(set, &question);
    mcpx_capset_unref(set);
    return allowed;
}

Test(capability, covers_what_the_protocol_says)
{
    cr_expect_geq(COUNT(rows), 150);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];

        cr_expect_eq(asks(row->pattern, NULL, row->kind), row->covered, "rule %s: %s %s %s",
                     row->rule, row->pattern, row->covered ? "covers" : "does not cover",
                     row->kind);
    }
}

Test(capability, is_explained_and_foretold_alike)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_slice text = mcpx_slice_of(rows[i].kind);
        struct mcpx_slice pattern_text = mcpx_slice_of(rows[i].pattern);
        struct mcpx_kind kind = kind_of(text);
        struct mx_pattern pattern;
        bool own = mcpx_kind_is_reserved(&kind);

        cr_assert_eq(mx_pattern_parse(pattern_text, &pattern, NULL), MCPX_OK);
        cr_expect_eq(mx_pattern_covers(&pattern, &kind, mcpx_kind_has_dot_segment(&kind)) &&
                         !own,
                     rows[i].covered, "walk: %s %s", rows[i].pattern, rows[i].kind);
        cr_expect_eq(oracle_covers(pattern_text, text, false) && !own, rows[i].covered,
                     "oracle: %s %s", rows[i].pattern, rows[i].kind);
        cr_expect_eq(own, oracle_is_reserved(text), "%s", rows[i].kind);
    }
}

Test(capability, is_taken_away_by_denials_with_all_their_stars)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool covered =
            oracle_covers(mcpx_slice_of(rows[i].pattern), mcpx_slice_of(rows[i].kind), true);
        bool own = oracle_is_reserved(mcpx_slice_of(rows[i].kind));

        cr_expect(covered || !rows[i].covered, "%s %s", rows[i].pattern, rows[i].kind);
        cr_expect_eq(asks("*", rows[i].pattern, rows[i].kind), !covered && !own,
                     "* but not %s: %s", rows[i].pattern, rows[i].kind);
        cr_expect_not(asks(NULL, rows[i].pattern, rows[i].kind), "nothing but a denial");
    }
    cr_expect_not(asks("*", SRV "*", SRV "../etc/passwd"), "rule 6 does not weaken denials");
    cr_expect_not(asks(SRV "*", SRV "secret*", SRV "secret.txt"));
    cr_expect(asks(SRV "*", SRV "secret*", SRV "public.txt"));
    cr_expect_not(asks(SRV "../x", SRV "*", SRV "../x"));
}

Test(capability, of_the_empty_set_covers_nothing)
{
    static const char *const kinds[] = {"chat", "mcp/request:ping", "a:b:c", "system/error"};

    for (size_t i = 0; i < COUNT(kinds); i++)
        cr_expect_not(asks(NULL, NULL, kinds[i]), "%s", kinds[i]);
}

/* A kind of 2,048 bytes: prefix, then `fill` as often as fits, then suffix. */
static void fill_kind(char text[MCPX_KIND_MAX + 1], const char *prefix, const char *fill,
                      const char *suffix)
{
    size_t end = MCPX_KIND_MAX - strlen(suffix);
    size_t len = strlen(prefix);

    memcpy(text, prefix, len);
    for (; len < end; len++)
        text[len] = fill[(len - strlen(prefix)) % strlen(fill)];
    memcpy(text + len, suffix, strlen(suffix) + 1);
}

Test(capability, survives_the_longest_kinds_and_the_worst_patterns)
{
    static const struct {
        const char *pattern, *prefix, *fill, *suffix;
    } longs[] = {
        {"a*a*a*a*a*a*a*a*a*b", "a", "a", "a"},
        {"a*a*a*a*a*a*a*a*a*b", "a", "a", "b"},
        {"a*a*a*a*a*a*a*a*a*b", "a", "a", "b:m"},
        {"x:*a*a*a*a*a*a*a*a*a*b", "x:", "a", "a:b"},
        {"x:*a*a*a*a*a*a*a*a*a*b", "x:", "a", "b"},
        {"x:*a*a*a*a*a*a*a*a*a*b", "x:", "a", "b:c"},
        {"x:y:*a*a*a*a*a*a*a*a*b", "x:y:", "a", "a"},
        {"x:y:*a*a*a*a*a*a*a*a*b", "x:y:", "a", "b"},
        {"x:y:*aaaaaaaaaaaaaaaaab*", "x:y:", "a", "a"},
        {"x:y:*ab*ab*ab*ab*ab*ac", "x:y:", "ab", "a"},
        {"x:y:*ab*ab*ab*ab*ab*ac", "x:y:", "ab", "ac"},
        {"*a*a*a:*a*a*a:*a*a*a*b", "aaaa:aaaa:", "a", "a"},
        {"*a*a*a:*a*a*a:*a*a*a*b", "aaaa:aaaa:", "a", "b"},
        {"*a*a*a:*a*a*b:*a*a*a", "aaaa:aaaa:", "a", "a"},
        {"*", "a", "b/", "c"},
        {"x:y:*", "x:y:", "a:", "a"},
    };
    char text[MCPX_KIND_MAX + 1];

    for (size_t i = 0; i < COUNT(longs); i++) {
        bool expected;

        fill_kind(text, longs[i].prefix, longs[i].fill, longs[i].suffix);
        expected = oracle_covers(mcpx_slice_of(longs[i].pattern), mcpx_slice_of(text), false);
        cr_expect_eq(asks(longs[i].pattern, NULL, text), expected, "%s %s...%s",
                     longs[i].pattern, longs[i].prefix, longs[i].suffix);
        cr_expect_eq(asks("*", longs[i].pattern, text), !expected, "* but not %s %s...%s",
                     longs[i].pattern, longs[i].prefix, longs[i].suffix);
    }
}

Test(capability, patterns_may_be_as_long_as_kinds)
{
    char text[MCPX_KIND_MAX + 2], stars[MCPX_KIND_MAX + 1];

    fill_kind(text, "x:y:", "\xc3\xa9.", "");
    cr_expect(asks(text, NULL, text));
    cr_expect(asks("*", NULL, text));
    for (size_t i = 0; i < sizeof stars - 1; i++)
        stars[i] = i % 2 ? '*' : 'a';
    stars[sizeof stars - 1] = '\0';
    memset(text, 'a', MCPX_KIND_MAX);
    text[MCPX_KIND_MAX] = '\0';
    cr_expect(asks(stars, NULL, text), "1,024 stars");
    text[MCPX_KIND_MAX / 2 - 1] = '\0';
    cr_expect_not(asks(stars, NULL, text), "one byte too few for 1,024 literal ones");
    memset(text, 'a', MCPX_KIND_MAX + 1);
    text[MCPX_KIND_MAX + 1] = '\0';
    cr_expect_eq(mcpx_pattern_check(mcpx_slice_of(text), NULL), MCPX_EPATTERN);
}
