/*
 * memory.c - malloc, calloc and realloc of the programs. They stand before those of the C library,
 * for all that is in the process: our code, libmcpx, libuv, OpenSSL, libcurl, the C library's own
 * strdup and getline. What they cannot give ends the program; NULL is never returned, but where the
 * C library means something else by it (a size of 0).
 *
 * A bridge that lives on with half of what it should know may send half of what it should say, and
 * whoever started it can start it again; so nothing above has to be right without memory. The
 * router, which has more than one client's conversation to lose, goes on.
 *
 * Refused: functions of our own in the place of malloc, because the libraries would not call them;
 * --wrap of the linker, because it reaches no shared library. Nothing here bounds what others ask
 * for: that is done before memory is taken.
 *
 * It is a part of the programs and of no library, because a test program's malloc is its own; and
 * not of those with sanitizers, whose malloc ends the program itself.
 */
#define _GNU_SOURCE /* RTLD_NEXT, program_invocation_short_name */
#include "tools/common/program.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#define REPLACED __attribute__((visibility("default")))

/* The next of these names: the C library's, or those of an allocator that was preloaded. */
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
