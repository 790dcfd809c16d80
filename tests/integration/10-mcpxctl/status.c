/*
 * What breaks for whom: a script that waits for a router goes on too early, or an operator sees
 * nothing of a sick one because the token is bad.
 */
#include "stage.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(status, .init = stage_set_up, .fini = stage_tear_down);

Test(status, tells_how_the_router_is_and_who_is_there)
{
    static const char *const lines[] = {
        "health        healthy, ready\n",
        "uptime        ",
        "connections   1\n",
        "reader lag    0 envelopes behind, slowest subscriber\n",
        "longest wait  0 ms, slowest subscriber\n",
        "unsent        0 bytes not taken by subscribers yet\n",
        "slow readers  0 disconnected since the start",
        "topics        a room/1\n",
        "topic         a room/1\n",
        "participants  fs\n",
    };

    cr_assert_eq(run("mcpxctl status --as ann"), 0, "%s", output);
    for (size_t i = 0; i < COUNT(lines); i++)
        cr_expect_not_null(strstr(output, lines[i]), "%s in: %s", lines[i], output);
    cr_assert_eq(run("mcpxctl status --as ann --json"), 0, "%s", output);
    cr_expect_not_null(strstr(output, "\"ready\":true,\"connections\":1,"), "%s", output);
    cr_expect_not_null(
        strstr(output, ",\"reader_lag_envelopes\":0,\"reader_lag_seconds\":0.000,"), "%s",
        output);
    cr_expect_not_null(strstr(output, "\"topics\":[\"a room/1\"],\"topic\":\"a room/1\","
                                      "\"participants\":[{\"id\":\"fs\",\"capabilities\":["),
                       "%s", output);
    cr_expect_not_null(strstr(output, "\"health\":{\"status\":\"healthy\","), "%s", output);
    cr_expect_eq(strchr(output, '\n')[1], '\0', "one line: %s", output);
}

/* An operator has to see that a reader falls behind before it is cut off for that. */
Test(status, tells_how_far_a_reader_is_behind)
{
    static const char proposal[] =
        "{ printf '{\"a\":\"'; head -c 2000000 /dev/zero | tr '\\0' a; printf '\"}'; } |"
        " mcpxctl propose big - --as ann";
    char file[32];
    pid_t watch = start_watch("--as eye", file);
    const char *lag = NULL;
    long until_ms;

    kill(watch, SIGSTOP);
    for (size_t i = 0; i < 8; i++)
        cr_assert_eq(run(proposal), 0, "%s", output);
    until_ms = support_now_ms() + DAEMON_PATIENCE_MS;
    while (!lag && support_now_ms() < until_ms) { /* it is counted once a second */
        cr_assert_eq(run("MCPX_TOPIC= mcpxctl status"), 0, "%s", output);
        lag = strstr(output, "reader lag    0 ") ? NULL : strstr(output, "reader lag    ");
    }
    cr_assert_not_null(lag, "%s", output);
    cr_expect_null(strstr(output, "longest wait  0 ms"), "%s", output);
    unlink(file); /* the stage ends the watch */
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
        {"mcpxctl status", 0, "topic         a room/1, not shown without a token\n"},
        {"mcpxctl status --json", 0, "\"ready\":true"},
        {"MCPX_TOKEN=bad mcpxctl status 2>&1", 5, "the router answers 401"},
        {"MCPX_TOKEN=bad mcpxctl status 2>/dev/null", 5, "health        healthy, ready\n"},
        {"mcpxctl status --as ann --url ws://127.0.0.1:1 2>&1", 5, "cannot be reached"},
        {"mcpxctl status --as ann --url \"$MCPX_URL/elsewhere\" 2>&1", 4, "answers 404"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect(rows[i].line, rows[i].status, rows[i].says);
}
