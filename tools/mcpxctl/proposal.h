/*
 * proposal.h - a proposal that somebody is about to decide on.
 */
#ifndef MCPXCTL_PROPOSAL_H
#define MCPXCTL_PROPOSAL_H

#include "tools/common/connect.h"
#include "tools/mcpxctl/ledger.h"

/** Half of a SHA-256 in hexadecimal: nobody finds two proposals that share it. */
enum { PROPOSAL_DIGEST_LEN = 32 };

/**
 * What tells a proposal from any other that was sent under its id: the beginning of the SHA-256 of
 * its envelope's text, byte for byte as the router delivers it.
 *
 * out   filled, with a terminating NUL
 *
 * Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err proposal_digest(const struct entry *proposal, char out[PROPOSAL_DIGEST_LEN + 1]);

/** True for ID@DIGEST, as proposals are listed. */
bool proposal_word_is_bound(const char *word);

/**
 * Fetches the topic's history and finds the proposal that a word means. One that is decided
 * already is complained about; one that lies is found, so that it can be rejected.
 *
 * word     an id or its beginning; with @DIGEST behind it, only the proposal that has that digest
 * ledger   empty; holds the proposal; ledger_fini in every case
 *
 * Returns STATUS_OK; STATUS_ABSENT; STATUS_FAILED when it is decided, or another one stands in its
 * place; STATUS_USAGE when it is no proposal; or the exit code of what went wrong.
 */
int proposal_find(const struct arguments *arguments, const struct connection *where,
                  const char *word, struct ledger *ledger, const struct entry **out);

#endif
