/*
 * manager.h - what the service manager is told: systemd, or whoever else set NOTIFY_SOCKET. Without
 * one nothing happens.
 */
#ifndef EDGE_MANAGER_H
#define EDGE_MANAGER_H

#include <stdint.h>

/**
 * The watchdog of the service manager. Zeroed = nobody watches.
 *
 * every_ms   how often it is to be told that the loop turns; 0 = nobody watches
 * told_ms    mono_ms at which it was told last
 */
struct manager {
    int64_t every_ms, told_ms;
};

/** Asks whether somebody watches. */
void manager_open(struct manager *manager);

/** Connections are welcome from now on. */
void manager_tell_ready(void);

/** The configuration is read again from now on; until manager_tell_reloaded. */
void manager_tell_reloading(void);

/** That has ended, whatever came of it. */
void manager_tell_reloaded(void);

/** It has begun to stop. */
void manager_tell_stopping(void);

/** What `systemctl status` shows: why connections are not welcome, or NULL when they are. */
void manager_tell_state(const char *why);

/**
 * Tells the watchdog, when it is time, that the loop turns. To be called from the loop and from
 * nowhere else, so that one that hangs is found. Returns the milliseconds until it is time again;
 * INT64_MAX when nobody watches.
 */
int64_t manager_watchdog(struct manager *manager, int64_t mono_ms);

#endif
