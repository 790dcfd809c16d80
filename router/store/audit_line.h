/*
 * audit_line.h - one line of the audit: a JSON object that names its place and the line before.
 * docs/audit.md, "A line".
 */
#ifndef STORE_AUDIT_LINE_H
#define STORE_AUDIT_LINE_H

#include "router/store/audit_note.h"
#include <mcpx/digest.h>
#include <mcpx/error.h>

/** The longest text that a line shows of what somebody sent; the rest is left out. */
enum { AUDIT_TEXT_MAX = 2048 };

/** The format that this code writes, as "begin" says it. */
enum { AUDIT_FORMAT = 1 };

/** The `prev` of the very first line. */
extern const char audit_prev_none[MCPX_SHA256_LEN + 1];

/**
 * Where a line stands.
 *
 * seq    1 for the first line ever; no number is left out
 * prev   SHA-256 of the line before, its line feed included; MCPX_SHA256_LEN digits, lent
 */
struct audit_head {
    uint64_t seq;
    const char *prev;
};

/** Appends the beginning that all lines have: `{"seq":1,"time":"...","what":"...","prev":"..."`. */
void audit_line_begin(struct mcpx_text *out, const struct audit_head *head,
                      enum audit_what what, int64_t wall_ms);

/**
 * Appends a line and its line feed. Texts that are not UTF-8, or longer than AUDIT_TEXT_MAX, are
 * written as far as they can be, with a "…" behind.
 *
 * note       borrowed; not AUDIT_CHECKPOINT, which audit_chain_sign writes
 * payloads   write the envelope itself, too
 *
 * Memory failure shows in `out`.
 */
void audit_line_add(struct mcpx_text *out, const struct audit_head *head,
                    const struct audit_note *note, bool payloads);

/**
 * A line that was read. Slices are lent by the line.
 *
 * time    as it is written
 * prev    64 digits
 * what    AUDIT_OTHER for a sort that this code does not know
 * name    its name, as it is written
 * whole   the object, for mcpx_json_get
 */
struct audit_line {
    uint64_t seq;
    int64_t wall_ms;
    struct mcpx_slice time, prev, name;
    enum audit_what what;
    struct mcpx_slice whole;
};

/**
 * Reads a line: an object without white space around it that begins as audit_line_begin writes it.
 *
 * text   without line feed; borrowed for as long as `out` is used
 *
 * Returns false when it is none; `out` is then untouched.
 */
bool audit_line_read(struct mcpx_slice text, struct audit_line *out);

#endif
