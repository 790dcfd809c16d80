/*
 * audit_verify.h - says whether a chain is whole, and if not, where and how it was damaged.
 * docs/audit.md, "What verify says".
 */
#ifndef STORE_AUDIT_VERIFY_H
#define STORE_AUDIT_VERIFY_H

#include "router/store/audit/audit_chain.h"

#include <stdio.h>

/* X(constant, name). Damage is named as if it were one act, the smallest one. */
#define AUDIT_DAMAGES(X)                                                                      \
    X(AUDIT_WHOLE, "whole")                                                                   \
    X(AUDIT_EDIT, "edit")                                                                     \
    X(AUDIT_DELETION, "deletion")                                                             \
    X(AUDIT_MISPLACED, "misplaced")                                                           \
    X(AUDIT_TRUNCATION, "truncation")                                                         \
    X(AUDIT_BAD_SIGNATURE, "bad signature")                                                   \
    X(AUDIT_UNKNOWN_KEY, "unknown key")

#define AUDIT_CONSTANT(constant, name) constant,
enum audit_damage { AUDIT_DAMAGES(AUDIT_CONSTANT) };
#undef AUDIT_CONSTANT

/** The damage's name. Static. */
const char *audit_damage_name(enum audit_damage damage);

/** A line of a folder, as it is in a file. */
struct audit_row {
    struct mcpx_slice text; /* without line feed */
    bool ended;             /* it had one */
    size_t file;            /* number of its file, 0 is the oldest */
    uint64_t row;           /* of the line in its file, 1 is the first */
    uint64_t named;         /* the seq with which its file should begin, by its name */
};

/** Where lines come from: file by file, the oldest first. */
struct audit_rows {
    /* Fills in the next line, lent until the next call; false at the end. */
    bool (*next)(void *context, struct audit_row *out);
    void *context;
};

/** What is known besides the lines. */
struct audit_evidence {
    /* `keys`, `key_count`: public keys, or private ones. */
    struct audit_key *const *keys;
    size_t key_count;
    /* The router was ended properly: the last lines have to be "stop" and a checkpoint. */
    bool is_ended;
    uint64_t known_seq;          /* a line that somebody noted elsewhere; 0 = none */
    struct mcpx_slice known_sum; /* SHA-256 of that line with its line feed, 64 digits */
};

/**
 * What was found.
 *
 * file, row     where it is: the line that was changed, inserted, or out of place; the line in
 *               whose place something is missing; the checkpoint that is not good
 * seq           that the line in that place has to have
 * count         AUDIT_DELETION: how many lines; 0 = not known
 */
struct audit_verdict {
    enum audit_damage damage; /* AUDIT_WHOLE, or the first */
    size_t file;
    uint64_t row, seq, count;
    const char *reason; /* a static sentence without final stop; "" when there is no damage */
    uint64_t lines;     /* up to the damage */
    uint64_t checkpoints; /* good ones up to there */
    uint64_t first_seq;   /* of the first line; 0 = there is none */
    uint64_t last_seq;    /* of the last line that fits */
    uint64_t signed_seq;  /* of the last good checkpoint; 0 = none */
    /* Lines behind the last good checkpoint, which nothing proves. */
    uint64_t uncovered;
    char last_sum[MCPX_SHA256_LEN +
                  1]; /* its SHA-256, line feed included; to be noted elsewhere */
    bool known_met;   /* the line that was noted elsewhere is here */
};

/**
 * Verifies all lines. A first line that is not number 1 begins a chain whose older files are not
 * here: what was before it is not judged.
 *
 * Returns MCPX_OK, with a verdict; MCPX_ENOMEM.
 */
enum mcpx_err audit_verify(const struct audit_rows *rows,
                           const struct audit_evidence *evidence, struct audit_verdict *out);

/* ---- the lines of a folder, file by file; the router may be writing to it ---- */

/**
 * A folder being read.
 *
 * seqs, count  its files
 * at           the one being read
 */
struct audit_reader {
    int dir; /* descriptor */
    uint64_t *seqs;
    size_t count, at;
    FILE *stream;
    char *line;
    size_t room;
    uint64_t row; /* lines of it that were read */
    int error;    /* errno when a file could not be read; the reading then ended there */
};

/**
 * Opens a folder and lists its files; those that are begun later are not read.
 *
 * Returns MCPX_OK; MCPX_ESYSTEM with errno; MCPX_ENOTFOUND when there is no file of an audit in it;
 * MCPX_ENOMEM. audit_reader_close is due in any case.
 */
enum mcpx_err audit_reader_open(const char *path, struct audit_reader *out);

/** Reads a reader's next line, as struct audit_rows wants it; false also when `error` is set. */
bool audit_reader_next(void *reader, struct audit_row *out);

/** Closes it. */
void audit_reader_close(struct audit_reader *reader);

#endif
