/*
 * server.h - a participant that answers like an MCP server, in a process of its own, for programs
 * under test to talk to.
 */
#ifndef MCPXCTL_TEST_SERVER_H
#define MCPXCTL_TEST_SERVER_H

#include "tests/support/daemon.h"

/**
 * A server at a topic. It knows the tools
 *
 *   echo       answers with its arguments as text
 *   meta       answers with its `_meta` as text
 *   slow       never answers
 *   fail       answers with a result that says it failed
 *   error      answers with a JSON-RPC error
 *   ecko       answers that it has no such tool
 *   progress   tells progress, then answers
 *   back       asks back (elicitation/create) and answers with the code of the error it got
 *   seen       answers with how many cancellations it has seen
 *   late       answers when it has joined again
 *   die        ends it
 *
 * lists two pages of one tool each, none when it is called "bare", or empty pages without end when
 * it is called "endless", lists a resource when it has joined again, and ends when asked for
 * resource templates.
 */
struct server {
    pid_t pid;
};

/** Starts it and waits until it has joined. */
void server_start(struct server *server, const struct daemon *daemon, const char *id,
                  const char *topic);

/** The same with a token of the caller's. */
void server_start_with(struct server *server, const struct daemon *daemon, const char *token,
                       const char *topic);

/** Ends it. */
void server_stop(struct server *server);

#endif
