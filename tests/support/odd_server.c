/*
 * odd_server.c - a program that talks in lines and misbehaves as it is told:
 * `odd_server MODE [NUMBER]`. The modes are the table at the end.
 */
#define _GNU_SOURCE /* environ */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

static void say(const char *text)
{
    size_t len = strlen(text);

    while (len) {
        ssize_t put = write(STDOUT_FILENO, text, len);

        if (put < 0)
            _exit(99);
        text += put;
        len -= (size_t)put;
    }
}

static void say_pid(const char *what, pid_t pid)
{
    char line[64];

    snprintf(line, sizeof line, "%s %d\n", what, (int)pid);
    say(line);
}

static void wait_for_ever(void)
{
    for (;;)
        pause();
}

/* Every line back, until there are no more. */
static void echo(int number)
{
    char *line = NULL;
    size_t size = 0;

    (void)number;
    while (getline(&line, &size, stdin) > 0)
        say(line);
    free(line);
}

static void end_with_code(int number)
{
    exit(number);
}

static void end_by_signal(int number)
{
    raise(number);
}

/* A line, then no output any more, but it lives. */
static void be_mute(int number)
{
    (void)number;
    say("going mute\n");
    close(STDOUT_FILENO);
    wait_for_ever();
}

/* Bytes of every value, lines of every ending, then it echoes. */
static void talk_garbage(int number)
{
    unsigned char all[256];
    int i;

    for (i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    (void)!write(STDOUT_FILENO, all, sizeof all);
    say("\n\n\r\n{\"unfinished\n\xff\xfe\n");
    echo(number);
}

/* One line of as many megabytes, then an ordinary one. */
static void talk_long(int number)
{
    static char piece[(1 << 20) + 1];
    int i;

    memset(piece, 'x', sizeof piece - 1);
    for (i = 0; i < number; i++)
        say(piece);
    say("\nafter\n");
    echo(0);
}

/* Lines, and the beginning of one that never ends. */
static void break_off(int number)
{
    (void)number;
    say("one\ntwo\nthr");
}

/* As many lines as that, then the end at once. */
static void talk_much(int number)
{
    char line[32];
    int i;

    for (i = 0; i < number; i++) {
        snprintf(line, sizeof line, "line %d\n", i);
        say(line);
    }
}

/* The same into a pipe that takes it all at once, whether anybody reads or not. */
static void talk_ahead(int number)
{
    if (fcntl(STDOUT_FILENO, F_SETPIPE_SZ, 1 << 20) < 0)
        _exit(77);
    talk_much(number);
}

static void ignore_term(int number)
{
    (void)number;
    signal(SIGTERM, SIG_IGN);
    say("ignores SIGTERM\n");
    wait_for_ever();
}

static void ignore_end_of_input(int number)
{
    (void)number;
    say("ignores the end of its input\n");
    wait_for_ever();
}

static void close_input(int number)
{
    (void)number;
    close(STDIN_FILENO);
    say("closed its input\n");
    wait_for_ever();
}

static void stop_itself(int number)
{
    (void)number;
    say("stops itself\n");
    raise(SIGSTOP);
}

static void on_term(int number)
{
    (void)number;
    _exit(43);
}

/* Stopped, but with a handler that wants to be heard. */
static void stop_and_handle_term(int number)
{
    signal(SIGTERM, on_term);
    stop_itself(number);
    wait_for_ever();
}

/* A descendant nobody can tell from an unrelated process: a session of its own, a parent that is
 * gone, an environment that is empty, and no ear for SIGTERM. Its parent waits for it. */
static void escape(char *self)
{
    char *argv[] = {self, "ignore_term", NULL}, *none[] = {NULL};
    int pipes[2];
    char byte;

    if (pipe(pipes))
        _exit(99);
    if (fork() == 0) {
        setsid();
        if (fork())
            _exit(0);
        say_pid("escaped", getpid());
        close(pipes[0]);
        close(pipes[1]);
        close(STDIN_FILENO);
        dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
        execve(self, argv, none);
        _exit(99);
    }
    close(pipes[1]);
    (void)!read(pipes[0], &byte, 1);
    close(pipes[0]);
}

static char *program;

static void leave_orphan(int number)
{
    escape(program);
    say("ready\n");
    echo(number);
}

static void leave_orphan_and_end(int number)
{
    escape(program);
    exit(number);
}

static void fork_many(int number)
{
    int i;

    for (i = 0; i < number; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            signal(SIGTERM, SIG_IGN);
            if (i % 2)
                setsid();
            wait_for_ever();
        }
        say_pid("forked", pid);
    }
    say("ready\n");
    echo(number);
}

/* A chain: each process has one child, in a session of its own. */
static void fork_deep(int number)
{
    int i;

    signal(SIGTERM, SIG_IGN);
    for (i = 0; i < number && fork() == 0; i++) {
        setsid();
        say_pid("forked", getpid());
    }
    if (i == number)
        say("ready\n");
    wait_for_ever();
}

/* A process that is never the same for long: each forks the next and ends. */
static void run_away(int number)
{
    (void)number;
    say("ready\n");
    if (fork())
        wait_for_ever();
    close(STDOUT_FILENO);
    for (;;) {
        setsid();
        if (fork() > 0)
            _exit(0);
    }
}

static void talk_to_people(int number)
{
    static char many[9000];
    const char text[] = "plain\n\033[31mred\033[0m\ttab\n\n\xc2\x9b"
                        "csi \xc3\xa4\nbell\a\rback\n\xe2\x80\xae\x9b\n";

    memset(many, 'e', sizeof many - 1);
    many[sizeof many - 2] = '\n';
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    (void)!write(STDERR_FILENO, many, sizeof many - 1);
    (void)!write(STDERR_FILENO, "last words", 10);
    exit(number);
}

static int count_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = -1; /* the folder itself */

    while (folder && readdir(folder))
        count++;
    return count - 2; /* "." and ".." */
}

/* What it was given, in lines. */
static void describe_itself(int number)
{
    int i, death = 0, handled = 0;
    struct sigaction action;
    char folder[PATH_MAX];
    sigset_t mask;

    (void)number;
    say_pid("descriptors", count_descriptors());
    say_pid("leads its session", getsid(0) == getpid());
    say_pid("leads its group", getpgrp() == getpid());
    prctl(PR_GET_PDEATHSIG, &death);
    say_pid("signal at the parent's death", death);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (i = 1; i < SIGRTMIN; i++)
        if (sigismember(&mask, i) == 1 ||
            (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_DFL))
            handled++;
    say_pid("signals blocked or not default", handled);
    say(getcwd(folder, sizeof folder) ? folder : "?");
    say(getenv("MCPX_CHILD") ? "\nmarked\n" : "\nnot marked\n");
    echo(0);
}

static const struct {
    const char *name;
    void (*run)(int number);
} modes[] = {{"echo", echo},
             {"exit", end_with_code},
             {"signal", end_by_signal},
             {"mute", be_mute},
             {"garbage", talk_garbage},
             {"long", talk_long},
             {"break_off", break_off},
             {"much", talk_much},
             {"ahead", talk_ahead},
             {"ignore_term", ignore_term},
             {"ignore_eof", ignore_end_of_input},
             {"close_input", close_input},
             {"stop", stop_itself},
             {"stop_handle_term", stop_and_handle_term},
             {"orphan", leave_orphan},
             {"orphan_exit", leave_orphan_and_end},
             {"many", fork_many},
             {"deep", fork_deep},
             {"run_away", run_away},
             {"people", talk_to_people},
             {"describe", describe_itself}};

int main(int argc, char **argv)
{
    size_t i;

    program = argv[0];
    for (i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run(argc > 2 ? atoi(argv[2]) : 0);
            return 0;
        }
    fprintf(stderr, "odd_server: no mode '%s'\n", argc > 1 ? argv[1] : "");
    return 2;
}
