/*
 * audit_chain.h - writing the chain: each line names the SHA-256 of the one before, and checkpoints
 * are signed. audit_verify.h reads it. docs/audit.md, "The chain".
 */
#ifndef STORE_AUDIT_CHAIN_H
#define STORE_AUDIT_CHAIN_H

#include "router/store/audit_key.h"
#include "router/store/audit_line.h"

/**
 * Where the chain stands. A plain value: a copy made before writing is the way back when what was
 * written could not be kept.
 *
 * seq      of the next line
 * prev     SHA-256 of the last one
 * unsigned_count   lines since the last checkpoint
 */
struct audit_chain {
    uint64_t seq;
    char prev[MCPX_SHA256_LEN + 1];
    uint64_t unsigned_count;
};

/** A chain without lines. */
void audit_chain_begin(struct audit_chain *chain);

/**
 * Goes on behind a line.
 *
 * text   the last line of a chain, without its line feed
 *
 * Returns MCPX_OK; MCPX_EINVALID when it is no line; MCPX_ENOMEM: the chain is then untouched.
 */
enum mcpx_err audit_chain_continue(struct audit_chain *chain, struct mcpx_slice text);

/**
 * Appends a line to `out` and to the chain.
 *
 * note, payloads   as audit_line_add has them
 *
 * Returns its `seq`, or 0 when memory ran out: then `out` has failed and the chain is as it was.
 */
uint64_t audit_chain_add(struct audit_chain *chain, const struct audit_note *note,
                         bool payloads, struct mcpx_text *out);

/** Appends a checkpoint. Returns as audit_chain_add does. */
uint64_t audit_chain_sign(struct audit_chain *chain, const struct audit_key *key,
                          int64_t wall_ms, struct mcpx_text *out);

/**
 * Appends what a checkpoint's signature is of:
 * "mcpx-audit-checkpoint\n", `seq`, `time` and `prev`, each with a line feed behind.
 */
void audit_chain_signed_text(struct mcpx_text *out, const struct audit_head *head,
                             struct mcpx_slice time);

/** Appends a checkpoint with a given signature, and its line feed. */
void audit_chain_checkpoint(struct mcpx_text *out, const struct audit_head *head,
                            int64_t wall_ms, struct mcpx_slice key_id,
                            struct mcpx_slice signature);

#endif
