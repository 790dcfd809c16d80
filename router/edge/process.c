/*
 * process.c - descriptors are counted one by one, since only newer kernels say how many there are;
 * with ten thousand connections that takes milliseconds, hence the pause in between.
 */
#include "router/edge/process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAUSE_MS = 1000 };

/* The second number of the file, in pages. */
static uint64_t count_resident(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long size = sysconf(_SC_PAGESIZE);
    char text[128] = "", *second;
    uint64_t pages;

    if (!file)
        return 0;
    if (!fgets(text, sizeof text, file))
        text[0] = '\0';
    fclose(file);
    second = strchr(text, ' ');
    pages = second ? strtoull(second, NULL, 10) : 0;
    return size > 0 ? pages * (uint64_t)size : 0;
}

/* Its own descriptor is not counted: it is open only for that. */
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

void process_ask(struct process *process, int64_t mono_ms)
{
    struct rlimit limit = {0};
    struct rusage usage = {0};

    if (process->asked_ms && mono_ms - process->asked_ms < PAUSE_MS)
        return;
    process->asked_ms = mono_ms;
    process->resident_bytes = count_resident();
    process->open_fds = count_descriptors();
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        process->max_fds = limit.rlim_cur;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        process->cpu_ms = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

/* The limit is for kernels that hand what is not dumpable to a program of root. */
void process_hide(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}
