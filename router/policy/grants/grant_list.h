/* grant_list.h - reads grants from JSON and compiles them to a set. */
#ifndef POLICY_GRANT_LIST_H
#define POLICY_GRANT_LIST_H

#include "lib/base/map.h"
#include <mcpx/capability.h>

#include <jansson.h>

/** The bytes of a string, lent; absent for any other value. */
static inline struct mcpx_slice json_slice(const json_t *value)
{
    return (struct mcpx_slice){json_string_value(value), json_string_length(value)};
}

/** Owned C strings. Zero-initialised is empty. */
struct names {
    char **text;
    size_t count;
};

/** Fills it with the strings of an array; NULL has none. False, untouched, without memory. */
bool names_read(struct names *names, const json_t *array);

/** Frees a list and leaves an empty one. */
void names_fini(struct names *names);

/**
 * Grants and denials gathered from JSON values, which must outlive the list: it borrows their
 * strings. Zero-initialised is empty and ready.
 */
struct grant_list {
    struct mcpx_grant *grants;
    size_t count, room;
    struct mcpx_slice *deny;
    size_t deny_count, deny_room;
};

/** Frees the list's own memory and leaves an empty list. */
void grant_list_fini(struct grant_list *list);

/**
 * Adds one grant: a pattern, or {"kind": PATTERN, "to": [ids...], "expires": RFC 3339}.
 *
 * fault   filled on failure: reason, field ("kind", "to", "expires", a pattern's component, or
 *         ""), offset inside that field's text
 *
 * Returns MCPX_OK; MCPX_EPATTERN for a pattern that does not fit the grammar; MCPX_EREQUEST for
 * other errors, an empty `to` included (it would read as "no condition"); MCPX_ENOMEM. Protocol:
 * section 3.
 */
enum mcpx_err grant_list_add(struct grant_list *list, const json_t *value,
                             struct mcpx_fault *fault);

/** Adds one denial, a pattern. Errors as for grant_list_add. */
enum mcpx_err grant_list_deny(struct grant_list *list, const json_t *value,
                              struct mcpx_fault *fault);

/**
 * Adds every element of two arrays, grants and denials; NULL adds nothing. Stops at the first
 * error. Returns what grant_list_add returns, and MCPX_EREQUEST when `grants` is not an array.
 */
enum mcpx_err grant_list_add_all(struct grant_list *list, const json_t *grants,
                                 const json_t *deny, struct mcpx_fault *fault);

/** Fills `fault`. Returns MCPX_EREQUEST. */
enum mcpx_err grant_refuse(struct mcpx_fault *fault, const char *field, const char *reason);

/** Sets remembered at most; one more empties the cache, a map that is empty at first. */
enum { CAPSET_CACHE_MAX = 1024 };

/**
 * The set of a JSON array of grants, compiled now and not cached: for lists from any client.
 *
 * array   borrowed; NULL = no grants
 * fault   filled on MCPX_EPATTERN and MCPX_EREQUEST
 * out     filled with a set the caller owns one reference of; untouched on failure
 *
 * Returns what grant_list_add_all returns; MCPX_EREQUEST for too many patterns too.
 */
enum mcpx_err capset_compile(const json_t *array, struct mcpx_fault *fault,
                             struct mcpx_capset **out);

/** The same, from the cache or compiled now and cached. */
enum mcpx_err capset_cache_get(struct mx_map *cache, const json_t *array,
                               struct mcpx_fault *fault, struct mcpx_capset **out);

/** Releases all sets and leaves an empty cache. */
void capset_cache_fini(struct mx_map *cache);

#endif
