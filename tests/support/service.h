/*
 * service.h - the real program under a service manager, which is the test: its listening socket is
 * handed over, and what it tells is read, as systemd does both.
 */
#ifndef SUPPORT_SERVICE_H
#define SUPPORT_SERVICE_H

#include "tests/support/daemon.h"

#include <stdint.h>

/**
 * A service.
 *
 * daemon    the program as it runs now; daemon_stop and daemon_wait end it
 * socket    what it listens on; it stays open when the program ends
 * notify    where it tells how it is
 * path      of that
 * heard     what service_expect waited for
 */
struct service {
    struct daemon daemon;
    int socket, notify;
    char path[64], heard[512];
};

/** Opens both sockets; the one to listen on is on `host`, an IPv4 address as a number. */
void service_open(struct service *service, uint32_t host);

/**
 * Starts the program in development mode. May be called again when it has ended.
 *
 * watchdog_us   after so long without a word it would be restarted; 0 = nobody watches
 */
void service_start(struct service *service, unsigned watchdog_us);

/**
 * Waits until it tells this; other words are passed over. Fails the test when it never does.
 * Returns all that it told with it, until the next call.
 */
const char *service_expect(struct service *service, const char *words);

/** The next of its words; false when there are none now. Waits for nothing. */
bool service_hears(struct service *service, char *words, size_t size);

/** Closes both sockets. */
void service_close(struct service *service);

#endif
