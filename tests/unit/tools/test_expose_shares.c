/*
 * What breaks for whom: the lists of one participant fill everybody's list, or it announces changes
 * so often that the bridge does nothing else, and calls of other servers wait.
 */
#include "tests/unit/tools/expose_world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static const char changed[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/"
                              "list_changed\"}";

/* A server whose only tool has a name of so many MiB. */
static struct world_server long_server(const char *id, size_t mib)
{
    size_t len = mib << 20;
    char *tools = malloc(len + 1);

    cr_assert_not_null(tools);
    memset(tools, 'x', len);
    memcpy(tools, "{\"name\":\"", 9);
    strcpy(tools + len - 3, "\"}");
    return (struct world_server){.id = id, .tools = tools};
}

/* Eight instances had eight times as much in everybody's list as one participant may. */
Test(expose_shares, have_no_more_room_by_more_instances)
{
    static const char *const ids[] = {"m", "m~2", "m~3", "m~4", "m~5"};
    struct world_server servers[6] = {{.id = "good", .tools = "{\"name\":\"t\"}"}};
    struct world world;
    const char *line;

    for (size_t i = 0; i < 5; i++)
        servers[i + 1] = long_server(ids[i], 6);
    world_start(&world, &(struct world_setup){0});
    world_serve(&world, servers, 6);
    for (size_t i = 2; i < 5; i++) {
        char note[100];

        snprintf(note, sizeof note, "participant '%s': tools/list was given up, all lists of ",
                 ids[i]);
        cr_expect_not_null(strstr(world.notes, note), "%s", world.notes);
    }
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    line = world_line(&world);
    cr_expect_lt(strlen(line), 13 << 20);
    cr_expect_not_null(strstr(line, "\"good__t\""));
    world_stop(&world);
    for (size_t i = 1; i < 6; i++)
        free((char *)servers[i].tools);
}

/* Where all have as much as they may together, who has most makes room for who has little. */
Test(expose_shares, make_room_for_who_has_less)
{
    static const char *const ids[] = {"e", "f", "g", "h", "i"};
    struct world_server servers[6] = {[5] = {.id = "zoe", .tools = "{\"name\":\"t\"}"}};
    struct world world;

    for (size_t i = 0; i < 5; i++)
        servers[i] = long_server(ids[i], i == 4 ? 13 : 15);
    world_start(&world, &(struct world_setup){0});
    world_serve(&world, servers, 6);
    cr_expect_not_null(strstr(world.notes, ": tools/list is left out, all lists of all "),
                       "%s", world.notes);
    cr_expect_not_null(strstr(world.notes, "longer than 64 MiB"));
    cr_expect_null(strstr(world.notes, "'zoe'"));
    cr_expect_null(strstr(world.notes, "'i'"), "it has less than the others");
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                      "{\"name\":\"zoe__t\"}}");
    cr_expect_str_eq(world_draft(&world)->to, "zoe");
    world_stop(&world);
    for (size_t i = 0; i < 5; i++)
        free((char *)servers[i].tools);
}

/* A prompt with another name ten times a second took three quarters of the bridge's time. */
Test(expose_shares, are_read_and_told_of_once_a_second_whatever_they_announce)
{
    static const char prompts[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/"
                                  "list_changed\"}";
    struct world world;
    size_t asked, told;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, (struct world_server[]){{.id = "a"}, {.id = "b"}}, 2);
    asked = world.draft_count;
    told = world.line_count;
    for (int i = 0; i < 200; i++) {
        char list[100];

        world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "b", prompts);
        world_wait(&world, 100);
        snprintf(list, sizeof list, "{\"prompts\":[{\"name\":\"p%d\"}]}", i);
        while (world.draft_seen < world.draft_count)
            world_answer(&world, world_draft(&world), list);
    }
    cr_expect_leq(world.draft_count - asked, 21, "%zu", world.draft_count - asked);
    cr_expect_geq(world.draft_count - asked, 18, "%zu", world.draft_count - asked);
    cr_expect_leq(world.line_count - told, 21, "%zu", world.line_count - told);
    cr_expect_geq(world.line_count - told, 16, "%zu", world.line_count - told);
    world_stop(&world);
}

/* 16 MiB at once, and then one per second, however many instances and lists they are in. */
Test(expose_shares, are_read_no_faster_than_their_lists_are_long)
{
    struct world_server m = long_server("b", 12);
    char *again = malloc(strlen(m.tools) + 100);
    struct world world;
    size_t asked;

    cr_assert_not_null(again);
    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &m, 1);
    asked = world.draft_count;
    for (int second = 0; second < 60; second++) {
        world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "b", changed);
        world_wait(&world, 1000);
        sprintf(again, "{\"tools\":[%s]}", m.tools);
        memcpy(again + 19, second % 2 ? "aa" : "bb", 2);
        while (world.draft_seen < world.draft_count)
            world_answer(&world, world_draft(&world), again);
    }
    cr_expect_leq(world.draft_count - asked, 7, "%zu", world.draft_count - asked);
    cr_expect_geq(world.draft_count - asked, 5, "%zu", world.draft_count - asked);
    world_stop(&world);
    free(again);
    free((char *)m.tools);
}

/* The next page of a list of twenty; the request says which. */
static void answer_page(struct world *world)
{
    const struct world_draft *draft = world_draft(world);
    const char *cursor = strstr(draft->payload, "\"cursor\":\"");
    int page = cursor ? atoi(cursor + strlen("\"cursor\":\"")) : 0;
    char result[100];

    snprintf(result, sizeof result,
             page < 19 ? "{\"tools\":[],\"nextCursor\":\"%d\"}" : "{\"tools\":[]}", page + 1);
    world_answer(world, draft, result);
}

/* Each page is a request of the client, who could make no other ones. */
Test(expose_shares, are_read_no_more_often_in_many_short_pages)
{
    enum { INSTANCES = 7, SECONDS = 6 };
    static const char *const ids[INSTANCES] = {"m", "m~2", "m~3", "m~4", "m~5", "m~6", "m~7"};
    struct world_server servers[INSTANCES] = {{0}};
    struct world world;
    size_t asked;

    for (int i = 0; i < INSTANCES; i++)
        servers[i] = (struct world_server){.id = ids[i], .tools = "{\"name\":\"t\"}"};
    world_start(&world, &(struct world_setup){0});
    world_serve(&world, servers, INSTANCES);
    asked = world.draft_count;
    for (int second = 0; second < SECONDS; second++) {
        for (int i = 0; i < INSTANCES; i++)
            world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, ids[i], changed);
        world_wait(&world, 1000);
        while (world.draft_seen < world.draft_count)
            answer_page(&world);
    }
    cr_expect_leq(world.draft_count - asked, 256 + 16 * SECONDS + 20 * INSTANCES, "%zu",
                  world.draft_count - asked);
    world_stop(&world);
}
