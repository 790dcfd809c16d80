/*
 * count_calls.c - preloaded into the router, it counts what the router asks of the kernel and of
 * the allocator, in a file that the counting test has mapped too. A preloaded library needs no
 * privilege and no tracer, so it works in a container where ptrace and perf do not.
 *
 * Calls are made with syscall(2) and glibc's own names for its allocator: looking the next
 * definition up would allocate.
 */
#define _GNU_SOURCE /* syscall */
#include "tests/bench/count_calls.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define REPLACED __attribute__((visibility("default")))

static struct calls nowhere;
static struct calls *calls = &nowhere;

__attribute__((constructor)) static void map_counts(void)
{
    const char *path = getenv(CALLS_FILE);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *shared = MAP_FAILED;

    if (fd >= 0)
        shared = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared != MAP_FAILED)
        calls = shared;
    if (fd >= 0)
        close(fd);
}

/* ---- sending ---- */

REPLACED ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    calls->sends++;
    return syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);
}

REPLACED ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    calls->sends++;
    return syscall(SYS_sendmsg, fd, message, flags);
}

REPLACED ssize_t write(int fd, const void *bytes, size_t len)
{
    calls->sends++;
    return syscall(SYS_write, fd, bytes, len);
}

REPLACED ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    calls->sends++;
    return syscall(SYS_writev, fd, pieces, count);
}

/* ---- receiving and waiting ---- */

REPLACED ssize_t recv(int fd, void *bytes, size_t len, int flags)
{
    calls->receives++;
    return syscall(SYS_recvfrom, fd, bytes, len, flags, NULL, NULL);
}

REPLACED ssize_t read(int fd, void *bytes, size_t len)
{
    calls->receives++;
    return syscall(SYS_read, fd, bytes, len);
}

REPLACED int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    calls->registrations++;
    return (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}

/* ---- allocating ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

REPLACED void *malloc(size_t size)
{
    calls->allocations++;
    return __libc_malloc(size);
}

REPLACED void *calloc(size_t count, size_t size)
{
    calls->allocations++;
    return __libc_calloc(count, size);
}

REPLACED void *realloc(void *memory, size_t size)
{
    calls->allocations++;
    return __libc_realloc(memory, size);
}
