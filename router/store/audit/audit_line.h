/*
 * audit_line.h - one line of the audit: a JSON object that names its place and the line before.
 * docs/audit.md, "A line".
 */
#ifndef STORE_AUDIT_LINE_H
#define STORE_AUDIT_LINE_H

#include <mcpx/base.h>
#include <mcpx/digest.h>
#include <mcpx/error.h>

/*
 * One thing that the audit writes down: what happened, to whom, by which rule.
 */

/*
 * X(constant, name in the line). docs/audit.md says what each means.
 */
#define AUDIT_SORTS(X)                                                                        \
    X(AUDIT_ALLOW, "allow")                                                                   \
    X(AUDIT_REFUSE, "refuse")                                                                 \
    X(AUDIT_JOIN, "join")                                                                     \
    X(AUDIT_LEAVE, "leave")                                                                   \
    X(AUDIT_UPDATE, "update")                                                                 \
    X(AUDIT_TURNED_AWAY, "turned_away")                                                       \
    X(AUDIT_GRANT, "grant")                                                                   \
    X(AUDIT_REVOKE, "revoke")                                                                 \
    X(AUDIT_KICK, "kick")                                                                     \
    X(AUDIT_LIFT, "lift")                                                                     \
    X(AUDIT_RELOAD, "reload")                                                                 \
    X(AUDIT_KEYS, "keys")                                                                     \
    X(AUDIT_UNDELIVERED, "undelivered")                                                       \
    X(AUDIT_LOST, "lost")                                                                     \
    X(AUDIT_CHECKPOINT, "checkpoint")                                                         \
    X(AUDIT_BEGIN, "begin")                                                                   \
    X(AUDIT_START, "start")                                                                   \
    X(AUDIT_STOP, "stop")

#define AUDIT_CONSTANT(constant, name) constant,
enum audit_what { AUDIT_SORTS(AUDIT_CONSTANT) AUDIT_OTHER };
#undef AUDIT_CONSTANT

/**
 * One thing to write down. Slices are borrowed; an absent one, and a number of 0, is not written.
 * Texts of a refusal are what somebody sent: they need not be UTF-8 and may be long.
 *
 * wall_ms         when
 * topic           where
 * from            who did it, or whom it happened to
 * to, to_count    addressees; 0 = everyone, or nobody was named
 * kind_sent       the kind as its sender wrote it
 * kind            the kind as delivered
 * id              of the envelope
 * correlation_id  the id it answers
 * grant           the pattern that covered it
 * error           the error's name on the wire
 * reason          more about it
 * by              AUDIT_GRANT, AUDIT_REVOKE, AUDIT_KICK, AUDIT_LIFT: who asked for it
 * address         of these and AUDIT_TURNED_AWAY: where the request came from
 * rev             policy by which it was decided
 * text            AUDIT_ALLOW: the envelope as delivered; its size and SHA-256 are written, itself
 *                 only where payloads are
 * bytes           size of a message that has no `text`
 * of              AUDIT_UNDELIVERED: `seq` of the line that did not come true
 * count           AUDIT_LOST: how many lines were not written
 * since, until    AUDIT_LOST: wall clocks of the first and last of them; `until` of AUDIT_GRANT,
 *                 AUDIT_REVOKE, AUDIT_KICK: when it ends
 * cut             AUDIT_START: bytes of a torn line that were cut off
 */
struct audit_note {
    enum audit_what what;
    int64_t wall_ms;
    struct mcpx_slice topic, from;
    const struct mcpx_slice *to;
    size_t to_count;
    struct mcpx_slice kind_sent, kind, id, correlation_id, grant, error, reason, by, address,
        rev;
    struct mcpx_slice text;
    uint64_t bytes, of, count;
    int64_t since, until;
    uint64_t cut;
};

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
