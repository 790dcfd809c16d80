/*
 * audit_note.h - one thing that the audit writes down: what happened, to whom, by which rule.
 */
#ifndef STORE_AUDIT_NOTE_H
#define STORE_AUDIT_NOTE_H

#include <mcpx/base.h>

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

#endif
