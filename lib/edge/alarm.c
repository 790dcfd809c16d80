/*
 * alarm.c - clocks, random bytes and a timer for what runs on a loop. libuv lets a handle be freed
 * only in its close callback, but an owner frees its client at once. So the handle lives in memory
 * of its own, and frees itself.
 */
#include "lib/edge/alarm.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

struct mx_alarm {
    uv_timer_t timer;
    void (*ring)(void *user);
    void *user;
};

static int64_t milliseconds(clockid_t id)
{
    struct timespec at = {0};

    clock_gettime(id, &at); /* fails for unknown clocks only */
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

struct mcpx_now mx_clock_now(void)
{
    return (struct mcpx_now){milliseconds(CLOCK_MONOTONIC), milliseconds(CLOCK_REALTIME)};
}

void mx_chance_fill(void *context, void *bytes, size_t len)
{
    char *at = bytes;

    (void)context;
    while (len) {
        ssize_t got = getrandom(at, len, 0);

        if (got < 0 && errno != EINTR)
            abort(); /* ids that can be guessed are worse than no program */
        if (got > 0) {
            at += got;
            len -= (size_t)got;
        }
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct mx_alarm *alarm = timer->data;

    alarm->ring(alarm->user);
}

struct mx_alarm *mx_alarm_new(uv_loop_t *loop, void (*ring)(void *user), void *user)
{
    struct mx_alarm *alarm = calloc(1, sizeof *alarm);

    if (!alarm)
        return NULL;
    uv_timer_init(loop, &alarm->timer);
    alarm->timer.data = alarm;
    alarm->ring = ring;
    alarm->user = user;
    return alarm;
}

void mx_alarm_set(struct mx_alarm *alarm, int64_t ms)
{
    uv_timer_start(&alarm->timer, on_timer, ms > 0 ? (uint64_t)ms : 0, 0);
}

void mx_alarm_stop(struct mx_alarm *alarm)
{
    uv_timer_stop(&alarm->timer);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void mx_alarm_free(struct mx_alarm *alarm)
{
    if (alarm)
        uv_close((uv_handle_t *)&alarm->timer, on_closed);
}
