/*
 * What breaks for whom: many servers share one client. One whose lists are long or have no end,
 * that announces changes or asks without end fills everybody's list, makes the others unheard, or
 * keeps the bridge from everything else.
 */
#include "lib/json/json_write.h"
#include "tests/unit/tools/expose_world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const struct world_server two[] = {{.id = "a", .tools = "{\"name\":\"t\"}"},
                                          {.id = "b", .tools = "{\"name\":\"t\"}"}};

/* A world with all of these servers. */
static void start(struct world *world, const struct world_server *servers, size_t count)
{
    world_start(world, &(struct world_setup){0});
    world_serve(world, servers, count);
}

#define CALL(name)                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" name    \
    "\"}}"

/* Of the processor: what else the machine does is none of ours. */
static double seconds(void)
{
    struct timespec at;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* Bounds are generous: what they are to catch took a minute. */
Test(expose_others, may_list_more_than_anybody_can_use)
{
    enum { COUNT = 60000 };
    struct world world;
    mx_scoped_text tools = {0};
    struct world_server servers[] = {{.id = "good", .tools = "{\"name\":\"t\"}"}, {.id = "m"}};
    double began = seconds();

    for (int64_t i = 0; i < COUNT; i++) {
        mcpx_text_puts(&tools, i ? ",{\"name\":\"t" : "{\"name\":\"t");
        mcpx_text_number(&tools, i);
        mcpx_text_puts(&tools, "\"}");
    }
    servers[1].tools = tools.text;
    start(&world, servers, 2);
    cr_expect_lt(seconds() - began, 20.0, "%g s", seconds() - began);
    cr_expect_str_eq(world.notes, "participant 'm' lists more than 4096 tools: 55904 are "
                                  "left out\n");
    world_say(&world, CALL("good__t"));
    world_draft(&world);
    cr_expect(world_is_quiet(&world));
    world_stop(&world);
}

static const char changed[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/"
                              "list_changed\"}";

/* A page a second, with a cursor to the next, and a change announced before each. */
Test(expose_others, are_heard_whatever_one_of_them_does)
{
    char page[60];
    struct world world;
    size_t told = 0;

    start(&world, two, 2);
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "b", changed);
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "a", changed);
    world_answer(&world, &world.drafts[world.draft_count - 1],
                 "{\"tools\":[{\"name\":\"n\"}]}");
    for (int second = 0; second < 60; second++) {
        const struct world_draft *draft = &world.drafts[world.draft_count - 1];

        if (strcmp(draft->to, "b") != 0)
            draft--;
        world_wait(&world, 1000);
        world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "b", changed);
        snprintf(page, sizeof page, "{\"tools\":[],\"nextCursor\":\"%d\"}", second);
        world_answer(&world, draft, page);
        if (second == 3)
            told = world.line_count;
    }
    cr_expect_eq(told, 2, "a's change is told within three seconds");
    world_expect(&world, changed);
    cr_expect_str_eq(world.notes, "participant 'b': tools/list was given up, its pages take "
                                  "longer than 10 s\n");
    world_wait(&world, 4000);
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    world_expect(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":["
                         "{\"name\":\"a__n\"},{\"name\":\"b__t\"}]}}");
    world_stop(&world);
}

Test(expose_others, keep_their_lists_short_enough)
{
    enum { PAGE = (4 << 20) - 1000 };
    struct world world;
    char *page = malloc(PAGE + 100);

    cr_assert_not_null(page);
    memset(page, 'x', PAGE + 100);
    memcpy(page, "{\"tools\":[{\"name\":\"", 19);
    strcpy(page + PAGE, "\"}],\"nextCursor\":\"n\"}");
    start(&world, two, 2);
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "b", changed);
    for (size_t i = 0; i < 5; i++) {
        cr_assert_lt(world.draft_seen, world.draft_count, "page %zu is asked for", i);
        page[PAGE + 18] = (char)('a' + i);
        world_answer(&world, world_draft(&world), page);
    }
    cr_expect(world_is_quiet(&world), "and then no more");
    cr_expect_str_eq(world.notes, "participant 'b': tools/list was given up, all lists "
                                  "of the participant together are longer than 16 MiB\n");
    world_stop(&world);
    free(page);
}

#define QUESTION                                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\",\"params\":{}}"

static size_t count(const char *text, const char *part)
{
    size_t found = 0;

    while (text && (text = strstr(text, part))) {
        found++;
        text += strlen(part);
    }
    return found;
}

/* One line fewer than the world holds is kept for what follows. */
Test(expose_others, ask_no_more_than_a_client_can_answer)
{
    static struct world world;
    const struct world_draft *draft;

    start(&world, two, 2);
    world_say(&world, CALL("a__t"));
    draft = world_draft(&world);
    for (size_t i = 0; i < 300; i++)
        world_event(&world, MCPX_EVENT_REQUEST, NULL, "a", QUESTION);
    cr_expect_eq(world.line_count - world.line_seen, 64);
    cr_expect_eq(count(world.responses, "-31000"), 10, "so many refusals at once");

    world.line_seen = world.line_count;
    world_answer(&world, draft, "{}");
    cr_expect(strstr(world_line(&world), "\"result\":{}"), "the call's answer comes first");
    cr_expect_eq(world.line_count - world.line_seen, 64, "each question is taken back");
    cr_expect(strstr(world_line(&world), "notifications/cancelled"));
    cr_expect_eq(count(world.responses, "the call it was about is over"), 64);
    world_say(&world, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\"}}");
    cr_expect_eq(count(world.responses, "accept"), 0, "an answer that comes late is nobody's");
    world_stop(&world);
}

#define MODERN(id, method, name, more)                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                                 \
    "\",\"params\":{\"name\":\"" name                                                         \
    "\",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","               \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}}" more "}}"
#define ZEROS "00000000000000000000000000000000"

static void come_again(struct world *world, const char *method, const char *name, size_t key,
                       const char *state)
{
    mx_scoped_text line =
        mx_formatted(MODERN("2", "%s", "%s",
                            ",\"inputResponses\":{\"%s\":{\"action\":\"accept\"}},"
                            "\"requestState\":\"%s\""),
                     method, name, key, state);

    world_say(world, line.text);
}

/* Whoever has a state answers in the user's name, and gets what the call leads to. */
Test(expose_others, cannot_go_on_with_a_call_by_another_state)
{
    static char endless[1 << 20] = "n-11-";
    static const struct {
        const char *method, *name, *state;
    } rows[] = {{"tools/call", "a__t", endless},
                {"tools/call", "a__t", "n-11-10000000000000000000000000000000"}, /* guessed */
                {"tools/call", "a__t", "n-11-"},
                {"tools/call", "a__t", "n-"},
                {"tools/call", "a__t", "n-12-" ZEROS},  /* nobody asks about that call */
                {"tools/call", "b__t", "n-11-" ZEROS},  /* other params */
                {"prompts/get", "a__t", "n-11-" ZEROS}, /* another method */
                {"tools/call", "a__t", "n-11-" ZEROS},  /* right */
                {"tools/call", "a__t", "n-11-" ZEROS}}; /* replayed */
    enum { ROWS = sizeof rows / sizeof rows[0], RIGHT = ROWS - 2 };
    struct world world;

    memset(endless + 5, '0', sizeof endless - 6);
    start(&world, two, 2);
    world_say(&world, MODERN("1", "tools/call", "a__t", ""));
    world_say(&world, MODERN("2", "tools/call", "b__t", ""));
    world.draft_seen = world.draft_count;
    world_event(&world, MCPX_EVENT_REQUEST, NULL, "a", QUESTION);
    world_wait(&world, 10);
    cr_expect(strstr(world_line(&world), "\"requestState\":\"n-11-" ZEROS "\""));
    for (int i = 0; i < ROWS; i++) {
        come_again(&world, rows[i].method, rows[i].name, 1, rows[i].state);
        cr_expect_eq(count(world.responses, "accept"), i >= RIGHT, "%d", i);
        cr_expect(i == RIGHT || strstr(world_line(&world), "-32602"), "%d", i);
    }
    cr_expect(world_is_quiet(&world), "no server gets a second call");
    come_again(&world, "tools/call", "a__t", 1, "a server's own");
    cr_expect(strstr(world_draft(&world)->payload, "\"requestState\":\"a server's own\""));
    world_stop(&world);
}

Test(expose_others, ask_a_modern_client_no_more_often)
{
    static struct world world;
    char state[64];
    size_t rounds = 0;

    start(&world, two, 2);
    for (int i = 0; i < 80; i++) {
        world_say(&world, MODERN("1", "tools/call", "a__t", ""));
        world_event(&world, MCPX_EVENT_REQUEST, NULL, "a", QUESTION);
    }
    world_wait(&world, 10);
    cr_expect_eq(world.line_count - world.line_seen, 64, "a quarter of all questions");
    world_say(&world, MODERN("1", "tools/call", "b__t", ""));
    world_event(&world, MCPX_EVENT_REQUEST, NULL, "b", QUESTION);
    world_wait(&world, 10);
    for (world.line_seen = 64 + 1; world.line_seen < world.line_count;) {
        sscanf(strstr(world_line(&world), "n-91-"), "%63[^\"]", state);
        come_again(&world, "tools/call", "b__t", 65 + rounds++, state);
        world_event(&world, MCPX_EVENT_REQUEST, NULL, "b", QUESTION);
        world_wait(&world, 10);
    }
    cr_expect_eq(rounds, 10);
    cr_expect(strstr(world.responses, "asked ten times"));
    for (size_t i = world.draft_count - 81; i < world.draft_count - 1; i++)
        world_answer(&world, &world.drafts[i], "{}");
    world_wait(&world, 2000); /* the bridge may answer again */
    world_say(&world, MODERN("1", "tools/call", "a__t", ""));
    world_event(&world, MCPX_EVENT_REQUEST, NULL, "a", QUESTION);
    cr_expect(strstr(world.responses, "too many questions"), "64 have answers that wait");
    world_stop(&world);
}

/* One HTTP client that never answers took the questions of all others, for ten minutes. */
Test(expose_others, ask_other_clients_when_one_does_not_answer)
{
    static struct world world;
    char state[64];

    world_start(&world, &(struct world_setup){.http = true});
    world_serve(&world, two, 2);
    for (int i = 0; i < 66; i++) {
        world_say(&world, MODERN("1", "tools/call", "a__t", ""));
        world.about = world.drafts[world.draft_count - 1].id;
        world_event(&world, MCPX_EVENT_REQUEST, NULL, "a", QUESTION);
        world_wait(&world, 10);
    }
    cr_expect_eq(world.line_count - world.line_seen, 66);
    cr_expect_eq(count(world.responses, "the call it was about is over"), 2);
    sscanf(strstr(world.lines[world.line_count - 1], "n-"), "%63[^\"]", state);
    come_again(&world, "tools/call", "a__t", 66, state);
    cr_expect_eq(count(world.responses, "accept"), 1);
    world.line_seen = world.line_count;
    come_again(&world, "tools/call", "a__t", 1, "n-11-" ZEROS);
    cr_expect(strstr(world_line(&world), "-32602"), "the oldest gave way");
    world_stop(&world);
}

/* Whoever answers every ping has no rate left for what its client asks. */
Test(expose_others, are_answered_by_the_bridge_itself_at_a_bounded_rate)
{
    static const struct {
        const char *who, *method;
        size_t from, to; /* names who0, who1, ... */
        int64_t pause_ms;
        size_t each, answered; /* so many of each; so many answers in all */
    } rows[] = {
        {"mallory", "ping", 0, 1, 0, 100, 10},       /* a burst */
        {"mallory", "tools/list", 0, 1, 0, 100, 10}, /* refusals are answers, too */
        {"mallory", "ping", 0, 1, 100, 600, 69},     /* then one a second */
        {"mallory~", "ping", 1, 9, 0, 20, 10},       /* instances are one participant */
        {"many", "ping", 0, 30, 0, 20, 60},          /* and all together */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world world;
        char who[32], payload[96];
        size_t answered;

        start(&world, two, 2);
        snprintf(payload, sizeof payload, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"}",
                 rows[i].method);
        for (size_t n = 0; n < rows[i].each; n++)
            for (size_t one = rows[i].from; one < rows[i].to; one++) {
                snprintf(who, sizeof who, "%s%zu", rows[i].who, one);
                world_event(&world, MCPX_EVENT_REQUEST, NULL, who, payload);
                world.now.mono_ms += rows[i].pause_ms;
            }
        answered = count(world.responses, "\n");
        cr_expect_eq(answered, rows[i].answered, "%zu: %zu", i, answered);
        cr_expect_eq(answered + count(world.out.text, "drop "),
                     rows[i].each * (rows[i].to - rows[i].from), "%zu", i);
        world_stop(&world);
    }
}

/* What is answered is kept, what is only told is counted, and a changed list is told later. */
Test(expose_others, are_not_kept_for_a_client_that_does_not_read)
{
    static const char log[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
                              "\"params\":{}}";
    struct world world;
    const struct world_draft *draft;

    start(&world, two, 2);
    world_say(&world, CALL("a__t"));
    draft = world_draft(&world);
    world.behind = true;
    for (size_t i = 0; i < 1000; i++)
        world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "a", log);
    world_event(&world, MCPX_EVENT_REQUEST, NULL, "a", QUESTION);
    cr_expect_eq(count(world.responses, "the client reads nothing at present"), 1);
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "b", changed);
    world_answer(&world, world_draft(&world), "{\"tools\":[]}");
    world_wait(&world, 1000);
    cr_expect(world_is_quiet(&world));
    world_answer(&world, draft, "{}");
    cr_expect(strstr(world_line(&world), "\"result\":{}"), "answers are never left out");

    world.behind = false;
    world_wait(&world, 5000);
    world_expect(&world, changed);
    world_event(&world, MCPX_EVENT_NOTIFICATION, NULL, "a", log);
    world_expect(&world, log);
    cr_expect_str_eq(world.notes,
                     "the client does not read: notifications are left out until it does\n"
                     "1000 notifications were left out, the client reads again\n");
    world_stop(&world);
}

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
Test(expose_others, have_no_more_room_by_more_instances)
{
    static const char *const ids[] = {"m", "m~2", "m~3", "m~4", "m~5"};
    struct world_server servers[6] = {{.id = "good", .tools = "{\"name\":\"t\"}"}};
    struct world world;
    const char *line;

    for (size_t i = 0; i < 5; i++)
        servers[i + 1] = long_server(ids[i], 6);
    start(&world, servers, 6);
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
Test(expose_others, make_room_for_who_has_less)
{
    static const char *const ids[] = {"e", "f", "g", "h", "i"};
    struct world_server servers[6] = {[5] = {.id = "zoe", .tools = "{\"name\":\"t\"}"}};
    struct world world;

    for (size_t i = 0; i < 5; i++)
        servers[i] = long_server(ids[i], i == 4 ? 13 : 15);
    start(&world, servers, 6);
    cr_expect_not_null(strstr(world.notes, ": the bridge drops its tools/list, "), "%s",
                       world.notes);
    cr_expect_not_null(strstr(world.notes, "exceed 64 MiB"));
    cr_expect_null(strstr(world.notes, "'zoe'"));
    cr_expect_null(strstr(world.notes, "'i'"), "it has less than the others");
    world_say(&world, CALL("zoe__t"));
    cr_expect_str_eq(world_draft(&world)->to, "zoe");
    world_stop(&world);
    for (size_t i = 0; i < 5; i++)
        free((char *)servers[i].tools);
}

/* A prompt with another name ten times a second took three quarters of the bridge's time. */
Test(expose_others, are_read_and_told_of_once_a_second_whatever_they_announce)
{
    static const char prompts[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/"
                                  "list_changed\"}";
    struct world world;
    size_t asked, told;

    start(&world, (struct world_server[]){{.id = "a"}, {.id = "b"}}, 2);
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
Test(expose_others, are_read_no_faster_than_their_lists_are_long)
{
    struct world_server m = long_server("b", 12);
    char *again = malloc(strlen(m.tools) + 100);
    struct world world;
    size_t asked;

    cr_assert_not_null(again);
    start(&world, &m, 1);
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
Test(expose_others, are_read_no_more_often_in_many_short_pages)
{
    enum { INSTANCES = 7, SECONDS = 6 };
    static const char *const ids[INSTANCES] = {"m", "m~2", "m~3", "m~4", "m~5", "m~6", "m~7"};
    struct world_server servers[INSTANCES] = {{0}};
    struct world world;
    size_t asked;

    for (int i = 0; i < INSTANCES; i++)
        servers[i] = (struct world_server){.id = ids[i], .tools = "{\"name\":\"t\"}"};
    start(&world, servers, INSTANCES);
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
