/*
 * service.c - what systemd does for a unit with Type=notify and a socket, in as many lines as a
 * test needs. systemd-socket-activate could hand the socket over, but starts nothing a second time.
 */
#include "tests/support/service.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { FIRST_HANDED = 3, BACKLOG = 1024 };

void service_open(struct service *service, uint32_t host)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(host)};
    struct sockaddr_un where = {.sun_family = AF_UNIX};

    *service = (struct service){.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
                                .notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    snprintf(service->path, sizeof service->path, "/tmp/mcpx-test-notify-%d", (int)getpid());
    strcpy(where.sun_path, service->path);
    unlink(service->path);
    cr_assert(bind(service->notify, (struct sockaddr *)&where, sizeof where) == 0);
    cr_assert(bind(service->socket, (struct sockaddr *)&address, sizeof address) == 0);
    cr_assert(listen(service->socket, BACKLOG) == 0);
}

static void run_child(const struct service *service, pid_t test, int out, unsigned watchdog_us)
{
    char number[16];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != test)
        _exit(127);
    dup2(out, STDOUT_FILENO);
    dup2(service->socket, FIRST_HANDED);
    snprintf(number, sizeof number, "%d", (int)getpid());
    setenv("LISTEN_PID", number, 1);
    setenv("LISTEN_FDS", "1", 1);
    setenv("NOTIFY_SOCKET", service->path, 1);
    snprintf(number, sizeof number, "%u", watchdog_us);
    if (watchdog_us)
        setenv("WATCHDOG_USEC", number, 1);
    execl(daemon_program(), "mcpx-router", "--dev", (char *)NULL);
    _exit(127);
}

void service_start(struct service *service, unsigned watchdog_us)
{
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    pid_t test = getpid();
    int pipes[2];

    getsockname(service->socket, (struct sockaddr *)&address, &len);
    cr_assert(pipe(pipes) == 0);
    service->daemon = (struct daemon){.listeners = 1, .out = pipes[0]};
    service->daemon.port[0] = ntohs(address.sin_port);
    service->daemon.pid = fork();
    if (service->daemon.pid == 0)
        run_child(service, test, pipes[1], watchdog_us);
    close(pipes[1]);
}

bool service_hears(struct service *service, char *words, size_t size)
{
    ssize_t len = recv(service->notify, words, size - 1, MSG_DONTWAIT);

    words[len > 0 ? len : 0] = '\0';
    return len > 0;
}

const char *service_expect(struct service *service, const char *words)
{
    long deadline = support_now_ms() + DAEMON_PATIENCE_MS;

    for (;;) {
        struct pollfd wait = {.fd = service->notify, .events = POLLIN};
        long left = deadline - support_now_ms();

        cr_assert(left > 0 && poll(&wait, 1, (int)left) > 0, "it never told %s", words);
        if (service_hears(service, service->heard, sizeof service->heard) &&
            strstr(service->heard, words))
            return service->heard;
    }
}

void service_close(struct service *service)
{
    close(service->socket);
    close(service->notify);
    unlink(service->path);
}
