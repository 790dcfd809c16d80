/*
 * Lists that do not come. What breaks for whom: a client takes a server that failed for one that
 * has nothing, and an agent goes on without the tools that its person counts on.
 */
#include "lib/json/json_write.h"
#include "tests/support/rows.h"
#include "tests/unit/tools/expose_world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define INITIALIZE                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"                    \
    "\"protocolVersion\":"                                                                    \
    "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}"
#define LIST "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"
#define ANSWER "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":["
#define REFUSED                                                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-31000,\"message\":\"participant 's' " \
    "did not send its list, and no other has one; the bridge's standard error says why\"}}"
#define TOLD "participant 's': tools/list was given up, "

static const char changed[] =
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}";

/* Somebody has said what it is, and is asked for its tools. Returns who asks. */
static const struct world_draft *begin(struct world *world, const char *id)
{
    world_answer(world, world_draft(world), "{\"capabilities\":{\"tools\":{}}}");
    cr_assert_str_eq(world_draft(world)->to, id); /* notifications/initialized */
    return world_draft(world);
}

/* Answers with a result, or with an error that begins with "!"; NULL: not at all. */
static void answer(struct world *world, const struct world_draft *draft, const char *text)
{
    char line[300];

    if (!text)
        return;
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":%s}", text + 1);
    if (*text == '!')
        world_event(world, MCPX_EVENT_RESPONSE, draft, draft->to, line);
    else
        world_answer(world, draft, text);
}

static const struct row {
    const char *pages[4]; /* the last one that is there is not asked to go on */
    const char *shown, *notes;
} rows[] = {
    {{"!{\"code\":-32603,\"message\":\"no \\u006cist\"}"},
     NULL,
     TOLD "it answers with an error: no list\n"},
    {{"!{\"code\":-1}"}, NULL, TOLD "it answers with an error: {\"code\":-1}\n"},
    {{"{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"2\"}",
      "!{\"code\":-1,\"message\":\"page 2 is broken\"}"},
     NULL,
     TOLD "it answers with an error: page 2 is broken\n"},
    {{"{}"}, NULL, TOLD "its answer has no such list\n"},
    {{"{\"tools\":null}"}, NULL, TOLD "its answer has no such list\n"},
    {{"{\"tools\":{\"name\":\"a\"}}"}, NULL, TOLD "its answer has no such list\n"},
    {{"!{\"code\":-32601,\"message\":\"there is no such method\"}"}, "", NULL},
    {{"{\"tools\":[]}"}, "", NULL},
    {{"{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"\"}"}, "{\"name\":\"s__a\"}", NULL},
    {{"{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":null}"}, "{\"name\":\"s__a\"}", NULL},
    {{"{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"x\"}",
      "{\"tools\":[{\"name\":\"b\"}],\"nextCursor\":\"x\"}"},
     "{\"name\":\"s__a\"},{\"name\":\"s__b\"}",
     NULL},
    {{"{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"x\"}",
      "{\"tools\":[{\"name\":\"b\"}],\"nextCursor\":\"y\"}",
      "{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"x\"}",
      "{\"tools\":[{\"name\":\"b\"}],\"nextCursor\":\"y\"}"},
     "{\"name\":\"s__a\"},{\"name\":\"s__b\"}",
     NULL},
};

Test(expose_lists, that_fail_are_not_empty)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int beside = 0; beside < 2; beside++) {
            const char *good = "{\"name\":\"g__t\"}", *shown = rows[i].shown;
            const struct world_draft *page;
            struct world world;
            char expected[300];

            world_start(&world, &(struct world_setup){0});
            world.present[world.present_count++] = "s";
            world_join(&world);
            world_say(&world, INITIALIZE);
            page = begin(&world, "s");
            for (size_t k = 0; k < 4 && rows[i].pages[k]; k++) {
                answer(&world, page, rows[i].pages[k]);
                page = k < 3 && rows[i].pages[k + 1] ? world_draft(&world) : NULL;
            }
            if (beside) {
                world_come(&world, "g");
                page = begin(&world, "g");
                world_answer(&world, page, "{\"tools\":[{\"name\":\"t\"}]}");
            }
            world_line(&world);
            world_say(&world, LIST);
            snprintf(expected, sizeof expected, ANSWER "%s%s%s]}}", beside ? good : "",
                     beside && shown && *shown ? "," : "", shown ? shown : "");
            world_expect(&world, shown || beside ? expected : REFUSED);
            if (rows[i].notes)
                cr_expect_str_eq(world.notes, rows[i].notes, "%zu", i);
            else
                cr_expect_null(world.notes, "%zu: %s", i, world.notes);
            cr_expect(world_is_quiet(&world), "%zu: nothing more is asked", i);
            world_stop(&world);
        }
    }
}

Test(expose_lists, that_are_not_there_yet_are_named_and_that_fail_later_stay)
{
    struct world world;
    const struct world_draft *page;

    world_start(&world, &(struct world_setup){0});
    world.present[world.present_count++] = "s";
    world_join(&world);
    world_say(&world, INITIALIZE);
    page = begin(&world, "s");
    world_wait(&world, 2000);
    world_line(&world);
    world_say(&world, LIST);
    world_expect(&world, REFUSED);
    cr_expect_str_eq(world.notes,
                     "participant 's' has not answered tools/list yet: the client "
                     "gets the list without it\n");
    world_answer(&world, page, "{\"tools\":[{\"name\":\"t\"}]}");
    world_say(&world, LIST);
    world_expect(&world, ANSWER "{\"name\":\"s__t\"}]}}");
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "s", changed);
    world_wait(&world, 1000);
    answer(&world, world_draft(&world), "!{\"code\":-1,\"message\":\"not now\"}");
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":"
                      "{\"cursor\":null}}");
    world_expect(&world, ANSWER "{\"name\":\"s__t\"}]}}");
    cr_expect(strstr(world.notes, TOLD "it answers with an error: not now\n"));
    world_stop(&world);
}

#define FIT "\"inputSchema\":{\"type\":\"object\",\"x\":1}"

static void expect_shown(char *const row[])
{
    struct world world;
    char line[500];

    world_start(&world, &(struct world_setup){0});
    world.present[world.present_count++] = "s";
    world_join(&world);
    world_say(&world, INITIALIZE);
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[%s,{\"name\":\"b\"," FIT
             "}]}}",
             row[0]);
    world_event(&world, MCPX_EVENT_RESPONSE, begin(&world, "s"), "s", line);
    world_line(&world);
    world_say(&world, LIST);
    snprintf(line, sizeof line, ANSWER "%s%s{\"name\":\"s__b\"," FIT "}]}}", row[1],
             *row[1] ? "," : "");
    world_expect(&world, line);
    if (!row[2])
        cr_expect_null(world.notes, "%s: %s", row[0], world.notes);
    else
        cr_expect(world.notes && strstr(world.notes, row[2]) &&
                      strstr(world.notes, "'s': clients would reject tools/list because of 1"),
                  "%s: %s", row[0], world.notes);
    world_stop(&world);
}

/* One entry that is not as the protocol says takes all tools away from clients that check. */
Test(expose_lists, hold_nothing_that_clients_refuse)
{
    rows_each("tools/rows/listed", "tools", expect_shown);
}

/* An agent is no server, and has no list: it does not make one of a server's that fails. */
Test(expose_lists, of_who_is_no_server_are_not_there)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world.present[world.present_count++] = "agent";
    world.present[world.present_count++] = "s";
    world_join(&world);
    world_say(&world, INITIALIZE);
    answer(&world, &world.drafts[0], "!{\"code\":-32601,\"message\":\"no\"}");
    world_answer(&world, &world.drafts[1], "{\"capabilities\":{\"tools\":{}}}");
    for (size_t i = 2; i < world.draft_count; i++)
        if (strstr(world.drafts[i].payload, "tools/list"))
            answer(&world, &world.drafts[i], "!{\"code\":-1,\"message\":\"no\"}");
    world_line(&world);
    world_say(&world, LIST);
    world_expect(&world, REFUSED);
    world_stop(&world);
}

/* For each resource in no list, all templates of all servers are read. */
Test(expose_lists, are_not_searched_for_all_that_a_client_may_name)
{
    static struct world world;
    struct world_server server = {.id = "a", .resources = "{\"uri\":\"u:listed\"}"};
    mx_scoped_text uris = {0}, line = {0};
    size_t asked;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &server, 1);
    for (int64_t i = 0; i < 300; i++)
        mx_format(&uris, "\"u:%s\",", i);
    mx_format(&line,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{"
              "\"notifications\":{\"resourceSubscriptions\":[%s\"u:listed\"]},\"_meta\":{"
              "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
              &uris);
    asked = world.draft_count;
    world_say(&world, line.text);
    cr_expect_eq(world.draft_count - asked, 256 + 1);
    cr_expect(strstr(world.drafts[world.draft_count - 1].payload, "u:listed"));
    world_stop(&world);
}

/* What a tool says of itself is as long as its server likes; a model pays for each byte. */
Test(expose_lists, fit_into_what_a_model_may_find)
{
    struct world world;
    mx_scoped_text tools = {0};
    struct world_server server = {.id = "m"};
    const char *found;

    for (int64_t i = 0; i < 60; i++) {
        mx_format(&tools, "%s{\"name\":\"t%s\",\"description\":\"", i ? "," : "", i);
        for (int64_t byte = 0; byte < 5000; byte++)
            mcpx_text_puts(&tools, "\\u0001");
        mcpx_text_puts(&tools, "\"}");
    }
    server.tools = tools.text;
    world_start(&world, &(struct world_setup){.discover = true});
    world_serve(&world, &server, 1);
    world_say(&world,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
              "{\"name\":\"room__find_tools\",\"arguments\":{\"query\":\"t\",\"limit\":"
              "60}}}");
    found = world_line(&world);
    cr_expect_lt(strlen(found), 64 << 10);
    cr_expect(strstr(found, "\"name\":\"m__t9\"") && strstr(found, "\"left_out\":4"), "%s",
              found + strlen(found) - 40);
    world_stop(&world);
}
