/*
 * false_router.c - a forked child with blocking sockets, one connection at a time, so that the
 * test's own thread is free to run the client's loop.
 */
#define _GNU_SOURCE /* memmem, strcasestr */
#include "tests/support/false_router.h"
#include "tests/support/daemon.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t cut;

static void on_cut(int signal)
{
    (void)signal;
    cut = 1;
}

static int open_port(int *port, bool listening)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    cr_assert(!listening || listen(fd, 16) == 0);
    getsockname(fd, (struct sockaddr *)&address, &len);
    *port = ntohs(address.sin_port);
    return fd;
}

int false_router_nobody(int *port)
{
    return open_port(port, false);
}

static void say(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);

        if (sent <= 0)
            return;
        text += sent;
        len -= (size_t)sent;
    }
}

/* Reads up to the blank line; false when it does not come. */
static bool read_head(int fd, char *head, size_t size)
{
    size_t len = 0;

    while (len + 1 < size) {
        ssize_t got = recv(fd, head + len, size - 1 - len, 0);

        if (got <= 0)
            return false;
        len += (size_t)got;
        head[len] = '\0';
        if (strstr(head, "\r\n\r\n"))
            return true;
    }
    return false;
}

static void say_101(int fd, const char *head)
{
    static const char salt[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    const char *key = strcasestr(head, "sec-websocket-key:");
    unsigned char digest[EVP_MAX_MD_SIZE], base64[64];
    char text[256];

    if (!key)
        return;
    key += strlen("sec-websocket-key:");
    key += strspn(key, " ");
    snprintf(text, sizeof text, "%.24s%s", key, salt);
    EVP_Digest(text, strlen(text), digest, NULL, EVP_sha1(), NULL);
    EVP_EncodeBlock(base64, digest, 20);
    snprintf(
        text, sizeof text,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: %s\r\n\r\n",
        (char *)base64);
    say(fd, text, strlen(text));
}

static void answer(int fd, bool upgrade, const char *bytes, size_t len)
{
    static char head[16384];

    if (!read_head(fd, head, sizeof head))
        return;
    if (upgrade)
        say_101(fd, head);
    say(fd, bytes, len);
    if (!upgrade)
        shutdown(fd, SHUT_WR);
    while (recv(fd, head, sizeof head, 0) > 0)
        ;
}

static int dial(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((unsigned short)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static ssize_t pass(int from, int to)
{
    static char bytes[4096];
    ssize_t got = recv(from, bytes, sizeof bytes, 0);

    if (got > 0)
        say(to, bytes, (size_t)got);
    return got;
}

/* The signal to cut comes while it waits, and at no other time: so none is missed. */
static void relay(int client, int router, size_t bytes_max, const sigset_t *waiting)
{
    struct pollfd both[] = {{.fd = client, .events = POLLIN},
                            {.fd = router, .events = POLLIN}};
    bool open = router >= 0;
    size_t passed = 0;

    cut = 0;
    while (open && !cut) {
        if (ppoll(both, 2, NULL, waiting) < 0)
            continue;
        open = !both[0].revents || pass(client, router) > 0;
        if (open && both[1].revents) {
            ssize_t got = pass(router, client);

            passed += got > 0 ? (size_t)got : 0;
            open = got > 0 && (!bytes_max || passed < bytes_max);
        }
    }
    close(router);
}

static void start(struct false_router *router, int *listener)
{
    *listener = open_port(&router->port, true);
    router->told = -1;
    router->pid = fork();
    if (router->pid)
        close(*listener);
    else
        prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void false_router_start(struct false_router *router, bool upgrade, const char *bytes,
                        size_t len)
{
    int listener, fd;

    start(router, &listener);
    while (!router->pid) {
        fd = accept(listener, NULL, NULL);
        if (fd >= 0)
            answer(fd, upgrade, bytes, len);
        close(fd);
    }
}

void false_router_relay(struct false_router *router, int port, size_t bytes_max)
{
    struct sigaction action = {.sa_handler = on_cut};
    int listener, fd, pipes[2];
    sigset_t blocked, waiting;

    cr_assert(pipe(pipes) == 0);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &waiting);
    start(router, &listener);
    router->told = pipes[0];
    if (router->pid) {
        close(pipes[1]);
        sigprocmask(SIG_SETMASK, &waiting, NULL);
        return;
    }
    sigaction(SIGUSR1, &action, NULL);
    for (;;) {
        fd = accept(listener, NULL, NULL);
        if (fd >= 0)
            relay(fd, dial(port), bytes_max, &waiting);
        close(fd);
        if (cut && write(pipes[1], "!", 1) != 1)
            _exit(1);
    }
}

void false_router_cut(const struct false_router *router)
{
    struct pollfd wait = {.fd = router->told, .events = POLLIN};
    char byte;

    kill(router->pid, SIGUSR1);
    cr_assert(poll(&wait, 1, DAEMON_PATIENCE_MS) == 1 && read(router->told, &byte, 1) == 1,
              "the connection was not cut");
}

void false_router_stop(struct false_router *router)
{
    kill(router->pid, SIGKILL);
    waitpid(router->pid, NULL, 0);
    if (router->told >= 0)
        close(router->told);
}
