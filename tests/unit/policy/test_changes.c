/*
 * What breaks for whom: a right that was lent does not end, one that was taken away comes back,
 * somebody gives what they do not have, or the table grows without a bound. Protocol: section 8.
 */
#include "router/policy/identity/change_plans.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOUR_MS = 3600000 };

static const int64_t start_ms = 1000000000000;
static struct mcpx_slice ann = {"ann", 3};
static const struct mcpx_grant to_ann = {.pattern = {"x:*", 3}, .to = &ann, .to_count = 1};

/* A table, a participant whose credential gives `base`, and who changes what it may. */
struct scene {
    struct changes *changes;
    struct grant *base;
    int64_t now_ms, longest_ms;
    const char *by;
    struct mcpx_capset *giver;
    struct mcpx_text why;
};

static struct scene scene;

static struct mcpx_capset *set_of(const char *pattern, const char *deny)
{
    struct mcpx_grant grant = {.pattern = mcpx_slice_of(pattern)};
    struct mcpx_slice denial = mcpx_slice_of(deny);
    struct mcpx_capset *set = NULL;

    cr_assert_eq(
        mcpx_capset_new(&grant, *pattern != 0, &denial, deny != NULL, NULL, NULL, &set),
        MCPX_OK);
    return set;
}

/* The next orders are by somebody with these rights. */
static void act_as(const char *by, const char *pattern, const char *deny)
{
    mcpx_capset_unref(scene.giver);
    scene.giver = set_of(pattern, deny);
    scene.by = by;
}

static void scene_fini(void)
{
    grant_unref(scene.base);
    mcpx_capset_unref(scene.giver);
    changes_free(scene.changes);
    mcpx_text_fini(&scene.why);
    scene = (struct scene){.changes = NULL};
}

TestSuite(changes, .fini = scene_fini);

static void scene_begin(const char *base, const char *deny)
{
    struct mcpx_capset *set = set_of(base, deny);

    scene_fini();
    scene.changes = changes_new();
    scene.now_ms = start_ms;
    scene.longest_ms = HOUR_MS;
    scene.base = grant_new(MCPX_SLICE("bob"), set, ROUTING_DEFAULT, 0);
    mcpx_capset_unref(set);
    cr_assert(scene.changes && scene.base);
    act_as("root", "*", NULL);
}

/* Somebody orders something for bob in a topic. */
static enum mcpx_err carry_out(struct change_plan plan)
{
    struct change_list *draft = NULL;
    enum mcpx_err err;

    plan.act.identity = MCPX_SLICE("bob");
    plan.act.by = mcpx_slice_of(scene.by);
    plan.act.wall_ms = scene.now_ms;
    plan.longest_ms = scene.longest_ms;
    plan.giver = scene.giver;
    plan.base = scene.base->capset;
    mcpx_text_reset(&scene.why);
    err = change_plans_draft(scene.changes, &plan, &scene.why, &draft);
    if (!err)
        err = changes_commit(scene.changes, draft);
    change_list_free(draft);
    return err;
}

static enum mcpx_err ban(int64_t for_ms)
{
    return carry_out((struct change_plan){
        .act.topic = MCPX_SLICE("work"), .bans = true, .until_ms = scene.now_ms + for_ms});
}

static struct change_list *found_in(const char *topic)
{
    return changes_find(scene.changes, MCPX_SLICE("bob"), mcpx_slice_of(topic));
}

static bool is_banned(int64_t in_ms)
{
    return change_list_banned_until(found_in("work"), scene.now_ms + in_ms);
}

static struct grant *apply(struct grant *base, const char *topic)
{
    struct grant *grant = NULL;

    cr_assert_eq(change_list_apply(scene.changes, found_in(topic), base, scene.now_ms, &grant),
                 MCPX_OK);
    return grant;
}

/* A grant is added, or one pattern removed ("" = none), until so many milliseconds from now (0 =
 * not said). */
static enum mcpx_err order_grant(struct mcpx_grant grant, const char *remove, int64_t for_ms)
{
    struct mcpx_slice denial = mcpx_slice_of(remove);

    return carry_out((struct change_plan){.act.topic = MCPX_SLICE("work"),
                                          .add = &grant,
                                          .add_count = grant.pattern.len > 0,
                                          .remove = &denial,
                                          .remove_count = *remove != 0,
                                          .until_ms = for_ms ? scene.now_ms + for_ms : 0});
}

static enum mcpx_err plan(const char *add, const char *remove, int64_t for_ms)
{
    return order_grant((struct mcpx_grant){.pattern = mcpx_slice_of(add)}, remove, for_ms);
}

static bool may(const char *text)
{
    struct mcpx_kind kind;
    struct mcpx_question question = {.kind = &kind, .wall_ms = scene.now_ms};
    struct grant *grant = apply(scene.base, "work");
    bool may;

    cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(text), &kind, NULL), MCPX_OK);
    may = mcpx_capset_allows(grant->capset, &question);
    grant_unref(grant);
    return may;
}

Test(changes, a_grant_lasts_as_long_as_it_was_given)
{
    scene_begin("chat", NULL);
    cr_expect_eq(plan("x:*", "", 1000), MCPX_OK);
    cr_expect(may("x:y"));
    scene.now_ms += 999;
    cr_expect(may("x:y"));
    scene.now_ms += 1;
    cr_expect_not(may("x:y"));
    cr_expect(may("chat"));
    scene.longest_ms = 0;
    cr_expect_eq(plan("z", "", 0), MCPX_OK);
    scene.now_ms += INT64_C(1000) * HOUR_MS;
    cr_expect_null(changes_tick(scene.changes, scene.now_ms));
    cr_expect(may("z"), "without a limit it may last");
}

Test(changes, denials_win)
{
    scene_begin("mcp/*", "mcp/request:ping");
    cr_expect_eq(plan("mcp/request:ping", "", 0), MCPX_ECAPABILITY);
    cr_expect_eq(plan("mcp/request:*", "", 0), MCPX_OK);
    cr_expect_not(may("mcp/request:ping"));
    cr_expect_eq(plan("", "mcp/request:rm", 0), MCPX_OK);
    cr_expect_not(may("mcp/request:rm"));
    cr_expect_eq(plan("mcp/request:rm:x", "", 0), MCPX_ECAPABILITY);
    cr_expect_eq(plan("mcp/request:rm", "", 10), MCPX_ECAPABILITY,
                 "what comes back comes back for good");
    cr_expect_eq(plan("mcp/request:rm", "", 0), MCPX_OK);
    cr_expect(may("mcp/request:rm"));
}

Test(changes, a_removal_ends_when_it_was_said_to_and_not_before)
{
    const struct change_list *ended;

    scene_begin("mcp/*", NULL);
    cr_expect_eq(plan("", "mcp/a", 1000), MCPX_OK);
    cr_expect_eq(plan("", "mcp/a", 500), MCPX_OK);
    scene.now_ms += 999;
    cr_expect_null(changes_tick(scene.changes, scene.now_ms));
    cr_expect_not(may("mcp/a"));
    scene.now_ms += 1;
    cr_expect(may("mcp/a"), "whether or not there was a tick");
    ended = changes_tick(scene.changes, scene.now_ms);
    cr_assert(ended);
    cr_expect(mcpx_slice_equal(ended->identity, MCPX_SLICE("bob")));
    cr_expect(mcpx_slice_equal(ended->topic, MCPX_SLICE("work")));
    cr_expect_null(changes_tick(scene.changes, scene.now_ms));
    cr_expect_null(found_in("work"));
}

Test(changes, one_set_for_all_connections)
{
    struct grant *one, *other;

    scene_begin("chat", NULL);
    cr_expect_eq(plan("x", "", 0), MCPX_OK);
    one = apply(scene.base, "work");
    other = apply(one, "work");
    cr_expect_eq(one->capset, other->capset);
    cr_expect_eq(grant_base(other), scene.base, "a change is never laid over a change");
    grant_unref(one);
    grant_unref(other);
}

Test(changes, a_bar_keeps_out_until_it_ends)
{
    scene_begin("chat", NULL);
    cr_expect_eq(ban(0), MCPX_ENOTFOUND, "there is none");
    cr_expect_eq(ban(10), MCPX_OK);
    cr_expect(is_banned(9));
    cr_expect_not(change_list_banned_until(found_in("play"), start_ms));
    cr_expect_not(is_banned(10));
    cr_expect(may("chat"), "who is kept out loses nothing else");
    scene.by = "helper"; /* the last who says something decides */
    cr_expect_eq(ban(20), MCPX_OK);
    cr_expect(is_banned(19));
    cr_expect_eq(ban(5), MCPX_OK);
    cr_expect_not(is_banned(5));
    cr_expect_eq(ban(0), MCPX_OK);
    cr_expect_not(is_banned(0));
}

Test(changes, the_same_grant_keeps_its_start_while_it_holds)
{
    scene_begin("chat", NULL);
    cr_expect_eq(plan("x:*", "", 0), MCPX_OK);
    scene.now_ms += HOUR_MS - 1000;
    cr_expect_eq(plan("x:*", "", 2000), MCPX_ECAPABILITY);
    cr_expect(strstr(scene.why.text, "admin.grant_max_s"), "%s", scene.why.text);
    cr_expect_eq(plan("x:*", "", 1000), MCPX_OK);
    cr_expect_eq(plan("x:y", "", 2000), MCPX_OK, "a similar one has its own start");
    cr_expect_eq(order_grant(to_ann, "", 2000), MCPX_OK, "so has another addressee");
    scene.now_ms += 2000;
    cr_expect_not(may("x:y"));
    cr_expect_eq(plan("x:*", "", HOUR_MS), MCPX_OK, "it has ended, and begins anew");
}

Test(changes, what_is_left_when_others_end_stays_as_it_was)
{
    const struct change_list *left;

    scene_begin("chat", NULL);
    cr_expect_eq(plan("y:*", "", 1000), MCPX_OK);
    cr_expect_eq(order_grant(to_ann, "chat:z", 0), MCPX_OK);
    scene.now_ms += 1000;
    cr_expect_null(changes_tick(scene.changes, scene.now_ms));
    left = found_in("work");
    cr_expect_eq(left->count, 2);
    cr_expect_not_null(change_list_active(left, CHANGE_GRANT, &to_ann, scene.now_ms));
    cr_expect_not(may("chat:z"));
}

/* Or an administrator makes the table grow for ever, a topic name at a time, past every bound. */
Test(changes, of_whom_nothing_is_left_is_forgotten)
{
    scene_begin("chat", NULL);
    cr_expect_eq(plan("", "chat", 0), MCPX_OK);
    cr_expect_null(changes_tick(scene.changes, start_ms));
    cr_expect_eq(scene.changes->count, (size_t)1);
    cr_expect_eq(plan("chat", "", 0), MCPX_OK, "what was taken away comes back");
    cr_expect_null(changes_tick(scene.changes, start_ms));
    cr_expect_eq(scene.changes->count, (size_t)0);
    cr_expect_eq(scene.changes->makers.count, (size_t)0);
}

/* An incident at night: who finds a removal that was a mistake need not wake up who made it. */
Test(changes, who_may_remove_may_take_any_removal_back)
{
    static const struct {
        const char *by, *has, *denied, *removed;
        bool comes_back, passes;
    } rows[] = {
        {"root", "*", NULL, "mcp/a", true, true},
        {"helper", "admin/grant", NULL, "mcp/a", true, true},
        {"lends", "x/*", NULL, "x/a", true, true}, /* the credential does not give it */
        {"holds nothing", "admin/grant", NULL, "x/a", true, false},
        {"bob", "mcp/*", "mcp/a", "mcp/a", false, false}, /* nobody frees themselves */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        scene_begin("mcp/*", NULL);
        cr_expect_eq(plan("", rows[i].removed, 0), MCPX_OK);
        act_as(rows[i].by, rows[i].has, rows[i].denied);
        cr_expect_eq(plan(rows[i].removed, "", 0),
                     rows[i].comes_back ? MCPX_OK : MCPX_ECAPABILITY, "%s", rows[i].by);
        cr_expect_eq(may(rows[i].removed), rows[i].passes, "%s", rows[i].by);
    }
}

Test(changes, nobody_gives_what_they_do_not_have)
{
    scene_begin("chat", NULL);
    act_as("helper", "x/*", "x/b");
    cr_expect_eq(plan("x/a", "", 0), MCPX_OK);
    cr_expect_eq(plan("y", "", 0), MCPX_ECAPABILITY);
    cr_expect(strstr(scene.why.text, "your grants do not cover 'y'"), "%s", scene.why.text);
    cr_expect_eq(plan("x/*", "", 0), MCPX_ECAPABILITY);
    cr_expect(strstr(scene.why.text, "denies you"), "%s", scene.why.text);
}

/* Each is told once, wherever the caller pauses; then nothing is left. */
Test(changes, many_removals_that_end_together_are_told_one_by_one)
{
    enum { MANY = 1000 };
    const struct mcpx_slice pattern = MCPX_SLICE("x");
    const struct change_list *ended;
    bool told[MANY] = {false};
    char name[16];
    int count = 0;

    scene_begin("", NULL);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%d", i);
        cr_assert_eq(carry_out((struct change_plan){.act.topic = mcpx_slice_of(name),
                                                    .remove = &pattern,
                                                    .remove_count = 1,
                                                    .until_ms = start_ms + 10}),
                     MCPX_OK);
    }
    cr_expect_eq(scene.changes->to_look, (size_t)0);
    while ((ended = changes_tick(scene.changes, start_ms + 10)) != NULL) {
        snprintf(name, sizeof name, "%.*s", (int)ended->topic.len, ended->topic.text);
        cr_expect_not(told[atoi(name)], "%s is told twice", name);
        told[atoi(name)] = true;
        count++;
        cr_expect(scene.changes->to_look > 0);
    }
    cr_expect_eq(count, MANY);
    cr_expect_eq(scene.changes->to_look, (size_t)0);
    cr_expect_eq(scene.changes->makers.held, 0);
    cr_expect_eq(scene.changes->count, (size_t)0);
}

/* ---- bounds ---- */

/* Removes `count` patterns of `length` bytes from bob in the topic of this number. */
static enum mcpx_err remove_many(int topic, int count, int length)
{
    static char patterns[CHANGES_EACH + 1][MCPX_KIND_MAX];
    struct mcpx_slice denials[CHANGES_EACH + 1];
    char name[16];

    snprintf(name, sizeof name, "t%d", topic);
    for (int i = 0; i < count; i++) {
        snprintf(patterns[i], sizeof *patterns, "x:%0*d", length - 2, i);
        denials[i] = mcpx_slice_of(patterns[i]);
    }
    return carry_out((struct change_plan){
        .act.topic = mcpx_slice_of(name), .remove = denials, .remove_count = (size_t)count});
}

Test(changes, each_bound_is_named_and_nothing_gives_way)
{
    char by[8];
    int topic = 0;

    scene_begin("chat", NULL);
    cr_expect_eq(remove_many(0, CHANGES_EACH + 1, 8), MCPX_ESHARE);
    cr_expect(strstr(scene.why.text, "for 'bob' in 't0' 128 removals with 16384 bytes"), "%s",
              scene.why.text);
    cr_expect_eq(remove_many(0, 17, 1000), MCPX_ESHARE, "bytes of patterns");
    for (int i = 0; i < CHANGES_MAX / CHANGES_OWN; i++) {
        snprintf(by, sizeof by, "%d", i);
        scene.by = by;
        for (int j = 0; j < CHANGES_OWN / CHANGES_EACH; j++)
            cr_assert_eq(remove_many(topic++, CHANGES_EACH, 8), MCPX_OK, "%s %d", by, j);
        if (i == 0) {
            cr_expect_eq(remove_many(topic, 1, 8), MCPX_ESHARE);
            cr_expect(strstr(scene.why.text, "2048 changes"), "%s", scene.why.text);
        }
    }
    scene.by = "newcomer";
    cr_expect_eq(remove_many(topic, 1, 8), MCPX_EFULL);
    cr_expect(strstr(scene.why.text, "16384 changes of all"), "%s", scene.why.text);
    cr_expect_eq(remove_many(0, CHANGES_EACH, 8), MCPX_OK, "what is there already");
    cr_expect_eq(scene.changes->makers.held, (uint64_t)CHANGES_MAX);
}

Test(changes, a_long_one_counts_for_each_kib_of_it)
{
    scene_begin("chat", NULL);
    cr_expect_eq(remove_many(0, 3, 1000), MCPX_OK);
    cr_expect_eq(scene.changes->makers.held, (uint64_t)6);
}

/* Or one removal in each of many topics takes a megabyte of memory each time. */
Test(changes, few_sets_are_kept_and_those_in_use_stay)
{
    struct grant *first = NULL, *grant;
    size_t kept = 0;
    char name[16];

    scene_begin("*", NULL);
    for (int i = 0; i < 3 * CHANGES_SETS; i++) {
        cr_assert_eq(remove_many(i, 1, 8), MCPX_OK);
        snprintf(name, sizeof name, "t%d", i);
        grant = apply(scene.base, name);
        if (i == 0)
            first = grant_ref(grant);
        grant_unref(grant);
    }
    for (size_t i = 0; i < scene.changes->count; i++)
        kept += scene.changes->all[i]->set != NULL;
    cr_expect_leq(kept, (size_t)CHANGES_SETS);
    cr_expect_gt(kept, (size_t)0, "the next who comes needs no new one");
    cr_expect_eq(first->capset->deny_count, 1);
    grant_unref(first);
}
