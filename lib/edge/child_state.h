/*
 * child_state.h - the parts of a child, shared by four files, from the highest to the lowest:
 * child.c (its states), child_run.c (one process, from its start to its end), child_pipe.c (pipes
 * and their lines), child_supervisor.c (the process between an owner and its child). A file calls
 * the files below it; they report facts upwards.
 */
#ifndef EDGE_CHILD_STATE_H
#define EDGE_CHILD_STATE_H

#include "lib/base/bucket.h"

#include <mcpx/child.h>
#include <mcpx/error.h>
#include <mcpx/lines.h>

#include <sys/types.h>
#include <uv.h>

/* ---- child_supervisor.c, and the messages between a supervisor and an owner ---- */

/** Room for a mark with its NUL: "MCPX_CHILD=" and sixteen digits. */
enum { MX_REAP_MARK_SIZE = 32 };

/**
 * Sends SIGKILL to every descendant of `ancestor`, once. The next call finds processes orphaned
 * meanwhile. Returns how many there were, without dead ones. Safe after a fork in a program with
 * threads.
 */
size_t mx_reap_descendants(pid_t ancestor);

/**
 * Sends SIGKILL to every process of the session `session` (0 = none) and to every process executed
 * with the environment entry `mark`. Returns how many there were, without dead ones.
 */
size_t mx_reap_marked(pid_t session, const char *mark);

/** One byte from the owner. When the owner's end closes, that means MX_ORDER_KILL. */
enum mx_supervisor_order { MX_ORDER_TERM = 'T', MX_ORDER_KILL = 'K' };

/** Reports of a supervisor, in this order; REFUSED takes the place of EXECUTED. */
enum mx_supervisor_word {
    MX_WORD_FORKED,   /* value: process id of the child */
    MX_WORD_EXECUTED, /* the program runs */
    MX_WORD_REFUSED,  /* value: errno; detail: enum mx_supervisor_step */
    MX_WORD_ENDED,    /* value: wait status of the child */
    MX_WORD_CLEAR     /* no descendant is left; the supervisor ends */
};

/** Where a start failed. */
enum mx_supervisor_step { MX_STEP_PROCESS, MX_STEP_FOLDER, MX_STEP_PROGRAM };

/** One packet to the owner. */
struct mx_supervisor_news {
    int word;
    int value;
    int detail;
};

/** The owner's ends and the program's, in the same order. */
enum mx_child_end {
    MX_END_CONTROL, /* to the supervisor: orders out, news in; a SOCK_SEQPACKET socket */
    MX_END_INPUT,
    MX_END_OUTPUT,
    MX_END_ERRORS,
    MX_END_COUNT
};

struct mx_supervisor_task {
    char *const *argv;
    char *const *envp;
    const char *cwd;
    /* The program's ends: they become its descriptors 0, 1 and 2, and the supervisor's socket. */
    const int *fds;
    pid_t owner; /* process id of the owner */
};

/**
 * Runs a supervisor. Called in a process just forked, with every signal blocked. Starts the
 * program, waits for orders and for its end, kills and reaps all its descendants, exits. All calls
 * in it are safe after a fork in a program with threads.
 */
_Noreturn void mx_supervisor_run(const struct mx_supervisor_task *task);

/* ---- the child ---- */

enum { MX_CHILD_PIECE = 65536, MX_CHILD_TEXT = 320 };

/** One of our ends on the loop. `poll.data` is the child; fd is -1 when it is closed. */
struct mx_child_port {
    uv_poll_t poll;
    int fd;
};

/** One process, from its start until nothing of it is left. */
struct mx_child_run {
    pid_t supervisor; /* process id, to be waited for once the control socket has closed */
    pid_t pid;        /* 0 until the supervisor has reported it */
    int status;       /* wait status, when `ended` */
    bool ended;
    /* `fault`, `step`: errno and place of a failed start; fault 0 = it did not fail. */
    int fault;
    int step;
    bool clear;  /* its supervisor has reported that nothing is left */
    bool gone;   /* its supervisor has ended: orders reach no process */
    bool closed; /* it is killed because its output closed while it lived */
    size_t left; /* processes that could not be killed at the end */
    /* How often its owner has helped the supervisor, or has searched without one. */
    unsigned rounds;
    uint64_t executed_ms; /* when its program began to run, by uv_now; 0 = it did not */
    /* Entry of the environment that only this child's descendants have. */
    char mark[MX_REAP_MARK_SIZE];
};

/** Facts about a process, reported to child.c by the files below it. */
struct mx_child_facts {
    void (*forked)(struct mcpx_child *child);   /* it has a process id */
    void (*executed)(struct mcpx_child *child); /* its program runs */
    void (*running)(struct mcpx_child *child);  /* it has written a line */
    void (*silent)(struct mcpx_child *child);   /* its output closed */
    void (*ended)(struct mcpx_child *child);    /* its supervisor kills its descendants */
    void (*over)(struct mcpx_child *child); /* nothing is left, and its handles are closed */
};

struct mcpx_child {
    struct mcpx_child_config config; /* strings and argv are ours */
    const struct mx_child_facts *facts;
    enum mcpx_child_state state;
    bool stopping;   /* it must not start again */
    bool abandoned;  /* mcpx_child_new failed; freed when its handles are closed */
    unsigned pauses; /* how often it was started again in a row */
    struct mx_child_run run;
    uv_timer_t timer;
    struct mx_child_port ports[MX_END_COUNT];
    unsigned handles; /* ports whose handle is not closed yet */
    /* Lines for the process; the first `written` bytes are written. */
    struct mcpx_text queue;
    size_t written;
    struct mcpx_lines output;
    struct mcpx_lines errors;
    uint64_t unshown;       /* lines of its standard error, lost and not reported yet */
    struct mx_bucket shown; /* bytes of its standard error */
    char text[MX_CHILD_TEXT];
    char piece[MX_CHILD_PIECE];
};

/* child_run.c */

/**
 * Starts a process. `over` follows, also after a failure with `handles` above 0.
 *
 * Returns MCPX_OK, MCPX_ENOMEM, MCPX_ESYSTEM with errno.
 */
enum mcpx_err mx_child_run_start(struct mcpx_child *child);

/**
 * Reads the supervisor's reports and passes them on as facts; the loop does that as well. True when
 * the supervisor has closed its end. There must be a supervisor.
 */
bool mx_child_run_hear(struct mcpx_child *child);

/** Gives the supervisor an order, if there is one. */
void mx_child_run_order(struct mcpx_child *child, enum mx_supervisor_order order);

/* child_pipe.c */

/** Writes what the pipe takes; when nothing is left and the child is stopping, closes it. */
void mx_child_input_flush(struct mcpx_child *child);

/** Discards the lines that wait to be written. */
void mx_child_input_fini(struct mcpx_child *child);

/** Reads once from MX_END_OUTPUT or MX_END_ERRORS and passes the lines on. */
void mx_child_output_read(struct mcpx_child *child, enum mx_child_end end);

/** Reads the rest in both pipes of a dead process. */
void mx_child_output_drain(struct mcpx_child *child);

/** Sets the bounds of a new run's lines, or discards incomplete ones. */
void mx_child_output_init(struct mcpx_child *child);
void mx_child_output_fini(struct mcpx_child *child);

/** Closes one of our ends; its handle is closed later. */
void mx_child_port_close(struct mcpx_child *child, enum mx_child_end end);

/** Fills `text` with the state or the end of the run, for people. */
void mx_child_describe(struct mcpx_child *child);

#endif
