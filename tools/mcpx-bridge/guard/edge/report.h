/*
 * report.h - the guard's output: messages on standard error, its address on standard output.
 */
#ifndef MCPX_BRIDGE_GUARD_EDGE_REPORT_H
#define MCPX_BRIDGE_GUARD_EDGE_REPORT_H

#include "tools/mcpx-bridge/guard/judge.h"

struct guard_server;

/** Writes a line about an event to standard error; printf's format. */
void guard_note(const struct guard_server *server, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Counts a message left out, and reports it unless it is routine. `user` is the server. */
void guard_left_out(void *user, enum guard_verdict verdict, const struct guard_judge *judge);

/** Reports how many messages were left out, and why. */
void guard_summarise(const struct guard_server *server);

/** Reports the guard's address on standard output, unless the command uses that. */
void guard_announce(const struct guard_server *server);

#endif
