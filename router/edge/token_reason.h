/*
 * token_reason.h - why a token was refused, for the log alone: whoever shows a token is told
 * nothing but that it is not valid. Protocol: section 7.
 */
#ifndef EDGE_TOKEN_REASON_H
#define EDGE_TOKEN_REASON_H

#include "router/policy/tokens.h"

/**
 * What is known of a refused token.
 *
 * reason    a static sentence; NULL when nothing is wrong with it
 * grant     what it would earn but for its dates: who bears it is certain then. A reference that
 *           the caller owns; NULL when it is not known who bears it
 * claimed   who it says that its bearer is, when that is not certain: anybody can have written it.
 *           May stay empty; the caller's
 */
struct token_reason {
    const char *reason;
    struct grant *grant;
    struct mcpx_text claimed;
};

/**
 * Finds out why tokens_ask has returned MCPX_ETOKEN for this token, whose signature is known by
 * now if it matters. `claimant` is borrowed, and has no certificate; `out` is zeroed by the caller, and released with
 * token_reason_fini.
 */
void token_reason_find(struct tokens *tokens, const struct claimant *claimant,
                       struct mcpx_now now, struct token_reason *out);

/** Releases what was found. */
void token_reason_fini(struct token_reason *reason);

#endif
