/*
 * bearer.h - what a token is good for, for tests in which nobody shows a certificate.
 */
#ifndef SUPPORT_BEARER_H
#define SUPPORT_BEARER_H

#include "router/policy/identity/tokens.h"

/** For jwt_ring_add: a secret whose tokens need no end. */
#define SECRET_KEY(name, by)                                                                  \
    (&(struct jwt_key){.kid = (name), .alg = jwt_alg_find(by), .exp_optional = true})

/** tokens_ask for a token alone, whose signature is verified at once. */
static inline enum mcpx_err tokens_verify(struct tokens *tokens, struct mcpx_slice bearer,
                                          struct mcpx_slice topic, struct mcpx_now now,
                                          struct grant **out)
{
    return tokens_ask(tokens, &(struct credentials){.bearer = bearer}, topic, now, out);
}

#endif
