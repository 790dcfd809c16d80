/*
 * What breaks for whom: a kind cut elsewhere by the router than by a receiver passes a grant it
 * should not pass; a participant that can write `SYSTEM/error` speaks for the router; a context
 * that climbs out of a granted directory reads files nobody granted.
 * Protocol: section 2, section 3 rule 6.
 */
#include <mcpx/kind.h>

#include "tests/support/count.h"
#include <criterion/criterion.h>
#include <stdio.h>

static bool same(struct mcpx_slice slice, const char *text)
{
    return text ? slice.text && mcpx_slice_equal(slice, mcpx_slice_of(text)) : !slice.text;
}

Test(kind, splits_at_the_first_two_colons)
{
    static const struct {
        const char *text, *type, *method, *context;
    } rows[] = {
        {"chat", "chat", NULL, NULL},
        {"mcp/request:tools/call", "mcp/request", "tools/call", NULL},
        {"mcp/request:tools/call:read_file", "mcp/request", "tools/call", "read_file"},
        {"mcp/response:resources/read:file:///etc/hosts", "mcp/response", "resources/read",
         "file:///etc/hosts"},
        {"a:b::", "a", "b", ":"},
        {"a:b:c:", "a", "b", "c:"},
        {"a:b: ", "a", "b", " "},
        {"a:b:*", "a", "b", "*"},
        {"a:b:/", "a", "b", "/"},
        {"a:b:\xc3\xa9", "a", "b", "\xc3\xa9"},
        {"mcp/request:$/cancelRequest", "mcp/request", "$/cancelRequest", NULL},
        {"reasoning/start.v-1_x", "reasoning/start.v-1_x", NULL, NULL},
        {"...", "...", NULL, NULL},
        {"a/.../b", "a/.../b", NULL, NULL},
        {".a", ".a", NULL, NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_slice text = mcpx_slice_of(rows[i].text);
        struct mcpx_kind kind;

        cr_expect_eq(mcpx_kind_parse(text, &kind, NULL), MCPX_OK, "%s", rows[i].text);
        cr_expect(mcpx_slice_equal(kind.text, text), "%s", rows[i].text);
        cr_expect(same(kind.type, rows[i].type), "%s: type", rows[i].text);
        cr_expect(same(kind.method, rows[i].method), "%s: method", rows[i].text);
        cr_expect(same(kind.context, rows[i].context), "%s: context", rows[i].text);
    }
}

Test(kind, names_what_is_wrong_and_where)
{
    static const struct {
        const char *text, *field;
        size_t offset;
    } rows[] = {
        {"", "kind", 0},
        {":", "type", 0},
        {"::", "type", 0},
        {":a", "type", 0},
        {"a:", "method", 2},
        {"a::", "method", 2},
        {"a::b", "method", 2},
        {"a:b:", "context", 4},
        {"mcp/request:", "method", 12},
        {"/chat", "type", 0},
        {"chat/", "type", 5},
        {"a//b", "type", 2},
        {"/", "type", 0},
        {"a:/b", "method", 2},
        {"a:b/", "method", 4},
        {"a:b//c", "method", 4},
        {".", "type", 0},
        {"..", "type", 0},
        {"a/../b", "type", 2},
        {"a/.", "type", 2},
        {"a:..", "method", 2},
        {"a:b/./c", "method", 4},
        {"ch at", "type", 2},
        {" chat", "type", 0},
        {"chat ", "type", 4},
        {"chat\n", "type", 4},
        {"chat*", "type", 4},
        {"*", "type", 0},
        {"a:*", "method", 2},
        {"a:to*ls", "method", 4},
        {"a:tools\\call", "method", 7},
        {"ch\xc3\xa0t", "type", 2},
        {"a:b\xcd\xbe", "method", 3},
        {"mcp\xef\xbc\x8frequest:a", "type", 3},
        {"a:b:c\n", "context", 5},
        {"a:b:\x1b[31m", "context", 4},
        {"a:b:x\x7f", "context", 5},
        {"a:b:\xc3\xa9\xc2\x85", "context", 6},
        {"a:b:x\xe2\x80\xae", "context", 5},
        {"a:b:\t", "context", 4},
        {"a+b", "type", 1},
        {"a@b", "type", 1},
        {"a,b", "type", 1},
        {"a%2fb", "type", 1},
        {"a:b(c", "method", 3},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_fault fault = {NULL, "untouched", 999};
        struct mcpx_kind kind = {.type = MCPX_SLICE("untouched")};
        enum mcpx_err err = mcpx_kind_parse(mcpx_slice_of(rows[i].text), &kind, &fault);

        cr_expect_eq(err, MCPX_EKIND, "%s", rows[i].text);
        cr_expect_str_eq(fault.field, rows[i].field, "%s: %s", rows[i].text, fault.field);
        cr_expect_eq(fault.offset, rows[i].offset, "%s: %zu", rows[i].text, fault.offset);
        cr_expect(fault.reason && *fault.reason, "%s", rows[i].text);
        cr_expect(same(kind.type, "untouched"), "%s", rows[i].text);
        cr_expect_eq(mcpx_kind_parse(mcpx_slice_of(rows[i].text), &kind, NULL), MCPX_EKIND);
    }
}

Test(kind, refuses_nul_bytes_and_absent_text)
{
    struct mcpx_kind kind;

    cr_expect_eq(mcpx_kind_parse((struct mcpx_slice){NULL, 0}, &kind, NULL), MCPX_EKIND);
    cr_expect_eq(mcpx_kind_parse(MCPX_SLICE("chat\0"), &kind, NULL), MCPX_EKIND);
    cr_expect_eq(mcpx_kind_parse(MCPX_SLICE("a:b:c\0d"), &kind, NULL), MCPX_EKIND);
}

Test(kind, may_be_2048_bytes_long_and_no_longer)
{
    char text[MCPX_KIND_MAX + 1];
    struct mcpx_fault fault;
    struct mcpx_kind kind;

    memset(text, 'a', sizeof text);
    cr_expect_eq(mcpx_kind_parse((struct mcpx_slice){text, MCPX_KIND_MAX}, &kind, &fault),
                 MCPX_OK);
    cr_expect_eq(mcpx_kind_parse((struct mcpx_slice){text, MCPX_KIND_MAX + 1}, &kind, &fault),
                 MCPX_EKIND);
    cr_expect_eq(fault.offset, MCPX_KIND_MAX);
    memcpy(text, "a:b:", 4);
    cr_expect_eq(mcpx_kind_parse((struct mcpx_slice){text, MCPX_KIND_MAX}, &kind, &fault),
                 MCPX_OK);
    cr_expect_eq(mcpx_kind_parse((struct mcpx_slice){text, MCPX_KIND_MAX + 1}, &kind, &fault),
                 MCPX_EKIND);
}

Test(kind, knows_the_routers_own_types)
{
    static const struct {
        const char *text;
        bool reserved;
    } rows[] = {
        {"system", true},          {"system/error", true},    {"System/error", true},
        {"SYSTEM", true},          {"sYsTeM/a/b:c:d", true},  {"system:x", true},
        {"presence", true},        {"presence/join", true},   {"Presence", true},
        {"PRESENCE/x:y", true},    {"systems", false},        {"system.x", false},
        {"system-x/error", false}, {"mysystem/error", false}, {"syste", false},
        {"x/system", false},       {"x/presence", false},     {"chat:system", false},
        {"presence_", false},      {"mcp/request", false},    {"$system", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_kind kind;

        cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(rows[i].text), &kind, NULL), MCPX_OK);
        cr_expect_eq(mcpx_kind_is_reserved(&kind), rows[i].reserved, "%s", rows[i].text);
    }
}

Test(kind, sees_dot_segments_however_they_are_written)
{
    static const struct {
        const char *context;
        bool dotted;
    } rows[] = {
        {"..", true},
        {".", true},
        {"../", true},
        {"./", true},
        {"../x", true},
        {"./x", true},
        {"x/..", true},
        {"x/.", true},
        {"x/../y", true},
        {"x/./y", true},
        {"/..", true},
        {"/.", true},
        {"/../", true},
        {"file:///srv/../etc/passwd", true},
        {"file:///srv/%2e%2e/etc", true},
        {"file:///srv/%2E%2E/etc", true},
        {"file:///srv/%2e%2E/etc", true},
        {"file:///srv/.%2e/etc", true},
        {"file:///srv/%2e./etc", true},
        {"file:///srv/%2e/etc", true},
        {"file:///srv/%2e%2e", true},
        {"file:///srv/%2e", true},
        {"file:///srv%2f..%2fetc", true},
        {"file:///srv%2F..%2fetc", true},
        {"file:///srv%2f%2e%2e%2Fetc", true},
        {"file:///srv/..%2fetc", true},
        {"%2e%2e", true},
        {"%2e", true},
        {"%2E%2e%2Fx", true},
        {"a/b/c/..", true},
        {"x/..//y", true},
        {"x//../y", true},
        {"file:///srv/..\\..\\etc\\passwd", true},
        {"file:///srv\\..\\x", true},
        {"file:///srv/..%5c..%5Cetc", true},
        {"file:///srv/..?x", true},
        {"file:///srv/..#x", true},
        {"file:///srv/.?", true},
        {"file:///srv/..%3Fx", true},
        {"file:///srv/%2e%2e%23x", true},
        {"x?..", true},
        {"file:///srv/a?b=1..2", false},
        {"file:///srv/a\\b#c.d", false},
        {"\\E..x", false},
        {"...", false},
        {"x/.../y", false},
        {"x/..y", false},
        {"x/y..", false},
        {"x/.y", false},
        {"x/y.", false},
        {"x..", false},
        {"..x/y", false},
        {".x", false},
        {"a..b", false},
        {"file:///srv/.git/config", false},
        {"file:///srv/%2egit", false},
        {"file:///srv/%2e%2e%2e/x", false},
        {"read_file", false},
        {"/", false},
        {"//", false},
        {"%", false},
        {"%2", false},
        {"%2f", false},
        {"x/%", false},
        {"x/.%", false},
        {"x/.%2", false},
        {"x/%zz", false},
        {"x/%252e%252e/y", false},
        {"x:..", false},
        {"* ", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        struct mcpx_kind kind;

        snprintf(text, sizeof text, "a:b:%s", rows[i].context);
        cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(text), &kind, NULL), MCPX_OK, "%s", text);
        cr_expect_eq(mcpx_kind_has_dot_segment(&kind), rows[i].dotted, "%s", text);
    }
}

Test(kind, without_a_context_has_no_dot_segment)
{
    static const char *const rows[] = {"chat", "a.b", "a:b", "a/...:b..c"};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_kind kind;

        cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(rows[i]), &kind, NULL), MCPX_OK);
        cr_expect_not(mcpx_kind_has_dot_segment(&kind), "%s", rows[i]);
    }
}
