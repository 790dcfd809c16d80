/*
 * words.h - an array of JSON strings as a list of slices.
 */
#ifndef MX_WORDS_H
#define MX_WORDS_H

#include <mcpx/json.h>

/** A list in one piece of memory. Zero-initialised is empty. */
struct mx_words {
    struct mcpx_slice *items;
    size_t count;
};

/**
 * Reads an array of strings.
 *
 * array   a well-formed value; an absent one is an empty list
 * out     filled, to be freed with mx_words_fini; untouched on failure
 *
 * Returns MCPX_OK; MCPX_EINVALID when it is no array, or an item no string or half a surrogate
 * pair; MCPX_ENOMEM.
 */
enum mcpx_err mx_words_read(struct mcpx_slice array, struct mx_words *out);

/** Frees the list and leaves an empty one. */
void mx_words_fini(struct mx_words *words);

#endif
