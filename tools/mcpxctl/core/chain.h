/*
 * chain.h - the history of a proposal or request: who acted on it, with what, and when.
 */
#ifndef MCPXCTL_CHAIN_H
#define MCPXCTL_CHAIN_H

#include "tools/mcpxctl/core/snapshot.h"
#include <mcpx/text.h>

/**
 * The role of an envelope in a chain.
 *
 *   PROPOSAL      mcp/proposal
 *   REQUEST       mcp/request that is answered; under a proposal: its fulfilment, when it has
 *                 the operation of the proposal and goes to one of its addressees
 *   NOTIFICATION  mcp/request:notifications/..., about a request: progress, cancellation
 *   RESULT        mcp/response with a result: the first answer of an addressee, with the
 *                 operation of the request
 *   FAILURE       the same with an error
 *   REJECTION     mcp/reject
 *   WITHDRAWAL    mcp/withdraw by the proposer
 *   OTHER         anything else that names one of the chain: a withdrawal by somebody else, another
 *                 operation, whatever lies about its payload. It changes nothing
 */
enum chain_role {
    CHAIN_PROPOSAL,
    CHAIN_REQUEST,
    CHAIN_NOTIFICATION,
    CHAIN_RESULT,
    CHAIN_FAILURE,
    CHAIN_REJECTION,
    CHAIN_WITHDRAWAL,
    CHAIN_OTHER
};

/** "proposal", "request", ... Static. */
const char *chain_role_name(enum chain_role role);

/** The state of a chain. The furthest one counts: a result after a rejection is a result. */
enum chain_state {
    CHAIN_OPEN,      /* proposed; nobody acted */
    CHAIN_EXPIRED,   /* the same, and its proposer waits no longer */
    CHAIN_WITHDRAWN, /* its proposer took it back */
    CHAIN_REJECTED,  /* somebody rejected it */
    CHAIN_RUNNING,   /* requested, not answered */
    CHAIN_FAILED,    /* answered with an error */
    CHAIN_DONE       /* answered with a result */
};

/** "open", "withdrawn", ... Static. */
const char *chain_state_name(enum chain_state state);

/** Whether a fulfilment has the operation and params of the proposal. */
enum chain_sameness { CHAIN_UNCOMPARED, CHAIN_SAME, CHAIN_CHANGED };

/** One envelope of a chain. */
struct chain_step {
    const struct entry *entry;
    enum chain_role role;
    size_t parent; /* index of the step it is about; the first is its own */
    size_t depth;  /* 0 for the first */
    /* Between the `ts` of its parent and its own; -1 when one of them is missing. */
    int64_t after_ms;
    /* A REQUEST under a PROPOSAL: CHAIN_SAME when operation and params are those proposed. */
    enum chain_sameness same;
    const char *lie; /* why receivers ignore it; NULL when they accept it */
    bool answered;   /* private: an answer to it was seen */
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
 * The chain that an envelope belongs to. Its first envelope is found by following
 * correlation_id up, as far as envelopes are retained; an envelope about itself or about a
 * later one ends the way up. From there all envelopes about it are added.
 *
 * Gives it; it lends entries of the snapshot.
 */
struct chain chain_of(const struct snapshot *snapshot, const struct entry *entry);

/**
 * The same without the way up, and only two levels down, which decide the state.
 */
struct chain chain_below(const struct snapshot *snapshot, const struct entry *entry);

/**
 * When the proposer of a proposal gives up, in ms since 1970: INT64_MAX when it names no time, 0
 * when what it names is no time. Protocol: section 9.
 */
int64_t chain_expires_ms(const struct entry *proposal);

/** Does a proposal wait for a decision? */
bool chain_is_open(const struct snapshot *snapshot, const struct entry *entry);

/** Half of a SHA-256 in hexadecimal: nobody finds two proposals that share it. */
enum { PROPOSAL_DIGEST_LEN = 32 };

/**
 * What tells a proposal from any other that was sent under its id: the beginning of the SHA-256 of
 * its envelope's text, byte for byte as the router delivers it.
 *
 * out   filled, with a terminating NUL
 */
void proposal_digest(const struct entry *proposal, char out[PROPOSAL_DIGEST_LEN + 1]);

/** Frees the steps. */
void chain_fini(struct chain *chain);

/**
 * Appends a line per step, indented below the envelope that it is about: id, time or time since
 * that envelope, role, from and to, kind, and whether a fulfilment is what was proposed. The
 * last line has the state.
 */
void chain_write(struct mcpx_text *out, const struct snapshot *snapshot,
                 const struct chain *chain, bool colour);

/**
 * Appends a JSON object per line and step: role, state (of the chain, first step only), id,
 * parent, after_ms, same_params, envelope (its own bytes). Members that do not apply are left
 * out.
 */
void chain_write_json(struct mcpx_text *out, const struct chain *chain);

#endif
