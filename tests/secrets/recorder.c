/*
 * recorder.c - preloaded into our programs while the tests run, it keeps what they write and which
 * secrets they meet, so that the last test can look for the one in the other. In the folder that
 * MCPX_SECRETS names:
 *
 *     outputs/PROGRAM.PID.STREAM   what the process wrote
 *     secrets/PROGRAM.PID          lines of a sort, a space, and the secret in hexadecimal
 *
 *     stdout, stderr, terminal     what it printed
 *     file                         what it wrote to files: audit, database, records, keys
 *     pipe                         what it wrote to its children, or to a log that is a pipe
 *     http                         its answers to HTTP requests
 *     error                        what a socket got that holds a `system/error`
 *     arguments                    its own command line
 *     child                        command line and environment of each child
 *
 * Refused: to collect all this in what starts the programs. There are a dozen such places, shells
 * among them, and the next test would bring another. In other programs nothing is kept. Files are
 * written by system calls, because slow_disk.c stands before the library's functions as well. A
 * file is opened anew for each write: a descriptor that stays open would be counted, closed and
 * inherited.
 */
#define _GNU_SOURCE /* RTLD_NEXT, program_invocation_short_name, memmem */
#include "tests/secrets/recorder.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A shorter text, or one of fewer letters, would be found by chance. The same as in forms.mjs. */
enum { SECRET_MIN = 8, SECRET_MAX = 8192, LETTERS_MIN = 8 };
enum { OUTPUT_MAX = 64 << 20, KEY_FILE_MAX = 65536 };

static const char *const programs[] = {"mcpx-router", "mcpxctl", "mcpx-bridge"};

/* Empty: this is no program of ours, or nobody asked. */
static char folder[3000];

/* What it forks keeps its outputs with it, until it executes another program. */
static int own_pid;

bool recorder_is_on(void)
{
    return folder[0] != '\0';
}

static bool has_room(int fd, size_t len)
{
    struct rlimit limit;
    struct stat about;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || fstat(fd, &about) != 0)
        return false;
    return (size_t)about.st_size + len <= OUTPUT_MAX &&
           (rlim_t)about.st_size + len <= limit.rlim_cur;
}

/* kind   `outputs` or `secrets` */
static int open_kept(const char *kind, const char *stream)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s/%s.%d%s%s", folder, kind, program_invocation_short_name,
             own_pid, stream[0] ? "." : "", stream);
    return (int)syscall(SYS_openat, AT_FDCWD, path,
                        O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static void append(int fd, const char *bytes, size_t len)
{
    long done;

    while (len > 0 && (done = syscall(SYS_write, fd, bytes, len)) > 0) {
        bytes += done;
        len -= (size_t)done;
    }
}

void recorder_keep(const char *stream, const void *bytes, size_t len)
{
    int error = errno, fd = recorder_is_on() && len > 0 ? open_kept("outputs", stream) : -1;

    if (fd >= 0 && has_room(fd, len))
        append(fd, bytes, len);
    if (fd >= 0)
        close(fd);
    errno = error;
}

/* ---- what is a secret ---- */

static bool is_secret(const char *text, size_t len)
{
    bool seen[256] = {false};
    int letters = 0;

    for (size_t i = 0; i < len && i < SECRET_MAX; i++) {
        letters += !seen[(unsigned char)text[i]];
        seen[(unsigned char)text[i]] = true;
    }
    return len >= SECRET_MIN && len <= SECRET_MAX && letters >= LETTERS_MIN;
}

static void note(const char *sort, const char *text, size_t len)
{
    char line[2 * SECRET_MAX + 64];
    int error = errno, fd;
    size_t at;

    if (!recorder_is_on() || !is_secret(text, len))
        return;
    at = (size_t)snprintf(line, sizeof line, "%s ", sort);
    for (size_t i = 0; i < len; i++)
        at += (size_t)snprintf(line + at, 3, "%02x", (unsigned char)text[i]);
    line[at++] = '\n';
    fd = open_kept("secrets", "");
    if (fd >= 0 && has_room(fd, at))
        append(fd, line, at);
    if (fd >= 0)
        close(fd);
    errno = error;
}

/* Notes what stands behind each `before`, up to one of the bytes of `end`. */
static void note_behind(const char *sort, struct bytes in, const char *before, const char *end)
{
    size_t size = strlen(before);

    for (size_t i = 0; i + size < in.len; i++) {
        const char *found = in.text + i + size;
        size_t len = 0;

        if (strncasecmp(in.text + i, before, size) != 0)
            continue;
        while (found + len < in.text + in.len && !strchr(end, found[len]))
            len++;
        note(sort, found, len);
    }
}

static bool begins(struct bytes in, const char *with)
{
    return in.len >= strlen(with) && memcmp(in.text, with, strlen(with)) == 0;
}

static bool holds(struct bytes in, const char *text)
{
    return memmem(in.text, in.len, text, strlen(text)) != NULL;
}

void recorder_received(struct bytes in)
{
    static const char *const methods[] = {"GET /", "POST /", "PUT /", "DELETE /", "OPTIONS /"};
    bool is_request = false;
    const char *end;

    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        is_request |= begins(in, methods[i]);
    if (!is_request)
        return;
    end = memmem(in.text, in.len, "\r\n\r\n", 4);
    in.len = end ? (size_t)(end - in.text) : in.len;
    note_behind("bearer token", in, "authorization: bearer ", "\r\n ");
    note_behind("ticket in a query", in, "ticket=", "&\r\n ");
    note_behind("token in a query", in, "&token=", "&\r\n ");
    note_behind("token in a query", in, "?token=", "&\r\n ");
}

void recorder_sent(struct bytes in)
{
    if (begins(in, "HTTP/1.")) {
        recorder_keep("http", in.text, in.len);
        note_behind("token that the router gave", in, "\"token\":\"", "\"");
        note_behind("ticket that the router gave", in, "\"ticket\":\"", "\"");
    } else if (holds(in, "\"system/error\"")) {
        recorder_keep("error", in.text, in.len);
    }
}

/* Lines of a PEM text between BEGIN PRIVATE KEY and END. */
static void note_pem(struct bytes in)
{
    bool inside = false;

    while (in.len > 0) {
        const char *end = memchr(in.text, '\n', in.len);
        size_t len = end ? (size_t)(end - in.text) : in.len;
        struct bytes line = {in.text, len};

        if (begins(line, "-----"))
            inside = holds(line, "BEGIN") && holds(line, "PRIVATE KEY");
        else if (inside)
            note("line of a private key", line.text, line.len);
        len += end != NULL;
        in = (struct bytes){in.text + len, in.len - len};
    }
}

/* Numbers are the kernel's. */
static bool is_one_line(struct bytes in)
{
    size_t letters = 0, digits = 0;

    for (size_t i = 0; i < in.len; i++) {
        letters += isprint((unsigned char)in.text[i]) != 0;
        digits += isdigit((unsigned char)in.text[i]) != 0;
    }
    return letters == in.len && digits < in.len;
}

/* may_be_a_line   whether a file of one line is one that holds a key */
static void note_keys(struct bytes in, bool may_be_a_line)
{
    while (in.len > 0 && (in.text[in.len - 1] == '\n' || in.text[in.len - 1] == '\r'))
        in.len--;
    if (begins(in, "-----")) {
        note_pem(in);
    } else if (begins(in, "{")) {
        note_behind("secret in a configuration", in, "\"secret\":\"", "\"");
        note_behind("secret in a configuration", in, "\"secret\": \"", "\"");
    } else if (may_be_a_line && is_one_line(in)) {
        note("key of a file", in.text, in.len);
    }
}

void recorder_opened(int fd, bool may_be_a_line)
{
    char text[KEY_FILE_MAX];
    int error = errno;
    struct stat about;
    ssize_t len = -1;

    if (recorder_is_on() && strcmp(program_invocation_short_name, programs[0]) == 0 &&
        fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 &&
        about.st_size < KEY_FILE_MAX) /* files of /proc have no size */
        len = syscall(SYS_pread64, fd, text, sizeof text, (off_t)0);
    if (len > 0)
        note_keys((struct bytes){text, (size_t)len}, may_be_a_line);
    errno = error;
}

/* ---- a process and its children ---- */

void recorder_child(char *const argv[], char *const envp[])
{
    for (size_t i = 0; argv && argv[i]; i++) {
        recorder_keep("child", argv[i], strlen(argv[i]));
        recorder_keep("child", "\n", 1);
    }
    for (size_t i = 0; envp && envp[i]; i++) {
        recorder_keep("child", envp[i], strlen(envp[i]));
        recorder_keep("child", "\n", 1);
    }
}

static bool names_a_secret(const char *variable)
{
    struct bytes name = {variable, strcspn(variable, "=") + 1};

    return begins(name, "MCPX_") && (holds(name, "_TOKEN=") || holds(name, "_SECRET="));
}

__attribute__((constructor)) static void begin(int argc, char **argv, char **envp)
{
    const char *path = getenv("MCPX_SECRETS");
    bool is_ours = false;

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        is_ours |= strcmp(program_invocation_short_name, programs[i]) == 0;
    if (!is_ours || !path || strlen(path) >= sizeof folder)
        return;
    strcpy(folder, path);
    own_pid = (int)getpid();
    for (int i = 0; i < argc; i++) {
        recorder_keep("arguments", argv[i], strlen(argv[i]));
        recorder_keep("arguments", i + 1 < argc ? " " : "\n", 1);
    }
    for (size_t i = 0; envp[i]; i++)
        if (names_a_secret(envp[i])) {
            const char *value = strchr(envp[i], '=') + 1;

            note("secret in the environment", value, strlen(value));
        }
}
