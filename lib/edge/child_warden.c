/*
 * child_warden.c - one small process per child, forked from the owner, that is the parent of the
 * program and the reaper of its orphans (PR_SET_CHILD_SUBREAPER). So the kernel itself keeps the
 * books: whatever the program starts descends from its warden for ever, whichever session it
 * moves to and whatever it does to its environment, and never from another child's warden. The
 * end is exact as well: waitpid says ECHILD when, and only when, nothing is left. And because it
 * is not the owner, it is still there to kill when the owner was killed with signal 9.
 *
 * Refused: the owner as reaper. Orphans of all its children would meet in it, mixed with its own,
 * told apart by guessing, and with signal 9 it would leave them running.
 *
 * After the fork only system calls are made: other threads of the owner may have held any lock.
 */
#define _GNU_SOURCE /* pipe2, syscall */
#include "lib/edge/child_warden.h"
#include "lib/edge/child_reap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where the task's descriptors lie once nothing else is open. */
enum { CONTROL = 3, FIRST_OTHER = 4, SAFE_FROM_DUP2 = 16 };

/* How long a round of killing waits for the next death before it looks again; it doubles, for
 * those whom the kernel or another user's rights keep alive. */
enum { ROUND_FIRST_MS = 20, ROUND_LAST_MS = 1000 };

extern char **environ;

/*
 * child      0 once it is reaped: until then its process id, and so the id of its group and
 *            session, cannot come to belong to anybody else
 * executed   read end of the pipe that closes when the program is executed; -1 afterwards
 * owner      pidfd of the owner, -1 where the kernel has none: then only the socket tells
 */
struct warden {
    pid_t child;
    int signals;
    int executed;
    int owner;
};

static void tell(enum mx_warden_word word, int value, int detail)
{
    struct mx_warden_news news = {(int)word, value, detail};

    (void)!send(CONTROL, &news, sizeof news, MSG_NOSIGNAL);
}

static void close_from(unsigned first)
{
    struct rlimit limit = {0};

    if (syscall(SYS_close_range, first, ~0U, 0) == 0 || getrlimit(RLIMIT_NOFILE, &limit))
        return;
    for (; first < limit.rlim_cur; first++)
        close((int)first);
}

/* 0, 1, 2 for the program, 3 for the owner, and nothing else open. */
static bool arrange_descriptors(const struct mx_warden_task *task)
{
    int ours[] = {task->in, task->out, task->err, task->control};

    for (int i = 0; i <= CONTROL; i++) {
        ours[i] = fcntl(ours[i], F_DUPFD_CLOEXEC, SAFE_FROM_DUP2);
        if (ours[i] < 0)
            return false;
    }
    for (int i = 0; i <= CONTROL; i++)
        if (dup2(ours[i], i) < 0)
            return false;
    close_from(FIRST_OTHER);
    return fcntl(CONTROL, F_SETFD, FD_CLOEXEC) == 0;
}

static void reset_signals(void)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int i = 1; i <= SIGRTMAX; i++)
        sigaction(i, &plain, NULL); /* refused for KILL, STOP and two of libc's own */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void become_program(const struct mx_warden_task *task, pid_t warden, int pipe)
{
    int fault[2] = {MX_STEP_FOLDER, 0};

    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != warden)
        _exit(127); /* it died before that was asked for */
    reset_signals();
    if (!task->cwd || chdir(task->cwd) == 0) {
        fault[0] = MX_STEP_PROGRAM;
        environ = (char **)task->envp;
        execvp(task->argv[0], task->argv);
    }
    fault[1] = errno;
    (void)!write(pipe, fault, sizeof fault);
    _exit(127);
}

static bool start(struct warden *warden, const struct mx_warden_task *task)
{
    pid_t self = getpid();
    sigset_t ends;
    int pipes[2];

    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    warden->signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    if (warden->signals < 0 || pipe2(pipes, O_CLOEXEC | O_NONBLOCK))
        return false;
    warden->executed = pipes[0];
    warden->child = fork();
    if (warden->child == 0)
        become_program(task, self, pipes[1]);
    close(pipes[1]);
    return warden->child > 0;
}

/* Nobody's descriptors, terminal, folder or signals are held on to. */
static bool settle(const struct mx_warden_task *task)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};

    setsid();
    prctl(PR_SET_NAME, "mcpx-warden");
    sigaction(SIGCHLD, &plain, NULL); /* were it ignored, there would be no status */
    return arrange_descriptors(task) && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

static void hear_execution(struct warden *warden)
{
    int fault[2];
    ssize_t got = warden->executed < 0 ? -1 : read(warden->executed, fault, sizeof fault);

    if (got < 0)
        return;
    if (got == sizeof fault)
        tell(MX_WORD_REFUSED, fault[1], fault[0]);
    else
        tell(MX_WORD_EXECUTED, 0, 0);
    close(warden->executed);
    warden->executed = -1;
}

static void forget_signals(const struct warden *warden)
{
    struct signalfd_siginfo info;

    while (read(warden->signals, &info, sizeof info) > 0)
        ; /* one signal may stand for many ends: waitid is asked instead */
}

/* Reaps orphans. True when the child itself has ended; it is not reaped yet. */
static bool has_child_ended(const struct warden *warden)
{
    siginfo_t info = {0};

    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid) {
        if (info.si_pid == warden->child)
            return true;
        waitpid(info.si_pid, NULL, 0);
        info.si_pid = 0;
    }
    return false;
}

/* A stopped process gets what it was sent only when it goes on. */
static void terminate(const struct warden *warden)
{
    if (kill(-warden->child, SIGTERM)) /* no group yet */
        kill(warden->child, SIGTERM);
    kill(-warden->child, SIGCONT);
}

/* False when everything shall be killed. */
static bool follow_order(const struct warden *warden)
{
    char order;
    ssize_t got = recv(CONTROL, &order, 1, MSG_DONTWAIT);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0 || order != MX_ORDER_TERM)
        return false;
    terminate(warden);
    return true;
}

/* Until the child ends, or its owner does or says so. */
static void watch(struct warden *warden)
{
    for (;;) {
        struct pollfd fds[] = {{CONTROL, POLLIN, 0},
                               {warden->signals, POLLIN, 0},
                               {warden->executed, POLLIN, 0},
                               {warden->owner, POLLIN, 0}};

        if (poll(fds, sizeof fds / sizeof *fds, -1) < 0)
            continue;
        hear_execution(warden);
        if (fds[1].revents) {
            forget_signals(warden);
            if (has_child_ended(warden))
                return;
        }
        if (fds[3].revents || (fds[0].revents && !follow_order(warden)))
            return;
    }
}

/* False when there is nobody left to wait for. */
static bool reap(struct warden *warden)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == warden->child) {
            tell(MX_WORD_ENDED, status, 0);
            warden->child = 0;
        }
    return pid == 0;
}

/*
 * The child's group in one call, then, round by round, whoever else descends from it. What has
 * ended already keeps its own status: a kill does not change that of the dead. The search through
 * /proc is not needed by a child without others, so it waits until the child itself is reaped.
 */
static void destroy(struct warden *warden)
{
    int wait_ms = ROUND_FIRST_MS;

    for (;; wait_ms = wait_ms * 2 < ROUND_LAST_MS ? wait_ms * 2 : ROUND_LAST_MS) {
        struct pollfd death = {warden->signals, POLLIN, 0};

        if (warden->child) {
            kill(-warden->child, SIGKILL);
            kill(warden->child, SIGKILL);
        }
        if (!reap(warden))
            return;
        if (!warden->child || wait_ms > ROUND_FIRST_MS)
            mx_reap_descendants(getpid());
        poll(&death, 1, wait_ms);
        forget_signals(warden);
    }
}

_Noreturn void mx_warden_run(const struct mx_warden_task *task)
{
    struct warden warden = {.signals = -1, .executed = -1, .owner = -1};
    const int controls[] = {task->control, CONTROL};
    bool settled = settle(task);
    struct mx_warden_news failure = {MX_WORD_REFUSED, errno, MX_STEP_PROCESS};

    if (!settled || !start(&warden, task)) {
        failure.value = errno;
        (void)!send(controls[settled], &failure, sizeof failure, MSG_NOSIGNAL);
        _exit(1);
    }
    tell(MX_WORD_FORKED, warden.child, 0);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    (void)!chdir("/");
    warden.owner = (int)syscall(SYS_pidfd_open, task->owner, 0);
    if (getppid() == task->owner)
        watch(&warden);
    hear_execution(&warden);
    destroy(&warden);
    tell(MX_WORD_CLEAR, 0, 0);
    _exit(0);
}
