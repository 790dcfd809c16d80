/*
 * audit_verify.h - verifies a chain: whether it is whole, or else where and how it was damaged.
 * docs/audit.md, "What verify says".
 */
#ifndef STORE_AUDIT_VERIFY_H
#define STORE_AUDIT_VERIFY_H

#include "router/store/audit/audit_chain.h"

#include <stdio.h>

/* X(constant, name). Damage is named after the smallest single act that explains it. */
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
    bool ended;             /* it has a line feed */
    size_t file;            /* number of its file, 0 is the oldest */
    uint64_t row;           /* its number in the file, from 1 */
    uint64_t named;         /* seq of the file's first line, by its name */
};

/** A source of lines: file by file, the oldest first. */
struct audit_rows {
    /* Fills in the next line, lent until the next call; false at the end. */
    bool (*next)(void *context, struct audit_row *out);
    void *context;
};

/** Knowledge from outside of the chain. */
struct audit_evidence {
    /* `keys`, `key_count`: public keys, or private ones. */
    struct audit_key *const *keys;
    size_t key_count;
    /* The router was ended properly: the last lines must be "stop" and a checkpoint. */
    bool is_ended;
    uint64_t known_seq;          /* a line that was noted elsewhere; 0 = none */
    struct mcpx_slice known_sum; /* SHA-256 of that line with its line feed, 64 digits */
};

/**
 * The result of a verification.
 *
 * file, row     place of the damage: the line that was changed, inserted or moved; the line in
 *               place of the first missing one; the bad checkpoint
 * seq           number that the line at that place must have
 * count         AUDIT_DELETION: how many lines; 0 = not known
 */
struct audit_verdict {
    enum audit_damage damage; /* AUDIT_WHOLE, or the first */
    size_t file;
    uint64_t row, seq, count;
    const char *reason;   /* static sentence without final stop; "" if whole */
    uint64_t lines;       /* up to the damage */
    uint64_t checkpoints; /* good ones up to there */
    uint64_t first_seq;   /* of the first line; 0 = there is none */
    uint64_t last_seq;    /* of the last line that fits */
    uint64_t signed_seq;  /* of the last good checkpoint; 0 = none */
    /* Lines behind the last good checkpoint; no signature covers them. */
    uint64_t uncovered;
    char last_sum[MCPX_SHA256_LEN +
                  1]; /* its SHA-256, line feed included; to be noted elsewhere */
    bool known_met;   /* the line that was noted elsewhere was found */
};

/**
 * Verifies all lines. When the first line is not number 1, older files are missing here; the
 * verdict says nothing about them.
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
    int error;    /* errno when a file could not be read; reading ended there */
};

/**
 * Opens a folder and lists its files; files begun later are not read.
 *
 * Returns MCPX_OK; MCPX_ESYSTEM with errno; MCPX_ENOTFOUND when it has no audit files; MCPX_ENOMEM.
 * Call audit_reader_close in any case.
 */
enum mcpx_err audit_reader_open(const char *path, struct audit_reader *out);

/** The `next` of struct audit_rows for a reader; false also when `error` is set. */
bool audit_reader_next(void *reader, struct audit_row *out);

/** Closes it. */
void audit_reader_close(struct audit_reader *reader);

#endif
