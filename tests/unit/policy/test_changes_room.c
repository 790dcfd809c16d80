/*
 * What breaks for whom: administrators who fill the table, or the list of one participant, keep
 * others from taking something away from an attacker. Protocol: section 8.
 */
#include "router/policy/changes.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const int64_t start_ms = 1000000000000;
static const enum change_sort sorts[] = {CHANGE_GRANT, CHANGE_DENIAL};

/* A table, and the reason of the last refusal. */
struct scene {
    struct changes *changes;
    struct mcpx_text why;
};

static struct scene scene_new(void)
{
    struct scene scene = {.changes = changes_new()};

    cr_assert(scene.changes);
    return scene;
}

static void scene_fini(struct scene *scene)
{
    changes_free(scene->changes);
    mcpx_text_fini(&scene->why);
}

/* Patterns for bob in the topic of this number: they begin with `name`, and are `length` long. */
struct wish {
    const char *by, *name;
    int topic, count, length;
    enum change_sort sort;
};

static enum mcpx_err make(struct scene *scene, struct wish wish)
{
    static char patterns[CHANGES_EACH][MCPX_KIND_MAX];
    struct mcpx_grant grants[CHANGES_EACH];
    struct mcpx_slice denials[CHANGES_EACH];
    char topic[16];
    struct change_order order = {.add = grants, .remove = denials};
    struct changed *draft = NULL;
    enum mcpx_err err;

    snprintf(topic, sizeof topic, "t%d", wish.topic);
    order.act = (struct change_act){MCPX_SLICE("bob"), mcpx_slice_of(topic),
                                    mcpx_slice_of(wish.by), start_ms, false};
    for (int i = 0; i < wish.count; i++) {
        snprintf(patterns[i], sizeof *patterns, "%s:%0*d", wish.name ? wish.name : wish.by,
                 wish.length, i);
        denials[i] = mcpx_slice_of(patterns[i]);
        grants[i] = (struct mcpx_grant){.pattern = denials[i]};
    }
    *(wish.sort == CHANGE_GRANT ? &order.add_count : &order.remove_count) = (size_t)wish.count;
    mcpx_text_reset(&scene->why);
    err = changes_draft(scene->changes, &order, &scene->why, &draft);
    return err ? err : changes_commit(scene->changes, draft);
}

/* The most patterns for which there is room at once. */
static int fill(struct scene *scene, struct wish wish)
{
    for (wish.count = CHANGES_EACH; wish.count > 0 && make(scene, wish); wish.count--)
        ;
    return wish.count;
}

static bool says(const struct scene *scene, const char *text)
{
    return scene->why.len > 0 && strstr(scene->why.text, text);
}

Test(changes_room, of_one_participant_nobody_has_more_than_they_leave_for_others)
{
    static const char *const makers[] = {"a", "b", "c", "d", "e", "f", "g"};

    for (size_t i = 0; i < 2; i++) {
        struct scene scene = scene_new();
        struct wish wish = {.sort = sorts[i]};
        int room = CHANGES_EACH;

        for (size_t j = 0; j < sizeof makers / sizeof *makers; j++) {
            wish.by = makers[j];
            room /= 2;
            cr_expect_eq(fill(&scene, wish), room, "%s", wish.by);
        }
        wish = (struct wish){.by = "a", .sort = sorts[i], .count = CHANGES_EACH / 2 + 1};
        cr_expect_eq(make(&scene, wish), MCPX_ESHARE);
        cr_expect(says(&scene, i == 0 ? "for 'bob' in 't0' 128 grants may"
                                      : "for 'bob' in 't0' 128 removals may"),
                  "%s", scene.why.text);
        cr_expect(says(&scene, "others have 63, you would have 65"), "%s", scene.why.text);
        wish.count--;
        cr_expect_eq(make(&scene, wish), MCPX_OK, "what is there may be said again");
        scene_fini(&scene);
    }
}

Test(changes_room, of_all_participants_nobody_has_more_than_they_leave_for_others)
{
    static const char *const makers[] = {"a", "b", "c", "d", "e", "f"};
    struct scene scene = scene_new();
    struct wish wish = {.sort = CHANGE_DENIAL};
    int most = CHANGES_MAX;

    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        int first = wish.topic;

        wish.by = makers[i];
        wish.count = 32;
        while (make(&scene, wish) == MCPX_OK)
            wish.topic++;
        most /= 2;
        cr_expect_eq((wish.topic - first) * wish.count, most, "%s", wish.by);
    }
    cr_expect(says(&scene, "4096 removals may be kept: others have 3968, you would have 96"),
              "%s", scene.why.text);
    cr_expect_null(changes_find(scene.changes, MCPX_SLICE("bob"), MCPX_SLICE("t126")));
    wish = (struct wish){.by = "g", .sort = CHANGE_DENIAL, .topic = 126, .count = 1};
    cr_expect_eq(make(&scene, wish), MCPX_OK);
    wish = (struct wish){.by = "a", .topic = 126, .count = CHANGES_EACH / 2};
    cr_expect_eq(make(&scene, wish), MCPX_OK, "another sort");
    scene_fini(&scene);
}

/* Else a few long ones leave no room for a removal in a set, which is bounded, too. */
Test(changes_room, long_patterns_leave_room_for_others)
{
    struct mcpx_grant all = {.pattern = MCPX_SLICE("*")};
    struct scene scene = scene_new();
    struct mcpx_capset *set = NULL;
    struct grant *base, *grant = NULL;

    for (size_t i = 0; i < 2; i++) {
        struct wish wish = {.by = "a", .name = i == 0 ? "g" : "d", .sort = sorts[i]};

        wish.length = 1022;
        cr_expect_eq(fill(&scene, wish), CHANGES_EACH_TEXT / 2 / 1024);
        wish.count = CHANGES_EACH_TEXT / 2 / 1024 + 1;
        cr_expect_eq(make(&scene, wish), MCPX_ESHARE);
        cr_expect(says(&scene, "16384 bytes of patterns of "), "%s", scene.why.text);
        wish.by = "b";
        wish.name = i == 0 ? "gb" : "db";
        cr_expect_eq(fill(&scene, wish), CHANGES_EACH_TEXT / 4 / 1024 - 1, "they are longer");
    }
    cr_assert_eq(mcpx_capset_new(&all, 1, NULL, 0, NULL, NULL, &set), MCPX_OK);
    base = grant_new(MCPX_SLICE("bob"), set, ROUTING_DEFAULT, 0);
    cr_assert(base);
    cr_expect_eq(changes_apply(scene.changes, base, MCPX_SLICE("t0"), start_ms, &grant),
                 MCPX_OK);
    grant_unref(grant);
    grant_unref(base);
    mcpx_capset_unref(set);
    scene_fini(&scene);
}

/* Or one removal in each of many topics takes a megabyte of memory each time. */
Test(changes_room, few_sets_are_kept_and_those_in_use_stay)
{
    struct mcpx_grant all = {.pattern = MCPX_SLICE("*")};
    struct scene scene = scene_new();
    struct mcpx_capset *set = NULL;
    struct grant *base, *first = NULL, *grant = NULL;
    size_t kept = 0;
    char name[16];

    cr_assert_eq(mcpx_capset_new(&all, 1, NULL, 0, NULL, NULL, &set), MCPX_OK);
    base = grant_new(MCPX_SLICE("bob"), set, ROUTING_DEFAULT, 0);
    cr_assert(base);
    for (int i = 0; i < 3 * CHANGES_SETS; i++) {
        struct wish wish = {.by = "a", .sort = CHANGE_DENIAL, .topic = i, .count = 1};

        cr_assert_eq(make(&scene, wish), MCPX_OK);
        snprintf(name, sizeof name, "t%d", i);
        cr_assert_eq(changes_apply(scene.changes, base, mcpx_slice_of(name), start_ms, &grant),
                     MCPX_OK);
        if (i == 0)
            first = grant_ref(grant);
        grant_unref(grant);
    }
    for (size_t i = 0; changes_at(scene.changes, i); i++)
        kept += changes_at(scene.changes, i)->set != NULL;
    cr_expect_leq(kept, (size_t)CHANGES_SETS);
    cr_expect_gt(kept, (size_t)0, "the next who comes needs no new one");
    cr_expect_eq(first->capset->deny_count, 1);
    grant_unref(first);
    grant_unref(base);
    mcpx_capset_unref(set);
    scene_fini(&scene);
}

/* Giving again what another gave makes it one's own; in turns, two would have everything. */
Test(changes_room, what_is_taken_over_counts)
{
    struct scene scene = scene_new();
    struct wish again = {.by = "b", .name = "a", .count = 1};

    cr_assert_eq(fill(&scene, (struct wish){.by = "a"}), CHANGES_EACH / 2);
    cr_assert_eq(fill(&scene, (struct wish){.by = "b"}), CHANGES_EACH / 4);
    cr_expect_eq(make(&scene, again), MCPX_ESHARE);
    again.by = "c";
    cr_expect_eq(make(&scene, again), MCPX_OK);
    scene_fini(&scene);
}

/* Each has one, so it takes many who keep somebody out to leave no room for one more. */
Test(changes_room, a_bar_finds_room_beside_many)
{
    struct scene scene = scene_new();
    struct change_act act = {MCPX_SLICE("bob"), MCPX_SLICE("t0"), MCPX_SLICE("a"), start_ms,
                             false};
    struct changed *draft = NULL;
    char by[8];

    for (int i = 0; i < 2 * (CHANGES_EACH - 1); i++) {
        snprintf(by, sizeof by, "%d", i / 2);
        act.by = mcpx_slice_of(by);
        cr_assert_eq(
            changes_draft_bar(scene.changes, &act, start_ms + 1000 + i, &scene.why, &draft),
            MCPX_OK, "%s", by);
        cr_assert_eq(changes_commit(scene.changes, draft), MCPX_OK);
    }
    act.by = MCPX_SLICE("one more");
    cr_expect_eq(changes_draft_bar(scene.changes, &act, start_ms + 5000, &scene.why, &draft),
                 MCPX_ESHARE);
    cr_expect(says(&scene, "128 bars may be kept: others have 127"), "%s", scene.why.text);
    scene_fini(&scene);
}
