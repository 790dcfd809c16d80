/*
 * stats.c - the classes of times. A round of deliveries takes milliseconds, a match less than one
 * of them, so each has bounds of its own.
 */
#include "router/hub/stats.h"

const unsigned stats_delivery_ms[STATS_BOUNDS] = {1, 2, 5, 10, 20, 50, 100, 200, 1000, 5000};
const unsigned stats_match_ns[STATS_BOUNDS] = {100,  250,   500,    1000,    2500,
                                               5000, 10000, 100000, 1000000, 10000000};

const char *cap_setting(enum cap cap)
{
#define CAP_SETTING(constant, setting) [constant] = (setting),
    static const char *const settings[CAP_COUNT] = {CAP_TABLE(CAP_SETTING)};
#undef CAP_SETTING

    return settings[cap];
}

void times_add(struct times *times, const unsigned *bounds, uint64_t count, uint64_t time)
{
    size_t at = 0;

    while (at < STATS_BOUNDS && time > bounds[at])
        at++;
    times->counts[at] += count;
    times->sum += count * time;
}
