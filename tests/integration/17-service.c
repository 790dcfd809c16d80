/*
 * Under a service manager. What breaks here: a machine that boots before its router listens, a
 * router that hangs and that nobody starts again, and clients that are refused while it is
 * restarted. Protocol: section 6 (1001); configuration: as a service.
 */
#include "tests/support/daemon.h"
#include "tests/support/rude_client.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <libgen.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/*
 * The real program under a service manager, which is the test: its listening socket is handed over,
 * and what it tells is read, as systemd does both for a unit with Type=notify and a socket.
 * systemd-socket-activate could hand the socket over, but starts nothing a second time.
 *
 * daemon    the program as it runs now; daemon_stop and daemon_wait end it
 * socket    what it listens on; it stays open when the program ends
 * notify    where it tells how it is
 * path      of that
 * heard     what expect waited for
 */
struct service {
    struct daemon daemon;
    int socket, notify;
    char path[64], heard[512];
};

enum { FIRST_HANDED = 3, BACKLOG = 1024 };

/* Opens both sockets; the one to listen on is on `host`, an IPv4 address as a number. */
static void service_open(struct service *service, uint32_t host)
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

/* In development mode; may be called again when it has ended. watchdog_us: 0 = nobody watches */
static void service_start(struct service *service, unsigned watchdog_us)
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

/* The next of its words; false when there are none now. Waits for nothing. */
static bool service_hears(struct service *service, char *words, size_t size)
{
    ssize_t len = recv(service->notify, words, size - 1, MSG_DONTWAIT);

    words[len > 0 ? len : 0] = '\0';
    return len > 0;
}

/* Waits until it tells this, and returns all that it told with it, until the next call. */
static const char *service_expect(struct service *service, const char *words)
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

static void service_close(struct service *service)
{
    close(service->socket);
    close(service->notify);
    unlink(service->path);
}

static struct service service;

static const char ask[] = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";

/* The listening socket is there before the program is. */
Test(service, a_socket_handed_over_is_served, .timeout = 120)
{
    struct rude rude;

    service_open(&service, INADDR_LOOPBACK);
    service_start(&service, 0);
    cr_expect_eq(rude_http(&rude, &service.daemon, ask), 200);
    rude_shut(&rude);
    cr_expect_eq(daemon_stop(&service.daemon), 0);
    service_close(&service);
}

/* By mistake in the unit: ListenDatagram=, or Accept=yes. It would turn without an end. */
Test(service, a_socket_that_takes_no_connections_is_refused, .timeout = 120)
{
    int pair[2], sockets[2] = {socket(AF_INET, SOCK_DGRAM, 0)};

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    sockets[1] = pair[0];
    for (int i = 0; i < 2; i++) {
        service_open(&service, INADDR_LOOPBACK);
        cr_assert_geq(dup2(sockets[i], service.socket), 0);
        service_start(&service, 0);
        cr_expect_eq(daemon_wait(&service.daemon), 1, "%d", i);
        service_close(&service);
    }
}

Test(service, a_unix_socket_is_named_by_its_path, .timeout = 120)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "/tmp/mcpx-XXXXXX"};
    char line[64] = "";

    cr_assert(mkdtemp(path.sun_path));
    strcat(path.sun_path, "/s");
    service_open(&service, INADDR_LOOPBACK);
    close(service.socket);
    service.socket = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(bind(service.socket, (struct sockaddr *)&path, sizeof path), 0);
    cr_assert_eq(listen(service.socket, 8), 0);
    service_start(&service, 0);
    cr_assert_gt(read(service.daemon.out, line, sizeof line - 1), 0);
    cr_expect(strncmp(line, "listening unix:/tmp/mcpx-", 25) == 0, "%s", line);
    cr_expect_eq(daemon_stop(&service.daemon), 0);
    service_close(&service);
    unlink(path.sun_path);
    rmdir(dirname(path.sun_path));
}

/* A kernel without IPv6, as some containers have. */
static void have_no_v6(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};

    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        cr_skip_test("SKIP: no filter of system calls here, as under an emulator");
}

Test(service, without_ipv6_a_name_of_both_listens_on_what_there_is, .timeout = 120)
{
    static const struct {
        const char *listen, *said;
    } rows[] = {{"*:0", "listening ws://0.0.0.0:"},
                {"localhost:0", "listening ws://127.0.0.1:"},
                {"[::1]:0", ""}};
    char line[64];
    int out[2];

    have_no_v6();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct daemon daemon = {0};

        cr_assert_eq(pipe(out), 0);
        daemon.pid = fork();
        if (daemon.pid == 0) {
            dup2(out[1], STDOUT_FILENO);
            execl(daemon_program(), "mcpx-router", "--listen", rows[i].listen, (char *)NULL);
            _exit(127);
        }
        close(out[1]);
        daemon.out = out[0];
        memset(line, 0, sizeof line);
        (void)!read(out[0], line, sizeof line - 1);
        cr_expect(strncmp(line, rows[i].said, strlen(rows[i].said)) == 0, "%s: %s",
                  rows[i].listen, line);
        if (*rows[i].said)
            kill(daemon.pid, SIGTERM);
        cr_expect_eq(daemon_wait(&daemon), *rows[i].said ? 0 : 1, "%s", rows[i].listen);
    }
}

/* It would give tokens to the whole network. */
Test(service, dev_mode_takes_no_socket_that_others_can_reach, .timeout = 120)
{
    service_open(&service, INADDR_ANY);
    service_start(&service, 0);
    cr_expect_eq(daemon_wait(&service.daemon), 1);
    service_close(&service);
}

/* Who is started after it may connect at once; who stops it knows that it has begun to. */
Test(service, its_manager_is_told_when_it_is_ready_and_when_it_stops, .timeout = 120)
{
    struct rude silent = {0};

    service_open(&service, INADDR_LOOPBACK);
    service_start(&service, 0);
    service_expect(&service, "READY=1\nSTATUS=ready");
    rude_join(&silent, &service.daemon, "silent", "room", "");
    kill(service.daemon.pid, SIGTERM);
    service_expect(&service, "STOPPING=1");
    cr_expect_eq(rude_close_code(&silent), 1001);
    rude_shut(&silent);
    cr_expect_eq(daemon_wait(&service.daemon), 0);
    service_close(&service);
}

/* `systemctl status` says so meanwhile. An answer to a signal has to be of a later time
 * than that. */
Test(service, its_manager_is_told_of_a_reload, .timeout = 120)
{
    const char *asked = "RELOADING=1\nMONOTONIC_USEC=", *words;

    service_open(&service, INADDR_LOOPBACK);
    service_start(&service, 0);
    service_expect(&service, "READY=1\nSTATUS=ready");
    for (int i = 0; i < 3; i++) {
        struct timespec before;

        clock_gettime(CLOCK_MONOTONIC, &before);
        kill(service.daemon.pid, SIGHUP);
        words = service_expect(&service, asked);
        cr_expect_geq(strtoll(words + strlen(asked), NULL, 10),
                      (long long)before.tv_sec * 1000000 + before.tv_nsec / 1000);
        service_expect(&service, "READY=1");
    }
    cr_expect_eq(daemon_stop(&service.daemon), 0);
    service_close(&service);
}

/* An idle loop turns as well; while it stops it is still watched. */
Test(service, the_watchdog_hears_that_the_loop_turns, .timeout = 120)
{
    struct rude silent = {0};
    char words[512];

    service_open(&service, INADDR_LOOPBACK);
    service_start(&service, 40000);
    service_expect(&service, "READY=1");
    for (int i = 0; i < 20; i++) {
        long start_ms = support_now_ms();

        service_expect(&service, "WATCHDOG=1");
        cr_expect(support_now_ms() - start_ms < 5000, "long after it was due");
    }
    rude_join(&silent, &service.daemon, "silent", "room", "");
    kill(service.daemon.pid, SIGTERM);
    service_expect(&service, "STOPPING=1");
    service_expect(&service, "WATCHDOG=1");
    rude_shut(&silent);
    cr_expect_eq(daemon_wait(&service.daemon), 0);
    while (service_hears(&service, words, sizeof words))
        ;
    service_close(&service);
}

Test(service, whom_nobody_watches_tells_no_watchdog, .timeout = 120)
{
    char words[512];

    service_open(&service, INADDR_LOOPBACK);
    service_start(&service, 0);
    service_expect(&service, "READY=1");
    cr_expect_eq(daemon_stop(&service.daemon), 0);
    while (service_hears(&service, words, sizeof words))
        cr_expect_not(strstr(words, "WATCHDOG"), "%s", words);
    service_close(&service);
}

/* Who connects while no program runs waits in the socket, for the next one. */
Test(service, nobody_is_refused_while_it_is_restarted, .timeout = 120)
{
    struct rude early;

    service_open(&service, INADDR_LOOPBACK);
    service_start(&service, 0);
    service_expect(&service, "READY=1");
    cr_expect_eq(daemon_stop(&service.daemon), 0);
    rude_open(&early, &service.daemon, 0);
    rude_say(&early, ask);
    service_start(&service, 0);
    cr_expect_eq(rude_pass_head(&early), 200);
    rude_shut(&early);
    cr_expect_eq(daemon_stop(&service.daemon), 0);
    service_close(&service);
}
