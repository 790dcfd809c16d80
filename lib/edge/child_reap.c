/*
 * child_reap.c - a walk through /proc, and for each process one question. The answer is acted on
 * before the next process is looked at, so that a process id has no time to change hands; who is
 * missed because its parent died during the walk is found by the next one.
 *
 * Not opendir(3), which allocates: a warden must not. Not /proc/PID/task/TID/children, which not
 * every kernel has.
 */
#define _GNU_SOURCE /* SYS_getdents64, O_DIRECTORY, memmem */
#include "lib/edge/child_reap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A chain of parents longer than this is one that changes while it is read. */
enum { ANCESTORS_MAX = 4096, STAT_SIZE = 512, LISTING_SIZE = 8192, ENVIRON_PIECE = 8192 };

/* What getdents64 writes; the name follows. */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t size;
    uint8_t type;
    char name[];
};

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

static size_t put_number(char *at, pid_t number)
{
    char digits[16];
    size_t len = 0, i;

    do
        digits[len++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    for (i = 0; i < len; i++)
        at[i] = digits[len - 1 - i];
    return len;
}

/* Opens /proc/PID/NAME; snprintf(3) may allocate. */
static int open_of(pid_t pid, const char *name)
{
    char path[64] = "/proc/";
    size_t len = strlen(path);

    len += put_number(path + len, pid);
    path[len++] = '/';
    memcpy(path + len, name, strlen(name) + 1);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static const char *read_number(const char *at, pid_t *number)
{
    bool negative;

    while (*at == ' ')
        at++;
    negative = *at == '-';
    at += negative;
    for (*number = 0; *at >= '0' && *at <= '9'; at++)
        *number = *number * 10 + (*at - '0');
    if (negative)
        *number = -*number;
    return at;
}

/* "PID (NAME) STATE PARENT GROUP SESSION ...", where NAME may hold anything, ")" included. */
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

/* Pieces overlap, so that an entry that lies across two is found. */
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
