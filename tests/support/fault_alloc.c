/*
 * fault_alloc.c - the linker hands every allocation of our objects to __wrap_*, which counts it
 * and passes it on to __real_*. Replacing malloc itself would also hit Criterion's.
 */
#include "tests/support/fault_alloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t armed, count;
static bool fired;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);

void fault_alloc_arm(size_t nth)
{
    armed = nth;
    count = 0;
    fired = false;
}

bool fault_alloc_disarm(void)
{
    armed = 0;
    return fired;
}

bool fault_alloc_goes_on(size_t nth, size_t least)
{
    if (nth == 1 || fault_alloc_disarm()) {
        fault_alloc_arm(nth);
        return true;
    }
    if (nth - 2 >= least)
        return false;
    fprintf(stderr, "%zu allocations failed, and not at least %zu\n", nth - 2, least);
    abort();
}

size_t fault_alloc_count(void)
{
    return count;
}

static bool must_fail(void)
{
    count++;
    if (armed == 0 || count != armed)
        return false;
    fired = true;
    errno = ENOMEM;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t number, size_t size)
{
    return must_fail() ? NULL : __real_calloc(number, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return must_fail() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return must_fail() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
    return must_fail() ? NULL : __real_strndup(text, len);
}
