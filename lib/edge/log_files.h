/*
 * log_files.h - the files in which an enforcement point logs its calls: validation and telemetry.
 *
 *     DIR/envelope_validation/20261122T055452.123Z.4711.jsonl        lines of a run
 *     DIR/envelope_validation/envelope_validation.latest.jsonl       a link to the newest
 *     DIR/telemetry/...                                              the same
 *
 * An error is reported once for each log; calls go on.
 */
#ifndef EDGE_LOG_FILES_H
#define EDGE_LOG_FILES_H

#include <mcpx/record.h>

/**
 * Where to write, and where to report errors.
 *
 * file_bytes  a line beyond this goes to a new file, named by the time then; 0 = no bound
 */
struct mx_log_files_config {
    const char *dir; /* made when it is missing, with all folders on the way */
    /* Newest files, by name, that stay in each folder; 0 counts as 1. Files that a process still
     * writes to stay besides. */
    size_t keep;
    size_t file_bytes;
    int64_t wall_ms; /* when the run begins */
    long pid;        /* of this process */
    /* Gets a sentence without "\n" when a log cannot be written. */
    void (*complain)(void *user, const char *sentence);
    void *user; /* handed to `complain` */
};

struct mx_log_files;

/**
 * Makes both folders (mode 0700) and in each a new file (0600), and removes the oldest files. The
 * link moves to the new file in one step, so readers always find it. Folders and files that are
 * links are not followed. A file in the place of the link stays.
 *
 * From then on the process ignores SIGXFSZ, so a limit on file sizes ends a log and not the
 * process.
 *
 * With `keep` 1 a reader following the link at that moment may find its old file gone.
 *
 * config   borrowed
 *
 * Returns NULL when memory ran out. A log that cannot be opened is reported; its lines are lost.
 */
struct mx_log_files *mx_log_files_open(const struct mx_log_files_config *config);

/**
 * Writes a line with one write(2). Before that, a full file is exchanged for a new one, if one can
 * be opened, and the oldest files are removed. A partly written line is taken back. The first
 * missing line of a log is reported.
 *
 * line   with its "\n", as mcpx_telemetry_add and mcpx_validation_add make it; borrowed
 */
void mx_log_files_write(struct mx_log_files *files, enum mcpx_record which,
                        struct mcpx_slice line);

/** Closes the files and frees it. NULL is allowed. */
void mx_log_files_close(struct mx_log_files *files);

#endif
