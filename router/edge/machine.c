/*
 * machine.c - a container's bound on memory is not what sysconf tells, and whoever ignores it is
 * killed. Bounds are inherited, so every group above ours is asked as well.
 */
#include "router/edge/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* The number in a file; UINT64_MAX for "max", and when there is none. */
static uint64_t read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    char text[32] = "", *end = text;
    uint64_t number;

    if (!file)
        return UINT64_MAX;
    if (!fgets(text, sizeof text, file))
        text[0] = '\0';
    fclose(file);
    number = strtoull(text, &end, 10);
    return end == text ? UINT64_MAX : number;
}

/* The least bound of a group and of those above it. `group` is cut short on the way up. */
static uint64_t least_of(const char *root, const char *mount, char *group, const char *name)
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
static uint64_t bound_of(const char *root, char *line)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!group)
        return UINT64_MAX;
    *group++ = '\0';
    controllers++;
    group[strcspn(group, "\n")] = '\0';
    if (*controllers == '\0')
        return least_of(root, "/sys/fs/cgroup", group, "memory.max");
    if (strcmp(controllers, "memory") == 0)
        return least_of(root, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
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
        uint64_t bound = bound_of(root, line);

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
