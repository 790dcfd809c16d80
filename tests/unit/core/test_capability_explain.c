/*
 * What breaks for whom: a person who reads why a message was refused looks for the fault in the
 * wrong grant, or is told to add a pattern that would not help. Protocol: section 6.
 */
#include <mcpx/capability.h>

#include "tests/support/count.h"
#include <criterion/criterion.h>
#include <stdio.h>

#define SRV "mcp/request:resources/read:file:///srv/"

enum { NOW = 1000, PAST = 999, FUTURE = 1001 };

static const struct mcpx_slice fs[] = {{"fs", 2}};

static bool same(struct mcpx_slice slice, const char *text)
{
    return text ? slice.text && mcpx_slice_equal(slice, mcpx_slice_of(text)) : !slice.text;
}

struct expected {
    const char *kind, *to; /* one addressee, or everyone */
    enum mcpx_refusal refusal;
    const char *grant, *nearest, *would_allow, *alternative;
};

static void check(struct mcpx_capset *set, const struct expected *row)
{
    struct mcpx_slice to = mcpx_slice_of(row->to);
    struct mcpx_kind kind;
    struct mcpx_question question = {&kind, &to, row->to != NULL, NOW};
    struct mcpx_decision decision;

    memset(&decision, 0x55, sizeof decision);
    cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(row->kind), &kind, NULL), MCPX_OK);
    mcpx_capset_explain(set, &question, &decision);
    cr_expect_eq(decision.refusal, row->refusal, "%s: %s", row->kind,
                 mcpx_refusal_wire(decision.refusal));
    cr_expect_eq(decision.refusal == MCPX_ALLOWED, mcpx_capset_allows(set, &question), "%s",
                 row->kind);
    cr_expect(same(decision.grant, row->grant), "%s: grant %.*s", row->kind,
              (int)decision.grant.len, decision.grant.text);
    cr_expect(same(decision.nearest, row->nearest), "%s: nearest %.*s", row->kind,
              (int)decision.nearest.len, decision.nearest.text);
    cr_expect(same(decision.would_allow, row->would_allow), "%s: would_allow %.*s", row->kind,
              (int)decision.would_allow.len, decision.would_allow.text);
    cr_expect(same(decision.alternative, row->alternative), "%s: alternative %.*s", row->kind,
              (int)decision.alternative.len, decision.alternative.text);
}

Test(capability_explain, gives_the_reason_and_the_way_out)
{
    const struct mcpx_grant grants[] = {
        {.pattern = MCPX_SLICE("chat")},
        {.pattern = MCPX_SLICE("mcp/request:tools/call:read_*")},
        {.pattern = MCPX_SLICE("mcp/proposal:tools/*")},
        {MCPX_SLICE("mcp/request:tools/call:write_*"), fs, 1, 0},
        {MCPX_SLICE("mcp/request:tools/call:old*"), NULL, 0, PAST},
        {MCPX_SLICE("mcp/request:tools/call:old_for_fs"), fs, 1, FUTURE},
        {MCPX_SLICE("mcp/request:tools/call:mixed"), fs, 1, PAST},
        {MCPX_SLICE("mcp/request:tools/call:mix*"), fs, 1, FUTURE},
        {.pattern = MCPX_SLICE(SRV "*")},
        {MCPX_SLICE("mcp/proposal:resources/*"), fs, 1, 0},
    };
    const struct mcpx_slice deny[] = {MCPX_SLICE("mcp/*:tools/call:read_secret*"),
                                      MCPX_SLICE("mcp/request:tools/call:drop")};
    static const struct expected rows[] = {
        {"chat", NULL, MCPX_ALLOWED, "chat", "chat", NULL, NULL},
        {"chat:x", NULL, MCPX_NO_MATCHING_GRANT, NULL, "chat", "chat:x", NULL},
        {"mcp/request:tools/call:read_x", NULL, MCPX_ALLOWED, "mcp/request:tools/call:read_*",
         "mcp/request:tools/call:read_*", NULL, NULL},
        {"mcp/request:tools/call:rm", NULL, MCPX_NO_MATCHING_GRANT, NULL,
         "mcp/request:tools/call:read_*", "mcp/request:tools/call:rm",
         "mcp/proposal:tools/call:rm"},
        {"mcp/request:tools/call", NULL, MCPX_NO_MATCHING_GRANT, NULL,
         "mcp/request:tools/call:read_*", "mcp/request:tools/call", "mcp/proposal:tools/call"},
        {"mcp/request:prompts/get:x", NULL, MCPX_NO_MATCHING_GRANT, NULL,
         "mcp/request:tools/call:read_*", "mcp/request:prompts/get:x", NULL},
        {"mcp/request:tools/call:read_secret", NULL, MCPX_DENIED,
         "mcp/*:tools/call:read_secret*", "mcp/request:tools/call:read_*", NULL, NULL},
        {"mcp/request:tools/call:drop", NULL, MCPX_DENIED, "mcp/request:tools/call:drop",
         "mcp/request:tools/call:read_*", NULL, "mcp/proposal:tools/call:drop"},
        {"mcp/request:tools/call:write_x", "fs", MCPX_ALLOWED,
         "mcp/request:tools/call:write_*", "mcp/request:tools/call:write_*", NULL, NULL},
        {"mcp/request:tools/call:write_x", NULL, MCPX_TARGET_NOT_ALLOWED,
         "mcp/request:tools/call:write_*", "mcp/request:tools/call:write_*",
         "mcp/request:tools/call:write_x", "mcp/proposal:tools/call:write_x"},
        {"mcp/request:tools/call:write_x", "web", MCPX_TARGET_NOT_ALLOWED,
         "mcp/request:tools/call:write_*", "mcp/request:tools/call:write_*",
         "mcp/request:tools/call:write_x", "mcp/proposal:tools/call:write_x"},
        {"mcp/request:tools/call:old", NULL, MCPX_GRANT_EXPIRED, "mcp/request:tools/call:old*",
         "mcp/request:tools/call:old*", "mcp/request:tools/call:old",
         "mcp/proposal:tools/call:old"},
        {"mcp/request:tools/call:old_for_fs", "fs", MCPX_ALLOWED,
         "mcp/request:tools/call:old_for_fs", "mcp/request:tools/call:old_for_fs", NULL, NULL},
        {"mcp/request:tools/call:old_for_fs", "web", MCPX_TARGET_NOT_ALLOWED,
         "mcp/request:tools/call:old_for_fs", "mcp/request:tools/call:old_for_fs",
         "mcp/request:tools/call:old_for_fs", "mcp/proposal:tools/call:old_for_fs"},
        {"mcp/request:tools/call:mixed", "fs", MCPX_ALLOWED, "mcp/request:tools/call:mix*",
         "mcp/request:tools/call:mixed", NULL, NULL},
        {"mcp/request:tools/call:mixed", "web", MCPX_TARGET_NOT_ALLOWED,
         "mcp/request:tools/call:mix*", "mcp/request:tools/call:mixed",
         "mcp/request:tools/call:mixed", "mcp/proposal:tools/call:mixed"},
        {SRV "x", NULL, MCPX_ALLOWED, SRV "*", SRV "*", NULL, NULL},
        {SRV "../x", NULL, MCPX_NO_MATCHING_GRANT, NULL, SRV "*", SRV "../x", NULL},
        {SRV "../x", "fs", MCPX_NO_MATCHING_GRANT, NULL, SRV "*", SRV "../x",
         "mcp/proposal:resources/read:file:///srv/../x"},
        {SRV "../*", NULL, MCPX_NO_MATCHING_GRANT, NULL, SRV "*",
         "mcp/request:resources/read:*", NULL},
        {"mcp/request:resources/read:*", NULL, MCPX_NO_MATCHING_GRANT, NULL, SRV "*",
         "mcp/request:resources/read:*", NULL},
        {"mcp/response:a:x*y", NULL, MCPX_NO_MATCHING_GRANT, NULL,
         "mcp/request:tools/call:read_*", "mcp/response:a:x*y", NULL},
        {"system/error", NULL, MCPX_RESERVED_NAMESPACE, NULL, "chat", NULL, NULL},
        {"Presence:a:b", NULL, MCPX_RESERVED_NAMESPACE, NULL, "chat", NULL, NULL},
        {"zzz", NULL, MCPX_NO_MATCHING_GRANT, NULL, "chat", "zzz", NULL},
    };
    struct mcpx_capset *set = NULL;

    cr_assert_eq(mcpx_capset_new(grants, COUNT(grants), deny, COUNT(deny), NULL, NULL, &set),
                 MCPX_OK);
    for (size_t i = 0; i < COUNT(rows); i++)
        check(set, &rows[i]);
    mcpx_capset_unref(set);
}

Test(capability_explain, of_the_empty_set_knows_nothing_near)
{
    static const struct expected rows[] = {
        {"chat", NULL, MCPX_NO_MATCHING_GRANT, NULL, NULL, "chat", NULL},
        {"mcp/request:a:b", NULL, MCPX_NO_MATCHING_GRANT, NULL, NULL, "mcp/request:a:b", NULL},
        {"system/x", NULL, MCPX_RESERVED_NAMESPACE, NULL, NULL, NULL, NULL},
    };
    struct mcpx_capset *set = NULL;

    cr_assert_eq(mcpx_capset_new(NULL, 0, NULL, 0, NULL, NULL, &set), MCPX_OK);
    cr_expect_eq(mcpx_capset_count(set), 0);
    for (size_t i = 0; i < COUNT(rows); i++)
        check(set, &rows[i]);
    mcpx_capset_unref(set);
}

Test(capability_explain, prefers_denied_to_expired_and_reserved_to_denied)
{
    const struct mcpx_grant past[] = {{MCPX_SLICE("*"), NULL, 0, PAST},
                                      {MCPX_SLICE("b:*"), NULL, 0, PAST}};
    const struct mcpx_slice deny[] = {MCPX_SLICE("a*"), MCPX_SLICE("s*")};
    static const struct expected rows[] = {
        {"a:b", NULL, MCPX_DENIED, "a*", "*", NULL, NULL},
        {"b:b", NULL, MCPX_GRANT_EXPIRED, "*", "b:*", "b:b", NULL},
        {"system/error", NULL, MCPX_RESERVED_NAMESPACE, NULL, "*", NULL, NULL},
        {"status", NULL, MCPX_DENIED, "s*", "*", NULL, NULL},
    };
    struct mcpx_capset *set = NULL;

    cr_assert_eq(mcpx_capset_new(past, 2, deny, 2, NULL, NULL, &set), MCPX_OK);
    for (size_t i = 0; i < COUNT(rows); i++)
        check(set, &rows[i]);
    mcpx_capset_unref(set);
}

Test(capability_explain, has_no_alternative_that_would_be_too_long)
{
    const struct mcpx_grant grant = {.pattern = MCPX_SLICE("mcp/proposal:*")};
    struct mcpx_capset *set = NULL;
    char text[MCPX_KIND_MAX];
    struct mcpx_kind kind;
    struct mcpx_question question = {.kind = &kind};
    struct mcpx_decision decision;

    memset(text, 'x', sizeof text);
    memcpy(text, "mcp/request:a:", 14);
    cr_assert_eq(mcpx_capset_new(&grant, 1, NULL, 0, NULL, NULL, &set), MCPX_OK);
    cr_assert_eq(mcpx_kind_parse((struct mcpx_slice){text, sizeof text}, &kind, NULL),
                 MCPX_OK);
    mcpx_capset_explain(set, &question, &decision);
    cr_expect_null(decision.alternative.text);
    cr_expect_eq(decision.would_allow.len, sizeof text);
    cr_expect(mcpx_slice_equal(mcpx_capset_grant(set, 0)->pattern, grant.pattern),
              "nothing was written behind the room for it");
    cr_assert_eq(mcpx_kind_parse((struct mcpx_slice){text, sizeof text - 1}, &kind, NULL),
                 MCPX_OK);
    mcpx_capset_explain(set, &question, &decision);
    cr_expect_eq(decision.alternative.len, MCPX_KIND_MAX);
    mcpx_capset_unref(set);
}

Test(capability_explain, has_a_wire_name_for_every_reason)
{
    static const char *const names[] = {
        "allowed",       "no_matching_grant",  "denied",
        "grant_expired", "target_not_allowed", "reserved_namespace"};

    for (int i = 0; i < (int)COUNT(names); i++)
        cr_expect_str_eq(mcpx_refusal_wire((enum mcpx_refusal)i), names[i]);
    cr_expect_str_eq(mcpx_refusal_wire((enum mcpx_refusal)99), "");
}
