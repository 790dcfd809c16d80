/*
 * log_files.h - the files in which an edge writes down its calls: validation and telemetry.
 *
 *     DIR/envelope_validation/20261122T055452.123Z.4711.jsonl        lines of a run
 *     DIR/envelope_validation/envelope_validation.latest.jsonl       a link to the newest
 *     DIR/telemetry/...                                              the same
 *
 * What goes wrong here is told, once for each log, and stops nobody.
 */
#ifndef EDGE_LOG_FILES_H
#define EDGE_LOG_FILES_H

#include <mcpx/record.h>

/**
 * Where to write, and who is told.
 *
 * file_bytes  a line with which a file would be longer goes to a new one, named by the time then;
 *            0: no bound
 */
struct mx_log_files_config {
    const char *dir; /* made when it is missing, with all folders on the way */
    /* Newest files, by name, that stay in each folder: 0 counts as 1. What a process writes to
     * stays besides, be it this one or another. */
    size_t keep;
    size_t file_bytes;
    int64_t wall_ms; /* when the run begins */
    long pid;        /* of this process */
    /* Told a sentence without end of line when a log cannot be written. */
    void (*complain)(void *user, const char *sentence);
    void *user; /* handed to `complain` */
};

struct mx_log_files;

/**
 * Makes both folders (mode 0700) and in each a new file (0600), lets the link lead there in one
 * step, so that no reader ever finds it missing, and removes the oldest files. Neither a folder nor
 * a file is followed when it is a link, and what stands in the place of the link but is none stays.
 *
 * From then on the process ignores SIGXFSZ, so that a bound on the size of files ends a log and not
 * the process.
 *
 * With `keep` 1 a reader that follows the link at that very moment may find its old file gone.
 *
 * config   borrowed
 *
 * Returns NULL when memory ran out. What cannot be opened is told, and its lines are dropped.
 */
struct mx_log_files *mx_log_files_open(const struct mx_log_files_config *config);

/**
 * Writes a line, with one write(2), and goes on in a new file before, if need be; in the old one
 * when there can be no new one. Then the oldest files are removed. A line that cannot be written
 * whole leaves nothing behind; that lines are missing is told when it happens first.
 *
 * line   with its "\n", as mcpx_telemetry_add and mcpx_validation_add make it; borrowed
 */
void mx_log_files_write(struct mx_log_files *files, enum mcpx_record which,
                        struct mcpx_slice line);

/** Closes the files and frees it. NULL is allowed. */
void mx_log_files_close(struct mx_log_files *files);

#endif
