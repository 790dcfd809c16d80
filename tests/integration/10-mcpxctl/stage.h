/*
 * stage.h - what every test of mcpxctl at work begins with: a router, a server, and a shell.
 */
#ifndef MCPXCTL_TEST_STAGE_H
#define MCPXCTL_TEST_STAGE_H

#include "server.h"
#include "tests/support/count.h"

enum { OUTPUT_MAX = 65536 };

/** The router and the server "fs" of a test; programs find them through the environment. */
extern struct daemon router;

/** What the line run last has printed. */
extern char output[OUTPUT_MAX];

/** Starts and ends both. */
void stage_set_up(void);
void stage_tear_down(void);

/** Runs a shell's command line in which "mcpxctl" is the program. Returns its exit code. */
int run(const char *line);

/** Runs a line and expects its exit code and a part of what it prints. */
void expect(const char *line, int status, const char *says);

/** A line to run, the exit code and a part of the output to expect. */
struct row {
    const char *line;
    int status;
    const char *says;
};

/** The same for each row. */
void expect_rows(const struct row *rows, size_t count);

/** Runs a line that is composed as by printf, and expects the same of it. */
void expect_of(int status, const char *says, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Runs such a line, which prints an id, and keeps that. */
void run_for_id(char id[64], const char *format, ...) __attribute__((format(printf, 2, 3)));

/** ID@DIGEST of the open proposal whose id begins so, as `line` ("mcpxctl proposals") lists it. */
void find_listed(const char *line, const char *id, char word[128]);

/**
 * Starts "mcpxctl watch OPTIONS" in the background and waits until it has joined; what it prints
 * goes to `file`, whose name is filled in.
 */
pid_t start_watch(const char *options, char file[32]);

/** Reads a file into `output` and removes it. */
void read_file(const char *file);

#endif
