/* audit_writer.h - the disk work of the audit's thread: a batch becomes lines in the folder. */
#ifndef STORE_AUDIT_WRITER_H
#define STORE_AUDIT_WRITER_H

#include "router/store/audit/audit.h"
#include "router/store/audit/audit_chain.h"
#include "router/store/commit/work_queue.h"

/** Limits between two checkpoints: lines, and milliseconds since the first unsigned line. */
enum { AUDIT_SIGN_LINES = 1000, AUDIT_SIGN_MS = 10000, AUDIT_REV_ROOM = 80 };

/**
 * A folder that one thread writes to.
 *
 * lost          lines that could not be written: count, first and last wall clock
 * begun_ms      when the file was begun, or opened
 * unsigned_ms   since when a line has had no signature
 */
struct audit_writer {
    char *path; /* of the folder */
    struct audit_key *key;
    struct audit_folder folder;
    struct audit_chain chain; /* as it is on the disk */
    struct mcpx_text text;    /* the lines of the last batch */
    struct {
        uint64_t lines, lost, checkpoints;
    } written; /* counts of `text` */
    struct {
        uint64_t count;
        int64_t since, until;
    } lost;
    struct stage_report report; /* state and reason are of the last write */
    bool payloads;
    uint64_t rotate_bytes;
    int64_t rotate_ms, begun_ms, unsigned_ms;
    char rev[AUDIT_REV_ROOM];
};

/**
 * Reads the private key that signs from a PEM file.
 *
 * Returns MCPX_OK; MCPX_ENOMEM; with a sentence in `why` MCPX_ESYSTEM when the file cannot be read,
 * or MCPX_EINVALID when it is not such a key.
 */
enum mcpx_err audit_key_load(const char *path, const char **why, struct audit_key **out);

/** As audit_new, without a thread. Call audit_writer_close in any case. */
enum mcpx_err audit_writer_open(const struct audit_config *config, struct mcpx_text *errors,
                                struct audit_writer *writer);

/**
 * Writes the lines of a batch of submissions and kept items (struct audit_note_copy), and all
 * else that is due. Fills in `line` of the submissions. An empty batch is allowed.
 *
 * ending   write "stop" and a checkpoint
 *
 * Returns true when all of it is on the disk. Else nothing is, and the report has the reason.
 */
bool audit_writer_write(struct audit_writer *writer, const struct batch *batch, bool ending);

/** Counts a batch's kept items as lost lines; with `items` its submissions, too. */
void audit_writer_lose(struct audit_writer *writer, const struct batch *batch, bool items);

/** Milliseconds until audit_writer_write has work even without a batch. */
int64_t audit_writer_wait_ms(const struct audit_writer *writer);

/** Closes the folder. A zeroed writer is allowed. */
void audit_writer_close(struct audit_writer *writer);

/** A copy of a note. */
struct audit_note_copy {
    struct kept_item kept;
    size_t size; /* bytes that it takes */
    struct audit_note note;
};

/** Returns a copy, to be freed, with at most AUDIT_TO_MAX addressees; NULL when memory runs out. */
struct audit_note_copy *audit_note_copy_new(const struct audit_note *note);

#endif
