/*
 * submission.h - what the hub has accepted and somebody has to store before anybody may read it.
 * Tasks are handed out by pull (hub_next_task) and answered by ticket (hub_commit, hub_reject).
 */
#ifndef HUB_SUBMISSION_H
#define HUB_SUBMISSION_H

#include "router/hub/log/list.h"
#include <mcpx/error.h>

/** What is submitted: somebody's message, or presence, which the router says itself. */
enum submission_what { SUBMIT_MESSAGE, SUBMIT_JOIN, SUBMIT_UPDATE, SUBMIT_LEAVE };

/** Why something is not stored. */
struct rejection {
    enum mcpx_err err; /* MCPX_EUNAVAILABLE, MCPX_ENOMEM, MCPX_ESHARE (a cap) */
    int64_t retry_ms;  /* trying again helps after that long at the earliest; 0 = not known */
    bool certain;      /* nobody will ever get it; else everybody or nobody will */
};

/**
 * One thing to be stored. Lent from hub_next_task until its ticket is answered; until then nothing
 * in it changes but `link`, `rejection` and `line`, which belong to whoever holds it, so another
 * thread may read it. Slices are absent where a row says nothing of them.
 *
 * topic, epoch    where, and the epoch of its log
 * from            who says it; of presence: about whom it is
 * text            of a message: as it will be delivered. Of presence: absent
 * id, kind        of a message: as delivered
 * kind_sent       of a message: as its sender wrote it
 * correlation_id  of a message, when it has one that is a string
 * grant           of a message, in an audited hub: the pattern that covered it
 * reason          of presence: why, as it is told
 */
struct submission {
    struct link link;
    struct rejection rejection;
    uint64_t line; /* of the audit, that tells of it */
    enum submission_what what;
    uint64_t ticket; /* names it; tickets of one hub grow */
    struct mcpx_slice topic, epoch, from, text, id, kind, kind_sent, correlation_id, grant,
        reason;
    /* `to`, `to_count`: of a message: addressees; 0 = everyone. */
    const struct mcpx_slice *to;
    size_t to_count;
    int64_t wall_ms; /* when it was accepted */
};

/** What a submission, given by its link, adds to a batch. */
static inline size_t submission_weight(const struct link *link)
{
    return LIST_ELEMENT(link, const struct submission, link)->text.len;
}

/** TASK_OPEN: load a topic. TASK_CLOSE: it has left memory; needs no answer, its ticket is 0. */
enum task_kind { TASK_STORE, TASK_OPEN, TASK_CLOSE };

/** Something to do for whoever stores. */
struct task {
    enum task_kind kind;
    uint64_t ticket;
    /* Lent: until the ticket is answered; of TASK_CLOSE, until the next hub_next_task. */
    struct mcpx_slice topic;
    struct submission *submission; /* of TASK_STORE */
};

/** A stored topic, told before its envelopes. Both as they were when the last one was stored. */
struct stored_topic {
    struct mcpx_slice epoch; /* 32 hexadecimal digits */
    uint64_t first;          /* serial of the first envelope that will be loaded */
};

/** A stored envelope. Serials of those that are loaded one after the other have no gap. */
struct stored_envelope {
    struct mcpx_slice text; /* as it was delivered */
    int64_t wall_ms;
};

#endif
