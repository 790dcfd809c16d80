/*
 * What breaks for whom: a script that waits for a router goes on too early, or an operator sees
 * nothing of a sick one because the token is bad.
 */
#include "stage.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

TestSuite(status, .init = stage_set_up, .fini = stage_tear_down);

Test(status, tells_how_the_router_is_and_who_is_there)
{
    static const char *const lines[] = {
        "health        healthy, ready\n",
        "uptime        ",
        "connections   1\n",
        "slow readers  0 fell behind",
        "topics        a room/1\n",
        "topic         a room/1\n",
        "participants  fs\n",
    };

    cr_assert_eq(run("mcpxctl status --as ann"), 0, "%s", output);
    for (size_t i = 0; i < LENGTH(lines); i++)
        cr_expect_not_null(strstr(output, lines[i]), "%s in: %s", lines[i], output);
    cr_assert_eq(run("mcpxctl status --as ann --json"), 0, "%s", output);
    cr_expect_not_null(strstr(output, "\"ready\":true,\"connections\":1,"), "%s", output);
    cr_expect_not_null(strstr(output, "\"topics\":[\"a room/1\"],\"topic\":\"a room/1\","
                                      "\"participants\":[{\"id\":\"fs\",\"capabilities\":["),
                       "%s", output);
    cr_expect_not_null(strstr(output, "\"health\":{\"status\":\"healthy\","), "%s", output);
    cr_expect_eq(strchr(output, '\n')[1], '\0', "one line: %s", output);
}

Test(status, exits_with_what_is_wrong)
{
    static const struct {
        const char *line;
        int status;
        const char *says;
    } rows[] = {
        {"MCPX_TOPIC= mcpxctl status", 0, "connections   1\n"},
        {"mcpxctl status --as ann --topic empty", 0, "participants  none\n"},
        {"MCPX_TOKEN=bad mcpxctl status 2>&1", 5, "the router answers 401"},
        {"MCPX_TOKEN=bad mcpxctl status 2>/dev/null", 5, "health        healthy, ready\n"},
        {"mcpxctl status --as ann --url ws://127.0.0.1:1 2>&1", 5, "cannot be reached"},
        {"mcpxctl status --as ann --url \"$MCPX_URL/elsewhere\" 2>&1", 4, "answers 404"},
    };

    for (size_t i = 0; i < LENGTH(rows); i++)
        expect(rows[i].line, rows[i].status, rows[i].says);
}
