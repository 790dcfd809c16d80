/*
 * status.h - the exit codes and their meanings: one table for all programs, their help and their
 * manuals.
 */
#ifndef TOOLS_STATUS_H
#define TOOLS_STATUS_H

/*
 * X(constant, number, meaning)
 */
#define STATUSES(X)                                                                           \
    X(STATUS_OK, 0, "done; allowed; valid")                                                   \
    X(STATUS_FAILED, 1, "failed: the system did not play along, or the answer is an error")   \
    X(STATUS_USAGE, 2, "the command line, the input or the configuration is at fault")        \
    X(STATUS_REFUSED, 3, "refused: no grant, or somebody said no")                            \
    X(STATUS_ABSENT, 4, "not found")                                                          \
    X(STATUS_UNREACHABLE, 5, "cannot connect or authenticate")                                \
    X(STATUS_TIMEOUT, 124, "not answered in time")                                            \
    X(STATUS_INTERRUPTED, 130, "interrupted")

#define STATUS_CONSTANT(constant, number, meaning) constant = (number),
enum { STATUSES(STATUS_CONSTANT) };
#undef STATUS_CONSTANT

#endif
