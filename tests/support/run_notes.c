/*
 * run_notes.c - the last few hundred lines are kept in a ring and printed once.
 */
#include "tests/support/run_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void run_notes_add(struct run_notes *notes, uint64_t step, int64_t mono_ms, const char *format,
                   ...)
{
    va_list arguments;
    char *line = notes->lines[notes->count++ % RUN_NOTES];
    int len = snprintf(line, RUN_NOTE, "%5" PRIu64 " %8" PRId64 "  ", step, mono_ms);

    va_start(arguments, format);
    vsnprintf(line + len, (size_t)(RUN_NOTE - len), format, arguments);
    va_end(arguments);
}

void run_notes_end(const struct run_notes *notes, uint64_t step, const char *name,
                   const char *format, va_list arguments)
{
    size_t first = notes->count > RUN_NOTES ? notes->count - RUN_NOTES : 0;

    for (size_t i = first; i < notes->count; i++)
        fprintf(stderr, "%s\n", notes->lines[i % RUN_NOTES]);
    fprintf(stderr, "\nstep %" PRIu64 ": ", step);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\nreplay with %s\n", name);
    abort();
}
