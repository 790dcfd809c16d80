/*
 * What breaks for whom: an unmodified MCP client sees a topic only through this server. What it
 * lists must be what the servers said, calls must reach the right one, and every request must be
 * answered once, whatever becomes of the participants.
 */
#include "tests/unit/tools/expose_world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define INITIALIZE                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"                    \
    "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"                                 \
    "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}"
#define CAPABILITIES                                                                          \
    "\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{\"listChanged\":true}" \
    ","                                                                                       \
    "\"prompts\":{\"listChanged\":true},\"logging\":{}}"

static const struct world_server s = {
    "s", "{\"name\":\"t\",  \"x\":1e400}", "{\"uri\":\"demo://1\"}",
    "{\"uriTemplate\":\"demo://dyn/{id}\"}", "{\"name\":\"p\"}"};

static const char *request(int id, const char *method, const char *params)
{
    static char line[2048];

    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"%s%s}", id,
             method, params ? ",\"params\":" : "", params ? params : "");
    return line;
}

Test(expose, is_a_server_even_in_an_empty_topic)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_join(&world);
    world_say(&world, INITIALIZE);
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":"
                         "\"2025-06-18\"," CAPABILITIES
                         ",\"serverInfo\":{\"name\":\"mcpx-bridge\",\"title\":\"room\","
                         "\"version\":\"0.1.0\"}}}");
    world_say(&world, request(1, "tools/list", NULL));
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}");
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}");
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}");
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

Test(expose, asks_a_server_in_the_client_s_name_and_lists_what_it_said)
{
    struct world world;
    const struct world_draft *draft;

    world_start(&world, &(struct world_setup){0});
    world.seats[world.seat_count++] = "s";
    world.seats[world.seat_count++] = "-no-server";
    world_join(&world);
    cr_expect(world_is_quiet(&world), "before the client nobody is asked");
    world_say(&world, INITIALIZE);
    world_say(&world, request(1, "tools/list", NULL));
    world_expect_draft(&world,
                       "mcp/request s {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
                       "\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                       "\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
    world_answer(&world, &world.drafts[0],
                 "{\"capabilities\":{\"tools\":{}},\"instructions\":\"be \\u0041\"}");
    world_expect_draft(&world, "mcp/request s {\"jsonrpc\":\"2.0\",\"method\":"
                               "\"notifications/initialized\"}");
    world_expect_draft(
        &world, "mcp/request s {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}");
    cr_expect(world_is_quiet(&world), "it said nothing of other lists");
    world_answer(&world, &world.drafts[2],
                 "{\"tools\":[{\"name\":\"t\",  \"x\":1e400}],\"nextCursor\":\"c\\n\"}");
    world_expect_draft(&world, "mcp/request s {\"jsonrpc\":\"2.0\",\"id\":3,\"method\":"
                               "\"tools/list\",\"params\":{\"cursor\":\"c\\n\"}}");
    draft = &world.drafts[3];
    world_answer(&world, draft,
                 "{\"tools\":[{\"y\":1.10,\"name\":\"u\"}, {\"no\":\"name\"}]}");
    cr_expect_not_null(strstr(world_line(&world), "\"instructions\":\"be A\""));
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":["
                 "{\"name\":\"s__t\",  \"x\":1e400},{\"y\":1.10,\"name\":\"s__u\"}]}}");
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

Test(expose, does_not_wait_long_for_who_never_answers_but_hears_it_later)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world.seats[world.seat_count++] = "human";
    world_join(&world);
    world_say(&world, INITIALIZE);
    cr_expect_eq(expose_deadline(world.expose), world.now.mono_ms + 2000);
    world_wait(&world, 2000);
    cr_expect_not_null(strstr(world_line(&world), "\"protocolVersion\""));
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    world_wait(&world, 200);
    world_draft(&world);
    world_answer(&world, &world.drafts[0], "{\"capabilities\":{\"tools\":{}}}");
    world_draft(&world);
    world_draft(&world);
    world_answer(&world, &world.drafts[2], "{\"tools\":[{\"name\":\"t\"}]}");
    cr_expect(world_is_quiet(&world), "changes are told together");
    world_wait(&world, 1000);
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

Test(expose, asks_who_refuses_initialize_for_its_tools_and_then_no_more)
{
    static const char refusal[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"
                                  "\"message\":\"no\"}}";
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world.seats[world.seat_count++] = "agent";
    world.seats[world.seat_count++] = "watcher";
    world_join(&world);
    world_say(&world, INITIALIZE);
    world_event(&world, MCPX_EVENT_RESPONSE, world_draft(&world), "agent", refusal);
    world_event(&world, MCPX_EVENT_RESPONSE, world_draft(&world), "watcher", refusal);
    world_answer(&world, world_draft(&world), "{\"tools\":[{\"name\":\"t\"}]}");
    world_event(&world, MCPX_EVENT_RESPONSE, world_draft(&world), "watcher", refusal);
    for (size_t i = 0; i < 3; i++) {
        const struct world_draft *draft = world_draft(&world);

        cr_expect_str_eq(draft->to, "agent");
        world_event(&world, MCPX_EVENT_RESPONSE, draft, "agent", refusal);
    }
    cr_expect_not_null(strstr(world_line(&world), "\"protocolVersion\""), "all is known");
    world_say(&world, request(1, "tools/call", "{\"name\":\"agent__t\"}"));
    cr_expect_str_eq(world_draft(&world)->to, "agent");
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

Test(expose, lists_without_initialize_where_the_router_refuses_that)
{
    struct mcpx_event refused = {.type = MCPX_EVENT_REFUSED, .err = MCPX_ECAPABILITY};
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world.seats[world.seat_count++] = "s";
    world_join(&world);
    world_say(&world, INITIALIZE);
    refused.tag = world_draft(&world)->tag;
    world_event_with(&world, &refused, "system:gateway", "{}");
    world_answer(&world, world_draft(&world), "{\"tools\":[{\"name\":\"t\"}]}");
    for (size_t i = 0; i < 3; i++)
        world_answer(&world, world_draft(&world), "{}");
    world_line(&world);
    world_say(&world, request(1, "tools/list", NULL));
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":["
                         "{\"name\":\"s__t\"}]}}");
    world_stop(&world);
}

Test(expose, tells_changes_that_are_changes_only)
{
    struct world world;
    static const char changed[] = "{\"jsonrpc\":\"2.0\",\"method\":"
                                  "\"notifications/tools/list_changed\"}";

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "s", changed);
    world_answer(&world, world_draft(&world), "{\"tools\":[{\"name\":\"t\",  \"x\":1e400}]}");
    world_wait(&world, 1000);
    cr_expect(world_is_quiet(&world), "the same again");
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "s", changed);
    world_answer(&world, world_draft(&world), "{\"tools\":[]}");
    world_wait(&world, 1000);
    world_expect(&world, changed);
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "unknown", changed);
    cr_expect(world_is_quiet(&world));
    world_go(&world, "s");
    world_wait(&world, 1000);
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"method\":"
                         "\"notifications/resources/list_changed\"}");
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"method\":"
                         "\"notifications/prompts/list_changed\"}");
    cr_expect(world_is_quiet(&world), "it had no tools any more");
    world_stop(&world);
}

Test(expose, tells_of_who_comes_right_behind_the_client_s_first_list)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_join(&world);
    world_say(&world, INITIALIZE);
    world_line(&world);
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    world_say(&world, request(1, "tools/list", NULL));
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}");
    world_come(&world, "s");
    world_answer(&world, world_draft(&world), "{\"capabilities\":{\"tools\":{}}}");
    world_draft(&world); /* notifications/initialized */
    world_answer(&world, world_draft(&world), "{\"tools\":[{\"name\":\"t\"}]}");
    world_wait(&world, 200);
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"method\":"
                         "\"notifications/tools/list_changed\"}");
    cr_expect(world_is_quiet(&world), "of the lists it never had it is told nothing");
    world_stop(&world);
}

Test(expose, gives_each_call_to_its_owner_under_the_owner_s_name)
{
    static const struct {
        const char *method, *params, *sent;
    } rows[] = {
        {"tools/call", "{\"name\":\"s__t\", \"arguments\":{\"a\":1e400}}",
         "{\"name\":\"t\", \"arguments\":{\"a\":1e400}}"},
        {"tools/call", "{\"arguments\":{},\"n\\u0061me\":\"s__t\"}",
         "{\"arguments\":{},\"n\\u0061me\":\"t\"}"},
        {"prompts/get", "{\"name\":\"s__p\"}", "{\"name\":\"p\"}"},
        {"resources/read", "{\"uri\":\"demo://1\"}", "{\"uri\":\"demo://1\"}"},
        {"resources/read", "{\"uri\":\"demo://dyn/5\"}", "{\"uri\":\"demo://dyn/5\"}"},
        {"resources/read", "{\"uri\":\"other://x\"}", "{\"uri\":\"other://x\"}"},
        {"resources/subscribe", "{\"uri\":\"demo://1\"}", "{\"uri\":\"demo://1\"}"},
        {"completion/complete",
         "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"s__p\"},\"argument\":{}}",
         "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},\"argument\":{}}"},
        {"completion/complete",
         "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"demo://dyn/{id}\"}}",
         "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"demo://dyn/{id}\"}}"},
    };
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct world_draft *draft;
        char expected[512];

        world_say(&world, request(7, rows[i].method, rows[i].params));
        draft = world_draft(&world);
        snprintf(expected, sizeof expected, ",\"method\":\"%s\",\"params\":%s}",
                 rows[i].method, rows[i].sent);
        cr_expect_not_null(strstr(draft->payload, expected), "%s\nin %s", expected,
                           draft->payload);
        world_event(
            &world, MCPX_EVENT_RESPONSE, draft, "s",
            "{ \"id\":6 ,\n\"jsonrpc\":\"2.0\",\"result\": {\"big\":123456789012345678901}}");
        world_expect(&world, "{ \"id\":7 , \"jsonrpc\":\"2.0\",\"result\": "
                             "{\"big\":123456789012345678901}}");
    }
    cr_expect(world_is_quiet(&world));
    cr_expect(expose_is_idle(world.expose));
    world_stop(&world);
}

Test(expose, refuses_what_nobody_has)
{
    static const struct {
        const char *line, *code, *says;
    } rows[] = {
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
         "call\",\"params\":{\"name\":\"x\"}}",
         "-32602", "nobody in the topic has 'x'"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{}}", "-32602",
         "params.name must be there once"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
         "list\",\"params\":{\"cursor\":\"x\"}}",
         "-32602", "no cursor was given out"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rm\"}", "-32601", "no method 'rm'"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", "-32600", "not a request"},
        {"{\"id\":1,\"method\":", "-32700", "not JSON"},
        {"[]", "-32600", "not a request"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":{"
         "\"io.modelcontextprotocol/protocolVersion\":\"2030-01-01\"}}}",
         "-32022", "\"supported\":[\"2026-07-28\"],\"requested\":\"2030-01-01\""},
    };
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *line;

        world_say(&world, rows[i].line);
        line = world_line(&world);
        cr_expect_not_null(strstr(line, rows[i].code), "%s: %s", rows[i].line, line);
        cr_expect_not_null(strstr(line, rows[i].says), "%s: %s", rows[i].line, line);
    }
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

Test(expose, leaves_it_to_an_only_server_to_refuse_what_it_lacks)
{
    struct world world;

    world_start(&world, &(struct world_setup){.plain = true});
    world_serve(&world, &s, 1);
    world_say(&world, request(1, "tools/call", "{\"name\":\"none\"}"));
    cr_expect_not_null(strstr(world_draft(&world)->payload, "{\"name\":\"none\"}"));
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

Test(expose, keeps_two_servers_with_the_same_uri_apart)
{
    static const struct world_server two[] = {
        {"a", NULL, "{\"uri\":\"demo://1\"},{\"uri\":\"demo://1\"}", NULL, NULL},
        {"b", NULL, "{\"uri\":\"demo://1\"}", "{\"uriTemplate\":\"only-b://{x}\"}", NULL}};
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, two, 2);
    world_say(&world, request(1, "resources/list", NULL));
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resources\":["
                         "{\"uri\":\"mcpx://a/demo%3A%2F%2F1\"},"
                         "{\"uri\":\"mcpx://b/demo%3A%2F%2F1\"}]}}");
    world_say(&world, request(2, "resources/read", "{\"uri\":\"mcpx://b/demo%3A%2F%2F1\"}"));
    world_expect_draft(&world, "mcp/request b {\"jsonrpc\":\"2.0\",\"id\":11,\"method\":"
                               "\"resources/read\",\"params\":{\"uri\":\"demo://1\"}}");
    world_say(&world, request(3, "resources/read", "{\"uri\":\"only-b://7\"}"));
    cr_expect_str_eq(world_draft(&world)->to, "b");
    world_say(&world, request(4, "resources/read", "{\"uri\":\"mcpx://a/demo%3A%2F%2F1\"}"));
    cr_expect_str_eq(world_draft(&world)->to, "a");
    world_say(&world, request(5, "resources/read", "{\"uri\":\"demo://1\"}"));
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32602,\"message\":"
                 "\"'demo://1' could be of 'a' or of 'b': ask for "
                 "mcpx://a/demo%3A%2F%2F1 or mcpx://b/demo%3A%2F%2F1\"}}");
    world_stop(&world);
}

Test(expose, passes_progress_of_the_call_under_the_client_s_token)
{
    struct world world;
    const struct world_draft *draft;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    world_say(&world, request(1, "tools/call",
                              "{\"name\":\"s__t\",\"_meta\":{\"progressToken\":1,\"k\":2}}"));
    draft = world_draft(&world);
    cr_expect_not_null(strstr(draft->payload, "\"_meta\":{\"progressToken\":\"n-6\",\"k\":2}"),
                       "%s", draft->payload);
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "s",
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                "{\"progress\":0.50,\"progressToken\":\"n-6\"}}");
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                 "{\"progress\":0.50,\"progressToken\":1}}");
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "other",
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                "{\"progress\":1,\"progressToken\":\"n-6\"}}");
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "s",
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
                "{\"progress\":1,\"progressToken\":1}}");
    cr_expect(world_is_quiet(&world), "another's, and one that is not ours");
    world_stop(&world);
}

Test(expose, passes_logging_and_watched_resources)
{
    static const char updated[] = "{\"jsonrpc\":\"2.0\",\"method\":"
                                  "\"notifications/resources/updated\",\"params\":"
                                  "{\"uri\":\"demo://1\"}}";
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world_serve(&world, &s, 1);
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "s", updated);
    cr_expect(world_is_quiet(&world), "not watched");
    world_say(&world, request(1, "resources/subscribe", "{\"uri\":\"demo://1\"}"));
    world_answer(&world, world_draft(&world), "{}");
    world_line(&world);
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "s", updated);
    world_expect(&world, updated);
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "other", updated);
    cr_expect(world_is_quiet(&world), "by its owner only");
    world_say(&world, request(2, "logging/setLevel", "{\"level\":\"debug\"}"));
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}");
    cr_expect_not_null(strstr(world_draft(&world)->payload, "{\"level\":\"debug\"}"));
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "s",
                "{\"method\":\"notifications/message\",\"params\":{\"data\":1.10}}");
    world_expect(&world, "{\"method\":\"notifications/message\",\"params\":{\"data\":1.10},"
                         "\"jsonrpc\":\"2.0\"}");
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

#define MODERN "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}"

Test(expose, speaks_2026_07_28_where_the_client_does)
{
    struct world world;

    world_start(&world, &(struct world_setup){0});
    world.seats[world.seat_count++] = "s";
    world_join(&world);
    world_say(&world, request(0, "server/discover", "{" MODERN "}"));
    world_answer(&world, world_draft(&world), "{\"capabilities\":{\"tools\":{}}}");
    world_draft(&world);
    world_answer(&world, world_draft(&world), "{\"tools\":[{\"name\":\"t\"}]}");
    cr_expect_not_null(strstr(world_line(&world), "\"supportedVersions\":[\"2026-07-28\"]"));
    world_wait(&world, 200);
    world_say(&world, request(1, "tools/list", "{" MODERN "}"));
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":["
                         "{\"name\":\"s__t\"}],\"resultType\":\"complete\",\"ttlMs\":0,"
                         "\"cacheScope\":\"private\"}}");
    world_say(&world, request(2, "tools/call", "{\"name\":\"s__t\"," MODERN "}"));
    world_answer(&world, world_draft(&world), "{\"content\":[]}");
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[],"
                         "\"resultType\":\"complete\"}}");
    world_say(&world, request(3, "tools/call", "{\"name\":\"s__t\"," MODERN "}"));
    world_answer(&world, world_draft(&world), "{\"resultType\":\"input_required\"}");
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":"
                         "{\"resultType\":\"input_required\"}}");
    world_say(&world, request(4, "subscriptions/listen",
                              "{\"notifications\":{\"toolsListChanged\":true}," MODERN "}"));
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"method\":"
                         "\"notifications/subscriptions/acknowledged\",\"params\":"
                         "{\"notifications\":{\"toolsListChanged\":true},\"_meta\":"
                         "{\"io.modelcontextprotocol/subscriptionId\":4}}}");
    world_go(&world, "s");
    world_wait(&world, 1000);
    world_expect(&world,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\","
                 "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":4}}}");
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}
