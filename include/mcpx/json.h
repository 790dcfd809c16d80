/*
 * json.h - JSON texts as spans of bytes: finds a member, walks through members, writes an
 * object again with a member changed. It builds no values, so everything that is not changed
 * keeps its bytes: big integers, 1e400, white space, the order of members.
 */
#ifndef MCPX_JSON_H
#define MCPX_JSON_H

#include <mcpx/error.h>
#include <mcpx/text.h>

MCPX_BEGIN_C

/** The type of a value, by its first byte. ABSENT for an absent or empty slice. */
enum mcpx_json_type {
    MCPX_JSON_ABSENT = 0,
    MCPX_JSON_STRING,
    MCPX_JSON_NUMBER,
    MCPX_JSON_OBJECT,
    MCPX_JSON_ARRAY,
    MCPX_JSON_BOOL,
    MCPX_JSON_NULL
};

/** The type of a well-formed value without white space around it. */
MCPX_API enum mcpx_json_type mcpx_json_type(struct mcpx_slice value);

/**
 * Validates one JSON text (RFC 8259, UTF-8, one value, nothing after it but white space). All
 * other functions here take only values that this one accepted, or parts of them.
 *
 * text        borrowed
 * depth_max   deepest nesting accepted; 0 = only the built-in bound of 65536
 * value       filled with the value without the white space around it; untouched on failure
 * fault       filled on failure (reason, offset); may be NULL
 *
 * Returns MCPX_OK, MCPX_EUTF8, or MCPX_EINVALID. Linear; never allocates.
 */
MCPX_API enum mcpx_err mcpx_json_check(struct mcpx_slice text, size_t depth_max,
                                       struct mcpx_slice *value, struct mcpx_fault *fault);

/** A walk through the members of an object or the items of an array, in order. */
struct mcpx_json_walk {
    /* The member's name without its quotes, still escaped; absent in an array. */
    struct mcpx_slice name;
    struct mcpx_slice value; /* the whole value: quotes, braces or brackets included */
    const char *at;          /* private */
    const char *end;         /* private */
};

/**
 * Starts a walk. `value` is well-formed and borrowed during the walk. The walk ends at once for
 * a value that is not an object or array.
 */
MCPX_API void mcpx_json_walk_start(struct mcpx_json_walk *walk, struct mcpx_slice value);

/** Goes on to the next member or item. Returns false when there is none left. */
MCPX_API bool mcpx_json_walk_next(struct mcpx_json_walk *walk);

/** A walk that was started. */
static inline struct mcpx_json_walk mcpx_json_walk_of(struct mcpx_slice value)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, value);
    return walk;
}

/** A loop over the members or items of `value`, for as long as a condition holds before each. */
#define MCPX_JSON_EACH_WHILE(condition, walk, value)                                          \
    for (struct mcpx_json_walk walk = mcpx_json_walk_of(value);                               \
         (condition) && mcpx_json_walk_next(&(walk));)

/** A loop over all of them. */
#define MCPX_JSON_EACH(walk, value) MCPX_JSON_EACH_WHILE(true, walk, value)

/** True when the name of the walk's member, unescaped, is this text. */
MCPX_API bool mcpx_json_walk_at(const struct mcpx_json_walk *walk, const char *name);

/**
 * The value of an object's first member of that name. Absent when there is none, or when `object`
 * is not an object.
 */
MCPX_API struct mcpx_slice mcpx_json_get(struct mcpx_slice object, const char *name);

/**
 * How many members of an object have that name. When there are several, two readers may see two
 * different values: code that decides by a member refuses such an object.
 */
MCPX_API size_t mcpx_json_count(struct mcpx_slice object, const char *name);

/**
 * The same, but counts members whose name is equal for readers that ignore letter case too
 * ("Name", "\u212aind" for kind). All readers agree when the number is the same as that of
 * mcpx_json_count, and is 0 or 1. Protocol: section 9.
 */
MCPX_API size_t mcpx_json_count_like(struct mcpx_slice object, const char *name);

/** How many items an array or members an object has; 0 for anything else. Walks through it all. */
MCPX_API size_t mcpx_json_length(struct mcpx_slice value);

/** True when the value is a string that, unescaped, is this text. Never allocates. */
MCPX_API bool mcpx_json_equals(struct mcpx_slice value, struct mcpx_slice text);

/**
 * True when two well-formed values mean the same: equal strings after unescaping, equal members
 * in any order, equal items in order; numbers and literals by their bytes. An object with the
 * same name twice equals only an object with the same bytes; so does a value that is nested
 * more than 512 deep. The time is linear, except that the members of objects with different
 * bytes are sorted. That needs memory for a list; returns false when there is none.
 */
MCPX_API bool mcpx_json_same(struct mcpx_slice a, struct mcpx_slice b);

/**
 * Appends the text that a string value stands for. Returns false and appends nothing when the
 * value is not a string or holds half a surrogate pair. Memory failure shows in `out`.
 */
MCPX_API bool mcpx_json_add_unescaped(struct mcpx_text *out, struct mcpx_slice value);

/**
 * Appends `text` as a JSON string, quotes included. `text` is UTF-8; quotes, backslashes, C0
 * controls and DEL are escaped, everything else stands as it is.
 */
MCPX_API void mcpx_json_add_string(struct mcpx_text *out, struct mcpx_slice text);

/**
 * Appends `"name":` followed by `text` as a JSON string. `name` needs no escapes. A comma stands
 * before it unless `out`, without white space at its end, is empty or ends with one of `{ [ : ,`.
 */
MCPX_API void mcpx_json_add_member(struct mcpx_text *out, const char *name,
                                   struct mcpx_slice text);

/** One change to an object's member. */
struct mcpx_json_change {
    const char *name; /* ASCII that needs no escapes */
    /* JSON text: replaces the first such member's value, or becomes a new last member. Absent:
     * every member of that name is left out. */
    struct mcpx_slice value;
};

/**
 * Appends an object again with changes made at its top level. Bytes between the changes are those
 * of the original, white space included.
 *
 * object    a well-formed value; one that is no object, or absent, counts as {}
 * changes   applied to distinct names; count <= 8
 *
 * Memory failure shows in `out`.
 */
MCPX_API void mcpx_json_add_changed(struct mcpx_text *out, struct mcpx_slice object,
                                    const struct mcpx_json_change *changes, size_t count);

MCPX_END_C

#endif
