/*
 * report.h - what a guard says: on standard error, and its address on standard output.
 */
#ifndef MCPX_BRIDGE_GUARD_EDGE_REPORT_H
#define MCPX_BRIDGE_GUARD_EDGE_REPORT_H

#include "tools/mcpx-bridge/guard/judge.h"

struct guard_server;

/** Writes to standard error a line that something happened; printf's format. */
void guard_note(const struct guard_server *server, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Counts a message left out and tells of it, unless it is routine. `user` is the server. */
void guard_left_out(void *user, enum guard_verdict verdict, const struct guard_judge *judge);

/** Says how many messages were left out, and why. */
void guard_summarise(const struct guard_server *server);

/** Says where the guard listens: on standard output, unless that is the command's. */
void guard_announce(const struct guard_server *server);

#endif
