/*
 * grant.h - what a token gives: its bearer, what the bearer may send, how it wants to read.
 */
#ifndef HUB_GRANT_H
#define HUB_GRANT_H

#include "lib/protocol/pattern.h"
#include <mcpx/capability.h>
#include <mcpx/text.h>

enum routing { ROUTING_DEFAULT, ROUTING_ALL, ROUTING_DIRECTED };

/**
 * What a grant was earned with, without the token itself: tokens_recheck judges it again under
 * another configuration. The hub only keeps it, and counts it as it counts grants.
 */
struct credential {
    unsigned refs;
    unsigned char token[32]; /* SHA-256 of the token */
    unsigned char key[32];   /* of a JWT: the digest of the key that has signed it */
    bool of_entry;           /* its rights are those of a configured participant */
    /* Of a JWT, as tokens_recheck reads it; empty for the token of a configured
     * participant. */
    struct mcpx_slice proof;
};

/**
 * One participant's grant. Counted, because a connection, a ticket and a cache may hold the same;
 * immutable once made. Single thread, so the count is a plain number.
 */
struct grant {
    unsigned refs;
    /* Who its bearer is; others know each connection by this or an instance of it. */
    struct mcpx_slice identity;
    struct mcpx_capset *capset; /* what it may send */
    /* JSON array of the patterns of its unexpired grants, as `system/welcome` shows them. */
    struct mcpx_text capabilities;
    /* JSON array with conditional grants written out as objects; empty text when every grant
     * is unconditional. */
    struct mcpx_text whole;
    /* Preference of the participant or its profile; ROUTING_DEFAULT = the topic's. */
    enum routing routing;
    int64_t shown_ms; /* wall clock up to which expired grants are left out of the two above */
    int64_t expires_ms; /* wall clock; the connection ends then with 4005; 0 = never */
    /* What the credential alone gives, where run-time changes were laid over it; NULL when
     * this is it. */
    struct grant *base;
    /* Connections to one topic at one time, 1 .. INSTANCES_MAX; 0 = the hub's setting. Set by
     * whoever makes the grant, before others have it. Protocol: section 7. */
    unsigned instances;
    /* Whose ticket holds it has to show one of this participant. Set likewise. */
    bool needs_certificate;
    /* What it was earned with; NULL when it was not earned by a token. Set likewise. */
    struct credential *credential;
};

/** What the credential alone gives. Lent until the grant is freed. */
static inline struct grant *grant_base(struct grant *grant)
{
    return grant->base ? grant->base : grant;
}

/**
 * Makes a grant with one reference, which the caller owns.
 *
 * identity      borrowed, copied; valid (mcpx_identity_is_valid)
 * capset        kept (its own reference is taken)
 *
 * Returns NULL when memory runs out.
 */
struct grant *grant_new(struct mcpx_slice identity, struct mcpx_capset *capset,
                        enum routing routing, int64_t expires_ms);

/**
 * Makes the grant that a base becomes by run-time changes: with another set, and the same in all
 * else.
 *
 * base     kept; not itself made so
 * capset   kept
 *
 * Returns a reference the caller owns; NULL when memory runs out.
 */
struct grant *grant_over(struct grant *base, struct mcpx_capset *capset);

/**
 * The grant as it stands at an instant: with its JSON forms written without what has expired by
 * then, and the same compiled set. Returns a reference the caller owns, to the same grant when
 * nothing has expired; NULL when memory runs out.
 */
struct grant *grant_at(struct grant *grant, int64_t wall_ms);

/**
 * Makes a credential with one reference, its `key` zeroed; `token` and `proof` are copied. Returns
 * NULL when memory runs out.
 */
struct credential *credential_new(const unsigned char token[32], bool of_entry,
                                  struct mcpx_slice proof);

/** Takes one more reference and returns the credential. NULL is allowed. */
struct credential *credential_ref(struct credential *credential);

/**
 * Do both say the same to everybody? Then a participant need not be told when one takes the place
 * of the other. Compares what they grant, not who they are for.
 */
bool grant_equals(const struct grant *one, const struct grant *other);

/** Appends one grant as an item of an array: its pattern, or an object when it has conditions. */
void grant_write_item(const struct mcpx_grant *grant, struct mcpx_text *out);

/** Takes one more reference and returns the grant. */
struct grant *grant_ref(struct grant *grant);

/** Gives one reference back; the last frees it. NULL is allowed. */
void grant_unref(struct grant *grant);

/* ---- who may give what to whom: nobody gives what they do not have. Protocol: section 8. */

/** Does the set cover a kind that is only asked of grants, `admin/NAME`? */
bool authority_has(struct mcpx_capset *set, const char *kind, int64_t wall_ms);

/** Does the set cover all of `admin/`, without condition or end? */
bool authority_has_all(const struct mcpx_capset *set, int64_t wall_ms);

/** Does the pattern of a grant cover all of `admin/`? */
bool authority_is_all(const struct mx_pattern *pattern);

/** Does one of its grants cover all of `admin/` now, with whatever conditions and denials? */
bool authority_is_guarded(const struct mcpx_capset *set, int64_t wall_ms);

/** A denial of the set that may take something of a pattern away; absent when there is none. */
struct mcpx_slice authority_denial(const struct mcpx_capset *set,
                                   const struct mx_pattern *pattern);

/**
 * May somebody with this set give a grant away? Either it has all of `admin/`; or one grant of the
 * set covers all that is given, to all addressees, for at least as long, and nothing of it is
 * denied. What is unclear about patterns is refused.
 *
 * given   `expires_ms`: until when it is given; 0 = without end
 * why     on a refusal the reason is appended
 */
bool authority_may_give(const struct mcpx_capset *set, const struct mcpx_grant *given,
                        int64_t wall_ms, struct mcpx_text *why);

#endif
