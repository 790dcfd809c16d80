/*
 * loop.h - parts shared by programs with an event loop: the log, ending signals, exit codes, token
 * renewal, and the call log files.
 *
 * Another token is asked for when ours has expired or is refused. With --as from the router: in
 * development mode it does not know, after a restart, the tokens it gave before. With a token file,
 * from the file: the issuer replaces it in time.
 */
#ifndef MCPX_BRIDGE_EDGE_LOOP_H
#define MCPX_BRIDGE_EDGE_LOOP_H

#include "lib/edge/log_files.h"
#include "tools/common/connect.h"
#include "tools/mcpx-bridge/calls.h"
#include "tools/mcpx-bridge/output.h"

#include <mcpx/session.h>

#include <uv.h>

enum { LOOP_SIGNALS = 4 };

/**
 * The handles of a program on a loop: a timer, and the signals that mean "end properly": SIGTERM,
 * SIGINT, SIGHUP (the terminal is gone) and SIGQUIT. A SIGHUP that is ignored when we start (nohup)
 * stays ignored.
 */
struct loop_handles {
    uv_timer_t timer; /* the program's own, not started; its `data` is what on_end is told */
    uv_signal_t signals[LOOP_SIGNALS];
    uv_prepare_t round;         /* prints kept lines in each iteration, keeps no loop alive */
    void (*on_end)(void *user); /* called from the loop at a signal... */
    int number;                 /* ... with this one */
};

/** True while SIGHUP is ignored. */
bool loop_ignores_hangup(void);

/**
 * Starts to listen for signals; from now on writing to standard error never blocks
 * (complain_without_waiting). The other closes all in the next turn.
 */
void loop_handles_start(struct loop_handles *handles, uv_loop_t *loop,
                        void (*on_end)(void *user), void *user);
void loop_handles_close(struct loop_handles *handles);

/** True when one more sentence of this sort may be printed (bridge.h). False counts it. */
bool loop_may_log(struct mcpx_slice sentence);

/** Does a core's actions on its session or the log: RESPOND, DROP, SEND, FORGET, LOG. */
void loop_act(struct mcpx_client *client, const struct bridge_action *action,
              struct bridge_outcome *outcome);

/** The clocks at this moment, and random bytes, as cores ask for them. `user` is not looked at. */
struct mcpx_instant loop_instant(const void *user);
void loop_chance(const void *user, void *bytes, size_t len);

/**
 * The exit code after a connection that is gone for good. HTTP statuses, and what never was a
 * connection, are below the close codes: STATUS_UNREACHABLE; so is a token that has expired. Any
 * other close code is STATUS_FAILED.
 */
int loop_left_status(int code);

/** One question at a time, asked off the loop. Zero-initialised but for these it is ready: */
struct renewal {
    struct connection *where; /* where a token comes from; gets it, too */
    /* Gets the token; set by connection_start. The program that frees it sets it to NULL. */
    struct mcpx_client *client;

    /* private */
    uv_work_t work;
    bool busy;
    int status;
    char *token;
};

/**
 * Looks at an event of the client: one that ends a connection for its token's sake asks for another
 * (connection_may_ask). The loop must run until nothing is left of that.
 */
void renewal_look(struct renewal *renewal, uv_loop_t *loop, const struct mcpx_event *event);

/**
 * Opens the call log files, for mx_log_files_close; NULL when contract settings name none. The
 * other writes the records of calls since the last time.
 */
struct mx_log_files *records_open(const struct bridge_terms *terms);
void records_write(struct mx_log_files *files, struct mcpx_calls *calls);

#endif
