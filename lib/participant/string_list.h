/*
 * string_list.h - an array of JSON strings as a list of slices.
 */
#ifndef MX_STRING_LIST_H
#define MX_STRING_LIST_H

#include <mcpx/json.h>

/** A list in one piece of memory. Zero-initialised is empty. */
struct mx_string_list {
    struct mcpx_slice *items;
    size_t count;
};

/**
 * Reads an array of strings.
 *
 * array   a well-formed value; an absent one is an empty list
 * out     filled, to be freed with mx_string_list_fini; untouched on failure
 *
 * Returns MCPX_OK; MCPX_EINVALID when it is no array, or an item no string or half a surrogate
 * pair; MCPX_ENOMEM.
 */
enum mcpx_err mx_string_list_read(struct mcpx_slice array, struct mx_string_list *out);

/** Frees the list and leaves an empty one. */
void mx_string_list_fini(struct mx_string_list *list);

#endif
