/*
 * memory.c - malloc, calloc and realloc of the programs. They replace those of the C library in the
 * whole process: in our code, libmcpx, libuv, OpenSSL, libcurl, the C library's own strdup and
 * getline. When memory is missing, they end the program; they return NULL only for a size of 0.
 *
 * A bridge without memory may lose data and send incomplete messages, but it can be started again.
 * So the code above need not work without memory. The router serves many clients and goes on.
 *
 * Rejected: functions of our own in place of malloc, because the libraries would not call them;
 * --wrap of the linker, because it does not reach shared libraries. Limits on input from others are
 * checked elsewhere, before memory is taken.
 *
 * The file is part of the programs, not of a library, because test programs have a malloc of their
 * own. Programs with sanitizers do not have it: their malloc ends the program itself.
 */
#define _GNU_SOURCE /* RTLD_NEXT, program_invocation_short_name */
#include "tools/common/program.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#define REPLACED __attribute__((visibility("default")))

/* The next functions of these names: the C library's, or those of a preloaded allocator. */
static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
} next;

#define FIND(name) (next.name || (*(void **)&next.name = dlsym(RTLD_NEXT, #name)))

static void *given(void *memory, size_t size)
{
    if (!memory && size)
        end_without_memory(program_invocation_short_name);
    return memory;
}

REPLACED void *malloc(size_t size)
{
    return given(FIND(malloc) ? next.malloc(size) : NULL, size);
}

REPLACED void *calloc(size_t nmemb, size_t size)
{
    return given(FIND(calloc) ? next.calloc(nmemb, size) : NULL, nmemb && size);
}

REPLACED void *realloc(void *ptr, size_t size)
{
    return given(FIND(realloc) ? next.realloc(ptr, size) : NULL, size);
}
