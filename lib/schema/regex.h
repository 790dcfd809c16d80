/*
 * regex.h - the patterns of a schema. PCRE2 matches them; what that may cost is bounded, whatever
 * the pattern and the text.
 */
#ifndef MX_REGEX_H
#define MX_REGEX_H

#include <mcpx/error.h>
#include <mcpx/text.h>

/** A compiled pattern: immutable. Any number of threads may match with it. */
struct mx_regex;

/** What matching needs beside the pattern, kept from one match to the next. One thread. */
struct mx_regex_matcher;

/** What became of a match. LIMIT: it was given up; MEMORY: there was none. */
enum mx_match { MX_MATCH_NO = 0, MX_MATCH_YES, MX_MATCH_LIMIT, MX_MATCH_MEMORY };

/** What the patterns of one schema have come to so far, in bytes. */
struct mx_regex_sums {
    size_t code;    /* of PCRE2: at most MCPX_SCHEMA_PATTERNS_MAX */
    size_t machine; /* the part of it that is machine code */
    size_t memory;  /* that all hold */
};

/**
 * Compiles a pattern of ECMA-262.
 *
 * sums     of its schema; it is added
 * reason   filled on MCPX_EPATTERN with what is expected
 *
 * Returns MCPX_OK, MCPX_EPATTERN, MCPX_ELIMIT when the schema's patterns come to too much with it,
 * or MCPX_ENOMEM.
 */
enum mcpx_err mx_regex_new(struct mcpx_slice pattern, struct mx_regex **out,
                           struct mx_regex_sums *sums, struct mcpx_text *reason);

/** Frees a pattern. */
void mx_regex_free(struct mx_regex *regex);

/** Makes what matching needs; NULL when memory runs out. */
struct mx_regex_matcher *mx_regex_matcher_new(void);

/** Frees it. */
void mx_regex_matcher_free(struct mx_regex_matcher *matcher);

/**
 * Is the pattern found anywhere in the text?
 *
 * text    UTF-8
 * steps   of an evaluation, left: those that the match was worth are taken off, whether or not it
 *         used them. LIMIT when they do not suffice.
 */
enum mx_match mx_regex_match(const struct mx_regex *regex, struct mx_regex_matcher *matcher,
                             struct mcpx_slice text, int64_t *steps);

/**
 * Appends the pattern as PCRE2 has to be given it.
 *
 * reason   filled on failure: what would be right, static
 *
 * Returns false when the pattern uses what ECMA-262 with its flag u does not have, or what PCRE2
 * reads otherwise. What PCRE2 refuses by itself is not looked for. Memory failure shows in `out`.
 */
bool mx_ecma_translate(struct mcpx_slice pattern, struct mcpx_text *out, const char **reason);

/**
 * Appends "\p{...}" or "\P{...}" for PCRE2.
 *
 * name   of a property, as it stands in braces in ECMA-262
 *
 * Returns false when there is none of this name that both have; nothing is appended then.
 */
bool mx_property_add(struct mcpx_text *out, struct mcpx_slice name, bool is_negated);

#endif
