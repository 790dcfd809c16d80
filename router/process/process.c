/*
 * process.c - time, random bytes, systemd, and the limits of the machine. The time is read once per
 * loop iteration, and again at its end: ten thousand messages that arrived together carry one
 * timestamp. A finer time would cost a reading of the clock per message. One decision in some
 * dozens is timed by itself.
 *
 * The watchdog is notified twice as often as required, as its manual recommends: one notification
 * may be late. Rejected: a thread for it, because it would go on when the loop hangs.
 *
 * Descriptors are counted one by one, because only newer kernels report their number; with ten
 * thousand connections that takes milliseconds, hence PAUSE_MS. sysconf ignores a container's
 * memory limit, and the kernel kills processes beyond it. Limits are inherited, so every parent
 * control group is read as well.
 */
#include "router/process/process.h"

#include "lib/edge/timer.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

static int64_t nanoseconds(clockid_t id)
{
    struct timespec at = {0};

    clock_gettime(id, &at); /* fails for unknown clocks only */
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

uint64_t clock_ns(void)
{
    return (uint64_t)nanoseconds(CLOCK_MONOTONIC);
}

uint64_t clock_work_ns(void)
{
    return (uint64_t)nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}

static struct mcpx_now now_at(int64_t mono_us)
{
    return (struct mcpx_now){mono_us / 1000, nanoseconds(CLOCK_REALTIME) / 1000000};
}

struct mcpx_now clock_now(struct clock *clock)
{
    if (!clock->began_us) {
        clock->began_us = nanoseconds(CLOCK_MONOTONIC) / 1000;
        clock->now = now_at(clock->began_us);
    }
    return clock->now;
}

struct mcpx_now clock_end(const struct clock *clock, uint64_t *took_us)
{
    int64_t us = nanoseconds(CLOCK_MONOTONIC) / 1000;

    *took_us = clock->began_us ? (uint64_t)(us - clock->began_us) : 0;
    return now_at(us);
}

void clock_forget(struct clock *clock)
{
    clock->began_us = 0;
}

struct chance clock_chance(void)
{
    return (struct chance){mx_chance_fill, NULL};
}

/* ---- the service manager ---- */

void systemd_notify_open(struct systemd_notify *notify)
{
    uint64_t us = 0;

    *notify = (struct systemd_notify){0};
    if (sd_watchdog_enabled(0, &us) > 0)
        notify->every_ms = us < 4000 ? 1 : (int64_t)(us / 2000);
}

/* systemd accepts a response to its signal only with a later time, so the start of the loop
 * iteration is too early. */
void systemd_notify_reloading(void)
{
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_ns() / 1000);
}

int64_t systemd_notify_watchdog(struct systemd_notify *notify, int64_t mono_ms)
{
    int64_t wait_ms = notify->notified_ms + notify->every_ms - mono_ms;

    if (notify->every_ms == 0)
        return INT64_MAX;
    if (notify->notified_ms && wait_ms > 0)
        return wait_ms;
    sd_notify(0, "WATCHDOG=1");
    notify->notified_ms = mono_ms;
    return notify->every_ms;
}

/* ---- this process, and the machine ---- */

enum { PAUSE_MS = 1000, LINE_SIZE = 128, PATH_SIZE = 4096 };

/* The first line of a file; "" when there is none. */
static void read_line(const char *path, char line[LINE_SIZE])
{
    FILE *file = fopen(path, "re");

    if (!file || !fgets(line, LINE_SIZE, file))
        line[0] = '\0';
    if (file)
        fclose(file);
}

/* Memory in RAM, in bytes: the second number of statm counts pages. */
static uint64_t count_resident(void)
{
    long size = sysconf(_SC_PAGESIZE);
    char line[LINE_SIZE], *second;

    read_line("/proc/self/statm", line);
    second = strchr(line, ' ');
    return second && size > 0 ? strtoull(second, NULL, 10) * (uint64_t)size : 0;
}

/* The descriptor of the directory is not counted: only this function has it open. */
static uint64_t count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    uint64_t count = 0;

    if (!directory)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory));)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count ? count - 1 : 0;
}

static uint64_t milliseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_usec / 1000;
}

void process_measure(struct process *process, int64_t mono_ms)
{
    struct rlimit limit = {0};
    struct rusage usage = {0};

    if (process->measured_ms && mono_ms - process->measured_ms < PAUSE_MS)
        return;
    process->measured_ms = mono_ms;
    process->resident_bytes = count_resident();
    process->open_fds = count_descriptors();
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        process->max_fds = limit.rlim_cur;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        process->cpu_ms = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

/* The limit counts if the process becomes dumpable again. */
void process_hide(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

/* The number in a file; UINT64_MAX for "max", and when there is none. */
static uint64_t read_number(const char *path)
{
    char line[LINE_SIZE], *end;
    uint64_t number;

    read_line(path, line);
    number = strtoull(line, &end, 10);
    return end == line ? UINT64_MAX : number;
}

/* The lowest limit of a group and its parents. `group` is shortened on the way up. */
static uint64_t group_limit(const char *root, const char *mount, char *group, const char *name)
{
    uint64_t least = UINT64_MAX;
    char path[PATH_SIZE];
    char *slash;

    do {
        int len = snprintf(path, sizeof path, "%s%s%s/%s", root, mount, group, name);
        uint64_t number = len < (int)sizeof path ? read_number(path) : UINT64_MAX;

        if (number < least)
            least = number;
        slash = strrchr(group, '/');
        if (slash)
            *slash = '\0';
    } while (slash);
    return least;
}

/* A line of /proc/self/cgroup is NUMBER:CONTROLLERS:GROUP; version 2 names no controllers. */
static uint64_t line_limit(const char *root, char *line)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!group)
        return UINT64_MAX;
    *group++ = '\0';
    controllers++;
    group[strcspn(group, "\n")] = '\0';
    if (*controllers == '\0')
        return group_limit(root, "/sys/fs/cgroup", group, "memory.max");
    if (strcmp(controllers, "memory") == 0)
        return group_limit(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    return UINT64_MAX;
}

static uint64_t groups_memory(const char *root)
{
    uint64_t least = UINT64_MAX;
    char line[PATH_SIZE];
    FILE *file;

    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    file = fopen(line, "re");
    if (!file)
        return least;
    while (fgets(line, sizeof line, file)) {
        uint64_t bound = line_limit(root, line);

        if (bound < least)
            least = bound;
    }
    fclose(file);
    return least;
}

uint64_t machine_memory(const char *root)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t all = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
    uint64_t allowed = groups_memory(root);

    if (allowed == UINT64_MAX)
        return all;
    return all && all < allowed ? all : allowed;
}

uint64_t machine_descriptors(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) ? 0 : limit.rlim_max;
}
