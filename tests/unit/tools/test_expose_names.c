/*
 * What breaks for whom: a name that two tools share sends a call to the wrong participant, a name
 * that changes breaks what a person allowed in their client, and one that a client refuses (it may
 * hold [A-Za-z0-9_.-] and 64 bytes) makes the whole list unusable.
 */
#include "tools/mcpx-bridge/expose_names.h"
#include "tools/mcpx-bridge/expose_uri.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define LONG_60 "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwx"

struct row {
    enum expose_space space;
    const char *participant, *own, *shown;
};

static void expect_names(bool plain, const struct row *rows)
{
    struct expose_names names = {.plain = plain};

    for (const struct row *row = rows; row->own; row++) {
        struct expose_thing thing = {mcpx_slice_of(row->participant), mcpx_slice_of(row->own)};
        struct expose_thing back;
        struct mcpx_slice shown = {0}, again = {0};

        cr_assert_eq(expose_names_put(&names, row->space, &thing, &shown), MCPX_OK);
        cr_expect(mcpx_slice_equal(shown, mcpx_slice_of(row->shown)), "'%.*s' instead of '%s'",
                  (int)shown.len, shown.text, row->shown);
        cr_assert(expose_names_find(&names, row->space, shown, &back), "%s", row->shown);
        cr_expect(mcpx_slice_equal(back.participant, thing.participant), "%s", row->shown);
        cr_expect(mcpx_slice_equal(back.own, thing.own), "%s", row->shown);
        cr_expect_eq(expose_names_put(&names, row->space, &thing, &again), MCPX_OK);
        cr_expect_eq(again.text, shown.text, "the second time the same: %s", row->shown);
        cr_expect(mcpx_slice_equal(expose_names_shown(&names, row->space, &thing), shown));
    }
    expose_names_fini(&names);
}

Test(expose_names, say_whose_a_tool_is)
{
    static const struct row rows[] = {
        {EXPOSE_TOOL_NAME, "files", "read_file", "files__read_file"},
        {EXPOSE_TOOL_NAME, "a.b-c", "get-sum", "a.b-c__get-sum"},
        {EXPOSE_PROMPT_NAME, "files", "read_file", "files__read_file"},
        {EXPOSE_TOOL_NAME, "x", LONG_60, "x__" LONG_60 ""},
        {0, NULL, NULL, NULL}};

    expect_names(false, rows);
}

Test(expose_names, end_with_a_mark_where_they_cannot_stand_as_they_are)
{
    /* The marks are part of the contract: a name is the same in every run and version. */
    static const struct row rows[] = {
        {EXPOSE_TOOL_NAME, "a", "b__c", "a__b__c"},
        {EXPOSE_TOOL_NAME, "a__b", "c", "a__b__c_089a7a89"},
        {EXPOSE_TOOL_NAME, "a_", "b", "a___b_792617a8"},
        {EXPOSE_TOOL_NAME, "a", "_b", "a___b"},
        {EXPOSE_TOOL_NAME, "de bug", "t", "de_bug__t_8ed34763"},
        {EXPOSE_TOOL_NAME, "a", "na\xc3\xafve", "a__na__ve_c16f4967"},
        {0, NULL, NULL, NULL}};

    expect_names(false, rows);
}

Test(expose_names, are_never_longer_than_clients_take_and_never_shared)
{
    struct expose_names names = {0};
    char own[200];

    memset(own, 'x', sizeof own);
    for (size_t len = 1; len < sizeof own; len++) {
        struct expose_thing thing = {MCPX_SLICE("participant"), {own, len}}, back;
        struct mcpx_slice shown;

        cr_assert_eq(expose_names_put(&names, EXPOSE_TOOL_NAME, &thing, &shown), MCPX_OK);
        cr_expect_leq(shown.len, EXPOSE_NAME_MAX, "%zu", len);
        cr_assert(expose_names_find(&names, EXPOSE_TOOL_NAME, shown, &back));
        cr_expect_eq(back.own.len, len, "found another's");
    }
    expose_names_fini(&names);
}

Test(expose_names, do_not_depend_on_who_came_first)
{
    static const struct expose_thing things[] = {
        {{"a__b", 4}, {"c", 1}}, {{"a", 1}, {"b__c", 4}}, {{"a b", 3}, {"c", 1}}};
    struct expose_names one = {0}, other = {0};

    for (size_t i = 0; i < 3; i++) {
        struct mcpx_slice shown;

        expose_names_put(&one, EXPOSE_TOOL_NAME, &things[i], &shown);
        expose_names_put(&other, EXPOSE_TOOL_NAME, &things[2 - i], &shown);
    }
    for (size_t i = 0; i < 3; i++)
        cr_expect(mcpx_slice_equal(expose_names_shown(&one, EXPOSE_TOOL_NAME, &things[i]),
                                   expose_names_shown(&other, EXPOSE_TOOL_NAME, &things[i])),
                  "%zu", i);
    expose_names_fini(&one);
    expose_names_fini(&other);
}

Test(expose_names, stay_plain_where_they_are_unique)
{
    static const struct row rows[] = {{EXPOSE_TOOL_NAME, "a", "read", "read"},
                                      {EXPOSE_TOOL_NAME, "b", "read", "b__read"},
                                      {EXPOSE_TOOL_NAME, "b", "write", "write"},
                                      {EXPOSE_PROMPT_NAME, "b", "read", "read"},
                                      {0, NULL, NULL, NULL}};

    expect_names(true, rows);
}

Test(expose_names, leave_a_uri_alone_until_it_is_taken)
{
    static const struct row rows[] = {
        {EXPOSE_URI, "a", "file:///x", "file:///x"},
        {EXPOSE_URI, "b", "file:///x", "mcpx://b/file%3A%2F%2F%2Fx"},
        {EXPOSE_URI, "b/c", "mcpx://b/x", "mcpx://b%2Fc/mcpx%3A%2F%2Fb%2Fx"},
        {EXPOSE_URI_TEMPLATE, "a", "demo://{x}/y", "demo://{x}/y"},
        {EXPOSE_URI_TEMPLATE, "b", "demo://{x}/y", "mcpx://b/demo%3A%2F%2F{x}%2Fy"},
        {0, NULL, NULL, NULL}};

    expect_names(false, rows);
}

Test(expose_uri, unwraps_only_for_its_owner)
{
    struct mcpx_text out = {0};

    cr_expect(
        expose_uri_unwrap(&out, MCPX_SLICE("b"), MCPX_SLICE("mcpx://b/demo%3A%2F%2F7%2Fy")));
    cr_expect_str_eq(out.text, "demo://7/y");
    mcpx_text_reset(&out);
    cr_expect_not(expose_uri_unwrap(&out, MCPX_SLICE("c"), MCPX_SLICE("mcpx://b/x")));
    cr_expect_not(expose_uri_unwrap(&out, MCPX_SLICE("b"), MCPX_SLICE("mcpx://bb/x")));
    cr_expect_eq(out.len, 0);
    mcpx_text_fini(&out);
}

Test(expose_uri, matches_what_a_template_may_become)
{
    static const struct {
        const char *template, *uri;
        bool matches;
    } rows[] = {
        {"demo://text/{id}", "demo://text/7", true},
        {"demo://text/{id}", "demo://blob/7", false},
        {"demo://{a}/x/{b}", "demo://1/x/x/2", true},
        {"demo://{a}/x", "demo://1/y", false},
        {"demo://{a}", "demo://", true},
        {"demo://a", "demo://a", true},
        {"demo://a", "demo://ab", false},
        {"{+path}", "anything:at/all", true},
        {"demo://{open", "demo://{open", true},
        {"", "", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(
            expose_uri_matches(mcpx_slice_of(rows[i].template), mcpx_slice_of(rows[i].uri)),
            rows[i].matches, "%s %s", rows[i].template, rows[i].uri);
}
