/*
 * interpose.c - stands before the functions of the C library that write, receive and execute, tells
 * the recorder, and does what it was asked to do. The C library does not call itself through these
 * names, so each function that a program may print with is here. Behind TLS the router reads and
 * writes by OpenSSL, so these two are here as well.
 */
#define _GNU_SOURCE /* RTLD_NEXT, execvpe */
#include "tests/secrets/recorder.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REPLACED __attribute__((visibility("default")))

extern char **environ;

/*
 * The C library's own functions. They are looked up when the program starts: a child of a fork must
 * not wait for a lock that another thread held.
 */
static struct {
    ssize_t (*write)(int, const void *, size_t);
    ssize_t (*writev)(int, const struct iovec *, int);
    ssize_t (*pwrite)(int, const void *, size_t, off_t);
    ssize_t (*pwrite64)(int, const void *, size_t, off64_t);
    ssize_t (*send)(int, const void *, size_t, int);
    ssize_t (*sendmsg)(int, const struct msghdr *, int);
    ssize_t (*recv)(int, void *, size_t, int);
    ssize_t (*read)(int, void *, size_t);
    int (*fputc)(int, FILE *);
    size_t (*fwrite)(const void *, size_t, size_t, FILE *);
    int (*fputs)(const char *, FILE *);
    int (*puts)(const char *);
    int (*vfprintf)(FILE *, const char *, va_list);
    FILE *(*fopen)(const char *, const char *);
    int (*openat)(int, const char *, int, ...);
    int (*SSL_read_ex)(void *, void *, size_t, size_t *);
    int (*SSL_write_ex)(void *, const void *, size_t, size_t *);
    int (*execv)(const char *, char *const[]);
    int (*execvp)(const char *, char *const[]);
    int (*execve)(const char *, char *const[], char *const[]);
} next;

#define FIND(name) (*(void **)&next.name = dlsym(RTLD_NEXT, #name))

/* Also called by who comes before our constructor: another library's. */
static void find_next(void)
{
    FIND(write);
    FIND(writev);
    FIND(pwrite);
    FIND(pwrite64);
    FIND(send);
    FIND(sendmsg);
    FIND(recv);
    FIND(read);
    FIND(fputc);
    FIND(fwrite);
    FIND(fputs);
    FIND(puts);
    FIND(vfprintf);
    FIND(fopen);
    FIND(openat);
    FIND(SSL_read_ex);
    FIND(SSL_write_ex);
    FIND(execv);
    FIND(execvp);
    FIND(execve);
}

/* The function `name`, as the C library has it. */
#define NEXT(name) (next.execve ? (void)0 : find_next(), next.name)

static bool is_inet(int fd)
{
    int domain = 0;
    socklen_t size = sizeof domain;

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
           (domain == AF_INET || domain == AF_INET6);
}

/* NULL: an event, a timer, or nothing at all. */
static const char *stream_of(int fd)
{
    struct stat about;

    if (fd == STDOUT_FILENO)
        return "stdout";
    if (fd == STDERR_FILENO)
        return "stderr";
    if (fstat(fd, &about) != 0)
        return NULL;
    if (S_ISREG(about.st_mode))
        return "file";
    if (S_ISCHR(about.st_mode))
        return "terminal";
    return S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) ? "pipe" : NULL;
}

/* done   how many bytes were taken; less than 1 = none */
static void wrote(int fd, const void *bytes, ssize_t done)
{
    int error = errno;
    const char *stream;

    if (!recorder_is_on() || done <= 0)
        return;
    stream = stream_of(fd);
    if (stream && strcmp(stream, "pipe") == 0 && is_inet(fd))
        recorder_sent((struct bytes){bytes, (size_t)done});
    else if (stream)
        recorder_keep(stream, bytes, (size_t)done);
    errno = error;
}

static void wrote_all(int fd, const struct iovec *parts, size_t count, ssize_t done)
{
    for (size_t i = 0; i < count && done > 0; i++) {
        ssize_t len = (ssize_t)parts[i].iov_len;

        wrote(fd, parts[i].iov_base, len < done ? len : done);
        done -= len;
    }
}

static void received(int fd, const void *bytes, ssize_t len)
{
    int error = errno;

    if (recorder_is_on() && len > 0 && is_inet(fd))
        recorder_received((struct bytes){bytes, (size_t)len});
    errno = error;
}

/* ---- descriptors ---- */

REPLACED ssize_t write(int fd, const void *bytes, size_t len)
{
    ssize_t done = NEXT(write)(fd, bytes, len);

    wrote(fd, bytes, done);
    return done;
}

REPLACED ssize_t writev(int fd, const struct iovec *parts, int count)
{
    ssize_t done = NEXT(writev)(fd, parts, count);

    wrote_all(fd, parts, (size_t)count, done);
    return done;
}

REPLACED ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
    ssize_t done = NEXT(pwrite)(fd, bytes, len, at);

    wrote(fd, bytes, done);
    return done;
}

REPLACED ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
    ssize_t done = NEXT(pwrite64)(fd, bytes, len, at);

    wrote(fd, bytes, done);
    return done;
}

REPLACED ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    ssize_t done = NEXT(send)(fd, bytes, len, flags);

    wrote(fd, bytes, done);
    return done;
}

REPLACED ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    ssize_t done = NEXT(sendmsg)(fd, message, flags);

    wrote_all(fd, message->msg_iov, message->msg_iovlen, done);
    return done;
}

REPLACED ssize_t recv(int fd, void *bytes, size_t len, int flags)
{
    ssize_t got = NEXT(recv)(fd, bytes, len, flags);

    received(fd, bytes, got);
    return got;
}

REPLACED ssize_t read(int fd, void *bytes, size_t len)
{
    ssize_t got = NEXT(read)(fd, bytes, len);

    received(fd, bytes, got);
    return got;
}

/* ---- TLS, where the router calls OpenSSL ---- */

REPLACED int SSL_read_ex(void *tls, void *bytes, size_t len, size_t *got);
REPLACED int SSL_write_ex(void *tls, const void *bytes, size_t len, size_t *done);

/* A program that has loaded the library itself, as Python does, shows it to nobody else. */
static void find_tls(void)
{
    void *library;

    if (NEXT(SSL_read_ex))
        return;
    library = dlopen("libssl.so.3", RTLD_LAZY | RTLD_NOLOAD);
    *(void **)&next.SSL_read_ex = dlsym(library, "SSL_read_ex");
    *(void **)&next.SSL_write_ex = dlsym(library, "SSL_write_ex");
}

REPLACED int SSL_read_ex(void *tls, void *bytes, size_t len, size_t *got)
{
    int result;

    find_tls();
    result = next.SSL_read_ex(tls, bytes, len, got);
    if (result == 1 && recorder_is_on())
        recorder_received((struct bytes){bytes, *got});
    return result;
}

REPLACED int SSL_write_ex(void *tls, const void *bytes, size_t len, size_t *done)
{
    int result;

    find_tls();
    result = next.SSL_write_ex(tls, bytes, len, done);
    if (result == 1 && recorder_is_on())
        recorder_sent((struct bytes){bytes, *done});
    return result;
}

/* ---- streams ---- */

/* What was printed byte by byte, until there is a line of it. */
static struct {
    FILE *stream;
    size_t len;
    char text[4096];
} pending;

static void end_pending(void)
{
    if (pending.len > 0)
        wrote(fileno(pending.stream), pending.text, (ssize_t)pending.len);
    pending.len = 0;
}

__attribute__((destructor)) static void at_exit(void)
{
    end_pending();
}

static void printed(FILE *stream, const void *bytes, size_t len)
{
    if (!recorder_is_on())
        return;
    end_pending();
    wrote(fileno(stream), bytes, (ssize_t)len);
}

static int put(int letter, FILE *stream)
{
    if (!recorder_is_on())
        return NEXT(fputc)(letter, stream);
    if (pending.stream != stream || pending.len == sizeof pending.text)
        end_pending();
    pending.stream = stream;
    pending.text[pending.len++] = (char)letter;
    if (letter == '\n')
        end_pending();
    return NEXT(fputc)(letter, stream);
}

REPLACED int fputc(int letter, FILE *stream)
{
    return put(letter, stream);
}

#undef putc
REPLACED int putc(int letter, FILE *stream)
{
    return put(letter, stream);
}

#undef putchar
REPLACED int putchar(int letter)
{
    return put(letter, stdout);
}

REPLACED size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream)
{
    printed(stream, bytes, size * count);
    return NEXT(fwrite)(bytes, size, count, stream);
}

REPLACED int fputs(const char *text, FILE *stream)
{
    printed(stream, text, strlen(text));
    return NEXT(fputs)(text, stream);
}

REPLACED int puts(const char *text)
{
    printed(stdout, text, strlen(text));
    printed(stdout, "\n", 1);
    return NEXT(puts)(text);
}

REPLACED int vfprintf(FILE *stream, const char *format, va_list values)
{
    char *text = NULL;
    va_list again;
    int len;

    if (!recorder_is_on())
        return NEXT(vfprintf)(stream, format, values);
    va_copy(again, values);
    len = vasprintf(&text, format, again);
    va_end(again);
    if (len > 0)
        printed(stream, text, (size_t)len);
    if (len >= 0)
        free(text);
    return NEXT(vfprintf)(stream, format, values);
}

REPLACED int fprintf(FILE *stream, const char *format, ...)
{
    va_list values;
    int len;

    va_start(values, format);
    len = vfprintf(stream, format, values);
    va_end(values);
    return len;
}

REPLACED int printf(const char *format, ...)
{
    va_list values;
    int len;

    va_start(values, format);
    len = vfprintf(stdout, format, values);
    va_end(values);
    return len;
}

/* With _FORTIFY_SOURCE the compiler calls these; no header declares them. */
#define FORMAT(at, first) __attribute__((format(printf, at, first)))
FORMAT(3, 0) int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list values);
FORMAT(3, 4) int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
FORMAT(2, 3) int __printf_chk(int flag, const char *format, ...);

REPLACED int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list values)
{
    (void)flag;
    return vfprintf(stream, format, values);
}

REPLACED int __fprintf_chk(FILE *stream, int flag, const char *format, ...)
{
    va_list values;
    int len;

    (void)flag;
    va_start(values, format);
    len = vfprintf(stream, format, values);
    va_end(values);
    return len;
}

REPLACED int __printf_chk(int flag, const char *format, ...)
{
    va_list values;
    int len;

    (void)flag;
    va_start(values, format);
    len = vfprintf(stdout, format, values);
    va_end(values);
    return len;
}

/* ---- files that are read, and children ---- */

static FILE *opened(FILE *file)
{
    if (file)
        recorder_opened(fileno(file), true);
    return file;
}

REPLACED FILE *fopen(const char *path, const char *mode)
{
    return opened(NEXT(fopen)(path, mode));
}

REPLACED FILE *fopen64(const char *path, const char *mode)
{
    return opened(NEXT(fopen)(path, mode));
}

/* Without O_CREAT and O_TMPFILE there is no mode,
   and what is read in its place is not looked at. */
REPLACED int openat(int folder, const char *path, int flags, ...)
{
    va_list values;
    int fd;

    va_start(values, flags);
    fd = NEXT(openat)(folder, path, flags, va_arg(values, mode_t));
    va_end(values);
    if (fd >= 0)
        recorder_opened(fd, flags & O_NONBLOCK);
    return fd;
}

REPLACED int open(const char *path, int flags, ...)
{
    va_list values;
    int fd;

    va_start(values, flags);
    fd = openat(AT_FDCWD, path, flags, va_arg(values, mode_t));
    va_end(values);
    return fd;
}

REPLACED int open64(const char *path, int flags, ...) __attribute__((alias("open")));

REPLACED int execvp(const char *file, char *const argv[])
{
    recorder_child(argv, environ);
    return NEXT(execvp)(file, argv);
}

REPLACED int execv(const char *file, char *const argv[])
{
    recorder_child(argv, environ);
    return NEXT(execv)(file, argv);
}

REPLACED int execve(const char *file, char *const argv[], char *const envp[])
{
    recorder_child(argv, envp);
    return NEXT(execve)(file, argv, envp);
}
