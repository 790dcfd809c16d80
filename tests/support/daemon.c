/*
 * daemon.c - a child process, two pipes' worth of patience, and /proc. Nothing is waited for by
 * time: a deadline only says when a test has failed.
 */
#define _GNU_SOURCE /* memmem */
#include "tests/support/daemon.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Nobody is pinged: a rude client answers nothing, however long a slow machine takes. */
static const char generous[] =
    "{\"limits\":{\"joins_per_minute\":0,\"requests_per_minute\":0,\"messages_per_"
    "minute\":0,\"bytes_per_minute\":0,\"connects_per_s\":0,\"ping_s\":0,"
    "\"message_bytes\":2097152}}";

long support_now_ms(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

const char *daemon_program(void)
{
    static char path[4096];
    const char *folder = getenv("MCPX_BINARY_DIR");

    snprintf(path, sizeof path, "%s/bin/mcpx-router", folder ? folder : "build");
    return path;
}

bool daemon_has_v6(void)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool bound = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0;

    if (fd >= 0)
        close(fd);
    return bound;
}

static void write_config(struct daemon *daemon, const char *config)
{
    int fd;

    strcpy(daemon->config, "/tmp/mcpx-test-config-XXXXXX");
    fd = mkstemp(daemon->config);
    cr_assert(fd >= 0 && write(fd, config, strlen(config)) == (ssize_t)strlen(config));
    close(fd);
}

/*
 * How it is started.
 *
 * descriptors   its limit of file descriptors; 0 = as ours
 * port          of its first listener; 0 = one that is free
 * plain         not in development mode
 * log           what takes the place of the log file; 0 = nothing
 */
struct launch {
    unsigned long descriptors;
    int port;
    bool plain;
    int log;
};

/*
 * A free port below those that the system gives to whoever asks for any: a router that is restarted
 * finds it free again, whatever else this machine does meanwhile.
 */
static int find_port(void)
{
    enum { FIRST = 10000, COUNT = 20000 };
    struct sockaddr_in address = {.sin_family = AF_INET};
    bool bound = false;
    uint16_t dice;
    int fd;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    while (!bound) {
        cr_assert(getrandom(&dice, sizeof dice, 0) == sizeof dice);
        address.sin_port = htons(FIRST + dice % COUNT);
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        cr_assert(fd >= 0);
        bound = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
        close(fd);
    }
    return ntohs(address.sin_port);
}

/* Memory is measured, so what is free goes back at once. What secrets/ needs stays. */
static void set_asan_options(void)
{
    const char *others = getenv("ASAN_OPTIONS");
    char options[512];

    snprintf(options, sizeof options,
             "quarantine_size_mb=4:allocator_release_to_os_interval_ms=100:%s",
             others ? others : "");
    setenv("ASAN_OPTIONS", options, 1);
}

static void run_child(const struct daemon *daemon, pid_t test, int out,
                      const struct launch *how)
{
    struct rlimit limit = {how->descriptors, how->descriptors};
    int log = how->log ? how->log : open(daemon->log, O_WRONLY | O_APPEND);
    char address[32];
    char *arguments[12] = {
        "mcpx-router", "--dumpable", /* else only root can count its descriptors */
        "--config",    (char *)daemon->config, "--listen", address};
    size_t count = 6;

    /* A test that is killed, by its timeout for one, leaves no router behind. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != test)
        _exit(127);
    snprintf(address, sizeof address, "127.0.0.1:%d", daemon->port[0]);
    if (how->descriptors)
        setrlimit(RLIMIT_NOFILE, &limit);
    dup2(out, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    signal(SIGTERM, SIG_DFL);
    set_asan_options();
    if (daemon_has_v6()) {
        arguments[count++] = "--listen";
        arguments[count++] = "[::1]:0";
    }
    if (!how->plain)
        arguments[count++] = "--dev";
    execv(daemon_program(), arguments);
    _exit(127);
}

/* One line without its end, from the child's output. */
static void read_line(struct daemon *daemon, char *line, size_t size)
{
    long deadline = support_now_ms() + DAEMON_PATIENCE_MS;
    size_t len = 0;

    while (len + 1 < size) {
        struct pollfd wait = {.fd = daemon->out, .events = POLLIN};
        long left = deadline - support_now_ms();

        cr_assert(left > 0 && poll(&wait, 1, (int)left) > 0, "no `listening` line; see %s",
                  daemon->log);
        cr_assert(read(daemon->out, line + len, 1) == 1, "the router ended at once; see %s",
                  daemon->log);
        if (line[len] == '\n')
            break;
        len++;
    }
    line[len] = '\0';
}

static void read_listener(struct daemon *daemon)
{
    size_t i = daemon->listeners++;
    char line[256];
    const char *colon;

    read_line(daemon, line, sizeof line);
    cr_assert(strncmp(line, "listening ws://", 15) == 0, "unexpected line: %s", line);
    colon = strrchr(line, ':');
    daemon->v6[i] = line[15] == '[';
    daemon->port[i] = atoi(colon + 1);
}

static void launch(struct daemon *daemon, const char *config, const struct launch *how)
{
    pid_t test = getpid();
    int pipes[2], log;

    *daemon = (struct daemon){0};
    signal(SIGPIPE, SIG_IGN);
    write_config(daemon, config ? config : generous);
    strcpy(daemon->log, "/tmp/mcpx-test-log-XXXXXX");
    log = mkstemp(daemon->log);
    cr_assert(log >= 0 && pipe(pipes) == 0);
    close(log);
    daemon->port[0] = how->port ? how->port : find_port();
    daemon->pid = fork();
    if (daemon->pid == 0)
        run_child(daemon, test, pipes[1], how);
    close(pipes[1]);
    daemon->out = pipes[0];
    read_listener(daemon);
    cr_assert(!daemon->v6[0]);
    if (!daemon_has_v6())
        return;
    read_listener(daemon);
    cr_assert(daemon->v6[1]);
}

void daemon_start(struct daemon *daemon, const char *config, unsigned long descriptors)
{
    launch(daemon, config, &(struct launch){.descriptors = descriptors});
}

void daemon_start_plain(struct daemon *daemon, const char *config)
{
    launch(daemon, config, &(struct launch){.plain = true});
}

void daemon_start_logging(struct daemon *daemon, const char *config, int descriptor)
{
    launch(daemon, config, &(struct launch){.log = descriptor});
}

void daemon_restart(struct daemon *daemon, const char *config, int signal)
{
    struct daemon before = *daemon;

    kill(before.pid, signal);
    daemon_wait(&before);
    unlink(before.log);
    launch(daemon, config, &(struct launch){.port = before.port[0]});
}

void daemon_start_default(struct daemon *daemon)
{
    daemon_start(daemon, NULL, 0);
}

int daemon_wait(struct daemon *daemon)
{
    long deadline = support_now_ms() + DAEMON_PATIENCE_MS;
    char rest[4096];
    int status = 0;

    /* Its standard output closes when it ends: that is what is waited for. */
    for (;;) {
        struct pollfd wait = {.fd = daemon->out, .events = POLLIN};
        long left = deadline - support_now_ms();

        if (left <= 0 || poll(&wait, 1, (int)left) <= 0) {
            kill(daemon->pid, SIGKILL);
            break;
        }
        if (read(daemon->out, rest, sizeof rest) <= 0)
            break;
    }
    close(daemon->out);
    waitpid(daemon->pid, &status, 0);
    unlink(daemon->config);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        unlink(daemon->log);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

int daemon_stop(struct daemon *daemon)
{
    kill(daemon->pid, SIGTERM);
    return daemon_wait(daemon);
}

long daemon_rss_kib(const struct daemon *daemon)
{
    char path[64], line[256];
    long kib = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)daemon->pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "VmRSS: %ld", &kib);
    if (file)
        fclose(file);
    return kib;
}

int daemon_descriptors(const struct daemon *daemon)
{
    const struct dirent *entry;
    char path[64];
    int count = 0;
    DIR *folder;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)daemon->pid);
    folder = opendir(path);
    cr_assert(folder != NULL, "%s", path);
    while ((entry = readdir(folder)))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

long daemon_cpu_ms(const struct daemon *daemon)
{
    long user = 0, system = 0;
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)daemon->pid);
    file = fopen(path, "r");
    cr_assert(file && fscanf(file,
                             "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
                             "%ld %ld",
                             &user, &system) == 2);
    fclose(file);
    return (user + system) * 1000 / sysconf(_SC_CLK_TCK);
}

bool daemon_logged(const struct daemon *daemon, const char *text)
{
    static char content[1 << 20];
    FILE *file = fopen(daemon->log, "r");
    size_t len = file ? fread(content, 1, sizeof content, file) : 0;

    if (file)
        fclose(file);
    return memmem(content, len, text, strlen(text)) != NULL;
}

bool daemon_logs(const struct daemon *daemon, const char *text)
{
    long start_ms = support_now_ms();

    while (!daemon_logged(daemon, text))
        if (support_now_ms() > start_ms + DAEMON_PATIENCE_MS)
            return false;
    return true;
}
