/*
 * Quantity: two clients on one loop, ten thousand messages each way at once, and a thousand
 * openings and closings. What breaks for whom: a bridge that runs for a month. Protocol: section 5.
 */
#include "tests/support/suite_router.h"
#include "tests/support/traffic.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EACH = 10000, CYCLES = 1000, WARM_UP = 300, GROWTH_KIB = 2048 };

TestSuite(client_many, .init = suite_router_start, .fini = suite_router_stop, .timeout = 600);

Test(client_many, ten_thousand_messages_each_way_in_order)
{
    struct side sides[2] = {{.each = EACH}, {.each = EACH}};
    struct mcpx_client_config configs[2];
    char token[8192];

    configs[0] = party_config(&router, "a", "room");
    snprintf(token, sizeof token, "%s", configs[0].token);
    configs[1] = party_config(&router, "b", "room");
    configs[0].token = token;
    traffic_run(sides, configs);
    cr_expect_eq(sides[0].joins + sides[1].joins, 2);
}

/* The loop runs, but nobody fetches: reading rests, and the router keeps what comes. */
Test(client_many, who_fetches_late_gets_everything_in_order)
{
    enum { MESSAGES = 3000 };
    struct mcpx_client *b = party_join(&router, "b", "room"), *a;
    struct mcpx_client_config config = party_config(&router, "a", "room");
    char *payload = calloc(1, 2048);
    struct mcpx_event event;
    uv_loop_t loop;
    int i, len;

    uv_loop_init(&loop);
    config.loop = &loop;
    a = party_open(&config);
    party_expect(a, MCPX_EVENT_JOINED, &event);
    for (i = 0; i < MESSAGES; i++) {
        len = snprintf(payload, 2048, "{\"n\":\"%04d\",\"t\":\"%01000d\"}", i, 0);
        party_chat(b, payload);
        party_expect(b, MCPX_EVENT_DELIVERED, &event);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    for (i = 0; i < MESSAGES; i++) {
        party_expect(a, MCPX_EVENT_MESSAGE, &event);
        len = snprintf(payload, 2048, "{\"n\":\"%04d\",", i);
        cr_assert(event.envelope->payload.len > 1000 &&
                      memcmp(event.envelope->payload.text, payload, (size_t)len) == 0,
                  "%d", i);
    }
    free(payload);
    party_leave(a);
    party_leave(b);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect_eq(uv_loop_close(&loop), 0);
}

static int descriptors(void)
{
    struct daemon self = {.pid = getpid()};

    return daemon_descriptors(&self);
}

static long rss_kib(void)
{
    struct daemon self = {.pid = getpid()};

    return daemon_rss_kib(&self);
}

Test(client_many, a_thousand_clients_one_after_the_other_leave_nothing)
{
    struct mcpx_client_config config = party_config(&router, "a", "room");
    char url[64], token[8192];
    struct mcpx_event event;
    long before_kib = 0;
    int i, before = 0;

    snprintf(url, sizeof url, "%s", config.url);
    snprintf(token, sizeof token, "%s", config.token);
    config.url = url;
    config.token = token;
    config.history = 0;
    for (i = 0; i < CYCLES; i++) {
        struct mcpx_client *client;

        if (i == WARM_UP) {
            before = descriptors();
            before_kib = rss_kib();
        }
        client = party_open(&config);
        if (i % 4 == 3) { /* before it could connect */
            mcpx_client_free(client);
            continue;
        }
        party_expect(client, MCPX_EVENT_JOINED, &event);
        if (i % 4 == 2) /* without a word */
            mcpx_client_free(client);
        else
            party_leave(client);
    }
    cr_expect_eq(descriptors(), before);
    cr_expect(rss_kib() - before_kib < GROWTH_KIB, "from %ld to %ld KiB", before_kib,
              rss_kib());
}
