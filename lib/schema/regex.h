/*
 * regex.h - the patterns of a schema. PCRE2 matches them; the cost is bounded for every pattern and
 * text.
 */
#ifndef MX_REGEX_H
#define MX_REGEX_H

#include <mcpx/error.h>
#include <mcpx/text.h>

/** A compiled pattern: immutable. Any number of threads may match with it. */
struct mx_regex;

/** Memory for matching, kept from one match to the next. One thread. */
struct mx_regex_matcher;

/** The result of a match. LIMIT: given up at a bound; MEMORY: memory ran out. */
enum mx_match { MX_MATCH_NO = 0, MX_MATCH_YES, MX_MATCH_LIMIT, MX_MATCH_MEMORY };

/** Sizes of the patterns of one schema so far, in bytes. */
struct mx_regex_sums {
    size_t code;    /* of PCRE2: at most MCPX_SCHEMA_PATTERNS_MAX */
    size_t machine; /* bytes of machine code */
    size_t memory;  /* held by all patterns */
};

/**
 * Compiles a pattern of ECMA-262.
 *
 * sums     of its schema; the pattern is added
 * reason   filled on MCPX_EPATTERN with the expectation
 *
 * Returns MCPX_OK, MCPX_EPATTERN, MCPX_ELIMIT when the schema's patterns are too large with it, or
 * MCPX_ENOMEM.
 */
enum mcpx_err mx_regex_new(struct mcpx_slice pattern, struct mx_regex **out,
                           struct mx_regex_sums *sums, struct mcpx_text *reason);

/** Frees a pattern. */
void mx_regex_free(struct mx_regex *regex);

/** Makes a matcher; NULL when memory runs out. */
struct mx_regex_matcher *mx_regex_matcher_new(void);

/** Frees it. */
void mx_regex_matcher_free(struct mx_regex_matcher *matcher);

/**
 * Is the pattern found anywhere in the text?
 *
 * text    UTF-8
 * steps   left in the evaluation: the price of the match is taken off, used up or not. LIMIT when
 *         they do not suffice.
 */
enum mx_match mx_regex_match(const struct mx_regex *regex, struct mx_regex_matcher *matcher,
                             struct mcpx_slice text, int64_t *steps);

/**
 * Appends the pattern in the syntax of PCRE2.
 *
 * reason   filled on failure: the expectation, static
 *
 * Returns false for syntax outside of ECMA-262 with its flag u, or with another meaning in PCRE2.
 * Syntax refused by PCRE2 itself is not checked. Memory failure shows in `out`.
 */
bool mx_ecma_translate(struct mcpx_slice pattern, struct mcpx_text *out, const char **reason);

/**
 * Appends "\p{...}" or "\P{...}" for PCRE2.
 *
 * name   of a property, as in braces in ECMA-262
 *
 * Returns false, and appends nothing, unless both have a property of this name.
 */
bool mx_property_add(struct mcpx_text *out, struct mcpx_slice name, bool is_negated);

#endif
