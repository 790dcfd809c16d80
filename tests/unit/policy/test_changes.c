/*
 * What breaks for whom: a right that was lent does not end, one that was taken away comes back, or
 * one administrator leaves no room for the others. Protocol: section 8.
 */
#include "router/policy/changes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { HOUR_MS = 3600000 };

static const int64_t start_ms = 1000000000000;

/* A table, a participant whose credential gives `base`, and who changes what it may. */
struct scene {
    struct changes *changes;
    struct grant *base;
    int64_t now_ms, longest_ms;
    const char *by;
    bool by_all, open;
    struct mcpx_text why;
};

static struct scene scene_new(const char *base, const char *deny)
{
    struct mcpx_grant grant = {.pattern = mcpx_slice_of(base)};
    struct mcpx_slice denial = mcpx_slice_of(deny);
    struct scene scene = {
        .changes = changes_new(), .now_ms = start_ms, .longest_ms = HOUR_MS, .by = "root"};
    struct mcpx_capset *set = NULL;

    cr_assert_eq(mcpx_capset_new(&grant, *base != 0, &denial, deny != NULL, NULL, NULL, &set),
                 MCPX_OK);
    scene.base = grant_new(MCPX_SLICE("bob"), set, ROUTING_DEFAULT, 0);
    mcpx_capset_unref(set);
    cr_assert(scene.changes && scene.base);
    return scene;
}

static void scene_fini(struct scene *scene)
{
    grant_unref(scene->base);
    changes_free(scene->changes);
    mcpx_text_fini(&scene->why);
}

static enum mcpx_err bar(struct scene *scene, int64_t for_ms)
{
    struct change_act act = {MCPX_SLICE("bob"), MCPX_SLICE("work"), mcpx_slice_of(scene->by),
                             scene->now_ms, scene->by_all};
    struct changed *draft = NULL;
    enum mcpx_err err;

    mcpx_text_reset(&scene->why);
    err = changes_draft_bar(scene->changes, &act, scene->now_ms + for_ms, &scene->why, &draft);
    return err ? err : changes_commit(scene->changes, draft);
}

static bool is_barred(const struct scene *scene, int64_t in_ms)
{
    return changes_bar(scene->changes, MCPX_SLICE("bob"), MCPX_SLICE("work"),
                       scene->now_ms + in_ms);
}

/* A grant is added, or one pattern removed ("" = none), until so many milliseconds from now (0 =
 * not said). */
static enum mcpx_err order_grant(struct scene *scene, struct mcpx_grant grant,
                                 const char *remove, int64_t for_ms)
{
    struct mcpx_slice denial = mcpx_slice_of(remove);
    struct change_order order = {.act = {MCPX_SLICE("bob"), MCPX_SLICE("work"),
                                         mcpx_slice_of(scene->by), scene->now_ms,
                                         scene->by_all},
                                 .add = &grant,
                                 .add_count = grant.pattern.len > 0,
                                 .remove = &denial,
                                 .remove_count = *remove != 0,
                                 .until_ms = for_ms ? scene->now_ms + for_ms : 0,
                                 .longest_ms = scene->longest_ms,
                                 .base = scene->base->capset,
                                 .open = scene->open};
    struct changed *draft = NULL;
    enum mcpx_err err;

    mcpx_text_reset(&scene->why);
    err = changes_draft(scene->changes, &order, &scene->why, &draft);
    return err ? err : changes_commit(scene->changes, draft);
}

static enum mcpx_err order(struct scene *scene, const char *add, const char *remove,
                           int64_t for_ms)
{
    return order_grant(scene, (struct mcpx_grant){.pattern = mcpx_slice_of(add)}, remove,
                       for_ms);
}

static bool may(struct scene *scene, const char *text)
{
    struct mcpx_kind kind;
    struct mcpx_question question = {.kind = &kind, .wall_ms = scene->now_ms};
    struct grant *grant = NULL;
    bool may;

    cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(text), &kind, NULL), MCPX_OK);
    cr_assert_eq(
        changes_apply(scene->changes, scene->base, MCPX_SLICE("work"), scene->now_ms, &grant),
        MCPX_OK);
    may = mcpx_capset_allows(grant->capset, &question);
    grant_unref(grant);
    return may;
}

Test(changes, a_grant_lasts_as_long_as_it_was_given)
{
    struct scene scene = scene_new("chat", NULL);

    cr_expect_eq(order(&scene, "x:*", "", 1000), MCPX_OK);
    cr_expect(may(&scene, "x:y"));
    scene.now_ms += 999;
    cr_expect(may(&scene, "x:y"));
    scene.now_ms += 1;
    cr_expect_not(may(&scene, "x:y"));
    cr_expect(may(&scene, "chat"));
    scene_fini(&scene);
}

Test(changes, a_grant_cannot_be_renewed_for_ever)
{
    struct scene scene = scene_new("chat", NULL);

    cr_expect_eq(order(&scene, "x:*", "", 0), MCPX_OK);
    scene.now_ms += HOUR_MS - 1000;
    cr_expect_eq(order(&scene, "x:*", "", 2000), MCPX_ECAPABILITY);
    cr_expect(strstr(scene.why.text, "admin.grant_max_s"), "%s", scene.why.text);
    cr_expect_eq(order(&scene, "x:y", "", 2000), MCPX_ECAPABILITY, "a part of it is the same");
    cr_expect_eq(order(&scene, "x:*", "", 1000), MCPX_OK);
    /* It has ended, was taken away meanwhile, and time has passed: its time does not begin anew. */
    cr_expect_eq(order(&scene, "", "x:*", 0), MCPX_OK);
    scene.now_ms += HOUR_MS / 2;
    cr_expect_null(changes_tick(scene.changes, scene.now_ms, HOUR_MS));
    cr_expect_eq(order(&scene, "x:*", "", 0), MCPX_ECAPABILITY);
    cr_expect_not(may(&scene, "x:y"));
    /* After a pause of an hour it does. */
    scene.now_ms += HOUR_MS;
    cr_expect_null(changes_tick(scene.changes, scene.now_ms, HOUR_MS));
    cr_expect_eq(changes_count(scene.changes), 0);
    cr_expect_eq(order(&scene, "x:*", "", 0), MCPX_OK);
    cr_expect(may(&scene, "x:y"));
    scene_fini(&scene);
}

Test(changes, without_a_limit_a_grant_may_last)
{
    struct scene scene = scene_new("chat", NULL);

    scene.longest_ms = 0;
    cr_expect_eq(order(&scene, "x", "", 0), MCPX_OK);
    scene.now_ms += INT64_C(1000) * HOUR_MS;
    cr_expect_null(changes_tick(scene.changes, scene.now_ms, 0));
    cr_expect(may(&scene, "x"));
    scene_fini(&scene);
}

Test(changes, denials_win)
{
    struct scene scene = scene_new("mcp/*", "mcp/request:ping");

    cr_expect_eq(order(&scene, "mcp/request:ping", "", 0), MCPX_ECAPABILITY);
    cr_expect_eq(order(&scene, "mcp/request:*", "", 0), MCPX_OK);
    cr_expect_not(may(&scene, "mcp/request:ping"));
    cr_expect_eq(order(&scene, "", "mcp/request:rm", 0), MCPX_OK);
    cr_expect_not(may(&scene, "mcp/request:rm"));
    cr_expect_eq(order(&scene, "mcp/request:rm:x", "", 0), MCPX_ECAPABILITY);
    cr_expect_eq(order(&scene, "mcp/request:rm", "", 10), MCPX_ECAPABILITY,
                 "what comes back comes back for good");
    cr_expect_eq(order(&scene, "mcp/request:rm", "", 0), MCPX_OK);
    cr_expect(may(&scene, "mcp/request:rm"));
    scene_fini(&scene);
}

Test(changes, a_removal_ends_when_it_was_said_to_and_not_before)
{
    struct scene scene = scene_new("mcp/*", NULL);
    const struct changed *ended;

    cr_expect_eq(order(&scene, "", "mcp/a", 1000), MCPX_OK);
    cr_expect_eq(order(&scene, "", "mcp/a", 500), MCPX_OK);
    scene.now_ms += 999;
    cr_expect_null(changes_tick(scene.changes, scene.now_ms, HOUR_MS));
    cr_expect_not(may(&scene, "mcp/a"));
    scene.now_ms += 1;
    cr_expect(may(&scene, "mcp/a"), "whether or not there was a tick");
    ended = changes_tick(scene.changes, scene.now_ms, HOUR_MS);
    cr_assert(ended);
    cr_expect(mcpx_slice_equal(ended->identity, MCPX_SLICE("bob")));
    cr_expect(mcpx_slice_equal(ended->topic, MCPX_SLICE("work")));
    cr_expect_null(changes_tick(scene.changes, scene.now_ms, HOUR_MS));
    cr_expect_null(changes_find(scene.changes, MCPX_SLICE("bob"), MCPX_SLICE("work")));
    scene_fini(&scene);
}

Test(changes, what_is_not_there_needs_no_denial)
{
    struct scene scene = scene_new("chat", NULL);

    cr_expect_eq(order(&scene, "x:*", "", 0), MCPX_OK);
    cr_expect_eq(order(&scene, "", "x:*", 0), MCPX_OK);
    cr_expect_eq(changes_count(scene.changes), 1, "the grant that has ended, and no denial");
    cr_expect_eq(order(&scene, "x:y", "", 0), MCPX_OK);
    cr_expect(may(&scene, "x:y"));
    scene_fini(&scene);
}

/* Or an administrator makes the table grow for ever, a topic name at a time, past every bound. */
Test(changes, of_whom_nothing_is_left_is_forgotten)
{
    struct scene scene = scene_new("chat", NULL);

    cr_expect_eq(order(&scene, "", "x", 0), MCPX_OK, "there is no x");
    cr_expect_null(changes_tick(scene.changes, start_ms, HOUR_MS));
    cr_expect_null(changes_at(scene.changes, 0), "it is gone");
    cr_expect_eq(order(&scene, "", "chat", 0), MCPX_OK);
    cr_expect_null(changes_tick(scene.changes, start_ms, HOUR_MS));
    cr_expect_not_null(changes_at(scene.changes, 0));
    cr_expect_eq(order(&scene, "chat", "", 0), MCPX_OK, "what was taken away comes back");
    cr_expect_null(changes_tick(scene.changes, start_ms, HOUR_MS));
    cr_expect_null(changes_at(scene.changes, 0));
    scene_fini(&scene);
}

Test(changes, one_set_for_all_connections)
{
    struct scene scene = scene_new("chat", NULL);
    struct grant *one = NULL, *other = NULL;

    cr_expect_eq(order(&scene, "x", "", 0), MCPX_OK);
    cr_expect_eq(
        changes_apply(scene.changes, scene.base, MCPX_SLICE("work"), scene.now_ms, &one),
        MCPX_OK);
    cr_expect_eq(changes_apply(scene.changes, one, MCPX_SLICE("work"), scene.now_ms, &other),
                 MCPX_OK);
    cr_expect_eq(one->capset, other->capset);
    cr_expect_eq(grant_base(other), scene.base, "a change is never laid over a change");
    grant_unref(one);
    grant_unref(other);
    scene_fini(&scene);
}

Test(changes, a_bar_keeps_out_until_it_ends)
{
    struct scene scene = scene_new("chat", NULL);

    cr_expect_eq(bar(&scene, 0), MCPX_ENOTFOUND, "there is none");
    cr_expect_eq(bar(&scene, 10), MCPX_OK);
    cr_expect(is_barred(&scene, 9));
    cr_expect_not(changes_bar(scene.changes, MCPX_SLICE("bob"), MCPX_SLICE("play"), start_ms));
    cr_expect_not(is_barred(&scene, 10));
    cr_expect(may(&scene, "chat"), "who is kept out loses nothing else");
    cr_expect_eq(bar(&scene, 0), MCPX_OK);
    cr_expect_not(is_barred(&scene, 0));
    scene_fini(&scene);
}

/* Else whoever may remove people lets an attacker in again, or keeps out for longer to end
 * it then. */
Test(changes, a_bar_is_ended_by_who_has_made_it_or_has_all_rights)
{
    struct scene scene = scene_new("chat", NULL);

    cr_expect_eq(bar(&scene, 1000), MCPX_OK);
    scene.by = "helper";
    cr_expect_eq(bar(&scene, 0), MCPX_ECAPABILITY);
    cr_expect(strstr(scene.why.text, "'root'"), "%s", scene.why.text);
    cr_expect_eq(bar(&scene, 500), MCPX_OK);
    cr_expect(is_barred(&scene, 999), "it is no shorter");
    cr_expect_eq(bar(&scene, 2000), MCPX_OK, "but may be longer");
    cr_expect(is_barred(&scene, 1999));
    cr_expect_eq(bar(&scene, 0), MCPX_OK, "the own part of it");
    cr_expect(is_barred(&scene, 999));
    cr_expect_not(is_barred(&scene, 1000));
    scene.by = "chief";
    scene.by_all = true;
    cr_expect_eq(bar(&scene, 100), MCPX_OK);
    cr_expect_not(is_barred(&scene, 100));
    cr_expect_eq(bar(&scene, 0), MCPX_OK);
    cr_expect_not(is_barred(&scene, 0));
    scene_fini(&scene);
}

Test(changes, a_removal_is_taken_back_by_who_has_made_it_or_has_all_rights)
{
    struct scene scene = scene_new("mcp/*", NULL);

    cr_expect_eq(order(&scene, "", "mcp/a", 0), MCPX_OK);
    scene.by = "helper";
    cr_expect_eq(order(&scene, "mcp/a", "", 0), MCPX_ECAPABILITY);
    cr_expect(strstr(scene.why.text, "'root'"), "%s", scene.why.text);
    cr_expect_eq(order(&scene, "", "mcp/a", 500), MCPX_OK);
    cr_expect_eq(order(&scene, "mcp/a", "", 0), MCPX_ECAPABILITY, "it is not theirs for that");
    scene.now_ms += 500;
    cr_expect_not(may(&scene, "mcp/a"));
    scene.by = "chief";
    scene.by_all = true;
    cr_expect_eq(order(&scene, "mcp/a", "", 0), MCPX_OK);
    cr_expect(may(&scene, "mcp/a"));
    scene_fini(&scene);
}

/* Whoever signs tokens may send somebody with more rights than those who are there have. */
Test(changes, a_removal_holds_for_what_another_token_may_bring)
{
    struct scene scene = scene_new("chat", NULL);

    scene.open = true;
    cr_expect_eq(order(&scene, "", "mcp/request:a", 0), MCPX_OK);
    cr_expect_eq(changes_count(scene.changes), 1);
    cr_expect_eq(order(&scene, "mcp/request:a:x", "", 0), MCPX_ECAPABILITY);
    cr_expect_eq(order(&scene, "mcp/request:a", "", 0), MCPX_OK, "it comes back, and is lent");
    cr_expect(may(&scene, "mcp/request:a"));
    cr_expect_eq(order(&scene, "", "chat", 0), MCPX_OK);
    cr_expect_eq(order(&scene, "chat", "", 0), MCPX_OK, "it comes back, and needs no lending");
    cr_expect_eq(changes_count(scene.changes), 1);
    scene_fini(&scene);
}

/* What overlaps is the same thing lent again, however it is written. */
Test(changes, a_little_more_or_other_addressees_do_not_begin_a_new_time)
{
    struct mcpx_slice ann = MCPX_SLICE("ann"), both[] = {MCPX_SLICE("ann"), MCPX_SLICE("ben")},
                      cid = MCPX_SLICE("cid");
    const struct mcpx_grant rows[] = {
        {.pattern = MCPX_SLICE("x:y"), .to = both, .to_count = 2},
        {.pattern = MCPX_SLICE("x:y")},
        {.pattern = MCPX_SLICE("x:*"), .to = &ann, .to_count = 1},
        {.pattern = MCPX_SLICE("x:y"), .to = &ann, .to_count = 1},
        {.pattern = MCPX_SLICE("*")},
    };
    struct scene scene = scene_new("chat", NULL);

    cr_expect_eq(order_grant(&scene, rows[3], "", 0), MCPX_OK);
    scene.now_ms += HOUR_MS - 1000;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_expect_eq(order_grant(&scene, rows[i], "", 2000), MCPX_ECAPABILITY, "row %zu", i);
        cr_expect_eq(order_grant(&scene, rows[i], "", 1000), MCPX_OK, "row %zu", i);
    }
    scene.now_ms += HOUR_MS / 2;
    cr_expect_eq(order_grant(&scene, rows[0], "", 1000), MCPX_ECAPABILITY,
                 "nor when it ended");
    scene_fini(&scene);
    scene = scene_new("chat", NULL);
    cr_expect_eq(order_grant(&scene, rows[3], "", 0), MCPX_OK);
    scene.now_ms += HOUR_MS / 2;
    cr_expect_eq(order(&scene, "z", "", HOUR_MS), MCPX_OK, "something else");
    cr_expect_eq(order_grant(&scene,
                             (struct mcpx_grant){
                                 .pattern = MCPX_SLICE("x:y"), .to = &cid, .to_count = 1},
                             "", HOUR_MS),
                 MCPX_OK, "somebody else");
    scene_fini(&scene);
}

/* Or whoever may lend a thing for a second keeps everybody else from lending it. */
Test(changes, what_others_have_lent_does_not_bind_who_has_all_rights)
{
    struct scene scene = scene_new("chat", NULL);
    struct mcpx_grant many[CHANGES_EACH / 2];
    char patterns[CHANGES_EACH / 2][8];

    scene.by = "helper";
    for (int i = 0; i < CHANGES_EACH / 2; i++) {
        snprintf(patterns[i], sizeof *patterns, "x:%d", i);
        many[i] = (struct mcpx_grant){.pattern = mcpx_slice_of(patterns[i])};
        cr_assert_eq(order_grant(&scene, many[i], "", 1000), MCPX_OK);
    }
    scene.now_ms += HOUR_MS / 2;
    cr_expect_eq(order(&scene, "x:1", "", HOUR_MS), MCPX_ECAPABILITY);
    cr_expect_eq(order(&scene, "y", "", 0), MCPX_ESHARE, "those that ended are remembered");
    cr_expect(strstr(scene.why.text, "admin.grant_max_s after its end"), "%s", scene.why.text);
    scene.by = "root";
    scene.by_all = true;
    cr_expect_eq(order(&scene, "x:1", "", HOUR_MS), MCPX_OK);
    cr_expect_eq(order(&scene, "y", "", HOUR_MS), MCPX_OK);
    scene.now_ms += 1000;
    cr_expect_eq(order(&scene, "x:1", "", HOUR_MS), MCPX_ECAPABILITY, "but their own does");
    scene_fini(&scene);
}

/* A program with all rights that lends a tool for each call of it would have to stop. */
Test(changes, who_has_all_rights_gives_on_when_theirs_have_ended)
{
    struct scene scene = scene_new("chat", NULL);
    char pattern[8];

    cr_expect_eq(order(&scene, "helped", "", 1), MCPX_OK);
    scene.by = "chief";
    scene.by_all = true;
    for (int i = 0; i < 2 * CHANGES_EACH; i++) {
        snprintf(pattern, sizeof pattern, "x:%d", i);
        scene.now_ms += 1;
        cr_assert_eq(order(&scene, pattern, "", 1), MCPX_OK, "%s: %s", pattern,
                     scene.why.text);
    }
    scene.by = "root";
    scene.by_all = false;
    cr_expect_eq(order(&scene, "helped", "", HOUR_MS), MCPX_ECAPABILITY,
                 "what another gave is remembered");
    scene_fini(&scene);
}

/* Bars have room of their own: nobody escapes one by collecting grants or removals. */
Test(changes, nobody_is_safe_from_a_bar_by_having_many_changes)
{
    struct scene scene = scene_new("*", NULL);
    char pattern[8];

    for (int i = 0; i < CHANGES_EACH / 2; i++) {
        snprintf(pattern, sizeof pattern, "x:%d", i);
        cr_assert_eq(order(&scene, pattern, "", 0), MCPX_OK);
        snprintf(pattern, sizeof pattern, "y:%d", i);
        cr_assert_eq(order(&scene, "", pattern, 0), MCPX_OK);
    }
    cr_expect_eq(order(&scene, "z", "", 0), MCPX_ESHARE);
    cr_expect_eq(order(&scene, "", "z", 0), MCPX_ESHARE);
    cr_expect_eq(bar(&scene, 1000), MCPX_OK);
    cr_expect(is_barred(&scene, 0));
    scene_fini(&scene);
}

/* Each is told once, wherever the caller pauses; then nothing is left. */
Test(changes, many_removals_that_end_together_are_told_one_by_one)
{
    enum { MANY = 1000 };
    struct changes *changes = changes_new();
    const struct mcpx_slice pattern = MCPX_SLICE("x");
    const struct changed *ended;
    bool told[MANY] = {false};
    char name[16];
    int count = 0;

    for (int i = 0; i < MANY; i++) {
        struct change_order order = {
            .remove = &pattern, .remove_count = 1, .until_ms = start_ms + 10};
        struct changed *draft = NULL;

        snprintf(name, sizeof name, "%d", i);
        order.act = (struct change_act){MCPX_SLICE("bob"), mcpx_slice_of(name),
                                        MCPX_SLICE("root"), start_ms, true};
        cr_assert_eq(changes_draft(changes, &order, &(struct mcpx_text){0}, &draft), MCPX_OK);
        cr_assert_eq(changes_commit(changes, draft), MCPX_OK);
    }
    cr_expect_not(changes_are_looked_at(changes));
    while ((ended = changes_tick(changes, start_ms + 10, HOUR_MS)) != NULL) {
        snprintf(name, sizeof name, "%.*s", (int)ended->topic.len, ended->topic.text);
        cr_expect_not(told[atoi(name)], "%s is told twice", name);
        told[atoi(name)] = true;
        count++;
        cr_expect(changes_are_looked_at(changes));
    }
    cr_expect_eq(count, MANY);
    cr_expect_not(changes_are_looked_at(changes));
    cr_expect_eq(changes_count(changes), 0);
    cr_expect_null(changes_at(changes, 0));
    changes_free(changes);
}
