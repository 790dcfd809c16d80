/*
 * What breaks for whom: an agent that executes whatever has a method and an id is anybody's tool;
 * the guard's verdicts are all that stands between it and who may only chat. And a guard that
 * leaves out too much is switched off. Protocol: sections 1, 2 and 5.
 */
#include "tests/support/envelope_text.h"
#include "tests/support/rows.h"
#include "tools/mcpx-bridge/guard/guard.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL(name)                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" name    \
    "\"}}"
#define RESULT "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}"
#define ERROR "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"no\"}}"
#define WELCOME(id) "{\"you\":{\"id\":\"" id "\",\"capabilities\":[]},\"participants\":[]}"

/* `to` and `about` (correlation_id) are absent when NULL; `to` is JSON. */
struct message {
    const char *from, *to, *kind, *about, *payload;
};

static struct mcpx_slice compose(const struct message *message, char *out, size_t size)
{
    int len = snprintf(
        out, size,
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"e1\",\"from\":\"%s\","
        "%s%s%s\"kind\":\"%s\",%s%s%s\"payload\":%s}",
        message->from, message->to ? "\"to\":" : "", message->to ? message->to : "",
        message->to ? "," : "", message->kind, message->about ? "\"correlation_id\":\"" : "",
        message->about ? message->about : "", message->about ? "\"," : "", message->payload);

    return (struct mcpx_slice){out, (size_t)len};
}

static enum guard_verdict judge_one(struct guard_judge *judge, struct message message)
{
    char text[4096];

    return guard_judge_message(judge, compose(&message, text, sizeof text));
}

/* The agent "us" sends a request under the id given. */
static void ask(struct guard_judge *judge, const char *id, const char *to, const char *kind,
                const char *payload)
{
    char text[2048];
    int len = snprintf(text, sizeof text,
                       "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"to\":%s,\"kind\":\"%s\","
                       "\"payload\":%s}",
                       id, to, kind, payload);

    guard_judge_sent(judge, (struct mcpx_slice){text, (size_t)len});
}

/* A judge that was welcomed as "us" and has asked bob (q1), bob and carol (q2), everyone (q3). */
static void begin(struct guard_judge *judge, struct guard_asked *asked)
{
    struct message welcome = {"system:gateway", "[\"us\"]", "system/welcome", NULL,
                              WELCOME("us")};

    guard_judge_init(judge, asked);
    cr_assert_eq(judge->self.len, 0);
    cr_assert_eq(judge_one(judge, welcome), GUARD_PASS);
    cr_assert_gt(judge->self.len, 0);
    ask(judge, "q1", "[\"bob\"]", "mcp/request:tools/call:add", CALL("add"));
    ask(judge, "q2", "[\"bob\",\"carol\"]", "mcp/request:tools/list",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}");
    ask(judge, "q3", "[]", "mcp/request:ping",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}");
}

static void end(struct guard_judge *judge, struct guard_asked *asked)
{
    guard_judge_fini(judge);
    bridge_calls_fini(&asked->calls);
}

/* The next word; NULL when it is "-". */
static const char *word(char *line, char **at)
{
    const char *word = strtok_r(line, " ", at);

    return strcmp(word, "-") == 0 ? NULL : word;
}

static void expect_verdict(char *const row[])
{
    char *line = strdup(row[0]), *at = NULL;
    struct message message = {.payload = row[1]};
    struct guard_asked asked = {.max = 8};
    struct guard_judge judge;
    enum guard_verdict verdict;

    message.from = word(line, &at);
    message.to = word(NULL, &at);
    message.kind = word(NULL, &at);
    message.about = word(NULL, &at);
    begin(&judge, &asked);
    verdict = judge_one(&judge, message);
    cr_expect_str_eq(guard_verdicts[verdict].name, row[2], "%s %s: %s", row[0], row[1],
                     guard_verdicts[verdict].name);
    end(&judge, &asked);
    free(line);
}

Test(guard_judge, holds_every_message_against_the_rules)
{
    rows_each("tools/rows/guard", "messages", expect_verdict);
}

Test(guard_judge, lets_an_answer_pass_once_and_from_each_of_several)
{
    static const struct {
        enum guard_verdict verdict;
        struct message message;
    } rows[] = {
        {GUARD_PASS, {"bob", "[\"us\"]", "mcp/response:tools/call", "q1", RESULT}},
        {GUARD_UNSOLICITED, {"bob", "[\"us\"]", "mcp/response:tools/call", "q1", RESULT}},
        {GUARD_PASS, {"bob", "[\"us\"]", "mcp/response:tools/list", "q2", ERROR}},
        {GUARD_PASS, {"carol", "[\"us\",\"x\"]", "mcp/response:tools/list", "q2", RESULT}},
        {GUARD_PASS, {"anyone", NULL, "mcp/response:ping", "q3", RESULT}},
        {GUARD_PASS, {"else", NULL, "mcp/response:ping", "q3", RESULT}},
    };
    struct guard_asked asked = {.max = 8};
    struct guard_judge judge;

    begin(&judge, &asked);
    ask(&judge, "q1", "[\"bob\"]", "mcp/request:tools/call:add", CALL("add"));
    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(judge_one(&judge, rows[i].message), rows[i].verdict, "row %zu", i);
    end(&judge, &asked);
}

Test(guard_judge, accepts_the_context_of_a_short_request_from_its_payload)
{
    struct message answer = {"bob", "[\"us\"]", "mcp/response:tools/call:add", "q4", RESULT};
    struct guard_asked asked = {.max = 8};
    struct guard_judge judge;

    begin(&judge, &asked);
    ask(&judge, "q4", "[\"bob\"]", "mcp/request:tools/call", CALL("add"));
    cr_expect_eq(judge_one(&judge, answer), GUARD_PASS);
    end(&judge, &asked);
}

Test(guard_judge, remembers_nothing_that_expects_no_answer)
{
    struct message answer = {"bob", "[\"us\"]", "mcp/response:notifications/x", "q4", RESULT};
    struct guard_asked asked = {.max = 8};
    struct guard_judge judge;

    begin(&judge, &asked);
    ask(&judge, "q4", "[\"bob\"]", "mcp/request:notifications/x",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}");
    cr_expect_eq(judge_one(&judge, answer), GUARD_UNSOLICITED);
    guard_judge_sent(&judge, MCPX_SLICE("no JSON"));
    guard_judge_sent(&judge, MCPX_SLICE("{}"));
    end(&judge, &asked);
}

Test(guard_judge, says_what_is_wrong_with_what_is_no_envelope)
{
    static const struct mcpx_slice rows[] = {
        T("{\"error\":\"Invalid message format\"}"),
        T("[]"),
        T(""),
        T("{\"protocol\":\"mcpx/v0.1\",\"id\":\"e\",\"kind\":\"chat\",\"payload\":{}}"),
        T("{\"protocol\":\"mcpx/v0.1\",\"id\":\"e\",\"from\":\"b\",\"kind\":\"chat\",\"kind\":"
          "\"chat\",\"payload\":{}}"),
        T("{\"protocol\":\"mcpx/"
          "v0.1\",\"id\":\"e\",\"from\":\"b\",\"kind\":\"chat\",\"payload\":"
          "\"\xff\"}"),
    };
    struct guard_asked asked = {.max = 8};
    struct guard_judge judge;

    begin(&judge, &asked);
    for (size_t i = 0; i < COUNT(rows); i++) {
        cr_expect_eq(guard_judge_message(&judge, rows[i]), GUARD_TEXT, "%s", rows[i].text);
        cr_expect_not_null(judge.fault.reason, "%s", rows[i].text);
    }
    end(&judge, &asked);
}

Test(guard_judge, keeps_apart_what_two_participants_of_one_program_ask)
{
    struct message welcome = {"system:gateway", "[\"twin\"]", "system/welcome", NULL,
                              WELCOME("twin")};
    struct message answer = {"bob", NULL, "mcp/response:tools/call", "q1", RESULT};
    struct guard_asked asked = {.max = 8};
    struct guard_judge judge, twin;

    begin(&judge, &asked);
    guard_judge_init(&twin, &asked);
    cr_assert_eq(judge_one(&twin, welcome), GUARD_PASS);
    cr_expect_eq(judge_one(&twin, answer), GUARD_UNSOLICITED);
    cr_expect_eq(judge_one(&judge, answer), GUARD_PASS);
    guard_judge_fini(&twin);
    end(&judge, &asked);
}

Test(guard_judge, forgets_the_oldest_request_when_there_are_too_many)
{
    struct message first = {"bob", NULL, "mcp/response:tools/call", "q1", RESULT};
    char id[8];
    struct message last = {"bob", NULL, "mcp/response:ping", id, RESULT};
    struct guard_asked asked = {.max = 8};
    struct guard_judge judge;

    begin(&judge, &asked);
    for (int i = 0; i < 8; i++) {
        snprintf(id, sizeof id, "x%d", i);
        ask(&judge, id, "[\"bob\"]", "mcp/request:ping",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    }
    cr_expect_eq(judge_one(&judge, first), GUARD_UNSOLICITED);
    for (int i = 0; i < 8; i++) {
        snprintf(id, sizeof id, "x%d", i);
        cr_expect_eq(judge_one(&judge, last), GUARD_PASS, "%s", id);
    }
    end(&judge, &asked);
}

Test(guard_judge, forgets_no_old_request_while_newer_ones_are_answered)
{
    struct message first = {"bob", NULL, "mcp/response:tools/call", "q1", RESULT};
    char id[8];
    struct message quick = {"bob", NULL, "mcp/response:ping", id, RESULT};
    struct guard_asked asked = {.max = 8};
    struct guard_judge judge;

    begin(&judge, &asked);
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof id, "y%d", i);
        ask(&judge, id, "[\"bob\"]", "mcp/request:ping",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
        cr_expect_eq(judge_one(&judge, quick), GUARD_PASS, "%s", id);
    }
    cr_expect_eq(judge_one(&judge, first), GUARD_PASS);
    end(&judge, &asked);
}
