/*
 * child_warden.h - the process between an owner and its child: what the two tell each other.
 */
#ifndef EDGE_CHILD_WARDEN_H
#define EDGE_CHILD_WARDEN_H

#include <stddef.h>
#include <sys/types.h>

/** How long a mark is at most, with its NUL: "MCPX_CHILD=" and sixteen digits. */
enum { MX_REAP_MARK_SIZE = 32 };

/**
 * Sends SIGKILL to every process that descends from `ancestor`, once. Who is orphaned meanwhile is
 * found by the next call. Returns how many there were, the dead not counted. Safe after a fork in a
 * program with threads.
 */
size_t mx_reap_descendants(pid_t ancestor);

/**
 * Sends SIGKILL to every process of the session `session` (0 = none) and to every process that was
 * executed with the environment entry `mark`. Returns how many there were, the dead not counted.
 */
size_t mx_reap_marked(pid_t session, const char *mark);

/** One byte from the owner. Its end of the connection closing means MX_ORDER_KILL. */
enum mx_warden_order { MX_ORDER_TERM = 'T', MX_ORDER_KILL = 'K' };

/** What a warden tells, in this order; REFUSED takes the place of EXECUTED. */
enum mx_warden_word {
    MX_WORD_FORKED,   /* value: process id of the child */
    MX_WORD_EXECUTED, /* the program runs */
    MX_WORD_REFUSED,  /* value: errno; detail: enum mx_warden_step */
    MX_WORD_ENDED,    /* value: wait status of the child */
    MX_WORD_CLEAR     /* no descendant is left; the warden ends */
};

/** Where a start failed. */
enum mx_warden_step { MX_STEP_PROCESS, MX_STEP_FOLDER, MX_STEP_PROGRAM };

/** One packet to the owner. */
struct mx_warden_news {
    int word;
    int value;
    int detail;
};

/**
 * in, out, err   descriptors that become 0, 1 and 2 of the program
 * control        a SOCK_SEQPACKET socket to the owner
 * owner          process id of the owner
 */
struct mx_warden_task {
    char *const *argv;
    char *const *envp;
    const char *cwd;
    int in;
    int out;
    int err;
    int control;
    pid_t owner;
};

/**
 * Is the warden: to be called in a process just forked, with every signal blocked. Starts the
 * program, waits for orders and for ends, kills and reaps all that descends from the program, ends.
 * Calls nothing that is not safe after a fork in a program with threads.
 */
_Noreturn void mx_warden_run(const struct mx_warden_task *task);

#endif
