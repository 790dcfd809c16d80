/*
 * What breaks for whom: somebody at a terminal waits for who is not there, takes an empty screen
 * for a program that hangs, or looks in vain for the place that is wrong. Protocol: sections 5 and
 * 8.
 */
#include "stage.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(tell, .init = stage_set_up, .fini = stage_tear_down);

Test(tell, an_addressee_who_is_not_there_is_named)
{
    static const struct row rows[] = {
        {"mcpxctl say hi --to fs --to bob --to carl --as ann 2>&1", 0,
         "mcpxctl say: bob is not in the topic a room/1; the envelope is sent anyway and "
         "stays "
         "in the history\nmcpxctl say: carl is not in the topic a room/1; "},
        {"mcpxctl propose echo --to bob --as ann 2>&1", 0,
         "mcpxctl propose: bob is not in the topic a room/1; the envelope is sent"},
        {"mcpxctl say hi --to ann --as ann 2>&1", 0, "ann is only this program in the topic"},
        {"mcpxctl call echo --to bob --as ann 2>&1", 4,
         "mcpxctl call: bob is not in the topic a room/1; mcpxctl who tells who is\n"},
        {"mcpxctl call echo --to fs --to bob --as ann 2>&1", 4, "call: bob is not in"},
        {"mcpxctl list tools --to fs --to bob --as ann 2>&1", 4, "list: bob is not in"},
    };

    expect_rows(rows, COUNT(rows));
    cr_assert_eq(run("mcpxctl say hi --to fs --as ann 2>&1 >/dev/null"), 0);
    cr_expect_str_eq(output, "");
    cr_assert_eq(run("mcpxctl say hi --as ann 2>&1 >/dev/null"), 0);
    cr_expect_str_eq(output, "");
}

Test(tell, a_complaint_names_what_and_where)
{
    static const struct row rows[] = {
        {"mcpxctl call echo '{\n\"\xc3\xa9\": }' --to fs --as ann 2>&1", 2,
         "mcpxctl call: JSON: the operand, line 2, column 6: "},
        {"printf '{\\n\"a\":1,\\n x}' | mcpxctl call echo - --to fs --as ann 2>&1", 2,
         "JSON: standard input, line 3, column 2: "},
        {"mcpxctl call echo '[]' --to fs --as ann 2>&1", 2,
         "JSON: the operand, line 1, column 1: expected a JSON object"},
        {"mcpxctl call echo --method 'a b' --to fs --as ann 2>&1", 2, "method, byte 1: "},
        {"mcpxctl chain 0123 --as ann 2>&1", 4,
         "chain: 0123: no retained envelope of the topic a room/1 has an id that begins like "
         "this"},
        {"mcpxctl reject 0123@00000000000000000000000000000000 --as ann 2>&1", 4,
         "reject: 0123: no retained envelope of the topic a room/1"},
        {"mcpxctl who --token-file /dev/null 2>&1", 2, "who: /dev/null: the token must be"},
        {"MCPX_TOKEN=' ' mcpxctl who 2>&1", 2, "who: MCPX_TOKEN: the token must be"},
        {"mcpxctl say x --as ann --ca-file /nonexistent/x 2>&1", 2,
         "say: /nonexistent/x: No such file"},
    };
    char id[64];

    expect_rows(rows, COUNT(rows));
    run_for_id(id, "mcpxctl say x --as ann");
    expect_of(2, " is not a proposal", "mcpxctl withdraw %.8s --as ann 2>&1", id);
    cr_expect_not_null(strstr(output, id), "%s", output);
}

Test(tell, no_timeout_is_for_ever)
{
    static const struct row rows[] = {
        {"mcpxctl call echo '{}' --to fs --timeout 0 --as ann", 0, "{}\n"},
        {"mcpxctl list tools --to fs --timeout 0 --as ann", 0, "fs  seen\n"},
        {"timeout --preserve-status -s INT 3 \"$MCPX_BINARY_DIR/bin/mcpxctl\" call slow --to "
         "fs "
         "--timeout 0 --as ann 2>&1",
         130, ""},
    };

    expect_rows(rows, COUNT(rows));
}

/* A line as a terminal sees it: both outputs are one. */
static void expect_shown(const char *words, int status, const char *says)
{
    char line[512];

    snprintf(line, sizeof line, "script -qec \"'$MCPX_BINARY_DIR/bin/mcpxctl' %s\" /dev/null",
             words);
    expect(line, status, says);
}

Test(tell, a_terminal_is_told_that_there_is_nothing)
{
    static const struct row rows[] = {
        {"who --as ann --topic empty", 0, "who: nobody is connected in the topic empty\r\n"},
        {"history --as ann", 0, "history: nothing is retained in the topic a room/1\r\n"},
        {"proposals --as ann", 0, "proposals: no proposal is open in the topic a room/1\r\n"},
        {"list tools --as ann --topic bare", 0, "list: nobody who answers has tools\r\n"},
    };
    static const char *const verbs[] = {"who --topic empty", "history", "proposals"};
    struct server bare;
    char line[256];

    if (run("command -v script") != 0)
        cr_skip_test("no `script` to make a terminal with");
    server_start(&bare, &router, "bare", "bare");
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_shown(rows[i].line, rows[i].status, rows[i].says);
    server_stop(&bare);
    for (size_t i = 0; i < COUNT(verbs); i++) {
        snprintf(line, sizeof line, "mcpxctl %s --as ann 2>&1", verbs[i]);
        cr_expect_eq(run(line), 0);
        cr_expect_str_eq(output, "", "%s says: %s", line, output);
        snprintf(line, sizeof line, "%s --json --as ann", verbs[i]);
        expect_shown(line, 0, "");
        cr_expect_str_eq(output, "", "%s says: %s", line, output);
    }
    cr_assert_eq(run("mcpxctl say x --as ann"), 0);
    expect_shown("history --from bob --as ann", 0,
                 "nothing that was asked for is retained in");
}

Test(tell, the_line_that_counts_seconds_is_gone_before_a_complaint)
{
    if (run("command -v script") != 0)
        cr_skip_test("no `script` to make a terminal with");
    expect_shown("call slow --to fs --timeout 4.5 --as ann", 124, "\r\x1b[Kwaiting for fs, ");
    cr_expect_not_null(
        strstr(output, "\r\x1b[Kmcpxctl call: fs has not answered within 4.500 s"), "%s",
        output);
}
