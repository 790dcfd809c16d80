/*
 * child.c - what a server costs is read where the kernel counts it: /proc/PID/task/TID/schedstat
 * in nanoseconds, or, where the kernel keeps none, utime and stime in ticks.
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include "tests/bench/child.h"

#include "tests/bench/wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void pin(int cpu)
{
    cpu_set_t set;

    if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || getenv("BENCH_NO_PIN"))
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

void child_pin_self(void)
{
    pin(1);
}

void child_raise_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void run(const char *const *argv, int out)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pin(0);
    dup2(out, STDOUT_FILENO);
    if (!getenv("BENCH_LOG"))
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    execv(argv[0], (char *const *)argv);
    _exit(127);
}

void child_start(struct child *child, const char *const *argv)
{
    static const char expected[] = "listening ws", host[] = "://127.0.0.1:";
    char line[256], *at = line + sizeof expected - 1;
    int pipes[2];
    FILE *out;

    if (pipe(pipes) || (child->pid = fork()) < 0)
        wire_die("cannot start %s", argv[0]);
    if (child->pid == 0)
        run(argv, pipes[1]);
    close(pipes[1]);
    out = fdopen(pipes[0], "r");
    if (!out || !fgets(line, sizeof line, out) ||
        strncmp(line, expected, sizeof expected - 1) != 0)
        wire_die("%s did not start; BENCH_LOG=1 shows why", argv[0]);
    child->tls = *at == 's';
    child->port = (int)strtol(at + child->tls + sizeof host - 1, NULL, 10);
    fclose(out);
}

static double read_ticks(const struct child *child)
{
    unsigned long user = 0, kernel = 0;
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)child->pid);
    file = fopen(path, "r");
    if (!file ||
        fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
               &kernel) != 2)
        wire_die("the server has ended");
    fclose(file);
    return (double)(user + kernel) * 1e9 / (double)sysconf(_SC_CLK_TCK);
}

static double read_schedstat(const struct child *child, const char *task)
{
    unsigned long long ns = 0;
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)child->pid, task);
    file = fopen(path, "r");
    if (!file)
        return 0;
    if (fscanf(file, "%llu", &ns) != 1)
        ns = 0;
    fclose(file);
    return (double)ns;
}

double child_cpu_ns(const struct child *child)
{
    struct dirent *entry;
    double sum = 0;
    char path[64];
    DIR *tasks;

    snprintf(path, sizeof path, "/proc/%d/task", (int)child->pid);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks)))
        if (entry->d_name[0] != '.')
            sum += read_schedstat(child, entry->d_name);
    if (tasks)
        closedir(tasks);
    return sum > 0 ? sum : read_ticks(child);
}

double child_rss(const struct child *child)
{
    char path[64], line[256];
    long kib = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)child->pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "VmRSS: %ld", &kib);
    if (file)
        fclose(file);
    return (double)kib * 1024;
}

void child_stop(struct child *child)
{
    kill(child->pid, SIGKILL);
    waitpid(child->pid, NULL, 0);
}
