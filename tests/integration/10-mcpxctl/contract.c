/*
 * What breaks for whom: a script takes a document for valid that is not, or a log for complete; a
 * schema that somebody else wrote makes mcpxctl read a file that nobody named.
 */
#include "stage.h"
#include "tests/support/outside.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/mcpx-contract-XXXXXX";

#define CONTEXT                                                                               \
    "{\"requestId\":\"r\",\"traceId\":\"t\",\"mode\":\"quick\",\"workspaceId\":\"w\","        \
    "\"actor\":\"human\",\"timeRange\":{\"start\":\"a\",\"end\":\"b\",\"tz\":\"UTC\"},"       \
    "\"contractVersions\":{\"mcp\":\"2.0\",\"tool\":\"1.0\",\"fixture\":\"1.0\"},"            \
    "\"featureFlags\":[]}"

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    file_write_text("good.json", CONTEXT "\n");
    file_write_text("bad.json", "{\"mode\":\"expert\"}\n");
    file_write_text("log", CONTEXT "\n{\"mode\":\"quick\"\n" CONTEXT);
    file_write_text("tool.json", "{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\","
                                 "\"required\":[\"a\"]}}");
    file_write_text("unusable.json", "{\"properties\":{\"a\":{\"minLength\":-1}}}");
    file_write_text("refers.json", "{\"$ref\":\"https://example.com/parts/size.json\"}");
    file_write_text("climbs.json",
                    "{\"$ref\":\"https://example.com/parts/%2e%2e/size%2ejson\"}");
    file_write_text("size.json", "{\"maximum\":9}");
    file_write_text("texts.json", "{\"additionalProperties\":{\"type\":\"string\"}}");
    file_write_text("odd.json", "{\"\\n\\u001b[2J\":1}");
    file_write_text("endless.json", "{\"allOf\":[{\"$ref\":\"#\"}]}");
    file_write_text("d#7", "{\"items\":[{\"type\":\"string\"}]}");
}

static void tear_down(void)
{
    folder_remove(folder);
}

TestSuite(contract, .init = set_up, .fini = tear_down);

Test(contract, names_and_schemas_are_printed)
{
    static const struct row rows[] = {
        {"mcpxctl contract", 0, "mcp.envelope.v0.1\nmcp.request.v0.1\n"},
        {"mcpxctl contract | wc -l", 0, "13\n"},
        {"mcpxctl contract --json", 0,
         "{\"contract\":\"context\",\"code\":\"INVALID_INPUT\"}\n"},
        {"mcpxctl contract context", 0, "\"$id\": \"urn:mcpx:contract:context\",\n"},
        {"mcpxctl contract mcp.envelope.v0.1 --json | wc -l", 0, "1\n"},
        {"mcpxctl contract invocation --json", 0,
         "\"title\": \"invocation: a JSON-RPC request that names a tool and carries its "
         "input\",\"type\": \"object\",\"required\": [\"id\", \"jsonrpc\","},
        {"mcpxctl contract terms | cmp - \"$MCPX_SOURCE_DIR/config/terms.schema.json\"", 0,
         ""},
        {"mcpxctl validate terms \"$MCPX_SOURCE_DIR/config/terms.example.json\"", 0,
         "valid\n"},
        {"mcpxctl contract contxt 2>&1", 4, "contxt is no contract (did you mean context?)"},
    };

    expect_rows(rows, COUNT(rows));
}

Test(contract, R002_5_a_document_is_judged_and_the_exit_code_says_it)
{
    static const struct row rows[] = {
        {"mcpxctl validate context good.json", 0, "valid\n"},
        {"mcpxctl validate context good.json --json", 0,
         "{\"valid\":true,\"contract\":\"context\",\"code\":null,\"path\":null,\"errors\":[]}"
         "\n"},
        {"mcpxctl validate context < good.json", 0, "valid\n"},
        {"mcpxctl validate context - < good.json", 0, "valid\n"},
        {"mcpxctl validate context bad.json", 1, "not valid (INVALID_INPUT)\n  /actor: "},
        {"mcpxctl validate context bad.json --json", 1,
         "{\"valid\":false,\"contract\":\"context\",\"code\":\"INVALID_INPUT\","
         "\"path\":\"/actor\",\"errors\":[{\"path\":\"/actor\",\"keyword\":\"required\","},
        {"mcpxctl validate event bad.json --json", 1, "\"code\":\"INVALID_OUTPUT\""},
        {"mcpxctl validate context </dev/null --json", 1, "\"keyword\":\"json\""},
        {"echo '{\"a\":1,\"a\":1}' | mcpxctl validate terms --json", 1,
         "\"path\":\"/a\",\"errors\":[{\"path\":\"/a\",\"keyword\":\"ambiguous\""},
        {"mcpxctl validate context bad.json --quiet | wc -c", 0, "0\n"},
        {"mcpxctl validate context bad.json --quiet", 1, ""},
        {"mcpxctl validate contxt good.json 2>&1", 2, "did you mean context?"},
        {"mcpxctl validate context nowhere.json 2>&1", 2, "nowhere.json: No such file"},
        {"mcpxctl validate context good.json --json --quiet 2>&1", 2, "exclude each other"},
        {"mcpxctl validate context good.json --dialect draft-07 2>&1", 2,
         "--dialect goes with the word schema"},
    };

    expect_rows(rows, COUNT(rows));
}

Test(contract, each_line_is_a_document_with_a_verdict_of_its_own)
{
    static const struct row rows[] = {
        {"mcpxctl validate context log --lines", 1, "line 2: not valid (INVALID_INPUT)\n"},
        {"mcpxctl validate context log --lines", 1, "\n3 lines, 1 not valid\n"},
        {"mcpxctl validate context log --lines --json | cut -c 1-23", 0,
         "{\"line\":1,\"valid\":true,\n{\"line\":2,\"valid\":false\n{\"line\":3,\"valid\":"
         "true,\n"},
        {"mcpxctl validate context good.json --lines", 0, "1 line, 0 not valid\n"},
        {"mcpxctl validate context --lines </dev/null", 0, "0 lines, 0 not valid\n"},
        {"echo | mcpxctl validate context --lines --json", 1, "\"keyword\":\"json\""},
        {"mcpxctl validate context log --lines --quiet", 1, ""},
    };

    expect_rows(rows, COUNT(rows));
}

Test(contract, R002_21_a_schema_comes_from_a_file_and_refers_to_what_is_known)
{
    static const struct row rows[] = {
        {"echo '{}' | mcpxctl validate schema --schema tool.json#/inputSchema", 1, "/a: "},
        {"echo '{}' | mcpxctl validate schema --schema tool.json#/inputSchema "
         "--direction response --json",
         1, "\"contract\":\"schema\",\"code\":\"INVALID_OUTPUT\",\"path\":\"/a\""},
        {"echo '{\"a\":1}' | mcpxctl validate schema --schema tool.json#/inputSchema", 0,
         "valid\n"},
        {"echo '[1]' | mcpxctl validate schema --schema 'd#7' --dialect draft-07 --json", 1,
         "\"path\":\"/0\""},
        {"echo '[1]' | mcpxctl validate schema --schema 'd#7' 2>&1", 2,
         "the schema cannot be used (INTERNAL_ERROR)\n  /items: "},
        {"mcpxctl validate schema odd.json --schema texts.json", 1,
         "not valid (INVALID_INPUT)\n  /\\u000a\\u001b[2J: "},
        {"mcpxctl validate schema odd.json --schema texts.json --json", 1,
         "\"path\":\"/\\n\\u001b[2J\""},
        {"echo 1 | mcpxctl validate schema --schema endless.json --json", 1,
         "{\"valid\":false,\"contract\":\"schema\",\"code\":\"INTERNAL_ERROR\","},
        {"echo 1 | mcpxctl validate schema --schema endless.json", 1,
         "not valid (INTERNAL_ERROR)\n  the whole text: could not be judged"},
        {"echo 1 | mcpxctl validate schema --schema unusable.json --json", 2,
         "{\"valid\":null,\"contract\":\"schema\",\"code\":\"INTERNAL_ERROR\","
         "\"path\":\"/properties/a/minLength\",\"errors\":["},
        {"echo 1 | mcpxctl validate schema --schema refers.json --json", 2,
         "\"path\":\"/$ref\""},
        {"echo 10 | mcpxctl validate schema --schema refers.json "
         "--known https://example.com/parts/size.json=size.json --json",
         1, "\"keyword\":\"maximum\""},
        {"echo 9 | mcpxctl validate schema --schema refers.json "
         "--known https://example.com/parts/=.",
         0, "valid\n"},
        {"echo 9 | mcpxctl validate schema --schema refers.json "
         "--known https://example.com/=nowhere 2>&1",
         2, "nowhere/parts/size.json: No such file"},
        {"mkdir inner; echo 9 | mcpxctl validate schema --schema climbs.json "
         "--known https://example.com/parts/=inner --json",
         2, "\"path\":\"/$ref\""},
        {"mcpxctl validate schema good.json 2>&1", 2, "--schema FILE says which schema"},
        {"mcpxctl validate schema --schema - </dev/null 2>&1", 2, "cannot be both"},
        {"mcpxctl validate schema good.json --schema - < unusable.json 2>&1", 2,
         "/properties/a/minLength"},
        {"mcpxctl validate schema good.json --schema nowhere.json 2>&1", 2,
         "nowhere.json: No such file"},
        {"mcpxctl validate schema good.json --schema size.json --known x 2>&1", 2,
         "--known needs URI=PATH"},
    };

    expect_rows(rows, COUNT(rows));
}

Test(contract, R002_16_two_logs_are_compared_line_by_line)
{
    static const struct row rows[] = {
        {"echo '{\"ts\":1,\"route\":\"a\",\"status\":\"ok\"}' > golden; "
         "echo '{\"status\":\"ok\",\"ts\":2,\"spanId\":3}' > new; mcpxctl parity golden new",
         0, "equal: 1 line\n"},
        {"mcpxctl parity golden new --json", 0,
         "{\"equal\":true,\"golden_lines\":1,\"new_lines\":1,\"differences\":[]}\n"},
        {"mcpxctl parity golden - --json < new", 0, "\"equal\":true"},
        {"sed 's/ok/error/' golden > new; mcpxctl parity golden new", 1,
         "line 1: /status differs\n"},
        {"mcpxctl parity golden new --json", 1,
         "\"differences\":[{\"line\":1,\"path\":\"/status\"}]"},
        {"cat golden golden > new; mcpxctl parity golden new", 1, "line 2: only in new\n"},
        {"mcpxctl parity new golden", 1, "line 2: only in new\n"},
        {"mcpxctl parity new golden --json", 1,
         "{\"equal\":false,\"golden_lines\":2,\"new_lines\":1,"
         "\"differences\":[{\"line\":2,\"path\":\"\"}]}\n"},
        {"echo '[1]' > golden; echo '[]' | mcpxctl parity golden -", 1,
         "line 1: the whole differs\n"},
        {"echo '{\"\\u001b[2J\":1}' > golden; echo '{}' | mcpxctl parity golden -", 1,
         "line 1: /\\u001b[2J differs\n"},
        {"printf '{}\\n{\"a\":' > new; mcpxctl parity new new 2>&1", 2,
         "mcpxctl parity: new, line 2, column 6: "},
        {"echo '{\"a\":1,\"a\":1}' | mcpxctl parity - golden 2>&1", 2,
         "standard input, line 1, column 8: a name stands twice"},
        {"mcpxctl parity golden nowhere 2>&1", 2, "nowhere: No such file"},
        {"yes '{\"status\":\"ok\",\"tool\":\"a\"}' | head -n 800000 > long; "
         "mcpxctl parity long long",
         0, "equal: 800000 lines\n"},
        {"mcpxctl parity golden . 2>&1", 2, ".: Is a directory"},
        {"mcpxctl parity - - </dev/null 2>&1", 2, "cannot be both logs"},
        {"mcpxctl parity golden 2>&1", 2, ""},
    };

    expect_rows(rows, COUNT(rows));
}

#define WRAPPED "{\"schema_version\":\"mcp.envelope.v0.1\",\"result\":"
#define EMPTY WRAPPED "null,\"errors\":[{\"code\":\"ADAPTER.EXECUTION.FAILED\","

Test(contract, R000_1_a_program_that_is_no_server_puts_its_result_into_an_envelope)
{
    static const struct row rows[] = {
        {"echo ' {\"n\":12345678901234567890,\"x\":1e400,\"y\":1.10}' |"
         " mcpxctl wrap mcp.envelope.v0.1",
         0,
         WRAPPED "{\"n\":12345678901234567890,\"x\":1e400,\"y\":1.10},"
                 "\"provenance\":null}\n"},
        {"echo 7 > seven; mcpxctl wrap mcp.envelope.v0.1 seven", 0, WRAPPED "7,"},
        {"echo 7 | mcpxctl wrap mcp.envelope.v0.1 - | mcpxctl wrap response.v1 --tool t "
         "--request-id r",
         0, WRAPPED "7,\"provenance\":null}\n"},
        {"printf 'a\\nb\\n' | mcpxctl wrap mcp.envelope.v0.1 --text", 0, WRAPPED "\"a\\nb\","},
        {"echo | mcpxctl wrap mcp.envelope.v0.1 --text", 0, WRAPPED "\"\","},
        {"mcpxctl wrap mcp.envelope.v0.1 --exit-code 2 </dev/null", 0,
         EMPTY "\"message\":\"Tool execution failed with exit code 2.\","
               "\"details\":{\"exit_code\":2}}]"},
        {"mcpxctl wrap mcp.envelope.v0.1 --text --exit-code 2 </dev/null", 0, EMPTY},
        {"echo 1 | mcpxctl wrap response.v1 --tool t --request-id r", 0,
         "{\"tier\":\"community\",\"tool_version\":\"0.0.0\",\"tool_id\":\"t\","
         "\"request_id\":\"r\",\"capabilities\":[\"envelope-v1\"],\"duration_ms\":0,"
         "\"error\":null,\"upgrade_hints\":[],\"data\":1}\n"},
        {"echo 1 | mcpxctl wrap response.v1 --tool t --request-id r --tool-version 1.2.3 "
         "--tier pro --duration-ms 5 --exit-code 1",
         0,
         "{\"tier\":\"pro\",\"tool_version\":\"1.2.3\",\"tool_id\":\"t\","
         "\"request_id\":\"r\",\"capabilities\":[\"envelope-v1\"],\"duration_ms\":5,"
         "\"error\":{\"error\":\"Tool execution failed with exit code 1.\","
         "\"error_code\":\"internal_error\",\"error_details\":{\"exit_code\":1}},"},
        {"echo '{\"schema_version\":\"mcp.envelope.v0.1\"}' | mcpxctl wrap mcp.envelope.v0.1 "
         "2>&1",
         0, "the result breaks its contract; the envelope reports"},
    };

    expect_rows(rows, COUNT(rows));
}

Test(contract, what_cannot_be_wrapped_is_refused)
{
    static const struct row rows[] = {
        {"mcpxctl wrap mcp.envelope.v0.1 </dev/null 2>&1", 2,
         "standard input: the input is empty"},
        {"echo | mcpxctl wrap mcp.envelope.v0.1 2>&1", 2, "the input is empty"},
        {"mcpxctl wrap mcp.envelope.v0.1 --text </dev/null 2>&1", 2, "the input is empty"},
        {"echo '{\"a\":}' | mcpxctl wrap mcp.envelope.v0.1 2>&1", 2,
         "standard input, line 1, column 6: "},
        {"printf 'a\\nb\\377' | mcpxctl wrap mcp.envelope.v0.1 --text 2>&1", 2,
         "standard input, line 2, column 2: not UTF-8"},
        {"echo 1 | mcpxctl wrap response.v1 --tool t 2>&1", 2,
         "--tool NAME and --request-id ID"},
        {"echo 1 | mcpxctl wrap response.v1 --tool t --request-id r --tool-version v1 2>&1", 2,
         "SemVer 2.0.0, such as 1.0.0"},
        {"echo 1 | mcpxctl wrap respons.v1 2>&1", 2, "did you mean response.v1?"},
        {"echo 1 | mcpxctl wrap context 2>&1", 2, "context is not an envelope of results"},
        {"echo 1 | mcpxctl wrap as-is 2>&1", 2, "as-is is no contract"},
        {"mcpxctl wrap mcp.envelope.v0.1 nowhere.json 2>&1", 2, "nowhere.json: No such file"},
    };

    expect_rows(rows, COUNT(rows));
}

/* Nothing that a schema names is opened: not a file of that name, not a folder above. */
Test(contract, nothing_is_fetched)
{
    if (run("strace -o trace true") != 0)
        cr_skip_test("no strace to look with, or it may not look");
    file_write_text("greedy.json",
                    "{\"anyOf\":[{\"$ref\":\"file:///etc/passwd\"},"
                    "{\"$ref\":\"size.json\"},{\"$ref\":\"http://127.0.0.1:1/\"}]}");
    expect_of(2, "",
              "echo 1 | ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 strace -f -o trace "
              "'%s/bin/mcpxctl' "
              "validate schema --schema greedy.json",
              getenv("MCPX_BINARY_DIR"));
    cr_expect_eq(run("grep -E 'greedy.json' trace"), 0, "%s", output);
    cr_expect_neq(run("grep -E '/etc/passwd|size.json|socket\\(|connect\\(' trace"), 0, "%s",
                  output);
}
