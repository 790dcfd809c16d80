/* tokens_make.h - fills a `struct tokens`, for config*.c only. */
#ifndef POLICY_TOKENS_MAKE_H
#define POLICY_TOKENS_MAKE_H

#include "lib/base/map.h"
#include "router/policy/identity/jwt.h"
#include "router/policy/identity/tokens.h"

/**
 * Makes a table without participants and keys. Returns NULL when memory runs out.
 *
 * before   equal profiles and participants share its compiled grants; it is only read, and must
 *          stay until tokens_take_shared. NULL = none
 */
struct tokens *tokens_new(const struct tokens *before);

/** A participant or profile that is added. Everything is borrowed and copied. */
struct tokens_person {
    struct mcpx_slice id;           /* of a participant: valid (mcpx_identity_is_valid) */
    bool is_profile;                /* tokens may name it; has no token, topics and `by_jwt` */
    unsigned char token_sha256[32]; /* of its token */
    const json_t *topics; /* JSON array: patterns of the topics it may join; NULL = none */
    const struct grant_list *grants; /* profile's and own */
    enum routing routing;
    unsigned instances; /* as in struct grant */
    bool by_jwt;        /* a JWT may name it, too, and is then equivalent to its token */
};

/**
 * Adds it; its grants are compiled here. Returns MCPX_OK, or what mcpx_capset_new returns, with
 * `fault`.
 */
enum mcpx_err tokens_add(struct tokens *tokens, const struct tokens_person *person,
                         struct mcpx_fault *fault);

/** All participants were added: tokens_participant_at knows them. */
void tokens_sort(struct tokens *tokens);

/**
 * The number of configured participants that may answer tool calls and have no routing `directed`,
 * of their own or their profile.
 */
size_t tokens_answerers(const struct tokens *tokens);

/* The shape of `struct tokens`, for the files named tokens*.c alone; others know its ring. */

/** Participants, or profiles. `names`: addresses of the rows by id or name. */
struct tokens_table {
    struct tokens_entry **rows;
    size_t count, room;
    struct mx_map names;
};

struct tokens {
    struct jwt_ring ring;
    struct tokens_table profiles, people; /* `people` in the order of ids: tokens_sort */
    struct mx_map digests; /* addresses of people by the first bytes of their token's digest */
    struct mx_map sets;    /* compiled for tokens: capset_cache_get */
    /* Equal grants are shared with it while this one is filled; else NULL. */
    const struct tokens *before;
};

/** The entry of that id or name; NULL when there is none. */
struct tokens_entry *tokens_table_find(const struct tokens_table *table,
                                       struct mcpx_slice name);

/** The participant whose token has this digest; NULL when there is none. Lent. */
const struct tokens_entry *tokens_find_bearer(const struct tokens *tokens,
                                              const unsigned char digest[32]);

#endif
