/*
 * audit_writer.h - a batch becomes lines in the folder: what the audit's thread does with the disk.
 */
#ifndef STORE_AUDIT_WRITER_H
#define STORE_AUDIT_WRITER_H

#include "router/store/audit/audit.h"
#include "router/store/audit/audit_chain.h"
#include "router/store/commit/work_queue.h"

/** Lines between two checkpoints at most, and milliseconds with news. */
enum { AUDIT_SIGN_LINES = 1000, AUDIT_SIGN_MS = 10000, AUDIT_REV_ROOM = 80 };

/**
 * A folder that is written to, by one thread.
 *
 * lost          lines that could not be written, since and until which wall clock
 * begun_ms      when the file was begun, or opened
 * unsigned_ms   since when there is a line without a signature
 */
struct audit_writer {
    char *path; /* of the folder */
    struct audit_key *key;
    struct audit_folder folder;
    struct audit_chain chain; /* as it is on the disk */
    struct mcpx_text text;    /* the batch that was made last */
    struct {
        uint64_t lines, lost, checkpoints;
    } written; /* what is in it */
    struct {
        uint64_t count;
        int64_t since, until;
    } lost;
    struct stage_report report; /* state and reason follow from the last write */
    bool payloads;
    uint64_t rotate_bytes;
    int64_t rotate_ms, begun_ms, unsigned_ms;
    char rev[AUDIT_REV_ROOM];
};

/**
 * Reads the key that signs, in PEM, of a file.
 *
 * Returns MCPX_OK; MCPX_ESYSTEM when the file cannot be read or MCPX_EINVALID when it is no such
 * key, with a sentence in `why`; MCPX_ENOMEM.
 */
enum mcpx_err audit_key_load(const char *path, const char **why, struct audit_key **out);

/** As audit_new, without a thread. audit_writer_close is due in any case. */
enum mcpx_err audit_writer_open(const struct audit_config *config, struct mcpx_text *errors,
                                struct audit_writer *writer);

/**
 * Writes lines for all of a batch, of links of submissions and of unanswered items (struct
 * audit_note_copy), and whatever else is due. The submissions' `line` is filled in. An empty batch
 * is allowed.
 *
 * ending   write "stop" and a checkpoint
 *
 * Returns whether all of it is on the disk; if not, nothing is, and the report says why.
 */
bool audit_writer_write(struct audit_writer *writer, const struct batch *batch, bool ending);

/** Counts a batch's lines as lost: of unanswered items, and with `items` of submissions. */
void audit_writer_lose(struct audit_writer *writer, const struct batch *batch, bool items);

/** How long to wait at most until audit_writer_write has something to do of itself. */
int64_t audit_writer_wait_ms(const struct audit_writer *writer);

/** Closes the folder. A zeroed writer is allowed. */
void audit_writer_close(struct audit_writer *writer);

/** A copy of a note. */
struct audit_note_copy {
    struct unanswered_item unanswered;
    size_t size; /* bytes that it takes */
    struct audit_note note;
};

/** Gives a copy, to be freed; NULL when memory runs out. Of addressees AUDIT_TO_MAX are kept. */
struct audit_note_copy *audit_note_copy_new(const struct audit_note *note);

#endif
