/*
 * What breaks for whom: a router, or what has taken its place, answers with pages that never end,
 * and an operator's program fills the machine's memory, or runs until somebody looks. Protocol:
 * section 8.
 */
#include "stage.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PADDING = 6 << 20 };

static char padding[PADDING + 1];
static pid_t pages;

/* The page of a topic: a circle of three envelopes, or ever new ones of 6 MiB; and all the rest. */
static void answer(FILE *stream, const char *request, unsigned number)
{
    bool is_circle = strstr(request, "/circle/") != NULL;
    bool is_history = strstr(request, "/history") != NULL;
    char id[16];

    snprintf(id, sizeof id, "e%u", is_circle ? number % 3 : number);
    fputs("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", stream);
    if (is_history)
        fprintf(stream,
                "{\"history\":[{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"eve\","
                "\"kind\":\"chat\",\"payload\":{\"text\":\"%s\"}}],\"next\":\"%s\"}",
                id, is_circle ? "" : padding, id);
    else
        fputs("{\"rev\":\"1\",\"profiles\":[],\"participants\":[],\"next\":\"x\"}", stream);
}

static void serve(int listener)
{
    for (unsigned number = 0;; number++) {
        FILE *stream = fdopen(accept(listener, NULL, NULL), "r+");
        char request[512] = "", line[512];

        while (stream && fgets(line, sizeof line, stream) && line[0] != '\r')
            if (request[0] == '\0')
                strcpy(request, line);
        if (!stream)
            _exit(1);
        fseek(stream, 0, SEEK_CUR);
        answer(stream, request, number);
        fclose(stream);
    }
}

static void set_up(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    char url[64];

    memset(padding, 'x', PADDING);
    cr_assert_eq(bind(listener, (struct sockaddr *)&address, len), 0);
    cr_assert_eq(listen(listener, 16), 0);
    getsockname(listener, (struct sockaddr *)&address, &len);
    pages = fork();
    if (pages == 0)
        serve(listener);
    close(listener);
    snprintf(url, sizeof url, "ws://127.0.0.1:%d", ntohs(address.sin_port));
    setenv("MCPX_URL", url, 1);
    setenv("MCPX_TOKEN", "token", 1);
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
}

static void tear_down(void)
{
    kill(pages, SIGKILL);
    waitpid(pages, NULL, 0);
}

TestSuite(endless, .init = set_up, .fini = tear_down, .timeout = 120);

Test(endless, pages_that_do_not_end_are_given_up)
{
    static const struct row rows[] = {
        {"mcpxctl proposals --topic circle 2>&1", 1,
         "the history of circle cannot be read: the pages repeat themselves, after "},
        {"mcpxctl history --kind chat --topic circle 2>&1", 1, "the pages repeat themselves"},
        {"mcpxctl chain e0 --topic circle 2>&1", 1, "the pages repeat themselves"},
        {"mcpxctl policy show 2>&1", 1,
         "the participants cannot be read: the pages repeat themselves"},
        {"mcpxctl proposals --topic ever 2>&1", 1,
         "the pages do not end: there are more than 256 MiB of them, after 43 envelopes"},
    };
    struct rusage usage;

    expect_rows(rows, COUNT(rows));
    getrusage(RUSAGE_CHILDREN, &usage);
    cr_expect_lt(usage.ru_maxrss, 1 << 20, "%ld KiB", usage.ru_maxrss);
}
