/*
 * decisive.h - finds the decisive members of an object. Some readers ignore letter case, so names
 * are compared that way, too: no other reader can find other members.
 */
#ifndef MX_DECISIVE_H
#define MX_DECISIVE_H

#include <mcpx/base.h>
#include <mcpx/json.h>

#include <string.h>

/**
 *   UNLIKE   no reader takes the one for the other
 *   LIKE     some readers do, others do not: a decisive name like that must be refused
 *   SAME     the same name
 */
enum mx_likeness { MX_UNLIKE, MX_LIKE, MX_SAME };

/**
 * Compares the inside of a string, unescaped, with a name.
 *
 * raw    as mx_scan accepted it, between its quotes
 * name   ASCII, NUL-terminated, not empty
 *
 * Letters are like each other when Unicode's simple case folding, or its simple mapping to upper or
 * to lower case, makes them the same: beside A to Z these are U+017F (s), U+212A (k), U+0130 and
 * U+0131 (i). A name is also like one that goes on behind a U+0000, where C programs see its end.
 * Ends at the first byte that differs; never allocates. Protocol: sections 1 and 9.
 */
enum mx_likeness mx_fold_compare(struct mcpx_slice raw, const char *name);

/** A decisive member. */
struct mx_decisive {
    const char *name;        /* ASCII, not empty */
    struct mcpx_slice value; /* filled: its value, or an absent slice */
};

/**
 * Finds members of an object in one pass.
 *
 * object    well-formed; anything but an object has no members
 * members   distinct names; values filled on success
 * fault     filled on failure: reason, and the name of the member; may be NULL
 *
 * Returns false when one of them stands twice, or when a member is named like one of them without
 * being it (mx_fold_compare). Protocol: section 9.
 */
bool mx_decisive_find(struct mcpx_slice object, struct mx_decisive *members, size_t count,
                      struct mcpx_fault *fault);

/** The first error with this string as its name on the wire; MCPX_OK when there is none. */
enum mcpx_err mx_error_named(struct mcpx_slice string);

/**
 * jansson's error message without the quoted input, since that may be a secret.
 *
 * text   of a json_error_t, lent
 */
static inline struct mcpx_slice mx_json_reason(const char *text)
{
    const char *quote = strstr(text, " near ");

    return (struct mcpx_slice){text, quote ? (size_t)(quote - text) : strlen(text)};
}

#endif
