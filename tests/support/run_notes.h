/*
 * run_notes.h - what a simulation says about its last steps, for the one run in a thousand that
 * somebody has to read.
 */
#ifndef SUPPORT_RUN_NOTES_H
#define SUPPORT_RUN_NOTES_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum { RUN_NOTES = 300, RUN_NOTE = 200 };

/** The last lines; {0} = none. */
struct run_notes {
    char lines[RUN_NOTES][RUN_NOTE];
    size_t count;
};

/** Adds a line, with the number of the step and the time in front. */
void run_notes_add(struct run_notes *notes, uint64_t step, int64_t mono_ms, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

/** Prints the lines to stderr, then the step and what was wrong with it, and how to replay it. */
void run_notes_end(const struct run_notes *notes, uint64_t step, const char *name,
                   const char *format, va_list arguments)
    __attribute__((noreturn, format(printf, 4, 0)));

#endif
