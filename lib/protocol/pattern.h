/*
 * pattern.h - one capability pattern: its parts, what it covers, how it reads as a regular
 * expression.
 */
#ifndef MX_PATTERN_H
#define MX_PATTERN_H

#include <mcpx/capability.h>
#include <mcpx/text.h>

/** A pattern taken apart. Slices of one text. */
struct mx_pattern {
    struct mcpx_kind parts; /* type, method, context, with their "*" */
    /* The last byte is "*" and stands in type or method: it covers all that follows. */
    bool final_star;
    /* The context is nothing but "*": it covers a kind without context too. */
    bool context_any;
    /* The context holds "*" among other bytes: it covers no dotted context. */
    bool context_stars;
};

/**
 * Reads a pattern.
 *
 * text    borrowed for as long as `out` is used
 * out     filled; untouched on failure
 * fault   filled on failure; may be NULL
 *
 * Returns MCPX_OK or MCPX_EPATTERN. Never allocates. Protocol: section 3.
 */
enum mcpx_err mx_pattern_parse(struct mcpx_slice text, struct mx_pattern *out,
                               struct mcpx_fault *fault);

/**
 * Does the pattern cover the kind? Component by component, without PCRE2; used where compiling a
 * program is not worth the cost. Agrees with the programs of capability.c. Takes steps in
 * proportion to the length of the kind, whatever the pattern is.
 *
 * dotted   the context has a dot segment and the pattern is a grant, so rule 6 applies
 */
bool mx_pattern_covers(const struct mx_pattern *pattern, const struct mcpx_kind *kind,
                       bool dotted);

/**
 * Does `outer` cover every kind that `inner` covers as a grant? Rules 1 to 6 of protocol section 3.
 *
 * denies   `outer` is a denial, so rule 6 takes nothing from it
 */
bool mx_pattern_contains(const struct mx_pattern *outer, const struct mx_pattern *inner,
                         bool denies);

/**
 * May there be a kind that both cover? False only when there is certainly none: the bytes between
 * two "*" are not compared.
 */
bool mx_pattern_may_meet(const struct mx_pattern *one, const struct mx_pattern *other);

/** Bytes the kind has in common with the pattern before they differ or a "*" comes. */
size_t mx_pattern_agreement(const struct mx_pattern *pattern, const struct mcpx_kind *kind);

/**
 * Appends the pattern as a regular expression in PCRE2's syntax that matches, anchored at both
 * ends, the kinds it covers. Holds no "|" outside groups and captures nothing. Rule 6 is the
 * caller's: patterns with `context_stars` are left out where a dotted context is matched.
 *
 * A match compares each byte of a kind with at most MX_PATTERN_SOUGHT_MAX others, unless the
 * pattern is costly.
 */
void mx_pattern_regex(const struct mx_pattern *pattern, struct mcpx_text *out);

/** Bytes between two stars that a regular expression looks for about as fast as a walk does. */
#define MX_PATTERN_SOUGHT_MAX 64

/**
 * Do more than MX_PATTERN_SOUGHT_MAX bytes stand between two stars of a component? The regular
 * expression compares them anew at each byte of the kind.
 */
bool mx_pattern_is_costly(const struct mx_pattern *pattern);

#endif
