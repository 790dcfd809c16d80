/* grant.h - the rights of a token: its participant, the kinds it may send, its routing mode. */
#ifndef HUB_GRANT_H
#define HUB_GRANT_H

#include "lib/protocol/pattern.h"
#include <mcpx/capability.h>
#include <mcpx/text.h>

enum routing { ROUTING_DEFAULT, ROUTING_ALL, ROUTING_DIRECTED };

/**
 * The origin of a grant, without the token itself: tokens_recheck judges it again under another
 * configuration. The hub only keeps it, and counts its references as those of grants.
 */
struct credential {
    unsigned refs;
    unsigned char token[32]; /* SHA-256 of the token */
    unsigned char key[32];   /* of a JWT: the digest of its signer's key */
    bool of_entry;           /* its rights are those of a configured participant */
    /* Text of a JWT's claims and header for tokens_recheck; empty for a static token. */
    struct mcpx_slice proof;
};

/**
 * One participant's grant. Counted, because a connection, a ticket and a cache may hold the same
 * one; immutable once made. Only one thread uses it, so the count is a plain number.
 */
struct grant {
    unsigned refs;
    /* Its participant; other participants see each connection as this or an instance of it. */
    struct mcpx_slice identity;
    struct mcpx_capset *capset; /* the kinds it may send */
    /* JSON array of the patterns of its unexpired grants, as `system/welcome` shows them. */
    struct mcpx_text capabilities;
    /* JSON array with conditional grants written out as objects; empty text when every grant
     * is unconditional. */
    struct mcpx_text whole;
    /* Preference of the participant or its profile; ROUTING_DEFAULT = the topic's. */
    enum routing routing;
    int64_t shown_ms;   /* wall clock; grants expired by then are left out of both texts */
    int64_t expires_ms; /* wall clock; the connection ends then with 4005; 0 = never */
    /* The grant of the credential alone, under runtime grants and denials; NULL without these. */
    struct grant *base;
    /* Connections to one topic at one time, 1 .. INSTANCES_MAX; 0 = the hub's setting. Set by the
     * maker of the grant, before others have it. Protocol: section 7. */
    unsigned instances;
    /* A ticket with it needs a certificate of this participant, too. Set likewise. */
    bool needs_certificate;
    /* Its origin; NULL when it is not of a token. Set likewise. */
    struct credential *credential;
};

/** The grant of the credential alone. Lent until the grant is freed. */
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
 * Makes the grant of a base with runtime grants and denials: another set, all else the same.
 *
 * base     kept; not made by this function
 * capset   kept
 *
 * Returns a reference the caller owns; NULL when memory runs out.
 */
struct grant *grant_over(struct grant *base, struct mcpx_capset *capset);

/**
 * The grant as it is at an instant: its JSON forms omit the expired grants, its compiled set is the
 * same. Returns a reference the caller owns, to the same grant when nothing has expired; NULL when
 * memory runs out.
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
 * Do both grant the same? Then a participant need not be told when one replaces the other. The
 * identities are not compared.
 */
bool grant_equals(const struct grant *one, const struct grant *other);

/** Appends one grant as an item of an array: its pattern, or an object when it has conditions. */
void grant_write_item(const struct mcpx_grant *grant, struct mcpx_text *out);

/** Takes one more reference and returns the grant. */
struct grant *grant_ref(struct grant *grant);

/** Gives one reference back; the last frees it. NULL is allowed. */
void grant_unref(struct grant *grant);

/* ---- authority: an administrator can give only grants of their own. Protocol: section 8. */

/** Does the set cover `admin/NAME`, a kind that is never sent? */
bool authority_has(struct mcpx_capset *set, const char *kind, int64_t wall_ms);

/** Does the set cover all of `admin/`, without condition or end? */
bool authority_has_all(const struct mcpx_capset *set, int64_t wall_ms);

/** Does the pattern of a grant cover all of `admin/`? */
bool authority_is_all(const struct mx_pattern *pattern);

/** Does one of its grants cover all of `admin/` now, conditions and denials left aside? */
bool authority_is_guarded(const struct mcpx_capset *set, int64_t wall_ms);

/** A denial of the set that may deny part of a pattern; absent when there is none. */
struct mcpx_slice authority_denial(const struct mcpx_capset *set,
                                   const struct mx_pattern *pattern);

/**
 * May the holder of this set give a grant? Yes when it has all of `admin/`. Yes, too, when one
 * grant of the set covers the whole pattern, all addressees and the whole time, and no denial may
 * overlap it.
 *
 * given   `expires_ms`: its end; 0 = none
 * why     on a refusal the reason is appended
 */
bool authority_may_give(const struct mcpx_capset *set, const struct mcpx_grant *given,
                        int64_t wall_ms, struct mcpx_text *why);

#endif
