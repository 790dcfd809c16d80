/*
 * What breaks for whom: whoever runs the router is asked why an agent cannot come in or cannot call
 * a tool, and the log does not say; or somebody fills it, and it says nothing about the others; or
 * it says to a client what was wrong with a token. docs/configuration.md (Log).
 */
#include "tests/support/jwt.h"
#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"
#define GOOD "\"capabilities\":[\"chat\",\"mcp/request:tools/call:read_*\"],\"exp\":4000000000"

static const char config[] =
    "{\"listen\":[\"127.0.0.1:0\",\"[::1]:0\"],\"log\":{\"format\":\"json\"},"
    "\"auth\":{\"jwt\":{\"keys\":[{\"alg\":\"HS256\",\"secret\":\"" SECRET "\"}]}},"
    "\"limits\":{\"connects_per_s\":0,\"messages_per_minute\":0,\"message_bytes\":4096}}";

static struct daemon router;

static void start(void)
{
    daemon_start_plain(&router, config);
}

static void stop(void)
{
    cr_expect_eq(daemon_stop(&router), 0);
}

TestSuite(why, .init = start, .fini = stop, .timeout = 120);

/* The lines of the log with this event, as an array; the caller's. Each line is an object. */
static json_t *lines_of(const char *event)
{
    static char line[65536];
    json_t *found = json_array();
    FILE *file = fopen(router.log, "r");

    cr_assert_not_null(file);
    while (fgets(line, sizeof line, file) && strchr(line, '\n')) {
        json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);

        cr_assert(json_is_object(object), "%s", line);
        if (strcmp(json_string_value(json_object_get(object, "event")), event) == 0)
            json_array_append(found, object);
        json_decref(object);
    }
    fclose(file);
    return found;
}

/* Waits for so many of them, and returns the last. */
static json_t *wait_line(const char *event, size_t count)
{
    json_t *lines = lines_of(event), *last;

    while (json_array_size(lines) < count) {
        json_decref(lines);
        lines = lines_of(event);
    }
    last = json_incref(json_array_get(lines, json_array_size(lines) - 1));
    json_decref(lines);
    return last;
}

static const char *text_of(const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));

    return text ? text : "";
}

static char *token_of(const char *participant, const char *topic, const char *rest,
                      const char *secret)
{
    char claims[1024];

    snprintf(claims, sizeof claims, "{\"participantId\":\"%s\",\"topic\":\"%s\",%s}",
             participant, topic, rest);
    return jwt_make("{\"alg\":\"HS256\"}", claims, "SHA256", secret);
}

/* A status, and what follows the head of the answer. */
static int ask(const char *target, const char *token, bool upgrades, char *body, size_t size)
{
    struct rude rude;
    char headers[2048];
    const char *end;
    int status = 0;

    rude_open(&rude, &router, 0);
    snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", token);
    if (upgrades) {
        rude_ask_upgrade(&rude, target, headers);
    } else {
        rude_say(&rude, "GET ");
        rude_say(&rude, target);
        rude_say(&rude, " HTTP/1.1\r\nHost: x\r\n");
        rude_say(&rude, headers);
        rude_say(&rude, "\r\n");
    }
    rude_drain(&rude);
    end = rude.in.len ? strstr(rude.in.text, "\r\n\r\n") : NULL;
    cr_assert_not_null(end);
    sscanf(rude.in.text, "HTTP/1.1 %d", &status);
    snprintf(body, size, "%s", end);
    rude_shut(&rude);
    return status;
}

static const char alien[] = "no configured key has signed it";

/* Row by row: what the token says, who signed it, and what the log says and the answer does not. */
static const struct {
    const char *claims, *secret, *target;
    bool upgrades;
    int status;
    const char *participant, *claimed, *topic, *reason;
} refusals[] = {
    {GOOD, OTHER, "/ws?topic=room", true, 401, "", "ann", "room", alien},
    {"\"exp\":1000000000", SECRET, "/ws?topic=room", true, 401, "ann", "", "room", "expired"},
    {"\"exp\":1000000000", OTHER, "/ws?topic=room", true, 401, "", "ann", "room", alien},
    {"\"exp\":4000000000,\"nbf\":3900000000", SECRET, "/ws?topic=room", true, 401, "ann", "",
     "room", "not valid yet"},
    {"\"iat\":1", SECRET, "/ws?topic=room", true, 401, "", "ann", "room", "it has no exp"},
    {GOOD, OTHER, "/v0.1/topics", false, 401, "", "ann", "", alien},
    {"\"exp\":1000000000", SECRET, "/v0.1/topics", false, 401, "ann", "", "", "expired"},
    {GOOD, SECRET, "/ws?topic=cellar", true, 403, "ann", "", "cellar", "Access denied"},
    {GOOD, SECRET, "/v0.1/topics/cellar/history", false, 403, "ann", "", "", "Access denied"},
};

enum { REFUSALS = sizeof refusals / sizeof *refusals };

static void check_refusal(size_t i, const json_t *line)
{
    const char *target = refusals[i].target;

    cr_expect_str_eq(text_of(line, "participant"), refusals[i].participant, "row %zu", i);
    cr_expect_str_eq(text_of(line, "claimed"), refusals[i].claimed, "row %zu", i);
    cr_expect_str_eq(text_of(line, "topic"), refusals[i].topic, "row %zu", i);
    cr_expect(strstr(text_of(line, "reason"), refusals[i].reason), "row %zu: %s", i,
              text_of(line, "reason"));
    cr_expect_eq(strncmp(text_of(line, "path"), target, strcspn(target, "?")), 0);
    cr_expect_not(strchr(text_of(line, "path"), '?'), "a query may hold a secret");
    cr_expect(strstr(text_of(line, "remote"), "127.0.0.1"), "row %zu: %s", i,
              text_of(line, "remote"));
    cr_expect_gt(json_integer_value(json_object_get(line, "connection")), 0);
}

Test(why, a_refusal_tells_the_log_more_than_the_client)
{
    static char first[4096], body[4096];

    for (size_t i = 0; i < REFUSALS; i++) {
        char *token = token_of("ann", "room", refusals[i].claims, refusals[i].secret);
        json_t *line;

        if (i > 0 && i % 4 == 0) { /* an address has a share of these lines */
            stop();
            start();
        }
        cr_expect_eq(ask(refusals[i].target, token, refusals[i].upgrades, body, sizeof body),
                     refusals[i].status, "row %zu: %s", i, body);
        if (refusals[i].status == 401 && !*first)
            strcpy(first, body);
        if (refusals[i].status == 401)
            cr_expect_str_eq(body, first, "row %zu", i);
        line = wait_line("refused", i % 4 + 1);
        check_refusal(i, line);
        cr_expect_not(daemon_logged(&router, strrchr(token, '.')), "row %zu", i);
        json_decref(line);
        free(token);
    }
}

/* Its answer has no body, and the log no less to say. */
Test(why, a_refused_head_is_told_as_a_refused_get)
{
    struct rude rude;
    json_t *line;

    rude_open(&rude, &router, 0);
    rude_say(&rude, "HEAD /v0.1/topics?limit=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    rude_drain(&rude);
    line = wait_line("refused", 1);
    cr_expect_str_eq(text_of(line, "code"), "unauthorized");
    cr_expect_str_eq(text_of(line, "reason"), "No token provided");
    cr_expect_str_eq(text_of(line, "path"), "/v0.1/topics");
    json_decref(line);
    rude_shut(&rude);
}

/* Returns once the participant has had its welcome. */
static void join(struct rude *rude, const char *participant)
{
    char *token = token_of(participant, "room", GOOD, SECRET);

    cr_assert_eq(rude_enter(rude, &router, token, "/ws?topic=room&history=0"), 101);
    cr_assert(rude_expect(rude, "system/welcome", NULL));
    free(token);
}

static void call(struct rude *rude, int number)
{
    char text[256];

    snprintf(text, sizeof text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"r%d\",\"kind\":"
             "\"mcp/request:tools/call:delete_file\",\"payload\":{}}",
             number);
    rude_frame(rude, TEXT, text, strlen(text));
}

/* How many of these lines are about the participant. Gives the last of them, absent when there
   is none. */
static size_t lines_about(const char *event, const char *participant, json_t **last)
{
    json_t *lines = lines_of(event), *line;
    size_t i, count = 0;

    *last = NULL;
    json_array_foreach(lines, i, line)
    {
        if (strcmp(text_of(line, "participant"), participant) != 0)
            continue;
        count++;
        json_decref(*last);
        *last = json_incref(line);
    }
    json_decref(lines);
    return count;
}

/*
 * Five lines a participant has at once, and twelve a minute; and it fills neither the log nor
 * anybody else's share.
 */
Test(why, a_refused_message_names_sender_kind_and_reason)
{
    enum { FLOOD = 60 };
    struct rude loud = {0}, quiet = {0};
    json_t *line;
    size_t count, told;
    long start_ms = support_now_ms();

    join(&loud, "loud");
    join(&quiet, "quiet");
    for (int i = 0; i < FLOOD; i++)
        call(&loud, i);
    for (int i = 0; i < FLOOD; i++)
        cr_assert(rude_expect(&loud, "system/error", NULL));
    call(&quiet, 1);
    cr_assert(rude_expect(&quiet, "system/error", NULL));
    while (lines_about("message_refused", "quiet", &line) == 0)
        continue;
    cr_expect_str_eq(text_of(line, "topic"), "room");
    cr_expect_str_eq(text_of(line, "id"), "r1");
    cr_expect_str_eq(text_of(line, "kind"), "mcp/request:tools/call:delete_file");
    cr_expect_str_eq(text_of(line, "code"), "capability_violation");
    cr_expect_str_eq(text_of(line, "reason"), "no_matching_grant");
    cr_expect_str_eq(text_of(line, "nearest"), "mcp/request:tools/call:read_*");
    json_decref(line);
    told = lines_about("message_refused", "loud", &line);
    count = 5 + (size_t)(support_now_ms() - start_ms) / 5000;
    cr_expect(told >= 5 && told <= count, "%zu lines, and %zu are allowed", told, count);
    json_decref(line);
    line = wait_line("held_back", 1); /* without another line that would bring it */
    cr_expect_gt(json_integer_value(json_object_get(line, "lines")), 0);
    cr_expect_str_eq(text_of(line, "about"), "message_refused");
    json_decref(line);
    rude_shut(&loud);
    line = wait_line("departed", 1);
    cr_expect_eq(json_integer_value(json_object_get(line, "left_out")), FLOOD - (int)told);
    json_decref(line);
    rude_shut(&quiet);
}

static void say_goodbye(struct rude *rude)
{
    rude_frame(rude, CLOSE, "\x0f\xa0tired", 7);
}

static void send_binary(struct rude *rude)
{
    rude_frame(rude, BINARY, "x", 1);
}

static void send_much(struct rude *rude)
{
    static char much[5000];

    memset(much, ' ', sizeof much);
    rude_frame(rude, TEXT, much, sizeof much);
}

static void break_frames(struct rude *rude)
{
    rude_frame(rude, 0xf1, "x", 1);
}

static void come_again(struct rude *rude)
{
    struct rude newer = {0};
    struct frame frame;

    join(&newer, "ann");
    cr_expect_eq(rude_close_code(rude), 4001);
    rude_frame(rude, CLOSE, "\x0f\xa1", 2);
    cr_expect(!rude_next(rude, &frame), "one close frame each is enough");
    rude_shut(rude);
    json_decref(wait_line("departed", 1));
    rude_shut(&newer);
}

Test(why, who_left_says_how)
{
    static const struct {
        void (*leave)(struct rude *rude);
        const char *reason;
        int code;
        const char *says;
        size_t takeovers;
    } rows[] = {
        {say_goodbye, "closed", 4000, "tired", 0},
        {rude_reset, "lost", 1006, "", 0},
        {rude_shut, "lost", 1006, "", 0},
        {send_binary, "invalid_envelope", 1003, "", 0},
        {send_much, "invalid_envelope", 1009, "", 0},
        {break_frames, "protocol_error", 1002, "", 0},
        {come_again, "replaced", 4001, "", 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rude ann = {0};
        json_t *lines, *line;

        if (i > 0) {
            stop();
            start();
        }
        join(&ann, "ann");
        rows[i].leave(&ann);
        rude_shut(&ann);
        json_decref(wait_line("departed", 1));
        lines = lines_of("departed");
        line = json_array_get(lines, 0);
        cr_expect_str_eq(text_of(line, "participant"), "ann", "row %zu", i);
        cr_expect_str_eq(text_of(line, "reason"), rows[i].reason, "row %zu", i);
        cr_expect_eq(json_integer_value(json_object_get(line, "close_code")), rows[i].code,
                     "row %zu", i);
        cr_expect_str_eq(text_of(line, "says"), rows[i].says, "row %zu", i);
        cr_expect_eq(json_integer_value(json_object_get(line, "connection")), 1, "row %zu", i);
        json_decref(lines);
        lines = lines_of("takeover");
        cr_expect_eq(json_array_size(lines), rows[i].takeovers, "row %zu", i);
        json_decref(lines);
    }
}

/* The value of a metric. */
static double metric(const char *page, const char *name)
{
    char line[128];
    const char *at;

    snprintf(line, sizeof line, "\n%s ", name);
    at = strstr(page, line);
    cr_assert_not_null(at, "%s", name);
    return strtod(at + strlen(line), NULL);
}

/* Whoever watches many programs reads these of all of them, by these names. */
Test(why, metrics_tell_what_the_process_takes)
{
    struct rude rude;
    struct mcpx_slice page;
    long kib = daemon_rss_kib(&router);
    int descriptors = daemon_descriptors(&router);

    rude_open(&rude, &router, 0);
    rude_say(&rude, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    page = rude_drain(&rude);
    cr_expect_gt(metric(page.text, "process_resident_memory_bytes"), (double)kib * 512);
    cr_expect_lt(metric(page.text, "process_resident_memory_bytes"), (double)kib * 2048);
    cr_expect_eq((int)metric(page.text, "process_open_fds"), descriptors + 1, "the asker's");
    cr_expect_geq(metric(page.text, "process_max_fds"), descriptors);
    cr_expect_geq(metric(page.text, "process_cpu_seconds_total"), 0);
    cr_expect_leq(metric(page.text, "process_cpu_seconds_total") * 1000,
                  (double)daemon_cpu_ms(&router) + 20);
    rude_shut(&rude);
}
