/*
 * tokens.h - from a bearer token to a grant: static tokens by SHA-256, JWTs by pinned key.
 */
#ifndef POLICY_TOKENS_H
#define POLICY_TOKENS_H

#include "router/hub/grant.h"
#include "router/hub/hub.h"

/** Everything that can turn a token into a grant. Made by config_load, immutable afterwards. */
struct tokens;

/** Frees it. NULL is allowed. Grants given out stay valid. */
void tokens_free(struct tokens *tokens);

/**
 * Tells who bears a token and what it earned in a topic.
 *
 * bearer   the token itself, borrowed
 * topic    the topic asked for; absent = any (the API calls that are not about one topic)
 * out      filled with a grant the caller owns one reference of; untouched on failure
 *
 * Returns MCPX_OK; MCPX_ETOKEN when the token is unknown, malformed, not signed by a configured
 * key with that key's own algorithm, or outside nbf/exp (60 s leeway), or names no valid
 * participant; MCPX_EFORBIDDEN when it is good but not for this topic; MCPX_ENOMEM. Static tokens
 * are compared in constant time. Protocol: section 7.
 */
enum mcpx_err tokens_verify(struct tokens *tokens, struct mcpx_slice bearer,
                            struct mcpx_slice topic, struct mcpx_now now, struct grant **out);

/** A topic somebody may or may not be let into. `name` is borrowed. */
struct token_topic {
    struct mcpx_slice name;
    bool covered;
};

/**
 * Finds out which of many topics a token is good for. It is verified once, however many there
 * are: a signature may cost a thousand times what a name costs.
 *
 * topics   `covered` is filled: true where tokens_verify would return MCPX_OK; untouched on failure
 *
 * Returns MCPX_OK, or MCPX_ETOKEN and MCPX_ENOMEM as tokens_verify.
 */
enum mcpx_err tokens_cover(struct tokens *tokens, struct mcpx_slice bearer,
                           struct mcpx_now now, struct token_topic *topics, size_t count);

/**
 * Makes a token for dev mode (POST /v0.1/auth/token): a JWT signed with the first HMAC key,
 * which is then a random one, never one that was configured.
 *
 * capabilities_json   JSON array of strings or grant objects, validated here; absent =
 *                     every kind below mcp/, and chat (protocol section 8)
 * fault               filled when a capability is not valid
 * token               the JWT is appended
 *
 * Returns MCPX_OK, MCPX_EREQUEST with `fault` filled for a bad participant id or topic name and for
 * who is configured, MCPX_EPATTERN,
 * MCPX_ENOMEM, or MCPX_ENOTFOUND when no HMAC key is configured.
 */
enum mcpx_err tokens_issue(struct tokens *tokens, struct mcpx_slice participant,
                           struct mcpx_slice topic, struct mcpx_slice capabilities_json,
                           struct mcpx_now now, struct mcpx_fault *fault,
                           struct mcpx_text *token);

/**
 * The grant of a configured participant, for offline decisions (mcpxctl can) and /v0.1/check.
 * Returns MCPX_OK with a reference the caller owns, MCPX_ENOTFOUND, or MCPX_ENOMEM.
 */
enum mcpx_err tokens_participant(struct tokens *tokens, struct mcpx_slice id,
                                 struct grant **out);

/**
 * By which of its patterns a configured participant may join a topic.
 *
 * topic   absent = any topic at all
 *
 * Returns the pattern, lent until tokens_free; absent when none covers the topic, and for who is
 * not configured.
 */
struct mcpx_slice tokens_topic_pattern(const struct tokens *tokens, struct mcpx_slice id,
                                       struct mcpx_slice topic);

/**
 * A grant from a JSON array of patterns and grant objects, made up on the spot, as /v0.1/check
 * takes it. It is compiled anew each time and remembered nowhere, so that made-up lists do not
 * push the sets of tokens in use out of the cache; the caller bounds how long the list is.
 *
 * Returns MCPX_OK, MCPX_EPATTERN or MCPX_EREQUEST with `fault` filled, MCPX_ENOMEM.
 */
enum mcpx_err tokens_grant_from_json(struct mcpx_slice participant,
                                     struct mcpx_slice capabilities_json,
                                     struct mcpx_fault *fault, struct grant **out);

#endif
