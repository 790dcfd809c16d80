/*
 * A room full of liars, and an operator in it. What breaks for whom: a participant with a small
 * grant hides others' proposals, has its own approved in their place, or turns the terminal into
 * something that shows what was never said. Protocol: sections 1 to 5.
 */
#include "lib/base/scoped.h"
#include "stage.h"

#include "tests/support/rude_client.h"
#include <mcpx/text.h>

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static struct rude eve;

/* "plain", because a rude client writes its topic as it stands. */
static void set_up(void)
{
    stage_set_up();
    setenv("MCPX_TOPIC", "plain", 1);
    rude_join(&eve, &router, "eve", "plain", "&history=0");
    cr_assert(rude_expect(&eve, "\"join\"", NULL));
}

static void tear_down(void)
{
    rude_shut(&eve);
    stage_tear_down();
}

TestSuite(hostile, .init = set_up, .fini = tear_down, .timeout = 300);

/* Sends without waiting. `about`: correlation_id or NULL. */
static void send(const char *id, const char *about, const char *kind, const char *payload)
{
    mx_scoped_text text = {0};

    mcpx_text_puts(&text, "{\"protocol\":\"mcpx/v0.1\",\"to\":[\"fs\"],\"id\":\"");
    mcpx_text_puts(&text, id);
    mcpx_text_puts(&text, about ? "\",\"correlation_id\":\"" : "");
    mcpx_text_puts(&text, about ? about : "");
    mcpx_text_puts(&text, "\",\"kind\":\"");
    mcpx_text_puts(&text, kind);
    mcpx_text_puts(&text, "\",\"payload\":");
    mcpx_text_puts(&text, payload);
    mcpx_text_puts(&text, "}");
    cr_assert_not(text.failed);
    rude_frame(&eve, TEXT, text.text, text.len);
}

/* The same, and waits for its echo. */
static void say(const char *id, const char *about, const char *kind, const char *payload)
{
    struct frame frame;
    char part[300];

    send(id, about, kind, payload);
    snprintf(part, sizeof part, "\"id\":\"%s\"", id);
    cr_assert(rude_expect(&eve, part, &frame), "%s", id);
    cr_assert_not(frame_holds(&frame, "system/error"), "%.*s", (int)frame.len, frame.payload);
}

#define CALL(name) "{\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"

Test(hostile, a_proposal_cannot_be_ended_by_who_only_names_it)
{
    char word[128];

    say("good", NULL, "mcp/proposal:tools/call:echo", CALL("echo"));
    say("f1", "good", "mcp/request:ping",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    say("f2", "good", "mcp/request:tools/call:echo",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    say("f3", "good", "mcp/response:tools/call:echo",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    say("f4", "good", "mcp/request:tools/call:echo", "{\"not\":\"rpc\"}");
    find_listed("mcpxctl proposals --as ann", "good", word);
    cr_expect_not_null(strstr(output, "  eve -> fs  mcp/proposal:tools/"), "%s", output);
    expect("mcpxctl chain good --as ann", 0, "state: open\n");
    cr_expect_not_null(strstr(output, "[ignored: the payload is not a JSON-RPC message]"),
                       "%s", output);
    expect("mcpxctl history --as ann", 0,
           "mcp/request:tools/call:echo  [ignored: the kind says something else");
}

Test(hostile, a_lie_is_marked_refused_and_can_be_swept_away)
{
    char id[64], file[32];
    pid_t watch = start_watch("--as eye --count 1", file);

    say("lie", NULL, "mcp/proposal:tools/call:read", CALL("echo"));
    cr_assert_eq(waitpid(watch, NULL, 0), watch);
    read_file(file);
    cr_expect_not_null(
        strstr(output, "[ignored: the kind says something else than the payload]"), "%s",
        output);
    say("two", NULL, "mcp/proposal:tools/call:echo",
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"name\":\"rm\"}}");
    expect("mcpxctl proposals --as ann", 0, "[ignored: the kind says something else");
    cr_expect_not_null(strstr(output, "[ignored: the payload is not a JSON"), "%s", output);
    expect("mcpxctl approve lie --yes --as ann 2>&1", 1,
           "receivers ignore this proposal: the kind says something else than the payload");
    expect("mcpxctl approve two --yes --as ann 2>&1", 1, "receivers ignore");
    run_for_id(id, "mcpxctl reject lie --as ann");
    run_for_id(id, "mcpxctl withdraw two --as eve");
    cr_assert_eq(run("mcpxctl proposals --as ann"), 0);
    cr_expect_str_eq(output, "");
}

/* Its client may have done something else since. */
Test(hostile, what_its_proposer_has_given_up_is_not_approved)
{
#define UNTIL(time) CALL("echo") ",\"expires\":\"" time "\""
    char word[128];

    say("late", NULL, "mcp/proposal:tools/call:echo", UNTIL("2020-01-01T00:00:00Z"));
    say("soon", NULL, "mcp/proposal:tools/call:echo", UNTIL("2999-01-01T00:00:00Z"));
    expect("mcpxctl approve late --as ann 2>&1", 1, "late is no longer open (expired)");
    expect("mcpxctl chain late --as ann", 0, "state: expired\n");
    expect("mcpxctl proposals --as ann", 0, "mcp/proposal:tools/call:echo  [until ");
    cr_expect_null(strstr(output, "late"), "%s", output);
    find_listed("mcpxctl proposals --as ann", "soon", word);
    expect_of(4, "proposal   soon\n", "mcpxctl approve %s --yes --to fs --as ann 2>&1", word);
}

Test(hostile, an_id_like_the_beginning_of_another_is_not_approved_in_its_place)
{
    char word[128];

    say("0123456789abcdef", NULL, "mcp/proposal:tools/call:echo", CALL("echo"));
    find_listed("mcpxctl proposals --as ann", "01234567", word);
    say("01234567", NULL, "mcp/proposal:tools/call:fail", CALL("fail"));
    expect("mcpxctl approve 0123 --as ann 2>&1", 2, "several ids begin like this");
    expect_of(4, "proposal   0123456789abcdef\n", "mcpxctl approve %s --yes --as ann 2>&1",
              word);
    cr_expect_not_null(strstr(output, "\"name\": \"echo\""), "%s", output);
}

/* Short of 256 envelopes of its own the router remembers an id; its sender may say so many. */
Test(hostile, what_was_sent_again_under_an_id_is_not_approved)
{
    char word[128], id[32];

    rude_shut(&eve);
    daemon_restart(&router,
                   "{\"limits\":{\"messages_per_minute\":0,\"drain_s\":1},"
                   "\"topics\":{\"history\":{\"count\":10}}}",
                   SIGTERM);
    rude_join(&eve, &router, "eve", "plain", "&history=0");
    say("deal", NULL, "mcp/proposal:tools/call:echo", CALL("echo"));
    find_listed("mcpxctl proposals --as ann", "deal", word);
    for (int i = 0; i < 300; i++) {
        snprintf(id, sizeof id, "f%d", i);
        say(id, NULL, "chat", "{}");
    }
    say("deal", NULL, "mcp/proposal:tools/call:fail", CALL("fail"));
    expect("mcpxctl approve deal --yes --as ann 2>&1", 2, "--yes needs ID@DIGEST");
    expect_of(1, "under this id has changed", "mcpxctl approve %s --yes --as ann 2>&1", word);
    cr_expect_null(strstr(output, "to be done"), "%s", output);
}

Test(hostile, the_terminal_is_given_nothing_but_text)
{
    static const char *const lines[] = {
        "mcpxctl history --as ann",
        "mcpxctl proposals --as ann",
        "mcpxctl chain 'i\xe2\x80\x8dx' --as ann",
        "mcpxctl approve 'i\xe2\x80\x8dx' --as ann 2>&1 </dev/null; true",
        "mcpxctl watch --history 9 --count 2 --as ann 2>&1",
    };
    static const char *const bad[] = {"\x1b",     "\xe2\x80\xae", "\xe2\x81\xa6",
                                      "\xc2\x9b", "\xe2\x80\x8b", "\xe2\x80\x8d",
                                      "\r"};

    say("i\xe2\x80\x8dx", NULL, "mcp/proposal:tools/call:e\xe2\x80\x8dx",
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"e\xe2\x80\x8dx\",\"arguments\":"
        "{\"a\xe2\x81\xa6\":\"\xc2\x9b"
        "31m\",\"b\":\"\\u001b[2J\\r\xe2\x80\x8b\"}}}");
    say("chat", NULL, "chat", "{\"text\":\"\\u001b]0;x\\u0007\\u009b\\r\\u202e\"}");
    for (size_t i = 0; i < COUNT(lines); i++) {
        cr_expect_eq(run(lines[i]), 0, "%s: %s", lines[i], output);
        cr_expect_gt(strlen(output), 10, "%s", lines[i]);
        for (size_t j = 0; j < COUNT(bad); j++)
            cr_expect_null(strstr(output, bad[j]), "%s has %zu: %s", lines[i], j, output);
    }
}

/* JSON that goes on a terminal is looked at by somebody; in a pipe it is the bytes
   that were sent. */
Test(hostile, a_terminal_is_not_turned_by_what_was_meant_for_programs)
{
    static const char *const verbs[] = {
        "history --json --as ann", "chain x --json --as ann", "proposals --json --as ann",
        "kind 'a:b:e\xe2\x80\x8dx'", "kind 'a:b:e\xe2\x80\x8dx' --json"};
    static const char *const bad[] = {"\x1b", "\xe2\x80\xae", "\xc2\x9b", "\xe2\x80\x8d"};
    char line[400];

    say("x", NULL, "mcp/proposal:tools/call:e\xe2\x80\x8dx",
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"e\xe2\x80\x8dx\",\"arguments\":"
        "{\"a\xe2\x80\xae\":\"\xc2\x9b"
        "31m\"}}}");
    expect("mcpxctl history --json --as ann", 0, "\"a\xe2\x80\xae\":\"\xc2\x9b");
    if (run("command -v script") != 0)
        cr_skip_test("no `script` to make a terminal with");
    for (size_t i = 0; i < COUNT(verbs); i++) {
        snprintf(line, sizeof line,
                 "script -qec \"$MCPX_BINARY_DIR/bin/mcpxctl %s\" /dev/null", verbs[i]);
        cr_expect_eq(run(line), 0, "%s: %s", line, output);
        cr_expect_not_null(strstr(output, "\\u200d"), "%s: %s", line, output);
        for (size_t j = 0; j < COUNT(bad); j++)
            cr_expect_null(strstr(output, bad[j]), "%s has %zu: %s", line, j, output);
    }
}

/* A mebibyte of everything: one line where there is one line for it, and all of it when asked. */
Test(hostile, what_is_huge_is_cut_where_it_is_listed_and_whole_where_it_is_decided)
{
    enum { HUGE = 600000 };
    struct mcpx_text payload = {0};

    mcpx_text_puts(&payload, "{\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
                             "\"arguments\":{\"x\":[0");
    for (int i = 0; i < HUGE / 2; i++)
        mcpx_text_puts(&payload, ",0");
    mcpx_text_puts(&payload, "],\"last\":\"word\"}}}");
    cr_assert_not(payload.failed);
    say("huge", NULL, "mcp/proposal:tools/call:echo", payload.text);
    mcpx_text_fini(&payload);
    cr_assert_eq(run("mcpxctl proposals --as ann"), 0);
    cr_expect_lt(strlen(output), 300, "%zu", strlen(output));
    expect("mcpxctl approve huge --as ann 2>&1 </dev/null | tail -n 6", 0,
           "\"last\": \"word\"");
    if (run("command -v script") == 0)
        expect("echo n | script -qec \"'$MCPX_BINARY_DIR/bin/mcpxctl' approve huge --as ann\" "
               "/dev/null 2>&1 | tail -n 3",
               0, "approve tools/call:echo by fs, 300009 lines of params? [y/N]");
}

Test(hostile, ten_thousand_proposals_are_listed_and_one_is_found)
{
    static const char roomy[] =
        "{\"limits\":{\"messages_per_minute\":0,\"bytes_per_minute\":0,\"connects_per_s\":0,"
        "\"drain_s\":1},\"topics\":{\"history\":{\"count\":20000}}}";
    enum { MANY = 10000 };
    char id[32], about[32], word[128];

    rude_shut(&eve);
    daemon_restart(&router, roomy, SIGTERM);
    rude_join(&eve, &router, "eve", "plain", "&history=0");
    for (int i = 0; i < MANY; i++) {
        snprintf(id, sizeof id, "p%05d", i);
        snprintf(about, sizeof about, "p%05d", i - 1);
        send(id, i > 0 ? about : NULL, "mcp/proposal:tools/call:echo", CALL("echo"));
        if (i % 100 == 99)
            cr_assert(rude_expect(&eve, id, NULL));
    }
    expect("mcpxctl proposals --as ann | wc -l", 0, "10000\n");
    expect("mcpxctl chain p09999 --as ann | tail -n 1", 0, "state: open\n");
    expect("mcpxctl approve p05000 --yes --as ann 2>&1", 2, "--yes needs ID@DIGEST");
    snprintf(word, sizeof word, "%.*s", 64, strstr(output, "p05000@"));
    expect_of(4, "not in the topic", "mcpxctl approve %.39s --yes --as ann 2>&1", word);
    cr_expect_not_null(strstr(output, "proposal   p05000\n"), "%s", output);
}

Test(hostile, closed_streams_are_no_place_for_sockets)
{
    expect("mcpxctl say one --as ann >&-; echo $?", 0, "1\n");
    expect("mcpxctl say two --as ann 2>&- | tail -c 1 | od -c", 0, "\\n");
    expect("mcpxctl call echo '{' --to fs --as ann 2>&-; echo $?", 0, "2\n");
    expect("mcpxctl call echo - --to fs --as ann <&- 2>&1", 2,
           "standard input: Bad file descriptor");
    expect("mcpxctl history --as ann 2>&1", 0, "chat  two\n");
}

/* ^C while it writes to a reader that does not read: 130 as elsewhere, not "cannot write". */
Test(hostile, a_watch_that_nobody_reads_can_be_interrupted)
{
    static char payload[60000];

    snprintf(payload, sizeof payload, "{\"text\":\"%0*d\"}", (int)sizeof payload - 12, 0);
    say("c1", NULL, "chat", payload);
    say("c2", NULL, "chat", payload);
    expect("d=$(mktemp -d); mkfifo $d/full; timeout --preserve-status -s INT 1 "
           "$MCPX_BINARY_DIR/bin/mcpxctl watch --json --history 9 --as ann 3<>$d/full >&3; "
           "echo $?; rm -r $d",
           0, "130\n");
}
