/*
 * match.h - matches texts with patterns that hold `*` (topic names, Origin headers, names of
 * tools), counts the bytes that two texts begin with, and finds typing errors between a word and a
 * known name.
 */
#ifndef MX_MATCH_H
#define MX_MATCH_H

#include <mcpx/text.h>

/**
 * True when `pattern` describes the whole of `text`: `*` stands for any bytes, none included;
 * every other byte stands for itself. Never allocates; at worst pattern times text steps.
 */
bool mx_glob_matches(struct mcpx_slice pattern, struct mcpx_slice text);

/** True when one of `count` C strings, as patterns, describes the whole of `text`. */
bool mx_glob_any_matches(char *const *patterns, size_t count, struct mcpx_slice text);

/** Length of the beginning that both have in common. */
size_t mx_common_len(struct mcpx_slice a, struct mcpx_slice b);

enum { MX_TYPO_WORD_MAX = 64, MX_TYPO_NAME_MAX = 48 };

/** The cost of a difference that does not count as a typing error. */
enum { MX_TYPO_FAR = 100 };

/** The costs of errors. */
struct mx_typo_costs {
    size_t edit; /* a byte too many, one that is missing, or another one */
    size_t swap; /* two neighbours that changed places */
    /* A byte that is never mistyped: an error in it costs MX_TYPO_FAR; NUL = none. */
    char border;
    char star;     /* a byte of the word that stands for any bytes at no cost; NUL = none */
    bool any_case; /* upper and lower case of A to Z are the same */
};

/** A comparison. Private. */
struct mx_typo {
    const struct mx_typo_costs *costs;
    struct mcpx_slice word;
    struct mcpx_slice name;
    size_t distance[MX_TYPO_WORD_MAX + 1][MX_TYPO_NAME_MAX + 1];
};

/**
 * Compares a word of up to MX_TYPO_WORD_MAX bytes with a name of up to MX_TYPO_NAME_MAX. All three
 * are lent until mx_typo_write_meant was called.
 *
 * Returns the least cost of errors between the two.
 */
size_t mx_typo_compare(struct mx_typo *typo, const struct mx_typo_costs *costs,
                       struct mcpx_slice word, struct mcpx_slice name);

/** Appends the intended word: the bytes of the name, with the stars of the word. */
void mx_typo_write_meant(const struct mx_typo *typo, struct mcpx_text *out);

#endif
