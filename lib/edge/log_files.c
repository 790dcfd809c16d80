/*
 * log_files.c - writes two logs, one file of each for every run. Lines are few and short, and a
 * regular file never blocks on its reader, so each line is written at once: a queue would lose its
 * lines when the process is killed. A process holds a lock on its files while it lives, so other
 * processes do not remove them.
 */
#define _GNU_SOURCE /* flock, scandirat */
#include "lib/edge/log_files.h"

#include "lib/base/digits.h"
#include "lib/base/ident.h"
#include "lib/edge/timer.h"
#include "lib/json/json_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_ROOM = 64, TRIES = 1000 };

static const char *const folders[MCPX_RECORD_COUNT] = {"envelope_validation", "telemetry"};

struct log {
    const char *folder;
    int place;            /* its folder; -1 = it could not be opened */
    char name[NAME_ROOM]; /* of the current file */
    int64_t wall_ms;      /* least time in the next name */
    int fd;               /* -1 = it could not be opened, or failed */
    off_t len;            /* bytes in it */
    bool told;            /* an error was reported */
};

struct mx_log_files {
    struct mx_log_files_config config;
    struct mcpx_text dir;
    struct log logs[MCPX_RECORD_COUNT];
};

static void tell(struct mx_log_files *files, struct log *log, const char *why)
{
    mx_scoped_text sentence = {0};

    if (log->told)
        return;
    log->told = true;
    sentence = mx_formatted("log %s/%s: %s; calls go on, lines of them may be missing",
                            &files->dir, log->folder, why);
    files->config.complain(files->config.user,
                           sentence.failed ? "log: out of memory" : sentence.text);
}

/* The name of a file: "2026-11-22T05:54:52.123Z" without hyphens and colons, and the pid. */
static void write_name(const struct mx_log_files_config *config, int64_t wall_ms,
                       char name[NAME_ROOM])
{
    char time[MX_TIME_LEN + 1];
    size_t len = 0;

    mx_time_format(wall_ms, time);
    for (const char *at = time; *at; at++) {
        if (*at != '-' && *at != ':')
            time[len++] = *at;
    }
    time[len] = '\0';
    snprintf(name, NAME_ROOM, "%s.%ld.jsonl", time, config->pid);
}

/* True for a name as write_name makes it. Other files in the folder are left alone. */
static int is_ours(const struct dirent *entry)
{
    static const char shape[] = "00000000T000000.000Z.";
    const char *name = entry->d_name;
    size_t at = 0;

    for (; shape[at]; at++) {
        if (shape[at] == '0' ? !mx_is_digit(name[at]) : name[at] != shape[at])
            return false;
    }
    if (!mx_is_digit(name[at]))
        return false;
    at += strspn(name + at, "0123456789");
    return strcmp(name + at, ".jsonl") == 0;
}

/* Opens a new file; when its name is taken because the clock was set back, a later name. On failure
 * returns false and keeps the current file. */
static bool open_file(const struct mx_log_files_config *config, struct log *log)
{
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    char name[NAME_ROOM];
    int fd = -1;

    for (int i = 0; i < TRIES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        write_name(config, log->wall_ms++, name);
        fd = openat(log->place, name, flags, 0600);
    }
    if (fd < 0)
        return false;
    (void)flock(fd, LOCK_EX | LOCK_NB);
    if (log->fd >= 0)
        close(log->fd);
    memcpy(log->name, name, sizeof name);
    log->fd = fd;
    log->len = 0;
    return true;
}

/* True when the name is free, or a link. Else sets errno, EEXIST for another file. */
static bool is_free(int folder, const char *link)
{
    struct stat about;

    if (fstatat(folder, link, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT;
    errno = EEXIST;
    return S_ISLNK(about.st_mode);
}

/* Points the link at the current file. Returns false with errno on failure. */
static bool link_latest(const struct mx_log_files_config *config, const struct log *log)
{
    char link[NAME_ROOM], made[NAME_ROOM];
    int folder = log->place;

    snprintf(link, sizeof link, "%s.latest.jsonl", log->folder);
    snprintf(made, sizeof made, ".%s.%ld", log->folder, config->pid);
    (void)unlinkat(folder, made, 0); /* left by a killed process with our pid */
    return is_free(folder, link) && symlinkat(log->name, folder, made) == 0 &&
           renameat(folder, made, folder, link) == 0;
}

static int newest_first(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*b)->d_name, (*a)->d_name);
}

/* True when a process holds the lock of the file, or the file cannot be opened. */
static bool is_in_use(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool used = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0;

    if (fd >= 0)
        close(fd);
    return used;
}

/* Removes the oldest files beyond `keep`. */
static void clear(const struct mx_log_files_config *config, const struct log *log)
{
    struct dirent **files = NULL;
    int count = scandirat(log->place, ".", &files, is_ours, newest_first);

    for (int i = 0; i < count; i++) {
        const char *name = files[i]->d_name;

        if ((size_t)i >= config->keep && strcmp(name, log->name) != 0 &&
            !is_in_use(log->place, name))
            (void)unlinkat(log->place, name, 0);
        free(files[i]);
    }
    free((void *)files);
}

/* Continues in a new file, if one can be opened. */
static void start_file(struct mx_log_files *files, struct log *log)
{
    bool is_open = open_file(&files->config, log);

    if (!is_open || !link_latest(&files->config, log))
        tell(files, log, strerror(errno));
    if (is_open)
        clear(&files->config, log);
}

/* Opens the folder of both logs, and makes missing folders of its path. Returns -1 with errno. */
static int open_dir(char *path)
{
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        (void)mkdir(path, 0700);
        *at = '/';
    }
    (void)mkdir(path, 0700);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

struct mx_log_files *mx_log_files_open(const struct mx_log_files_config *config)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    struct mx_log_files *files = calloc(1, sizeof *files);
    int dir, why;

    if (!files)
        return NULL;
    signal(SIGXFSZ, SIG_IGN);
    files->config = *config;
    files->config.keep += config->keep == 0;
    mcpx_text_puts(&files->dir, config->dir);
    if (files->dir.failed || files->dir.len == 0) {
        mcpx_text_fini(&files->dir);
        free(files);
        return NULL;
    }
    dir = open_dir(files->dir.text);
    why = errno;
    for (size_t i = 0; i < MCPX_RECORD_COUNT; i++) {
        struct log *log = &files->logs[i];

        *log = (struct log){
            .folder = folders[i], .place = -1, .wall_ms = config->wall_ms, .fd = -1};
        if (dir >= 0 && (mkdirat(dir, log->folder, 0700) == 0 || errno == EEXIST))
            log->place = openat(dir, log->folder, flags);
        if (dir >= 0)
            why = errno;
        if (log->place >= 0)
            start_file(files, log);
        else
            tell(files, log, strerror(why));
    }
    if (dir >= 0)
        close(dir);
    return files;
}

void mx_log_files_write(struct mx_log_files *files, enum mcpx_record which,
                        struct mcpx_slice line)
{
    struct log *log = &files->logs[which];
    ssize_t done;

    if (log->fd < 0 || line.len == 0)
        return;
    if (files->config.file_bytes && log->len > 0 &&
        (size_t)log->len + line.len > files->config.file_bytes) {
        int64_t now = mx_clock_now().wall_ms;

        log->wall_ms = now > log->wall_ms ? now : log->wall_ms;
        start_file(files, log);
    }
    do
        done = write(log->fd, line.text, line.len);
    while (done < 0 && errno == EINTR);
    if (done >= 0 && (size_t)done == line.len) {
        log->len += done;
        return;
    }
    tell(files, log, done < 0 ? strerror(errno) : "a line was written only in part");
    if (done > 0 && ftruncate(log->fd, log->len) != 0) {
        close(log->fd);
        log->fd = -1;
    }
}

void mx_log_files_close(struct mx_log_files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < MCPX_RECORD_COUNT; i++) {
        if (files->logs[i].fd >= 0)
            close(files->logs[i].fd);
        if (files->logs[i].place >= 0)
            close(files->logs[i].place);
    }
    mcpx_text_fini(&files->dir);
    free(files);
}
