/*
 * audit_chain.h - a chain of the audit in memory, line by line, to be damaged and verified.
 */
#ifndef SUPPORT_AUDIT_CHAIN_H
#define SUPPORT_AUDIT_CHAIN_H

#include "router/store/audit/audit_chain.h"
#include "router/store/audit/audit_verify.h"

/**
 * A line, with its line feed. `file` is the number of its file; `named` the seq in the file's name.
 */
struct test_line {
    char *text;
    size_t len;
    size_t file;
    uint64_t named;
};

/** Lines in order; those of a file stand side by side. */
struct test_chain {
    struct test_line *lines;
    size_t count;
    size_t at; /* of the reading */
    uint64_t row;
};

/** A new private key, and its PEM when `pem` is not NULL. */
struct audit_key *test_audit_key(struct mcpx_text *pem);

/**
 * A chain of `count` lines: begin and start, messages, a checkpoint every `every` lines and at the
 * end of each file, which has `per_file` lines (0 = there is one file), stop and a checkpoint at
 * the end.
 */
void test_chain_make(struct test_chain *chain, const struct audit_key *key, size_t count,
                     size_t every, size_t per_file);

/** A copy that may be damaged. */
void test_chain_copy(const struct test_chain *from, struct test_chain *out);

/** Removes the lines from `first` to before `end`. */
void test_chain_remove(struct test_chain *chain, size_t first, size_t end);

/** Puts a copy of a text in before `at`, in the file of the line that is there; or at the end. */
void test_chain_insert(struct test_chain *chain, size_t at, struct mcpx_slice text);

/** The place of a line in its file, from 1 on. */
uint64_t test_chain_row(const struct test_chain *chain, size_t at);

/** The chain as audit_verify reads it. */
struct audit_rows test_chain_rows(struct test_chain *chain);

/** Frees its lines. */
void test_chain_fini(struct test_chain *chain);

#endif
