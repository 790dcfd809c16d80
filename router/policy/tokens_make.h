/*
 * tokens_make.h - how config.c fills a `struct tokens`; nobody else needs it.
 */
#ifndef POLICY_TOKENS_MAKE_H
#define POLICY_TOKENS_MAKE_H

#include "router/policy/grant_list.h"
#include "router/policy/jwt.h"
#include "router/policy/tokens.h"

/** Makes a table without participants and keys. Returns NULL when memory runs out. */
struct tokens *tokens_new(void);

/**
 * Lets profiles and participants that are equal to those of `before` share their compiled grants.
 * Before any are added. `before` is only read, and has to stay until tokens_take_shared.
 */
void tokens_share(struct tokens *tokens, const struct tokens *before);

/** The key ring, to be filled. Lent until tokens_free. */
struct jwt_ring *tokens_ring(struct tokens *tokens);

/**
 * Adds a profile, which tokens may then name.
 *
 * name   borrowed, copied
 * list   compiled here
 * fault  filled when a pattern is refused
 *
 * Returns MCPX_OK or what grant_list_compile returns.
 */
enum mcpx_err tokens_add_profile(struct tokens *tokens, const char *name,
                                 const struct grant_list *list, enum routing routing,
                                 struct mcpx_fault *fault);

/**
 * A configured participant. Everything is borrowed and copied.
 *
 * id                    valid (mcpx_identity_is_valid)
 * token_sha256          of its token
 * topics                JSON array: patterns of the topics it may join; NULL = none
 * grants                profile's and own
 * instances             as in struct grant
 * by_jwt                a JWT may name it too, and is then as good as its token
 */
struct tokens_person {
    struct mcpx_slice id;
    unsigned char token_sha256[32];
    const json_t *topics;
    const struct grant_list *grants;
    enum routing routing;
    unsigned instances;
    bool by_jwt;
};

/** Adds a participant. Returns MCPX_OK or what grant_list_compile returns. */
enum mcpx_err tokens_add_person(struct tokens *tokens, const struct tokens_person *person,
                                struct mcpx_fault *fault);

/**
 * All participants were added: tokens_participant_at knows them. False when memory runs out.
 */
bool tokens_sort(struct tokens *tokens);

/**
 * How many configured participants may answer tool calls and do not read in directed mode by their
 * own or their profile's routing.
 */
size_t tokens_answerers(const struct tokens *tokens);

#endif
