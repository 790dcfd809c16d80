/*
 * What breaks for whom: a script takes a refusal for a success, reads half a list, or a token
 * shows where others can read it. The real program against the real router. Protocol: sections 2,
 * 5, 6 and 8.
 */
#include "stage.h"

#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(talk, .init = stage_set_up, .fini = stage_tear_down);

Test(talk, what_is_said_is_in_the_history)
{
    char first[64], line[256];

    run_for_id(first, "mcpxctl say 'one \033[2J' --as ann");
    cr_assert_eq(run("mcpxctl say two --to bob --json --as ann"), 0);
    cr_expect_eq(strncmp(output, "{\"id\":\"", 7), 0, "%s", output);
    cr_assert_eq(run("mcpxctl history --as bob"), 0);
    cr_expect_not_null(strstr(output, "  ann -> everyone  chat  one \\u001b[2J\n"), "%s",
                       output);
    cr_expect_not_null(strstr(output, "  ann -> bob  chat  two\n"), "%s", output);
    expect("mcpxctl history --limit 1 --json --as bob", 0, "{\"text\":\"two\"}");
    cr_expect_null(strstr(output, "one"), "%s", output);
    expect("mcpxctl history --limit 1 --as bob 2>&1", 0,
           "there is more before this: --before ");
    cr_assert_eq(run("mcpxctl history --limit 2 --as bob 2>&1"), 0);
    cr_expect_null(strstr(output, "--before"), "%s", output);
    cr_assert_eq(run("mcpxctl history --limit 1 --kind chat --from bob --as bob 2>&1"), 0);
    cr_expect_str_eq(output, "");
    snprintf(line, sizeof line, "mcpxctl history --before %.8s --as bob 2>&1", first);
    cr_assert_eq(run(line), 0);
    cr_expect_str_eq(output, "");
    expect("mcpxctl history --before nothing --as bob 2>&1", 4, "no retained envelope");
    expect("mcpxctl history --from ann --kind 'ch*' --limit 1 --as bob", 0, "two");
    cr_assert_eq(run("mcpxctl history --from bob --as bob"), 0);
    cr_expect_str_eq(output, "");
    expect("mcpxctl history --kind a::b --as bob 2>&1", 2, "--kind needs a pattern");
}

Test(talk, who_is_there_and_may_say_what)
{
    expect("mcpxctl who --as ann", 0, "fs  mcp/*\n");
    expect("mcpxctl who --as ann --json", 0, "{\"id\":\"fs\",\"capabilities\":[\"mcp/*\"]}\n");
    expect("mcpxctl who --as ann --color always", 0, "\x1b[1mfs\x1b[0m");
    expect("mcpxctl can --live --as ann chat", 0, "allowed: this participant may send chat");
    expect("mcpxctl can --live --as ann chat:x --json", 3, "\"would_allow\":\"chat:x\"");
    expect("mcpxctl can --live --as ann --participant fs chat 2>&1", 3,
           "the router answers 403");
    expect("mcpxctl can --live --config x --as ann chat 2>&1", 2, "give one of them");
}

Test(talk, calls_print_results_and_exit_codes)
{
    static const struct {
        const char *line;
        int status;
        const char *says;
    } rows[] = {
        {"mcpxctl call echo '{\"n\": 1.10}' --to fs --as ann", 0, "{\"n\": 1.10}\n"},
        {"echo '{\"n\":1e400}' | mcpxctl call echo - --to fs --as ann", 0, "{\"n\":1e400}\n"},
        {"mcpxctl call echo '{}' --to fs --as ann --json", 0,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
         "\"{}\"}]}}\n"},
        {"mcpxctl call fail --to fs --as ann", 1, "it broke\n"},
        {"mcpxctl call error --to fs --as ann 2>&1", 3, "not for you (-31002)"},
        {"mcpxctl call error --json --to fs --as ann", 3, "\"error\":{\"code\":-31002"},
        {"mcpxctl call progress --to fs --as ann 2>&1", 0,
         "mcpxctl call: progress 1/2 half way\nall the way\n"},
        {"mcpxctl call back --to fs --as ann", 0, "-32601\n"},
        {"mcpxctl call --method tools/list --to fs --as ann", 0, "\"nextCursor\": \"2\"\n"},
        {"mcpxctl call echo --to nobody --as ann 2>&1", 4, "nobody is not in the topic"},
        {"mcpxctl call echo --as ann 2>&1", 2, "--to ID is required"},
        {"mcpxctl call --to fs --as ann 2>&1", 2, "NAME: "},
        {"mcpxctl call echo '{' --to fs --as ann 2>&1", 2, "JSON: "},
        {"mcpxctl call slow --to fs --timeout 2 --as ann 2>&1", 124,
         "fs has not answered within 2.000 s"},
        {"mcpxctl call seen --to fs --as ann", 0, "1\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect(rows[i].line, rows[i].status, rows[i].says);
}

#define REQUEST                                                                               \
    "{\"schema_version\":\"mcp.request.v0.1\",\"request_id\":\"r\",\"artifacts\":[],"         \
    "\"tool\":{\"name\":\"%s\"},\"params\":{\"n\":1.10,\"_meta\":%s}}"

#define SEND(tool, meta)                                                                      \
    "printf '" REQUEST "' '" tool "' '" meta "' | mcpxctl call --to fs --as ann --request - "

Test(talk, R000_19_calls_carry_meta_and_whole_requests)
{
    static const struct row rows[] = {
        {"mcpxctl call meta --meta '{\"n\": 1.10}' --to fs --as ann", 0,
         "{\"n\":1.10,\"progressToken\":\"mcpxctl\"}\n"},
        {SEND("echo", "{}"), 0, "{\"n\":1.10}\n"},
        {SEND("meta", "{\"capture_provenance\":true}"), 0,
         "{\"capture_provenance\":true,\"request_id\":\"r\",\"io.mcpx/artifacts\":[],"
         "\"progressToken\":\"mcpxctl\"}\n"},
        {"mcpxctl call meta --meta 7 --to fs --as ann 2>&1", 2,
         "--meta, line 1, column 1: expected a JSON object"},
        {"mcpxctl call meta --meta '{' --to fs --as ann 2>&1", 2,
         "--meta, line 1, column 2: "},
        {SEND("meta", "7") "2>&1", 2, "standard input: /params/_meta: must be an object"},
        {SEND("", "{}") "2>&1", 2, "standard input is not an mcp.request.v0.1: /tool/name: "},
        {SEND("meta", "{}") "echo 2>&1", 2, "--request excludes"},
        {SEND("meta", "{}") "--meta '{}' 2>&1", 2, "--request excludes"},
        {"mcpxctl call --request nowhere.json --to fs --as ann 2>&1", 2,
         "nowhere.json: No such"},
    };

    expect_rows(rows, COUNT(rows));
}

Test(talk, lists_come_page_by_page_from_whoever_answers)
{
    expect("mcpxctl list tools --as ann", 0, "fs  echo  Says it again.\nfs  seen\n");
    expect("mcpxctl list tools --to fs --json --as ann", 0,
           "{\"participant\":\"fs\",\"item\":{\"name\":\"echo\",\"description\":\"Says it "
           "again.\\nTwice.\",\"n\":1.10}}\n");
    expect("mcpxctl list tools --to nobody --as ann 2>&1", 4, "nobody is not in the topic");
    expect("mcpxctl list prompts --to fs --timeout 2 --as ann 2>&1", 124, "does not answer");
    expect("mcpxctl list prompts --timeout 2 --as ann 2>&1", 4, "nobody in the topic answers");
    expect("mcpxctl list things --as ann 2>&1", 2, "needs tools|resources|");
}

/* Who looks for a tool reads its schema, and who mistypes one is told which was meant. */
Test(talk, a_tool_is_shown_in_full_and_found_when_mistyped)
{
    static const struct row rows[] = {
        {"mcpxctl list --as ann", 0, "fs  echo  Says it again.\nfs  seen\n"},
        {"mcpxctl list --tool echo --as ann", 0, "fs  echo\nSays it again.\nTwice.\n"},
        {"mcpxctl list --tool seen --to fs --as ann", 0,
         "fs  seen\ninputSchema {\n  \"type\": \"object\"\n}\n"},
        {"mcpxctl list --tool seen --json --as ann", 0,
         "{\"participant\":\"fs\",\"item\":{\"name\":\"seen\",\"inputSchema\":{"},
        {"mcpxctl list --tool ecko --as ann 2>&1", 4,
         "nobody who answers has a tool 'ecko' (did you mean echo?)\n"},
        {"mcpxctl list prompts --tool echo --as ann 2>&1", 2, "--tool is for tools"},
        {"mcpxctl call ecko --to fs --as ann 2>&1", 1,
         "Unknown tool (-32602)\nmcpxctl call: mcpxctl list --tool ecko --to fs shows what"},
        {"mcpxctl call echo --to sf --as ann 2>&1", 4,
         "sf is not in the topic a room/1 (did you mean fs?)"},
    };

    expect_rows(rows, COUNT(rows));
    cr_assert_eq(run("mcpxctl call fail --to fs --as ann 2>&1"), 1);
    cr_expect_null(strstr(output, "--tool"), "%s", output);
}

Test(talk, a_list_without_end_is_given_up)
{
    struct server endless;

    server_start(&endless, &router, "endless", "a room/1");
    expect("mcpxctl list --to endless --timeout 0 --as ann 2>&1", 1,
           "mcpxctl list: endless: the pages repeat themselves\n");
    expect("mcpxctl list --as ann 2>&1", 0, "fs  seen\n");
    server_stop(&endless);
}

Test(talk, tokens_come_from_files_and_are_never_shown)
{
    const char *token = rude_token(&router, "ann", "a room/1", "[\"chat\"]");
    char file[] = "/tmp/mcpxctl-token-XXXXXX", good[1024];
    int fd = mkstemp(file);

    snprintf(good, sizeof good, "%s", token);
    cr_assert(fd >= 0 && write(fd, good, strlen(good)) == (ssize_t)strlen(good));
    cr_assert_eq(write(fd, "\n", 1), 1);
    expect_of(0, "fs  mcp/*\n", "mcpxctl who --token-file %s 2>&1", file);
    cr_expect_null(strstr(output, "warning"), "%s", output);
    fchmod(fd, 0644);
    expect_of(0, "warning: other users can read", "mcpxctl who --token-file %s 2>&1", file);
    cr_expect_null(strstr(output, good), "%s", output);
    expect_of(3,
              "mcpxctl call: refused: no grant covers mcp/request:tools/call:echo to fs; "
              "mcpxctl can shows why, mcpxctl propose may be allowed\n",
              "mcpxctl call echo --to fs --token-file %s 2>&1", file);
    expect_of(3, "covers mcp/proposal:tools/call:echo to everyone; mcpxctl can shows why\n",
              "mcpxctl propose echo --token-file %s 2>&1", file);
    expect_of(2, "exclude each other", "mcpxctl who --token-file %s --as ann 2>&1", file);
    close(fd);
    unlink(file);
    expect("MCPX_TOKEN=secret-token mcpxctl who 2>&1", 5, "the router answers 401");
    cr_expect_null(strstr(output, "secret"), "%s", output);
    expect("MCPX_TOKEN=secret-token mcpxctl say x 2>&1", 5, "cannot join");
    cr_expect_null(strstr(output, "secret"), "%s", output);
    expect("MCPX_TOKEN='secret token' mcpxctl who 2>&1", 2, "printable ASCII");
    cr_expect_null(strstr(output, "secret"), "%s", output);
    expect("mcpxctl who 2>&1", 2, "a token is needed");
    expect("mcpxctl who --token-file /nonexistent/x 2>&1", 2, "/nonexistent/x: No such file");
}

Test(talk, says_where_it_cannot_connect)
{
    static const struct {
        const char *line;
        int status;
        const char *says;
    } rows[] = {
        {"mcpxctl who --as ann --url ws://127.0.0.1:1 2>&1", 5,
         "cannot be reached: Connection refused\n"},
        {"MCPX_TOKEN=x mcpxctl say x --url ws://127.0.0.1:1 2>&1", 5,
         "cannot connect to 127.0.0.1:1: connection refused\n"},
        {"mcpxctl who --as ann --url ws://127.0.0.1:99999 2>&1", 2,
         "with a port from 1 to 65535"},
        {"MCPX_TOKEN=x mcpxctl call x --to y --url ws://127.0.0.1:1 2>&1", 5, "cannot join"},
        {"mcpxctl who --as ann --url nowhere 2>&1", 2, "--url needs ws://"},
        {"MCPX_TOPIC= mcpxctl who --as ann 2>&1", 2, "a topic is needed"},
        {"mcpxctl who --as system 2>&1", 2, "--as needs a participant id"},
        {"mcpxctl who --as ann --url \"$MCPX_URL/elsewhere\" 2>&1", 5,
         "/elsewhere (from --url) issues no token for --as"},
        {"MCPX_URL=ws://127.0.0.1:1 mcpxctl who --as ann 2>&1", 5,
         ":1 (from MCPX_URL) cannot"},
        {"mcpxctl watch --as ann --url ws://127.0.0.1:1 --wait 0.3 2>&1", 5,
         ":1 (from --url) within --wait: cannot connect"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect(rows[i].line, rows[i].status, rows[i].says);
}
