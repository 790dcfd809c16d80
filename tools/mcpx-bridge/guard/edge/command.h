/*
 * command.h - the agent's command, and the signals for it.
 */
#ifndef MCPX_BRIDGE_GUARD_EDGE_COMMAND_H
#define MCPX_BRIDGE_GUARD_EDGE_COMMAND_H

struct guard_server;

/**
 * Runs the agent's command with standard input and output of its own; guard_command_ended follows
 * from the loop. Returns 0, or a negative error of libuv.
 */
int guard_command_start(struct guard_server *server);

/** Watches for signals that end the guard or are passed on. Returns 0 or an error of libuv. */
int guard_signals_start(struct guard_server *server);

#endif
