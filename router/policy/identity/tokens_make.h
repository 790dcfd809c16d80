/*
 * tokens_make.h - how config.c fills a `struct tokens`; nobody else needs it.
 */
#ifndef POLICY_TOKENS_MAKE_H
#define POLICY_TOKENS_MAKE_H

#include "lib/base/map.h"
#include "router/policy/grants/grant_list.h"
#include "router/policy/identity/jwt.h"
#include "router/policy/identity/tokens.h"

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

/** A configured participant. Everything is borrowed and copied. */
struct tokens_person {
    struct mcpx_slice id;           /* valid (mcpx_identity_is_valid) */
    unsigned char token_sha256[32]; /* of its token */
    const json_t *topics; /* JSON array: patterns of the topics it may join; NULL = none */
    const struct grant_list *grants; /* profile's and own */
    enum routing routing;
    unsigned instances; /* as in struct grant */
    bool by_jwt;        /* a JWT may name it too, and is then as good as its token */
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

/* The shape of `struct tokens`, for the files named tokens*.c alone. */

/** `shared`: `set` is another table's, and not counted here yet. */
struct profile {
    char *name;
    struct mcpx_capset *set;
    enum routing routing;
    bool shared;
};

/** `shared`: `grant` is another table's, and not counted here yet. */
struct person {
    unsigned char token_sha256[32];
    char **topics;
    size_t topic_count;
    bool by_jwt, shared;
    struct grant *grant;
};

struct tokens {
    struct jwt_ring *ring;
    struct profile *profiles;
    size_t profile_count;
    struct mx_map profile_names; /* 1 + index by name, likewise */
    struct person *people;
    size_t people_count;
    size_t *by_id; /* indexes of `people`, in the order of ids; made by tokens_sort */
    struct mx_map people_digests; /* 1 + index by the first bytes of their tokens' digests */
    /* 1 + index by id. The ids come from the configuration, so its hash needs no secret
     * key. */
    struct mx_map people_ids;
    struct capset_cache sets;
    /* What is equal there is shared, while this one is filled; NULL else. */
    const struct tokens *before;
};

/** The participant whose token has this digest; NULL when there is none. Lent. */
const struct person *tokens_find_bearer(const struct tokens *tokens,
                                        const unsigned char digest[32]);

/** The profile of that name; NULL when there is none. Lent. */
const struct profile *tokens_find_profile(const struct tokens *tokens, const char *name);

/** The participant with an entry of that id; NULL when there is none. Lent. */
const struct person *tokens_find_person(const struct tokens *tokens, struct mcpx_slice id);

/** Claims that were verified. */
struct claimed {
    const json_t *claims;
    /* What their `capabilities` were compiled to before; NULL = to be compiled. */
    struct mcpx_capset *set;
    const char *why; /* which of them is refused, a static sentence; filled on MCPX_ETOKEN */
};

/**
 * From verified claims to a grant.
 *
 * topic   the topic asked for; absent = any
 * out     filled with a reference the caller owns; untouched on failure
 *
 * Returns MCPX_OK, MCPX_ETOKEN for claims of a wrong shape and for a participant whose entry does
 * not accept JWTs, or not with grants of their own; MCPX_EFORBIDDEN for another topic, MCPX_ENOMEM.
 * Protocol: section 7.
 */
enum mcpx_err tokens_grant_of(struct tokens *tokens, struct claimed *claimed,
                              struct mcpx_slice topic, struct mcpx_now now,
                              struct grant **out);

/**
 * Gives a grant that was made from verified claims its credential. Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err tokens_note_proof(const struct tokens *tokens, const struct jwt_proof *proof,
                                struct grant *grant);

/** True when verified claims are valid for this topic. */
bool tokens_claims_cover(const struct tokens *tokens, const json_t *claims,
                         struct mcpx_slice topic);

#endif
