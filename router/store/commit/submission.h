/*
 * submission.h - tasks for the store or audit. The hub delivers a submission only after its commit.
 * hub_next_task hands tasks out; hub_commit and hub_reject answer them by ticket.
 */
#ifndef HUB_SUBMISSION_H
#define HUB_SUBMISSION_H

#include "router/hub/log/list.h"
#include <mcpx/error.h>

/** Sorts of submissions: a participant's message, or presence, sent by the router itself. */
enum submission_what { SUBMIT_MESSAGE, SUBMIT_JOIN, SUBMIT_UPDATE, SUBMIT_LEAVE };

/** The reason why a task failed. */
struct rejection {
    enum mcpx_err err; /* MCPX_EUNAVAILABLE, MCPX_ENOMEM, MCPX_ESHARE (a quota) */
    int64_t retry_ms;  /* earliest time for another attempt; 0 = not known */
    bool certain;      /* it is never delivered; else it may be, to all */
};

/**
 * A message or presence event to be stored. Lent from hub_next_task until its ticket is answered.
 * Its holder may change `link`, `rejection` and `line`. The rest does not change, so another thread
 * may read it. Slices that do not apply are absent.
 *
 * topic, epoch    its topic, and the epoch of the topic's log
 * from            the sender; of presence: the participant concerned
 * text            of a message: as it will be delivered. Of presence: absent
 * id, kind        of a message: as delivered
 * kind_sent       of a message: as its sender wrote it
 * correlation_id  of a message, when it has one that is a string
 * grant           of a message, in an audited hub: the pattern that covered it
 * reason          of presence: the reason, as delivered
 */
struct submission {
    struct link link;
    struct rejection rejection;
    uint64_t line; /* `seq` of its line in the audit; 0 = none */
    enum submission_what what;
    uint64_t ticket; /* identifies it; tickets of one hub increase */
    struct mcpx_slice topic, epoch, from, text, id, kind, kind_sent, correlation_id, grant,
        reason;
    /* `to`, `to_count`: of a message: addressees; 0 = everyone. */
    const struct mcpx_slice *to;
    size_t to_count;
    int64_t wall_ms; /* when it was accepted */
};

/** Returns the bytes that a submission, given by its link, adds to a batch. */
static inline size_t submission_weight(const struct link *link)
{
    return LIST_ELEMENT(link, const struct submission, link)->text.len;
}

/** TASK_OPEN: load a topic. TASK_CLOSE: it has left memory; needs no answer, its ticket is 0. */
enum task_kind { TASK_STORE, TASK_OPEN, TASK_CLOSE };

/** A task for the store. */
struct task {
    enum task_kind kind;
    uint64_t ticket;
    /* Lent until the ticket is answered; of TASK_CLOSE, until the next hub_next_task. */
    struct mcpx_slice topic;
    struct submission *submission; /* of TASK_STORE */
};

/** A stored topic, loaded before its envelopes. Both members are as of the last stored envelope. */
struct stored_topic {
    struct mcpx_slice epoch; /* 32 hexadecimal digits */
    uint64_t first;          /* serial of the first envelope that will be loaded */
};

/** A stored envelope. Envelopes are loaded in the order of their serials, without gaps. */
struct stored_envelope {
    struct mcpx_slice text; /* as it was delivered */
    int64_t wall_ms;
};

#endif
