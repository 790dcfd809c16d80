/* capability.h - decides whether a participant may send a kind, and explains a refusal. */
#ifndef MCPX_CAPABILITY_H
#define MCPX_CAPABILITY_H

#include <mcpx/kind.h>

MCPX_BEGIN_C

/** Bounds of one grant set: patterns (grants and denials together) and their bytes. */
#define MCPX_CAPSET_PATTERNS_MAX 1024
#define MCPX_CAPSET_BYTES_MAX 65536

/** One grant, as the configuration or a token states it. Protocol: section 3. */
struct mcpx_grant {
    struct mcpx_slice pattern; /* a capability pattern */
    /* When to_count > 0: the only participants an envelope may be addressed to; a broadcast is
     * not covered. */
    const struct mcpx_slice *to;
    size_t to_count;
    /* Wall clock; from this instant on the grant covers nothing; 0 = never. */
    int64_t expires_ms;
};

/** True when a grant holds only for some addressees, or only for a time. */
static inline bool mcpx_grant_is_conditional(const struct mcpx_grant *grant)
{
    return grant->to_count > 0 || grant->expires_ms != 0;
}

/**
 * A compiled, immutable, counted set of grants and denials. One thread at a time may use a set,
 * counting included; different sets are independent of each other.
 */
struct mcpx_capset;

/**
 * Compiles a set. One PCRE2 program decides the unconditional grants and the denials in a single
 * match. Patterns are asked one by one where PCRE2 has no JIT, and in a set where more than 64
 * bytes stand between two "*" of a component, because a program could take long to find them.
 *
 * grants   borrowed, copied; grant_count may be 0 (such a set covers nothing)
 * deny     borrowed, copied patterns; a kind that one of them covers is refused
 * failed   when not NULL and the call fails: index of the offending pattern, denials counted
 *          after grants
 * fault    when not NULL and the call fails: reason, component and offset inside that pattern
 * out      filled with a set, of which the caller owns one reference; untouched on failure
 *
 * Returns MCPX_OK; MCPX_EPATTERN when a pattern does not fit the grammar; MCPX_ELIMIT when the
 * set exceeds MCPX_CAPSET_PATTERNS_MAX or MCPX_CAPSET_BYTES_MAX; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_capset_new(const struct mcpx_grant *grants, size_t grant_count,
                                       const struct mcpx_slice *deny, size_t deny_count,
                                       size_t *failed, struct mcpx_fault *fault,
                                       struct mcpx_capset **out);

/** Takes one more reference and returns the set. */
MCPX_API struct mcpx_capset *mcpx_capset_ref(struct mcpx_capset *set);

/** Gives one reference back; the last one frees the set. NULL is allowed. */
MCPX_API void mcpx_capset_unref(struct mcpx_capset *set);

/** How many grants the set was made from. */
MCPX_API size_t mcpx_capset_count(const struct mcpx_capset *set);

/** The grant at `index` (0 .. count-1), lent until the set is freed. */
MCPX_API const struct mcpx_grant *mcpx_capset_grant(const struct mcpx_capset *set,
                                                    size_t index);

/** The earliest expiry after `wall_ms` of any grant in the set; 0 when none is left. */
MCPX_API int64_t mcpx_capset_next_expiry(const struct mcpx_capset *set, int64_t wall_ms);

/** The question: may this kind go to these addressees now? */
struct mcpx_question {
    const struct mcpx_kind *kind; /* as filled by mcpx_kind_parse */
    const struct mcpx_slice *to;  /* addressees; none = everyone */
    size_t to_count;
    int64_t wall_ms; /* the expiry of grants is compared with this instant */
};

/**
 * Decides. Router types (mcpx_kind_is_reserved) are always refused. One match in the common case; a
 * match that exceeds its limits counts as no. Some verdicts depend on the kind alone: no grant with
 * conditions covers it. Sets of four patterns or more remember these, in a table of 64 KiB that all
 * sets of a thread share. A remembered kind is compared byte by byte. Takes steps in proportion to
 * the number of patterns and the length of the kind at most. Never allocates.
 *
 * Protocol: section 3.
 */
MCPX_API bool mcpx_capset_allows(struct mcpx_capset *set,
                                 const struct mcpx_question *question);

/** Why a kind was refused. The wire name is mcpx_refusal_wire. Protocol: section 6. */
enum mcpx_refusal {
    MCPX_ALLOWED = 0,
    MCPX_NO_MATCHING_GRANT,
    MCPX_DENIED,
    MCPX_GRANT_EXPIRED,
    MCPX_TARGET_NOT_ALLOWED,
    MCPX_RESERVED_NAMESPACE
};

/** "allowed", "no_matching_grant", "denied", ... Static. */
MCPX_API const char *mcpx_refusal_wire(enum mcpx_refusal refusal);

/** A decision with its reasons. */
struct mcpx_decision {
    enum mcpx_refusal refusal; /* MCPX_ALLOWED, or why not */
    /* The pattern that decided: of the grant that allowed it, of a grant that covers the kind
     * but has expired or has other addressees, or of the denial that forbade it; absent
     * otherwise. Lent until the set is freed. */
    struct mcpx_slice grant;
    /* The grant whose pattern agrees with the longest beginning of the kind; absent for an
     * empty set. Lent until the set is freed. */
    struct mcpx_slice nearest;
    /* The smallest pattern that, granted without conditions, would allow this kind: the kind
     * itself as a pattern (a "*" in it is a star then), or all contexts of its method where the
     * context holds both "*" and a dot segment. Absent when the kind is allowed, and when no
     * grant can help because the kind is reserved or denied. Lent until the next
     * mcpx_capset_explain in this thread, for any set. */
    struct mcpx_slice would_allow;
    /* The same operation as "mcp/proposal:..." when the kind is an mcp/request that was refused
     * and the set allows that proposal to the same addressees; absent otherwise. Lent for as
     * long as would_allow. */
    struct mcpx_slice alternative;
};

/**
 * Decides like mcpx_capset_allows and says why. Meant for refusals and tools: linear in the
 * number of patterns, without compiling anything.
 */
MCPX_API void mcpx_capset_explain(struct mcpx_capset *set,
                                  const struct mcpx_question *question,
                                  struct mcpx_decision *out);

/**
 * Checks one pattern's grammar. Returns MCPX_OK or MCPX_EPATTERN with `fault` (may be NULL)
 * filled as by mcpx_capset_new.
 */
MCPX_API enum mcpx_err mcpx_pattern_check(struct mcpx_slice pattern, struct mcpx_fault *fault);

/**
 * A hint for a pattern that is valid but is probably a mistake. "mcp/request", for example,
 * covers no MCP message. Returns a static sentence, or NULL when there is no hint. Protocol:
 * section 3 rule 5.
 */
MCPX_API const char *mcpx_pattern_hint(struct mcpx_slice pattern);

MCPX_END_C

#endif
