/*
 * manager.c - the watchdog is told twice as often as it asks for, as its manual recommends: one
 * message may come late. A thread of its own would tell it for ever, whatever the loop does.
 */
#include "router/process/process.h"

#include <inttypes.h>
#include <systemd/sd-daemon.h>

void manager_open(struct manager *manager)
{
    uint64_t us = 0;

    *manager = (struct manager){0};
    if (sd_watchdog_enabled(0, &us) <= 0)
        return;
    manager->every_ms = us < 4000 ? 1 : (int64_t)(us / 2000);
}

void manager_tell(const char *what)
{
    sd_notify(0, what);
}

/* systemd counts an answer to its signal only when it is of a later time: not the time at which the
 * loop's turn began. */
void manager_tell_reloading(void)
{
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_ns() / 1000);
}

int64_t manager_watchdog(struct manager *manager, int64_t mono_ms)
{
    int64_t wait_ms = manager->told_ms + manager->every_ms - mono_ms;

    if (manager->every_ms == 0)
        return INT64_MAX;
    if (manager->told_ms && wait_ms > 0)
        return wait_ms;
    sd_notify(0, "WATCHDOG=1");
    manager->told_ms = mono_ms;
    return manager->every_ms;
}
