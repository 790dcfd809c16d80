/*
 * What breaks for whom: one bad line and a monitoring system drops the whole page; a label with
 * somebody's name and it stores every room there ever was. Protocol: section 8.
 */
#include "http_fixture.h"

#include <criterion/criterion.h>
#include <ctype.h>

/* Every line is a comment or `name{labels} number`, and no series stands twice. */
static void check_exposition(char *text)
{
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *space = strrchr(line, ' ');

        if (strncmp(line, "# HELP ", 7) == 0 || strncmp(line, "# TYPE ", 7) == 0)
            continue;
        cr_assert(space && isdigit((unsigned char)space[1]), "%s", line);
        cr_expect(isalpha((unsigned char)*line), "%s", line);
    }
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;

    while ((text = strstr(text, what))) {
        count++;
        text++;
    }
    return count;
}

Test(http_metrics, exports_every_counter_once)
{
    struct fixture fixture;
    struct answer answer;
    struct peer *peer;
    struct verdict verdict;

    fixture_init(&fixture);
    peer = fixture_join(&fixture, "secret-agent", "secret-room");
    fixture_say(&fixture, peer,
                "{\"protocol\":\"mcpx/v0.1\",\"id\":\"1\",\"kind\":\"chat\",\"payload\":{}}");
    hub_route(fixture.api.hub, peer, MCPX_SLICE("nonsense"), fixture.now, &verdict);
    fixture_ask(&fixture, &(struct ask){"GET", "/metrics", NULL, NULL, NULL}, &answer);
#define EXPECT_METRIC(member, name, type, help)                                               \
    cr_expect_eq(occurrences(answer.text.text, "\n" name " "), 1, "%s", name);
    STATS_TABLE(EXPECT_METRIC)
    cr_expect(strstr(answer.text.text, "\nmcpx_connections 1\n"));
    cr_expect(strstr(answer.text.text, "\nmcpx_received_total 2\n"), "%s", answer.text.text);
    cr_expect(strstr(answer.text.text, "\nmcpx_refused_total{code=\"invalid_envelope\"} 1\n"),
              "%s", answer.text.text);
    cr_expect_eq(
        occurrences(answer.text.text, "mcpx_refused_total{code=\"invalid_envelope\"}"), 1);
    cr_expect_eq(occurrences(answer.text.text, "mcpx_closed_total{code=\"slow_consumer\"} 0"),
                 1);
    cr_expect(strstr(answer.text.text, "\nprocess_start_time_seconds 1795303017\n"), "%s",
              answer.text.text);
    cr_expect(strstr(answer.text.text, "\nmcpx_build_info{version=\""));
    cr_expect_not(strstr(answer.text.text, "secret"));
    check_exposition(answer.text.text + answer.head.len);
    answer_fini(&answer);
    fixture_fini(&fixture);
}
