/*
 * budget_calls.c - how many system calls and allocations a fixed number of messages takes in the
 * router, counted by count_calls.c inside it. Prints one line per count.
 *
 *     budget_calls ROUTER COUNTING_LIBRARY
 *
 * Exact, not measured: one message is under way at a time, or one burst that arrives in one
 * segment, and the counts are read when everybody has it. What depends on time (waiting, ticks)
 * is not counted.
 */
#include "tests/bench/count_calls.h"
#include "tests/bench/crowd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { READERS = 100, MESSAGES = 640, BURST = 16 };

static const struct calls *map_counts(char *path)
{
    int fd = mkstemp(path);
    void *shared;

    if (fd < 0 || ftruncate(fd, sizeof(struct calls)))
        wire_die("cannot make %s", path);
    shared = mmap(NULL, sizeof(struct calls), PROT_READ, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        wire_die("cannot map %s", path);
    close(fd);
    return shared;
}

static void start(struct child *router, const char *path, const char *library,
                  const char *counts)
{
    const char *argv[] = {path, "--listen", "127.0.0.1:0", NULL};

    setenv("MCPX_AUTH_JWT_SECRET", CROWD_SECRET, 1);
    setenv("MCPX_LIMITS_MESSAGES_PER_MINUTE", "0", 1);
    setenv("MCPX_LIMITS_BYTES_PER_MINUTE", "0", 1);
    setenv("MCPX_LIMITS_CONNECTS_PER_S", "0", 1);
    setenv("LD_PRELOAD", library, 1);
    setenv(CALLS_FILE, counts, 1);
    child_start(router, argv);
    unsetenv("LD_PRELOAD");
}

static void print_difference(const char *name, const struct calls *from,
                             const struct calls *to)
{
    printf("%s-sends %llu\n", name, (unsigned long long)(to->sends - from->sends));
    printf("%s-receives %llu\n", name, (unsigned long long)(to->receives - from->receives));
    printf("%s-registrations %llu\n", name,
           (unsigned long long)(to->registrations - from->registrations));
    printf("%s-allocations %llu\n", name,
           (unsigned long long)(to->allocations - from->allocations));
}

static void count(const char *name, struct crowd *crowd, const volatile struct calls *calls,
                  unsigned at_once)
{
    struct crowd_load load = {.bytes = 256, .window = at_once, .messages = at_once};
    struct crowd_sample ignored;
    struct calls before, after;

    for (int i = 0; i < 1200; i += (int)at_once) /* history is full: the steady state */
        crowd_run(crowd, &load, &ignored);
    before = *calls;
    for (unsigned i = 0; i < MESSAGES; i += at_once)
        crowd_run(crowd, &load, &ignored);
    after = *calls;
    print_difference(name, &before, &after);
}

int main(int argc, char **argv)
{
    struct crowd_plan plan = {"calls", 1, 1, READERS, false, false, "&history=0"};
    char path[] = "/tmp/mcpx-calls-XXXXXX";
    const struct calls *calls;
    struct crowd *crowd;
    struct child router;

    if (argc != 3)
        wire_die("usage: budget_calls ROUTER COUNTING_LIBRARY");
    calls = map_counts(path);
    start(&router, argv[1], argv[2], path);
    unlink(path);
    crowd = crowd_open(&router, &plan);
    count("single", crowd, calls, 1);
    count("burst", crowd, calls, BURST);
    crowd_free(crowd);
    child_stop(&router);
    return EXIT_SUCCESS;
}
