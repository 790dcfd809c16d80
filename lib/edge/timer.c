/*
 * timer.c - clocks, random bytes and a timer on a loop. libuv permits freeing a handle only in its
 * close callback, but an owner frees its client at once. So the handle has memory of its own, and
 * frees itself.
 */
#include "lib/edge/timer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

struct mx_timer {
    uv_timer_t handle;
    void (*ring)(void *user);
    void *user;
};

static int64_t microseconds(clockid_t id)
{
    struct timespec at = {0};

    clock_gettime(id, &at); /* fails for unknown clocks only */
    return (int64_t)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

struct mcpx_now mx_clock_now(void)
{
    return (struct mcpx_now){microseconds(CLOCK_MONOTONIC) / 1000,
                             microseconds(CLOCK_REALTIME) / 1000};
}

uint64_t mx_clock_us(void)
{
    return (uint64_t)microseconds(CLOCK_MONOTONIC);
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

static void on_timer(uv_timer_t *handle)
{
    struct mx_timer *timer = handle->data;

    timer->ring(timer->user);
}

struct mx_timer *mx_timer_new(uv_loop_t *loop, void (*ring)(void *user), void *user)
{
    struct mx_timer *timer = calloc(1, sizeof *timer);

    if (!timer)
        return NULL;
    uv_timer_init(loop, &timer->handle);
    timer->handle.data = timer;
    timer->ring = ring;
    timer->user = user;
    return timer;
}

void mx_timer_set(struct mx_timer *timer, int64_t ms)
{
    uv_timer_start(&timer->handle, on_timer, ms > 0 ? (uint64_t)ms : 0, 0);
}

void mx_timer_stop(struct mx_timer *timer)
{
    uv_timer_stop(&timer->handle);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void mx_timer_free(struct mx_timer *timer)
{
    if (timer)
        uv_close((uv_handle_t *)&timer->handle, on_closed);
}
