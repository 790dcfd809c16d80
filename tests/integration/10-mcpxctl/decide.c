/*
 * What breaks for whom: an operator approves a proposal and something else is done, or it is done
 * twice, or after somebody said no. Protocol: section 2.
 */
#include "stage.h"
#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(decide, .init = stage_set_up, .fini = stage_tear_down);

Test(decide, an_approval_does_what_was_proposed)
{
    char id[64], word[128], line[512];

    run_for_id(
        id, "mcpxctl propose echo '{\"n\":1.10, \"s\":\"\xe2\x80\xae\"}' --to fs --as agent");
    find_listed("mcpxctl proposals --as ann", id, word);
    snprintf(line, sizeof line, "%s  agent -> fs  mcp/proposal:tools/call:echo  ", word);
    expect("mcpxctl proposals --as ann", 0, line);
    snprintf(line, sizeof line, "{\"id\":\"%s\",\"digest\":\"%s\",\"envelope\":{", id,
             strchr(word, '@') + 1);
    expect("mcpxctl proposals --as ann --json", 0, line);
    cr_expect_not_null(strstr(output, "\"kind\":\"mcp/proposal:tools/call:echo\""), "%s",
                       output);
    expect_of(2, "is not a terminal", "mcpxctl approve %.8s --as ann 2>&1 </dev/null", id);
    cr_expect_not_null(strstr(output, "\"n\": 1.10,\n"), "%s", output);
    cr_expect_not_null(strstr(output, "\"\\u202e\""), "%s", output);
    expect_of(0, "{\"n\":1.10, \"s\":\"\xe2\x80\xae\"}\n",
              "mcpxctl approve %s --as ann --yes 2>/dev/null", word);
    expect_of(0, "[as proposed]", "mcpxctl chain %.8s --as ann", id);
    cr_expect_not_null(strstr(output, "state: done\n"), "%s", output);
    expect_of(0, "\"same_params\":true", "mcpxctl chain %.8s --as ann --json", id);
    expect_of(1, "no longer open (done)", "mcpxctl approve %.8s --as ann --yes 2>&1", id);
    cr_assert_eq(run("mcpxctl proposals --as ann"), 0);
    cr_expect_str_eq(output, "");
}

#define PROPOSE(words) "mcpxctl propose " words " --as agent 2>&1"
#define UNPINNED(why) why "\nmcpxctl propose: the proposal pins no tool\n"

/* Else another tool than the proposed one is called, or a proposal waits for who is silent. */
Test(decide, a_proposal_to_one_pins_its_tool_or_says_why_not)
{
    static const struct row rows[] = {
        {PROPOSE("rm --to fs"), 0, "pins no tool: its addressee lists none of this name\n"},
        {PROPOSE("seen --to endless"), 0, UNPINNED("endless: the pages repeat themselves")},
        {PROPOSE("seen --to bob"), 0,
         UNPINNED("bob is not in the topic a room/1; mcpxctl who tells who is")},
        {PROPOSE("seen --to silent --timeout 0.5"), 0, UNPINNED("silent does not answer")},
        {"mcpxctl propose seen --to fs 2>&1", 0,
         "no grant covers mcp/request:tools/list to fs"},
        {"mcpxctl history --limit 1 --json --as ann", 0, "{\"name\":\"seen\"}"},
        {PROPOSE("seen"), 0, ""},
        {PROPOSE("seen --to fs --to silent"), 0, ""},
        {PROPOSE("--method ping --to fs"), 0, ""},
        {PROPOSE("seen --to fs"), 0, ""},
        {"mcpxctl history --limit 1 --json --as ann", 0,
         "\"_meta\":{\"io.mcpx/tool\":\"sha256:"
         "b5e76e705a7f2d948e75fe9753e8b3f569d04c707c4cd50e404f142e031bd543\"}"},
    };
    struct server endless;
    static struct rude silent;

    cr_assert_eq(rude_enter(&silent, &router,
                            rude_token(&router, "silent", "a room/1", "[\"mcp/*\"]"),
                            "/ws?topic=a%20room%2F1"),
                 101);
    server_start(&endless, &router, "endless", "a room/1");
    setenv("MCPX_TOKEN", rude_token(&router, "timid", "a room/1", "[\"mcp/proposal:*\"]"), 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        expect_rows(&rows[i], 1);
        cr_expect(i < 5 || !strstr(output, "no tool"), "%s", output);
    }
    unsetenv("MCPX_TOKEN");
    server_stop(&endless);
    rude_shut(&silent);
}

Test(decide, a_terminal_is_asked)
{
    char id[64];

    if (run("command -v script") != 0)
        cr_skip_test("no `script` to make a terminal with");
    run_for_id(id, "mcpxctl propose echo '{\"n\":1}' --to fs --as agent");
    expect_of(3, "not approved",
              "echo n | script -qec \"'%s/bin/mcpxctl' approve %s --as ann\" /dev/null 2>&1",
              getenv("MCPX_BINARY_DIR"), id);
    expect_of(0, "{\"n\":1}",
              "echo y | script -qec \"'%s/bin/mcpxctl' approve %s --as ann\" /dev/null 2>&1",
              getenv("MCPX_BINARY_DIR"), id);
}

Test(decide, who_is_to_do_it_is_said_once)
{
    char id[64], word[128];

    run_for_id(id, "mcpxctl propose echo '{}' --as agent");
    find_listed("mcpxctl proposals --as ann", id, word);
    expect_of(2, "--to ID says who is to", "mcpxctl approve %s --yes --as ann 2>&1", word);
    expect_of(4, "not in the topic", "mcpxctl approve %s --yes --to nobody --as ann 2>&1",
              word);
    expect_of(0, "{}\n", "mcpxctl approve %s --yes --to fs --as ann 2>/dev/null", word);
    run_for_id(id, "mcpxctl propose echo '{}' --to other --as agent");
    expect_of(2, "not proposed to that participant",
              "mcpxctl approve %s --yes --to fs --as ann 2>&1", id);
    run_for_id(id, "mcpxctl say hello --as ann");
    expect_of(2, "is not a proposal", "mcpxctl approve %s --yes --as ann 2>&1", id);
}

/* The wrong words for it are refused before anything is sent. */
Test(decide, a_yes_is_bound_to_what_was_listed)
{
    static const char zeros[] = "00000000000000000000000000000000";
    char id[64], word[128], line[512];

    run_for_id(id, "mcpxctl propose echo '{\"n\":1}' --to fs --as agent");
    find_listed("mcpxctl proposals --as ann", id, word);
    expect_of(2, "--yes needs ID@DIGEST", "mcpxctl approve %.8s --yes --as ann 2>&1", id);
    snprintf(line, sizeof line, "mcpxctl approve %s@%s --yes\n", id, strchr(word, '@') + 1);
    cr_expect_not_null(strstr(output, line), "it says what to type: %s", output);
    for (size_t i = 0; i < 3; i++) {
        static const char *const verbs[] = {"approve --yes", "reject", "withdraw"};

        expect_of(1, "under this id has changed", "mcpxctl %s %.8s@%s --as agent 2>&1",
                  verbs[i], id, zeros);
    }
    expect_of(4, "no retained", "mcpxctl approve nothing@%s --yes --as ann 2>&1", zeros);
    expect_of(4, "digest has 32 hexadecimal", "mcpxctl approve %s@0000 --as ann 2>&1", id);
    find_listed("mcpxctl proposals --as ann", id, word);
    run_for_id(id, "mcpxctl reject %s --as ann", word);
}

Test(decide, a_rejection_ends_a_proposal)
{
    char id[64], no[64];

    run_for_id(id, "mcpxctl propose echo '{}' --to fs --as agent");
    run_for_id(no, "mcpxctl reject %.8s --reason 'too much' --as ann", id);
    expect("mcpxctl history --limit 1 --as ann", 0,
           "ann -> agent, fs  mcp/reject  too much\n");
    expect_of(0, "state: rejected\n", "mcpxctl chain %s --as ann", no);
    expect_of(1, "no longer open (rejected)", "mcpxctl approve %s --yes --as ann 2>&1", id);
}

Test(decide, only_its_proposer_takes_a_proposal_back)
{
    char id[64], back[64];

    run_for_id(id, "mcpxctl propose echo '{}' --to fs --as agent");
    expect_of(3, "mcpxctl withdraw: only the proposer agent may",
              "mcpxctl withdraw %.8s --as ann 2>&1", id);
    expect("mcpxctl history --limit 1 --as ann", 0, "mcp/proposal:tools/call:echo");
    run_for_id(back, "mcpxctl withdraw %.8s --reason 'done by hand' --as agent", id);
    expect("mcpxctl history --limit 1 --as ann", 0,
           "agent -> fs  mcp/withdraw  done by hand\n");
    expect_of(0, "state: withdrawn\n", "mcpxctl chain %s --as ann", back);
    expect_of(1, "no longer open (withdrawn)", "mcpxctl approve %s --yes --as ann 2>&1", id);
    expect_of(1, "no longer open (withdrawn)", "mcpxctl withdraw %s --as agent 2>&1", id);
    expect("mcpxctl withdraw nothing --as agent 2>&1", 4, "no retained envelope");
}
