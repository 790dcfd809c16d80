/*
 * plain.c - runs the tests that were linked, one process after the other, and says which failed.
 */
#include <criterion/criterion.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct plain_suite *suites;
static struct plain_test *tests;
static int failures;

void plain_add_suite(struct plain_suite *suite)
{
    suite->next = suites;
    suites = suite;
}

void plain_add_test(struct plain_test *test)
{
    struct plain_test **last = &tests;

    while (*last)
        last = &(*last)->next;
    *last = test;
}

void plain_check(bool fatal, const char *file, int line, const char *text, bool holds, ...)
{
    const char *format;
    va_list rest;

    if (holds)
        return;
    failures++;
    va_start(rest, holds);
    format = va_arg(rest, const char *);
    fprintf(stderr, "%s:%d: %s: ", file, line, text);
    if (format)
        vfprintf(stderr, format, rest);
    fputc('\n', stderr);
    va_end(rest);
    if (fatal)
        exit(1);
}

/* In a process of its own: what a test leaves behind does not meet the next one. */
static void run(const struct plain_test *test)
{
    const struct plain_suite *suite = suites;

    while (suite && strcmp(suite->name, test->suite) != 0)
        suite = suite->next;
    if (suite && suite->init)
        suite->init();
    test->run();
    if (suite && suite->fini)
        suite->fini();
    exit(failures > 0);
}

int main(void)
{
    int failed = 0;
    int count = 0;

    for (const struct plain_test *test = tests; test; test = test->next, count++) {
        int status = 1;
        pid_t child;

        fflush(NULL);
        child = fork();
        if (child == 0)
            run(test);
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            printf("[FAIL] %s::%s\n", test->suite, test->name);
            failed++;
        }
    }
    printf("%d tests, %d failed\n", count, failed);
    return failed > 0;
}
