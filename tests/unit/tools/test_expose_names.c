/*
 * What breaks for whom: a name that two tools share sends a call to the wrong participant, a name
 * that changes breaks what a person allowed in their client, and one that a client refuses (it may
 * hold [A-Za-z0-9_.-] and 64 bytes) makes the whole list unusable.
 */
#include "lib/base/scoped.h"
#include "tools/mcpx-bridge/expose/servers/names.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LONG_60 "abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwx"

struct row {
    enum expose_space space;
    const char *participant, *own, *shown;
};

static void expect_names(bool plain, const struct row *rows)
{
    struct expose_names names = {.plain = plain};

    for (const struct row *row = rows; row->own; row++) {
        struct expose_item item = {mcpx_slice_of(row->participant), mcpx_slice_of(row->own)};
        struct expose_item back;
        struct mcpx_slice shown = {0}, again = {0};

        cr_assert_eq(expose_names_put(&names, row->space, &item, &shown), MCPX_OK);
        cr_expect(mcpx_slice_equal(shown, mcpx_slice_of(row->shown)), "'%.*s' instead of '%s'",
                  (int)shown.len, shown.text, row->shown);
        cr_assert(expose_names_find(&names, row->space, shown, &back), "%s", row->shown);
        cr_expect(mcpx_slice_equal(back.participant, item.participant), "%s", row->shown);
        cr_expect(mcpx_slice_equal(back.own, item.own), "%s", row->shown);
        cr_expect_eq(expose_names_put(&names, row->space, &item, &again), MCPX_OK);
        cr_expect_eq(again.text, shown.text, "the second time the same: %s", row->shown);
        cr_expect(mcpx_slice_equal(expose_names_shown(&names, row->space, &item), shown));
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
        {EXPOSE_TOOL_NAME, "a__b", "c", "a__b__c_64la37hvbxts22k5itih"},
        {EXPOSE_TOOL_NAME, "a_", "b", "a___b_f6jck3vmie3pu4v4jni3"},
        {EXPOSE_TOOL_NAME, "a", "_b", "a___b"},
        {EXPOSE_TOOL_NAME, "de bug", "t", "de_bug__t_i3rim4y6x7dbks4ly7uw"},
        {EXPOSE_TOOL_NAME, "de_bug", "t_8ed34763", "de_bug__t_8ed34763"},
        {EXPOSE_TOOL_NAME, "de_bug", "t_i3rim4y6x7dbks4ly7uw",
         "de_bug__t_i3rim4y6x7dbks4ly7uw_m5h2nxqtqh6ro6uec3en"},
        {EXPOSE_TOOL_NAME, "x", "abcdefghijklmnopqrst",
         "x__abcdefghijklmnopqrst_zpdm7aqpa2fyljyljnie"},
        {EXPOSE_TOOL_NAME, "a", "na\xc3\xafve", "a__na__ve_34fbqtvlhnxnyx6h6ruo"},
        {0, NULL, NULL, NULL}};

    expect_names(false, rows);
}

/* How a participant found, in a minute, a tool that was shown as one of "files" that is allowed. */
Test(expose_names, are_not_those_of_another_participant_by_search)
{
    static const struct row rows[] = {
        {EXPOSE_TOOL_NAME, "files", LONG_60,
         "files__abcdefghijklmnopqrstuvwxyz0123456789_gsqo5gc5lqvdsisijqqv"},
        {EXPOSE_TOOL_NAME, "files__abcdefghijklmnopqrstuvwxyz0123456789abcdefghijkl",
         "ytg7re2", "files__abcdefghijklmnopqrstuvwxyz0123456789_lwevlfgzjlqdztnzypvi"},
        {0, NULL, NULL, NULL}};

    expect_names(false, rows);
}

Test(expose_names, are_never_longer_than_clients_take_and_never_shared)
{
    struct expose_names names = {0};
    char own[200];

    memset(own, 'x', sizeof own);
    for (size_t len = 1; len < sizeof own; len++) {
        struct expose_item item = {MCPX_SLICE("participant"), {own, len}}, back;
        struct mcpx_slice shown;

        cr_assert_eq(expose_names_put(&names, EXPOSE_TOOL_NAME, &item, &shown), MCPX_OK);
        cr_expect_leq(shown.len, EXPOSE_NAME_MAX, "%zu", len);
        cr_assert(expose_names_find(&names, EXPOSE_TOOL_NAME, shown, &back));
        cr_expect_eq(back.own.len, len, "found another's");
    }
    expose_names_fini(&names);
}

Test(expose_names, do_not_depend_on_who_came_first)
{
    static const struct expose_item items[] = {
        {{"a__b", 4}, {"c", 1}}, {{"a", 1}, {"b__c", 4}}, {{"a b", 3}, {"c", 1}}};
    struct expose_names one = {0}, other = {0};

    for (size_t i = 0; i < 3; i++) {
        struct mcpx_slice shown;

        expose_names_put(&one, EXPOSE_TOOL_NAME, &items[i], &shown);
        expose_names_put(&other, EXPOSE_TOOL_NAME, &items[2 - i], &shown);
    }
    for (size_t i = 0; i < 3; i++)
        cr_expect(mcpx_slice_equal(expose_names_shown(&one, EXPOSE_TOOL_NAME, &items[i]),
                                   expose_names_shown(&other, EXPOSE_TOOL_NAME, &items[i])),
                  "%zu", i);
    expose_names_fini(&one);
    expose_names_fini(&other);
}

Test(expose_names, stay_plain_where_they_are_unique)
{
    static const struct row rows[] = {{EXPOSE_TOOL_NAME, "a", "read", "read"},
                                      {EXPOSE_TOOL_NAME, "b", "read", "b__read"},
                                      {EXPOSE_TOOL_NAME, "b", "write", "write"},
                                      {EXPOSE_TOOL_NAME, "b", "a__write", "b__a__write"},
                                      {EXPOSE_PROMPT_NAME, "b", "read", "read"},
                                      {0, NULL, NULL, NULL}};

    expect_names(true, rows);
}

/* A person allowed "delete" of one server, and in the next run it is another's. */
Test(expose_names, that_two_have_are_nobodys_whoever_came_first)
{
    static const struct {
        enum expose_space space;
        const char *own, *ones, *others, *thirds;
    } rows[] = {
        {EXPOSE_TOOL_NAME, "delete", "a__delete", "b__delete", "c__delete"},
        {EXPOSE_PROMPT_NAME, "ask", "a__ask", "b__ask", "c__ask"},
        {EXPOSE_URI, "db:1", "mcpx://a/db%3A1", "mcpx://b/db%3A1", "mcpx://c/db%3A1"},
        {EXPOSE_URI_TEMPLATE, "db:{t}", "mcpx://a/db%3A{t}", "mcpx://b/db%3A{t}",
         "mcpx://c/db%3A{t}"},
        {EXPOSE_TASK_ID, "1", "1", "mcpx://b/1", "mcpx://c/1"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct expose_names names = {.plain = true};
        const char *const shown[] = {rows[i].ones, rows[i].others, rows[i].thirds};
        struct mcpx_slice given, one, other;
        struct expose_item items[3], back;
        bool is_task = rows[i].space == EXPOSE_TASK_ID;

        for (size_t k = 0; k < 3; k++) {
            items[k] = (struct expose_item){{&"abc"[k], 1}, mcpx_slice_of(rows[i].own)};
            cr_expect_eq(
                expose_names_rivals(&names, rows[i].space, items[k].own, &one, &other),
                k == 2 && !is_task);
            expose_names_put(&names, rows[i].space, &items[k], &given);
        }
        for (size_t k = 0; k < 3; k++) {
            given = expose_names_shown(&names, rows[i].space, &items[k]);
            cr_expect(mcpx_slice_equal(given, mcpx_slice_of(shown[k])), "%s", shown[k]);
            cr_expect(expose_names_find(&names, rows[i].space, given, &back) &&
                      mcpx_slice_equal(back.participant, items[k].participant));
        }
        cr_expect_eq(expose_names_find(&names, rows[i].space, items[0].own, &back), is_task);
        expose_names_fini(&names);
    }
}

/* FNV-1a of the pair, whose key everybody knows. */
static uint64_t known_hash(const char *participant, const char *own)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (const char *at = participant; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    for (hash *= UINT64_C(0x100000001b3); *own; own++)
        hash = (hash ^ (unsigned char)*own) * UINT64_C(0x100000001b3);
    return hash;
}

/* The most neighbours that are not free: what finding a name may cost. */
static size_t longest_run(const struct mx_map *map)
{
    size_t run = 0, longest = 0;

    for (size_t i = 0; i < map->size; i++) {
        run = map->slots[i].value ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* A server that lists names chosen to collide would make the bridge slow for everybody. */
Test(expose_names, cannot_be_chosen_to_collide)
{
    struct expose_names names = {.key = {{0x0706050403020100, 0x0f0e0d0c0b0a0908}}};
    size_t count = 0;

    for (unsigned i = 0; count < 1000; i++) {
        struct expose_item item = {.participant = MCPX_SLICE("p")};
        struct mcpx_slice shown;
        char own[16];

        snprintf(own, sizeof own, "%u", i);
        if (known_hash("p", own) % 2048)
            continue;
        item.own = mcpx_slice_of(own);
        cr_assert_eq(expose_names_put(&names, EXPOSE_TOOL_NAME, &item, &shown), MCPX_OK);
        count++;
    }
    cr_expect_lt(longest_run(&names.by_own), 100);
    cr_expect_lt(longest_run(&names.by_shown), 100);
    expose_names_fini(&names);
}

static void put(struct expose_names *names, const char *participant, size_t number)
{
    char own[32];
    struct mcpx_slice shown;

    snprintf(own, sizeof own, "t%zu", number);
    expose_names_put(names, EXPOSE_TOOL_NAME,
                     &(struct expose_item){mcpx_slice_of(participant), mcpx_slice_of(own)},
                     &shown);
}

static bool has(const struct expose_names *names, const char *shown)
{
    struct expose_item item;

    return expose_names_find(names, EXPOSE_TOOL_NAME, mcpx_slice_of(shown), &item);
}

Test(expose_names, of_one_participant_take_no_room_from_others)
{
    struct expose_names names = {0};

    for (size_t i = 0; i < 60000; i++)
        put(&names, "m", i);
    cr_expect_eq(names.by_own.count, EXPOSE_NAMES_MAX);
    cr_expect_eq(names.left_out, 60000 - EXPOSE_NAMES_MAX);
    put(&names, "m~2", 1);
    cr_expect_not(has(&names, "m~2__t1"), "an instance has no room of its own");
    put(&names, "good", 1);
    cr_expect(has(&names, "good__t1"));
    expose_names_left(&names, MCPX_SLICE("m"));
    put(&names, "m~2", 2);
    cr_expect(names.left_out == 60001 - EXPOSE_NAMES_MAX, "who left gives way to who is here");
    put(&names, "m", 1);
    cr_expect_leq(names.by_own.count, EXPOSE_NAMES_MAX + 1);
    expose_names_fini(&names);
}

Test(expose_names, no_longer_listed_make_room_for_new_ones)
{
    struct expose_names names = {0};

    for (size_t round = 0; round < 66; round++) {
        expose_names_renew(&names, EXPOSE_TOOL_NAME, MCPX_SLICE("m"));
        put(&names, "m", 0);
        for (size_t i = 0; i < 1000; i++)
            put(&names, "m", round * 1000 + i);
    }
    cr_expect_leq(names.by_own.count, EXPOSE_NAMES_MAX);
    cr_expect_eq(names.left_out, 0);
    cr_expect(has(&names, "m__t0"), "always listed");
    cr_expect(has(&names, "m__t65999"), "the newest");
    cr_expect_not(has(&names, "m__t1"), "listed long ago");
    expose_names_fini(&names);
}

Test(expose_names, of_who_left_are_kept_until_they_are_too_many)
{
    struct expose_names names = {.plain = true};
    char id[16];

    put(&names, "first", 1);
    expose_names_left(&names, MCPX_SLICE("first"));
    put(&names, "second", 1);
    cr_expect(has(&names, "second__t1") && has(&names, "first__t1"), "nobody has it alone");
    for (size_t i = 0; i < 10; i++) {
        snprintf(id, sizeof id, "p%zu", i);
        for (size_t n = 0; n < 1000; n++)
            put(&names, id, i * 1000 + n + 10);
        expose_names_left(&names, mcpx_slice_of(id));
    }
    cr_expect_leq(names.by_own.count, EXPOSE_NAMES_OF_GONE_MAX + 1);
    cr_expect(has(&names, "first__t1"), "who had little does not give way to who had much");
    cr_expect(has(&names, "second__t1"), "it is still here");
    cr_expect(has(&names, "t10009"), "left last");
    put(&names, "p9", 9010);
    put(&names, "third", 9011);
    cr_expect(has(&names, "third__t9011"));
    expose_names_fini(&names);
    cr_expect_eq(names.by_own.count, 0);
}

Test(expose_names, that_are_recycled_forget_the_oldest)
{
    struct expose_names names = {0};

    for (size_t i = 0; i <= EXPOSE_NAMES_MAX; i++) {
        expose_names_renew(&names, EXPOSE_TOOL_NAME, MCPX_SLICE("m"));
        put(&names, "m", i);
    }
    cr_expect_not(has(&names, "m__t0"));
    cr_expect(has(&names, "m__t1"));
    cr_expect(has(&names, "m__t4096"));
    expose_names_fini(&names);
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
    mx_scoped_text out = {0};

    cr_expect(
        expose_uri_unwrap(&out, MCPX_SLICE("b"), MCPX_SLICE("mcpx://b/demo%3A%2F%2F7%2Fy")));
    cr_expect_str_eq(out.text, "demo://7/y");
    mcpx_text_reset(&out);
    cr_expect_not(expose_uri_unwrap(&out, MCPX_SLICE("c"), MCPX_SLICE("mcpx://b/x")));
    cr_expect_not(expose_uri_unwrap(&out, MCPX_SLICE("b"), MCPX_SLICE("mcpx://bb/x")));
    cr_expect_eq(out.len, 0);
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

/* Of the processor: what else the machine does is none of ours. */
static double seconds(void)
{
    struct timespec at;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* Bounds are generous: what they are to catch took minutes. */
Test(expose_uri, costs_no_more_than_its_length)
{
    enum { LEN = 1 << 20 };
    mx_scoped_text out = {0}, braces = {0};
    double began = seconds();

    for (size_t i = 0; i < LEN; i++)
        mcpx_text_puts(&braces, "{");
    expose_uri_wrap(&out, MCPX_SLICE("m"), mcpx_text_view(&braces), true);
    cr_expect_eq(out.len, strlen("mcpx://m/") + 3 * (size_t)LEN);
    cr_expect_not(expose_uri_matches(mcpx_text_view(&braces), mcpx_text_view(&out)));
    cr_expect_lt(seconds() - began, 20.0);
}

Test(expose_uri, begins_literally)
{
    cr_expect_eq(expose_uri_literal(MCPX_SLICE("demo://{x}/y")), 7);
    cr_expect_eq(expose_uri_literal(MCPX_SLICE("{x}")), 0);
    cr_expect_eq(expose_uri_literal(MCPX_SLICE("demo://{")), 8);
    cr_expect_eq(expose_uri_literal(MCPX_SLICE("")), 0);
}

/* A server counts its tasks from one again: who held the former id must not read the other's. */
Test(expose_names, give_a_task_with_the_id_of_another_its_own)
{
    struct expose_names names = {.secret = mcpx_slice_of("-a")};
    struct expose_item item = {mcpx_slice_of("s"), mcpx_slice_of("1")}, back;
    struct mcpx_slice shown;

    cr_assert_eq(expose_names_put(&names, EXPOSE_TASK_ID, &item, &shown), MCPX_OK);
    names.secret = mcpx_slice_of("-b");
    cr_assert_eq(expose_names_put(&names, EXPOSE_TASK_ID, &item, &shown), MCPX_OK);
    cr_expect(mcpx_slice_equal(shown, mcpx_slice_of("mcpx://s/1-b")));
    cr_expect(
        !expose_names_find(&names, EXPOSE_TASK_ID, mcpx_slice_of("mcpx://s/1-a"), &back));
    expose_names_fini(&names);
}
