/*
 * What breaks for whom: a host that accepts 128 tools gets 190 and refuses them all. What is left
 * out must be out for good, listed or called, and what was asked for must not be.
 */
#include "tests/unit/tools/expose_world.h"
#include "tools/mcpx-bridge/expose/state.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct world_server s = {
    "s", "{\"name\":\"read_a\"},{\"name\":\"read_b\"},{\"name\":\"write\"}",
    "{\"uri\":\"demo://1\"},{\"uri\":\"other://1\"}", NULL,
    "{\"name\":\"read_p\"},{\"name\":\"q\"}"};

static const char *request(int id, const char *method, const char *params)
{
    static char line[512];

    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"%s%s}", id,
             method, params ? ",\"params\":" : "", params ? params : "");
    return line;
}

static void expect_lists(struct world *world, const char *tools, const char *prompts,
                         const char *resources)
{
    char line[512];

    world_say(world, request(1, "tools/list", NULL));
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[%s]}}",
             tools);
    world_expect(world, line);
    world_say(world, request(2, "prompts/list", NULL));
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"prompts\":[%s]}}",
             prompts);
    world_expect(world, line);
    world_say(world, request(3, "resources/list", NULL));
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"resources\":[%s]}}", resources);
    world_expect(world, line);
}

Test(expose_only, shows_and_calls_what_fits)
{
    static const struct {
        const char *only, *tools, *prompts, *resources;
    } rows[] = {
        {"s", "{\"name\":\"s__read_a\"},{\"name\":\"s__read_b\"},{\"name\":\"s__write\"}",
         "{\"name\":\"s__read_p\"},{\"name\":\"s__q\"}",
         "{\"uri\":\"demo://1\"},{\"uri\":\"other://1\"}"},
        {"s__read_*", "{\"name\":\"s__read_a\"},{\"name\":\"s__read_b\"}",
         "{\"name\":\"s__read_p\"}", ""},
        {"s__write", "{\"name\":\"s__write\"}", "", ""},
        {"demo://*", "", "", "{\"uri\":\"demo://1\"}"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world world;

        world_start(&world, &(struct world_setup){.only = rows[i].only});
        world_serve(&world, &s, 1);
        expect_lists(&world, rows[i].tools, rows[i].prompts, rows[i].resources);
        world_say(&world, request(4, "tools/call", "{\"name\":\"s__read_a\"}"));
        if (i < 2)
            cr_expect_str_eq(world_draft(&world)->to, "s");
        else
            world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32602,"
                                 "\"message\":\"nobody in the topic has 's__read_a' for "
                                 "tools/call\"}}");
        world_say(&world, request(5, "resources/read", "{\"uri\":\"demo://1\"}"));
        if (i == 0 || i == 3)
            cr_expect_str_eq(world_draft(&world)->to, "s");
        else
            cr_expect_not_null(
                strstr(world_line(&world), "nobody in the topic has 'demo://1'"));
        cr_expect(world_is_quiet(&world));
        world_stop(&world);
    }
}

Test(expose_only, asks_nobody_who_has_nothing_that_fits_and_says_what_fits_nothing)
{
    struct world world;

    world_start(&world, &(struct world_setup){.only = "s__raed_*"});
    world.seats[world.seat_count++] = "r";
    world.seats[world.seat_count++] = "ss";
    world_serve(&world, &s, 1);
    expect_lists(&world, "", "", "");
    world_wait(&world, 200);
    cr_expect(world_is_quiet(&world), "neither r nor ss was asked");
    cr_expect_not_null(
        strstr(world.notes, "--only 's__raed_*' fits no participant and no name"), "%s",
        world.notes);
    world_stop(&world);
}
