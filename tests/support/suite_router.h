/*
 * suite_router.h - the one router of a test, for suites that need no more than generous settings.
 */
#ifndef SUPPORT_SUITE_ROUTER_H
#define SUPPORT_SUITE_ROUTER_H

#include "tests/support/daemon.h"

/** It runs from suite_router_start to suite_router_stop. */
extern struct daemon router;

/** Starts it: the .init of a suite. */
void suite_router_start(void);

/** Ends it, and expects exit status 0: the .fini of a suite. */
void suite_router_stop(void);

#endif
