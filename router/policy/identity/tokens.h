/* tokens.h - from a bearer token to a grant: static tokens by SHA-256, JWTs by pinned key. */
#ifndef POLICY_TOKENS_H
#define POLICY_TOKENS_H

#include "router/hub/hub.h"
#include "router/policy/grants/grant.h"
#include "router/policy/grants/grant_list.h"

/**
 * All participants, profiles and keys. Made by config_load, immutable afterwards except for the
 * keys in files.
 */
struct tokens;
struct key_file;
struct jwt_signature;

/** Frees it. NULL is allowed. Grants that were given stay valid. */
void tokens_free(struct tokens *tokens);

/**
 * Frees a part of it, because freeing a hundred thousand participants blocks the loop. Returns true
 * when all of it is gone.
 */
bool tokens_free_some(struct tokens *tokens);

/**
 * Takes references to the grants shared with `before` (struct config_sources), and takes over its
 * cache of compiled sets. To be called on the thread that uses both, before `before` is freed: that
 * would free the shared grants, too. Does nothing when nothing is shared.
 */
void tokens_take_shared(struct tokens *tokens, struct tokens *before);

/**
 * Judges the credential of a grant again, as tokens_ask would judge the token: by the active
 * participants, profiles and keys. For a JSON Web Token, sets `of_entry` in its credential, which
 * other grants share: true when the participant is configured.
 *
 * base     a grant of tokens_ask or tokens_recheck, under any configuration; borrowed
 * topic    as for tokens_ask
 * out      filled with a reference the caller owns; untouched on failure
 *
 * Returns MCPX_OK; MCPX_ENOTFOUND when the participant is no longer configured; MCPX_EFORBIDDEN
 * when it may no longer join this topic; MCPX_ETOKEN when another token may help: the entry has
 * another `token_sha256`, the key is gone, or the token is refused for another reason; MCPX_ENOMEM.
 * Protocol: section 7.
 */
enum mcpx_err tokens_recheck(struct tokens *tokens, const struct grant *base,
                             struct mcpx_slice topic, struct mcpx_now now, struct grant **out);

/** The file with public keys at an index; NULL behind the last. Lent; after a change the caller
 * must read it again (jwt.h). */
struct key_file *tokens_key_file(const struct tokens *tokens, size_t index);

/** The credentials of a caller. */
struct credentials {
    struct mcpx_slice bearer; /* a token; absent when there is none */
    /* The participant of a verified certificate: a configured id, or empty when none of its names
     * has one; absent without a certificate. */
    struct mcpx_slice named;
    /* The token's signature, as for jwt_verify; NULL = it is verified at once. */
    struct jwt_signature *signature;
    /* Filled on MCPX_ETOKEN: the error of the token, a static sentence, or NULL. A sentence about
     * dates, issuer, audience or other claims implies that a configured key signed the token.
     * NULL = not needed. */
    const char **why;
};

/**
 * Finds the caller's participant and its grant in a topic.
 *
 * credentials   borrowed. A certificate can replace a token; with both, both must name one
 *               participant
 * topic         the requested topic; absent = any (the API calls that are not about one topic)
 * out           filled with a grant, of which the caller owns one reference; untouched on failure
 *
 * Returns MCPX_OK; MCPX_ETOKEN when the token is unknown, malformed, not signed by a configured key
 * with that key's own algorithm, or outside nbf/exp (60 s leeway), or names no valid participant,
 * or when the certificate stands for another participant or for none; MCPX_EOPENING when the
 * token's signature is to be verified first; MCPX_EFORBIDDEN when it is valid, but not for this
 * topic; MCPX_ENOMEM. Static tokens are compared in constant time. Protocol: section 7.
 */
enum mcpx_err tokens_ask(struct tokens *tokens, const struct credentials *credentials,
                         struct mcpx_slice topic, struct mcpx_now now, struct grant **out);

/** A topic, and whether a token is valid for it. `name` is borrowed. */
struct token_topic {
    struct mcpx_slice name;
    bool covered;
};

/** Topics to compare with one token. */
struct token_topics {
    struct token_topic *rows;
    size_t count;
    size_t work; /* limit of the work: for each topic, the bytes of patterns and token */
};

/**
 * Finds the topics for which a token or certificate is valid. It is verified only once: that may
 * take a thousand times as long as comparing a name.
 *
 * topics   at least one is compared, more until `work` is used up. For these `covered` is filled,
 *          true where tokens_ask would return MCPX_OK; `count` becomes their number, `work` what is
 *          left. Untouched on failure
 *
 * Returns MCPX_OK, or MCPX_ETOKEN and MCPX_ENOMEM as tokens_ask.
 */
enum mcpx_err tokens_check_topics(struct tokens *tokens, const struct credentials *credentials,
                                  struct mcpx_now now, struct token_topics *topics);

/**
 * Makes a token for dev mode (POST /v0.1/auth/token): a JWT signed with the first HMAC key. In
 * dev mode that is a random key, never a configured one.
 *
 * capabilities_json   JSON array of strings or grant objects, validated here; absent =
 *                     every kind below mcp/, and chat (protocol section 8)
 * fault               filled when a capability is not valid
 * token               the JWT is appended
 *
 * Returns MCPX_OK, MCPX_EREQUEST with `fault` filled for a bad participant id or topic name and for
 * a configured participant, MCPX_EPATTERN, MCPX_ENOMEM, or MCPX_ENOTFOUND when no HMAC key is
 * configured.
 */
enum mcpx_err tokens_issue(struct tokens *tokens, struct mcpx_slice participant,
                           struct mcpx_slice topic, struct mcpx_slice capabilities_json,
                           struct mcpx_now now, struct mcpx_fault *fault,
                           struct mcpx_text *token);

/** A participant or profile of the configuration. Lent until tokens_free. */
struct tokens_entry {
    struct mcpx_slice name; /* its id; lent by `grant` */
    struct grant *grant;    /* its permissions, and its routing mode */
    struct names topics;    /* patterns; a profile has none */
    bool by_jwt;            /* JWTs of the participant are accepted */
    bool shared; /* private: `grant` is another configuration's, not referenced here yet */
};

/** The participant at an index, in the order of ids by bytes; NULL behind the last. */
const struct tokens_entry *tokens_participant_at(const struct tokens *tokens, size_t index);

/** The number of participants up to and including an id in this order. */
size_t tokens_participants_up_to(const struct tokens *tokens, struct mcpx_slice id);

/** The profile at an index, in no order; NULL behind the last. */
const struct tokens_entry *tokens_profile_at(const struct tokens *tokens, size_t index);

/** The participant with an entry of that id; NULL when there is none. */
const struct tokens_entry *tokens_find_id(const struct tokens *tokens, struct mcpx_slice id);

/** The profile of that name; NULL when there is none. */
const struct tokens_entry *tokens_find_profile(const struct tokens *tokens,
                                               struct mcpx_slice name);

/**
 * The topic pattern by which a participant may join a topic.
 *
 * person   NULL = it is not configured
 * topic    absent = any topic at all
 *
 * Returns the pattern, lent until tokens_free; absent when none covers the topic.
 */
struct mcpx_slice tokens_topic_pattern(const struct tokens_entry *person,
                                       struct mcpx_slice topic);

/* Lists what each participant gains and loses by another configuration. */

enum difference_change { DIFFERENCE_ADDED, DIFFERENCE_REMOVED, DIFFERENCE_CHANGED };

/**
 * One added, removed or changed participant or profile. `before` is NULL for an added one, `after`
 * for a removed one. Lent until the tokens are freed.
 */
struct difference_row {
    enum difference_change change;
    const char *kind;       /* "participant" or "profile" */
    struct mcpx_slice name; /* its id or name */
    const struct tokens_entry *before, *after;
};

/** All differences, profiles first. */
struct difference {
    struct difference_row *rows;
    size_t count, room;
    size_t counts[3]; /* of participants, by enum difference_change */
};

/**
 * Finds the differences. Both configurations are only read, and borrowed until difference_fini.
 *
 * out   zeroed; to be released with difference_fini in every case
 *
 * Returns MCPX_OK or MCPX_ENOMEM.
 */
enum mcpx_err difference_find(const struct tokens *before, const struct tokens *after,
                              struct difference *out);

/** Releases what difference_find filled in. */
void difference_fini(struct difference *difference);

/** "added", "removed" or "changed". Static. */
const char *difference_word(enum difference_change change);

/**
 * Appends the rows as a JSON array, but ends it after the row that makes `out` longer than
 * `bytes_max`. A row is an object: name, change, gains and losses (docs/http-api.md). It says
 * that the token changed, but shows no token. Long lists of grants take milliseconds.
 *
 * Returns the number of rows appended.
 */
size_t difference_write(const struct difference *difference, size_t bytes_max,
                        struct mcpx_text *out);

/** The response about two configurations. */
struct difference_answer {
    const char *rev, *was; /* the policy of the new and of the old one */
    const struct difference *difference;
    struct mcpx_slice settings; /* as config_compare has them */
    struct mcpx_slice rows;     /* as difference_write has them, `shown` of them */
    size_t shown;
};

/** Appends to an object the first hundred of `lines`, which end in newlines, as an array `name`. */
void difference_write_lines(const char *name, struct mcpx_slice lines, struct mcpx_text *out);

/** Appends to an object the members of the response to a reload (docs/http-api.md). */
void difference_write_answer(const struct difference_answer *answer, struct mcpx_text *out);

#endif
