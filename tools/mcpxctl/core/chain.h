/* chain.h - the history of a proposal or request: its steps with sender, content and time. */
#ifndef MCPXCTL_CHAIN_H
#define MCPXCTL_CHAIN_H

#include "tools/mcpxctl/core/snapshot.h"
#include <mcpx/text.h>

/**
 * The role of an envelope in a chain.
 *
 *   PROPOSAL      mcp/proposal
 *   REQUEST       mcp/request with an answer to come; under a proposal: its fulfilment. Protocol:
 *                 section 9
 *   NOTIFICATION  mcp/request without an answer to come, about a request: progress, cancellation
 *   RESULT        mcp/response with a result: the first answer of an addressee, with the
 *                 operation of the request
 *   QUESTION      the same with questions (input_required): the call is made again, as a REQUEST
 *                 about the first one
 *   TASK          the same with a task, or news of the call's task. The state that ends the task
 *                 is a RESULT or FAILURE of the call
 *   FAILURE       the same with an error
 *   REJECTION     mcp/reject
 *   WITHDRAWAL    mcp/withdraw by the proposer
 *   OTHER         any other envelope about one of the chain: a withdrawal by another participant,
 *                 another operation, a kind that contradicts its payload. The state stays the same
 */
enum chain_role {
    CHAIN_PROPOSAL,
    CHAIN_REQUEST,
    CHAIN_NOTIFICATION,
    CHAIN_RESULT,
    CHAIN_QUESTION,
    CHAIN_TASK,
    CHAIN_FAILURE,
    CHAIN_REJECTION,
    CHAIN_WITHDRAWAL,
    CHAIN_OTHER
};

/** "proposal", "request", ... */
const char *chain_role_name(enum chain_role role);

/** The state of a chain. The furthest one counts: a result after a rejection is a result. */
enum chain_state {
    CHAIN_OPEN,      /* proposed, without an answer */
    CHAIN_EXPIRED,   /* the same, after its `expires` */
    CHAIN_WITHDRAWN, /* withdrawn by its proposer */
    CHAIN_REJECTED,  /* rejected by a participant */
    CHAIN_RUNNING,   /* requested, not answered */
    CHAIN_FAILED,    /* answered with an error */
    CHAIN_DONE       /* answered with a result */
};

/** "open", "withdrawn", ... */
const char *chain_state_name(enum chain_state state);

/** Whether a REQUEST under a PROPOSAL has its operation and params. */
enum chain_sameness { CHAIN_UNCOMPARED, CHAIN_SAME, CHAIN_CHANGED };

/** One envelope of a chain. */
struct chain_step {
    const struct entry *entry;
    enum chain_role role;
    size_t parent;    /* index of the step it is about; 0 for the first */
    size_t depth;     /* 0 for the first */
    int64_t after_ms; /* from the `ts` of its parent to its own; -1 when one is missing */
    enum chain_sameness same;
    const char *fault; /* why receivers ignore it; NULL when they accept it */
    /* Private: an answer to it was seen; its answers decide the state of the chain. */
    bool answered, is_call;
};

/**
 * A chain: the first envelope, and all envelopes about it. Each comes after the one that it is
 * about, otherwise they are in the order of the topic.
 */
struct chain {
    struct chain_step *steps;
    size_t count, size;
    enum chain_state state;
    bool incomplete; /* the first is itself about an envelope that is no longer retained */
};

/**
 * Returns the chain of an envelope. The way up follows correlation_id through retained envelopes.
 * It ends at an envelope about itself or about a later one. All envelopes about the first one are
 * added, and so on down.
 *
 * The chain borrows entries of the snapshot.
 */
struct chain chain_of(const struct snapshot *snapshot, const struct entry *entry);

/** The same without the way up, and only three levels down. These decide the state. */
struct chain chain_below(const struct snapshot *snapshot, const struct entry *entry);

/** True when a proposal waits for a decision. */
bool chain_is_open(const struct snapshot *snapshot, const struct entry *entry);

void chain_fini(struct chain *chain);

/**
 * Appends a line per step, indented below its parent: id, time or time since the parent, role, from
 * and to, kind, and whether a fulfilment is as proposed. The last line has the state.
 */
void chain_write(struct mcpx_text *out, const struct snapshot *snapshot,
                 const struct chain *chain, bool colour);

/** Appends a JSON object per line and step, with the envelope's own bytes. */
void chain_write_json(struct mcpx_text *out, const struct chain *chain);

#endif
