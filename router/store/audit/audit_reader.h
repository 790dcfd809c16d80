/*
 * audit_reader.h - the lines of a folder, file by file, for audit_verify and whoever looks
 * something up. The router may be writing to it.
 */
#ifndef STORE_AUDIT_READER_H
#define STORE_AUDIT_READER_H

#include "router/store/audit/audit_verify.h"

#include <stdio.h>

/**
 * A folder being read.
 *
 * dir          descriptor
 * seqs, count  its files
 * at           the one being read
 * row          lines of it that were read
 * error        errno when a file could not be read; the reading then ended there
 */
struct audit_reader {
    int dir;
    uint64_t *seqs;
    size_t count, at;
    FILE *stream;
    char *line;
    size_t room;
    uint64_t row;
    int error;
};

/**
 * Opens a folder and lists its files; those that are begun later are not read.
 *
 * Returns MCPX_OK; MCPX_ESYSTEM with errno; MCPX_ENOTFOUND when there is no file of an audit in it;
 * MCPX_ENOMEM. audit_reader_close is due in any case.
 */
enum mcpx_err audit_reader_open(const char *path, struct audit_reader *out);

/** Reads the next line; false at the end, and when `error` is set. */
bool audit_reader_next(struct audit_reader *reader, struct audit_row *out);

/** As audit_verify wants it. `reader` is borrowed. */
struct audit_rows audit_reader_rows(struct audit_reader *reader);

/** Closes it. */
void audit_reader_close(struct audit_reader *reader);

#endif
