/*
 * proposal.h - a proposal that somebody is about to decide on.
 * Includes connect.h, ledger.h only.
 */
#ifndef MCPXCTL_PROPOSAL_H
#define MCPXCTL_PROPOSAL_H

#include "tools/common/connect.h"
#include "tools/mcpxctl/ledger.h"

/**
 * Fetches the topic's history and finds the proposal that a word means. One that is decided
 * already is complained about; one that lies is found, so that it can be rejected.
 *
 * ledger   empty; holds the proposal; ledger_fini in every case
 *
 * Returns STATUS_OK; STATUS_ABSENT; STATUS_FAILED when it is decided; STATUS_USAGE when it is no
 * proposal; or the exit code of what went wrong.
 */
int proposal_find(const struct arguments *arguments, const struct connection *where,
                  const char *word, struct ledger *ledger, const struct entry **out);

#endif
