/*
 * stage.c - the shell, the router and the server around a program under test.
 */
#include "stage.h"
#include "tests/support/outside.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct daemon router;
char output[OUTPUT_MAX];
static struct server fs;

/* The watch started last, so that a test that fails leaves none behind. */
static pid_t watching;

void stage_set_up(void)
{
    char url[64];

    daemon_start_default(&router);
    snprintf(url, sizeof url, "ws://127.0.0.1:%d", router.port[0]);
    setenv("MCPX_URL", url, 1);
    setenv("MCPX_TOPIC", "a room/1", 1);
    setenv("TZ", "UTC", 1);
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1); /* not the contexts of who runs the test */
    unsetenv("MCPX_CONTEXT");
    unsetenv("MCPX_TOKEN");
    server_start(&fs, &router, "fs", "a room/1");
}

void stage_tear_down(void)
{
    if (watching > 0 && waitpid(watching, NULL, WNOHANG) == 0) {
        kill(watching, SIGKILL);
        waitpid(watching, NULL, 0);
    }
    server_stop(&fs);
    cr_expect_eq(daemon_stop(&router), 0);
}

int run(const char *line)
{
    char command[4096];

    snprintf(command, sizeof command, "mcpxctl() { '%s/bin/mcpxctl' \"$@\"; }; %s",
             getenv("MCPX_BINARY_DIR"), line);
    return command_run(command, output, sizeof output);
}

void expect(const char *line, int status, const char *says)
{
    int got = run(line);

    cr_expect_eq(got, status, "%s exits with %d: %s", line, got, output);
    cr_expect_not_null(strstr(output, says), "%s says: %s", line, output);
}

void expect_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(rows[i].line, rows[i].status, rows[i].says);
}

void expect_of(int status, const char *says, const char *format, ...)
{
    char line[1024];
    va_list words;

    va_start(words, format);
    vsnprintf(line, sizeof line, format, words);
    va_end(words);
    expect(line, status, says);
}

void run_for_id(char id[64], const char *format, ...)
{
    char line[1024];
    va_list words;

    va_start(words, format);
    vsnprintf(line, sizeof line, format, words);
    va_end(words);
    cr_assert_eq(run(line), 0, "%s", line);
    cr_assert_eq(strlen(output), 37, "%s", output);
    snprintf(id, 64, "%.36s", output);
}

void find_listed(const char *line, const char *id, char word[128])
{
    size_t len = strcspn(id, "@");
    char *at, *mark;

    cr_assert_eq(run(line), 0);
    for (at = output; (at = strstr(at, " ")); at++) {
        mark = at + 1 + strcspn(at + 1, " @");
        if (strncmp(at + 1, id, len < 8 ? len : 8) == 0 && *mark == '@') {
            snprintf(word, 128, "%.*s", (int)strcspn(at + 1, " "), at + 1);
            return;
        }
    }
    cr_assert_fail("%s is not listed: %s", id, output);
}

pid_t start_watch(const char *options, char file[32])
{
    char command[512], said[256] = "";
    size_t len = 0;
    int pipes[2];
    pid_t pid;

    strcpy(file, "/tmp/mcpxctl-watch-XXXXXX");
    close(mkstemp(file));
    cr_assert_eq(pipe(pipes), 0);
    snprintf(command, sizeof command, "exec '%s/bin/mcpxctl' watch %s >%s",
             getenv("MCPX_BINARY_DIR"), options, file);
    watching = pid = fork();
    if (pid == 0) {
        dup2(pipes[1], STDERR_FILENO);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    while (!strstr(said, " as eye")) {
        ssize_t got = read(pipes[0], said + len, sizeof said - 1 - len);

        cr_assert_gt(got, 0, "%s", said);
        len += (size_t)got;
        said[len] = '\0';
    }
    return pid; /* its standard error stays open behind it */
}

void read_file(const char *file)
{
    FILE *stream = fopen(file, "r");
    size_t len;

    cr_assert_not_null(stream);
    len = fread(output, 1, sizeof output - 1, stream);
    output[len] = '\0';
    fclose(stream);
    unlink(file);
}
