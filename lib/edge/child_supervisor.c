/*
 * child_supervisor.c - one small process per child, forked from the owner: the parent of the
 * program and the reaper of its orphans (PR_SET_CHILD_SUBREAPER). So the kernel itself keeps the
 * books: each process of the program descends from its own supervisor for ever, also in another
 * session or with another environment. The end is exact as well: waitpid reports ECHILD when, and
 * only when, nothing is left. The supervisor is not the owner, so it still kills after the owner
 * was killed with signal 9.
 *
 * Rejected: the owner as reaper. It could only guess the child behind an orphan, and after signal 9
 * orphans would keep running.
 *
 * A walk through /proc finds the processes to kill. Each is killed before the next one is read, so
 * a process id has no time to change hands. A process missed because its parent died during the
 * walk is found by the next walk. Rejected: opendir(3) allocates, and a supervisor must not; not
 * every kernel has /proc/PID/task/TID/children.
 *
 * After the fork only system calls are made: other threads of the owner may have held any lock.
 * _Fork does not run the fork handlers of libraries: libuv's closes some of the owner's descriptors
 * by their number.
 */
#define _GNU_SOURCE /* _Fork, pipe2, syscall, SYS_getdents64, O_DIRECTORY, memmem */
#include "lib/edge/child_state.h"

#include "lib/base/digits.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ANCESTORS_MAX: a longer chain of parents is changing while it is read. */
enum { ANCESTORS_MAX = 4096, STAT_SIZE = 512, LISTING_SIZE = 8192, ENVIRON_PIECE = 8192 };

/* An entry of a folder, as getdents64 writes it. */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t size;
    uint8_t type;
    char name[];
};

/* Selects processes: descendants of `ancestor`, or those of `session` or with `mark`. */
struct question {
    bool (*is_ours)(const struct question *question, pid_t pid);
    pid_t ancestor;
    pid_t session;
    const char *mark;
};

struct process {
    char state;
    pid_t parent;
    pid_t session;
};

/* Opens /proc/PID/NAME. Rejected: snprintf(3) may allocate. */
static int open_of(pid_t pid, const char *name)
{
    char path[64] = "/proc/", digits[16];
    size_t at = sizeof digits, len = strlen(path);

    for (; pid > 0; pid /= 10)
        digits[--at] = (char)('0' + pid % 10);
    memcpy(path + len, digits + at, sizeof digits - at);
    len += sizeof digits - at;
    path[len++] = '/';
    memcpy(path + len, name, strlen(name) + 1);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static const char *read_number(const char *at, pid_t *number)
{
    bool negative;

    at += strspn(at, " ");
    negative = *at == '-';
    at += negative;
    for (*number = 0; mx_is_digit(*at); at++)
        *number = *number * 10 + (*at - '0');
    if (negative)
        *number = -*number;
    return at;
}

/* Reads "PID (NAME) STATE PARENT GROUP SESSION ..."; NAME may hold anything, ")" included. */
static bool read_process(pid_t pid, struct process *process)
{
    char text[STAT_SIZE];
    int fd = open_of(pid, "stat");
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    const char *at;
    pid_t group;

    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    at = strrchr(text, ')');
    if (!at || at[1] != ' ' || !at[2])
        return false;
    process->state = at[2];
    at = read_number(at + 3, &process->parent);
    at = read_number(at, &group);
    read_number(at, &process->session);
    return true;
}

static bool is_dead(const struct process *process)
{
    return process->state == 'Z' || process->state == 'X';
}

static bool is_descendant(const struct question *question, pid_t pid)
{
    struct process process;

    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
        if (!read_process(pid, &process) || (i == 0 && is_dead(&process)))
            return false;
        if (process.parent == question->ancestor)
            return true;
        pid = process.parent;
    }
    return false;
}

/* Pieces overlap, so an entry across two of them is found. */
static bool has_mark(pid_t pid, const char *mark)
{
    char piece[ENVIRON_PIECE + MX_REAP_MARK_SIZE];
    int fd = open_of(pid, "environ");
    size_t len = strlen(mark), kept = 0;
    bool found = false;
    ssize_t got;

    if (fd < 0)
        return false;
    while (!found && (got = read(fd, piece + kept, ENVIRON_PIECE)) > 0) {
        size_t have = kept + (size_t)got;

        found = memmem(piece, have, mark, len) != NULL;
        kept = have < len ? have : len;
        memmove(piece, piece + have - kept, kept);
    }
    close(fd);
    return found;
}

static bool is_marked(const struct question *question, pid_t pid)
{
    struct process process;

    if (!read_process(pid, &process) || is_dead(&process))
        return false;
    return (question->session && process.session == question->session) ||
           has_mark(pid, question->mark);
}

static size_t kill_listed(const struct question *question, const char *list, size_t len)
{
    size_t count = 0;
    pid_t pid;

    for (size_t at = 0; at < len;
         at += ((const struct entry *)(const void *)(list + at))->size) {
        const struct entry *entry = (const void *)(list + at);

        read_number(entry->name, &pid);
        if (pid <= 1 || pid == getpid() || !question->is_ours(question, pid))
            continue;
        kill(pid, SIGKILL);
        count++;
    }
    return count;
}

static size_t kill_all(const struct question *question)
{
    _Alignas(struct entry) char list[LISTING_SIZE];
    int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t count = 0;
    long got;

    if (fd < 0)
        return 0;
    while ((got = syscall(SYS_getdents64, fd, list, sizeof list)) > 0)
        count += kill_listed(question, list, (size_t)got);
    close(fd);
    return count;
}

size_t mx_reap_descendants(pid_t ancestor)
{
    struct question question = {.is_ours = is_descendant, .ancestor = ancestor};

    return kill_all(&question);
}

size_t mx_reap_marked(pid_t session, const char *mark)
{
    struct question question = {.is_ours = is_marked, .session = session, .mark = mark};

    return kill_all(&question);
}

/* CONTROL: the owner's socket. FIRST_OTHER: closed from here. SAFE_FROM_DUP2: copies go here. */
enum { CONTROL = 3, FIRST_OTHER = 4, SAFE_FROM_DUP2 = 16 };

/* How long a round of killing waits for a death before the next one. It doubles, for processes that
 * the kernel or another user's rights keep alive. */
enum { ROUND_FIRST_MS = 20, ROUND_LAST_MS = 1000 };

extern char **environ;

struct supervisor {
    /* 0 once it is reaped. Until then no process, group or session can get its process id. */
    pid_t child;
    int signals;
    int executed; /* read end of the pipe that closes when the program is executed; -1 afterwards */
    int owner; /* pidfd of the owner; -1 = the kernel has none, only the socket tells its end */
};

static void tell(enum mx_supervisor_word word, int value, int detail)
{
    struct mx_supervisor_news news = {(int)word, value, detail};

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

/* Leaves open 0, 1, 2 for the program and 3 for the owner; closes all others. */
static bool arrange_descriptors(const struct mx_supervisor_task *task)
{
    const int *fds = task->fds;
    int ours[] = {fds[MX_END_INPUT], fds[MX_END_OUTPUT], fds[MX_END_ERRORS],
                  fds[MX_END_CONTROL]};

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

/* Executes the program in the new child, or writes the failed step and errno to `pipe`. */
_Noreturn static void become_program(const struct mx_supervisor_task *task, pid_t supervisor,
                                     int pipe)
{
    int fault[2] = {MX_STEP_FOLDER, 0};

    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor)
        _exit(127); /* the supervisor died before that call */
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

static bool start(struct supervisor *supervisor, const struct mx_supervisor_task *task)
{
    pid_t self = getpid();
    sigset_t ends;
    int pipes[2];

    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    supervisor->signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    if (supervisor->signals < 0 || pipe2(pipes, O_CLOEXEC | O_NONBLOCK))
        return false;
    supervisor->executed = pipes[0];
    supervisor->child = _Fork();
    if (supervisor->child == 0)
        become_program(task, self, pipes[1]);
    close(pipes[1]);
    return supervisor->child > 0;
}

/* Leaves the owner's terminal and descriptors, and becomes the reaper of orphans. */
static bool settle(const struct mx_supervisor_task *task)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};

    setsid();
    prctl(PR_SET_NAME, "mcpx-warden");
    sigaction(SIGCHLD, &plain, NULL); /* were it ignored, there would be no status */
    return arrange_descriptors(task) && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

static void hear_execution(struct supervisor *supervisor)
{
    int fault[2];
    ssize_t got =
        supervisor->executed < 0 ? -1 : read(supervisor->executed, fault, sizeof fault);

    if (got < 0)
        return;
    if (got == sizeof fault)
        tell(MX_WORD_REFUSED, fault[1], fault[0]);
    else
        tell(MX_WORD_EXECUTED, 0, 0);
    close(supervisor->executed);
    supervisor->executed = -1;
}

static void forget_signals(const struct supervisor *supervisor)
{
    struct signalfd_siginfo info;

    while (read(supervisor->signals, &info, sizeof info) > 0)
        ; /* one signal may stand for many ends; waitid finds them */
}

/* Reaps orphans. True when the child itself has ended; it is not reaped yet. */
static bool has_child_ended(const struct supervisor *supervisor)
{
    siginfo_t info = {0};

    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid) {
        if (info.si_pid == supervisor->child)
            return true;
        waitpid(info.si_pid, NULL, 0);
        info.si_pid = 0;
    }
    return false;
}

/* A stopped process handles SIGTERM only after SIGCONT. */
static void terminate(const struct supervisor *supervisor)
{
    if (kill(-supervisor->child, SIGTERM)) /* no group yet */
        kill(supervisor->child, SIGTERM);
    kill(-supervisor->child, SIGCONT);
}

/* False when everything must be killed. */
static bool follow_order(const struct supervisor *supervisor)
{
    char order;
    ssize_t got = recv(CONTROL, &order, 1, MSG_DONTWAIT);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    if (got == 0 || order != MX_ORDER_TERM)
        return false;
    terminate(supervisor);
    return true;
}

/* Waits until the child or its owner ends, or the owner orders the kill. */
static void watch(struct supervisor *supervisor)
{
    for (;;) {
        struct pollfd fds[] = {{CONTROL, POLLIN, 0},
                               {supervisor->signals, POLLIN, 0},
                               {supervisor->executed, POLLIN, 0},
                               {supervisor->owner, POLLIN, 0}};

        if (poll(fds, sizeof fds / sizeof *fds, -1) < 0)
            continue;
        hear_execution(supervisor);
        if (fds[1].revents) {
            forget_signals(supervisor);
            if (has_child_ended(supervisor))
                return;
        }
        if (fds[3].revents || (fds[0].revents && !follow_order(supervisor)))
            return;
    }
}

/* False when no process is left to wait for. */
static bool reap(struct supervisor *supervisor)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == supervisor->child) {
            tell(MX_WORD_ENDED, status, 0);
            supervisor->child = 0;
        }
    return pid == 0;
}

/* Kills the child's group in one call, then, round by round, all other descendants. A kill does not
 * change the status of an ended process. The search through /proc waits until the child itself is
 * reaped, because a child without others does not need it. */
static void destroy(struct supervisor *supervisor)
{
    int wait_ms = ROUND_FIRST_MS;

    for (;; wait_ms = wait_ms * 2 < ROUND_LAST_MS ? wait_ms * 2 : ROUND_LAST_MS) {
        struct pollfd death = {supervisor->signals, POLLIN, 0};

        if (supervisor->child) {
            kill(-supervisor->child, SIGKILL);
            kill(supervisor->child, SIGKILL);
        }
        if (!reap(supervisor))
            return;
        if (!supervisor->child || wait_ms > ROUND_FIRST_MS)
            mx_reap_descendants(getpid());
        poll(&death, 1, wait_ms);
        forget_signals(supervisor);
    }
}

_Noreturn void mx_supervisor_run(const struct mx_supervisor_task *task)
{
    struct supervisor supervisor = {.signals = -1, .executed = -1, .owner = -1};
    const int controls[] = {task->fds[MX_END_CONTROL], CONTROL};
    bool settled = settle(task);
    struct mx_supervisor_news failure = {MX_WORD_REFUSED, errno, MX_STEP_PROCESS};

    if (!settled || !start(&supervisor, task)) {
        failure.value = errno;
        (void)!send(controls[settled], &failure, sizeof failure, MSG_NOSIGNAL);
        _exit(1);
    }
    tell(MX_WORD_FORKED, supervisor.child, 0);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    (void)!chdir("/");
    supervisor.owner = (int)syscall(SYS_pidfd_open, task->owner, 0);
    if (getppid() == task->owner)
        watch(&supervisor);
    hear_execution(&supervisor);
    destroy(&supervisor);
    tell(MX_WORD_CLEAR, 0, 0);
    _exit(0);
}
