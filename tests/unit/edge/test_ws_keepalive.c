/*
 * What breaks for whom: a participant behind a dead link believes for hours that it listens; or a
 * laptop that slept is cut off although the router is fine.
 */
#include "lib/client/ws_client_state.h"

#include <criterion/criterion.h>

static const char *const advices[] = {"wait", "ping", "dead"};

Test(ws_keepalive, silence_is_asked_about_twice_and_then_the_end)
{
    static const struct {
        int64_t at_ms;
        bool heard;
        enum mx_keepalive_advice advice;
        int64_t due_ms;
    } rows[] = {
        {0, false, MX_KEEPALIVE_WAIT, 25000},       {24999, false, MX_KEEPALIVE_WAIT, 25000},
        {25000, false, MX_KEEPALIVE_PING, 50000},   {25001, false, MX_KEEPALIVE_WAIT, 50000},
        {50000, false, MX_KEEPALIVE_PING, 75000},   {60000, true, MX_KEEPALIVE_WAIT, 85000},
        {85000, false, MX_KEEPALIVE_PING, 110000},  {110000, false, MX_KEEPALIVE_PING, 135000},
        {134999, false, MX_KEEPALIVE_WAIT, 135000}, {135000, false, MX_KEEPALIVE_DEAD, 160000},
    };
    struct mx_keepalive keepalive;

    mx_keepalive_start(&keepalive, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum mx_keepalive_advice advice;

        if (rows[i].heard)
            mx_keepalive_received(&keepalive, rows[i].at_ms);
        advice = mx_keepalive_check(&keepalive, rows[i].at_ms);
        cr_expect_eq(advice, rows[i].advice, "row %zu: %s", i, advices[advice]);
        cr_expect_eq(keepalive.due_ms, rows[i].due_ms, "row %zu: due %ld", i,
                     (long)keepalive.due_ms);
    }
}

Test(ws_keepalive, steady_traffic_needs_no_pings)
{
    struct mx_keepalive keepalive;
    int64_t at_ms;

    mx_keepalive_start(&keepalive, 0);
    for (at_ms = 0; at_ms < 600000; at_ms += 10000) {
        mx_keepalive_received(&keepalive, at_ms);
        cr_expect_eq(mx_keepalive_check(&keepalive, at_ms), MX_KEEPALIVE_WAIT, "%ld",
                     (long)at_ms);
    }
}

Test(ws_keepalive, a_program_that_slept_pings_before_it_gives_up)
{
    struct mx_keepalive keepalive;

    mx_keepalive_start(&keepalive, 0);
    cr_expect_eq(mx_keepalive_check(&keepalive, 3600000), MX_KEEPALIVE_PING);
    cr_expect_eq(mx_keepalive_check(&keepalive, 3600001), MX_KEEPALIVE_WAIT);
    mx_keepalive_received(&keepalive, 3600002);
    cr_expect_eq(mx_keepalive_check(&keepalive, 3600003), MX_KEEPALIVE_WAIT);
    cr_expect_eq(keepalive.due_ms, 3625002);
}
