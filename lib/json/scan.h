/*
 * scan.h - one pass over a JSON text: is it well-formed, and where are its top-level members?
 * No recursion, no allocation, no values.
 */
#ifndef MX_SCAN_H
#define MX_SCAN_H

#include "lib/base/plain.h"
#include "lib/json/escape.h"

#include <mcpx/envelope.h>
#include <mcpx/json.h>

/** The type of the well-formed value that begins with this byte. */
static inline enum mcpx_json_type mx_type_of(unsigned char first)
{
    switch (first) {
    case '{':
        return MCPX_JSON_OBJECT;
    case '[':
        return MCPX_JSON_ARRAY;
    case '"':
        return MCPX_JSON_STRING;
    case 't':
    case 'f':
        return MCPX_JSON_BOOL;
    case 'n':
        return MCPX_JSON_NULL;
    default:
        return MCPX_JSON_NUMBER;
    }
}

/** A top-level member. Slices of the scanned text. */
struct mx_member {
    struct mcpx_slice name;  /* the bytes between the quotes, still escaped */
    struct mcpx_slice value; /* the whole value: quotes, braces or brackets included */
    enum mcpx_json_type type;
    bool name_escaped;  /* the name holds a backslash */
    bool value_escaped; /* a string somewhere in the value does */
};

/** The result of a scan. */
struct mx_scan {
    /* Of the top-level value; members are only filled for MCPX_JSON_OBJECT. */
    enum mcpx_json_type type;
    /* Extent of the top-level value, white space around it left out. */
    struct mcpx_slice value;
    size_t count; /* members stored (at most MCPX_MEMBERS_MAX) */
    size_t total; /* members seen, which may be more */
    struct mx_member members[MCPX_MEMBERS_MAX];
};

/**
 * Validates one JSON text (RFC 8259, one value, nothing after it but white space; a byte order
 * mark is a fault) and finds its top-level members.
 *
 * text        borrowed for as long as `out` is used
 * depth_max   deepest nesting accepted; 0 = no limit up to the built-in MX_DEPTH_MAX
 * out         filled on success; unspecified on failure
 * fault       filled on failure: reason and exact offset of the first fault (field is ""); or NULL
 *
 * Returns MCPX_OK; MCPX_EUTF8 when the text is not UTF-8, even when another error comes before;
 * MCPX_EINVALID otherwise, too deep nesting included. Linear in the text; never allocates.
 *
 * Numbers are checked for syntax, not range; strings for escapes and UTF-8 (overlong forms and
 * surrogates encoded in UTF-8 are faults), but escaped lone surrogates are well-formed.
 * Protocol: section 1.
 */
enum mcpx_err mx_scan(struct mcpx_slice text, size_t depth_max, struct mx_scan *out,
                      struct mcpx_fault *fault);

/** The deepest nesting that the scanner supports. */
#define MX_DEPTH_MAX 65536

/**
 * The first top-level member whose name, unescaped, stands earlier too; NULL when there is none.
 * Looks at the stored members only. Never allocates.
 */
const struct mx_member *mx_scan_duplicate(const struct mx_scan *scan);

/** True when the member's name, unescaped, is this ASCII text. */
bool mx_member_is(const struct mx_member *member, const char *name);

/* ---- passing over one string, number or literal, strictly: the parts of scan.c (scalar.c) */

/**
 * A text being read. The position itself travels through the functions: each takes the place
 * where something begins and returns the place after it, or NULL with the fault noted here.
 */
struct mx_reader {
    const unsigned char *end;      /* of the text */
    const unsigned char *fault_at; /* where the first fault was noticed, at most `end` */
    const char *reason;            /* a static sentence; see struct mcpx_fault */
    bool escaped;                  /* set (never cleared) by a string that holds a backslash */
};

/** Notes a fault; returns NULL for the caller to hand on. `reason` is static. */
const unsigned char *mx_reader_refuse(struct mx_reader *reader, const unsigned char *at,
                                      const char *reason);

/** Passes over a string whose opening quote is just before `at`. RFC 8259 section 7. */
const unsigned char *mx_string_skip(struct mx_reader *reader, const unsigned char *at);

/**
 * Passes over the string, number, true, false or null that begins at `at`. Anything else,
 * the end of the text and brackets included, is a fault. RFC 8259 sections 3, 6 and 7.
 */
const unsigned char *mx_scalar_skip(struct mx_reader *reader, const unsigned char *at);

/** The bytes from one place of a text to another. */
static inline struct mcpx_slice mx_between(const void *from, const void *to)
{
    return (struct mcpx_slice){(const char *)from,
                               (size_t)((const char *)to - (const char *)from)};
}

/** mx_space_skip where there is some, or the text ends. */
const unsigned char *mx_space_run(const unsigned char *at, const unsigned char *end);

/** The first byte from `at` on that is not JSON white space, or `end`. */
static inline const unsigned char *mx_space_skip(const unsigned char *at,
                                                 const unsigned char *end)
{
    return (at<end && * at> ' ') ? at : mx_space_run(at, end);
}

/**
 * mx_string_skip, first looking byte by byte: most names and words are short, and the processor can
 * predict where one ends. Vectors prevent that prediction.
 */
static inline const unsigned char *mx_string_pass(struct mx_reader *reader,
                                                  const unsigned char *at)
{
    at = mx_plain_short(at, reader->end);
    return at < reader->end && *at == '"' ? at + 1 : mx_string_skip(reader, at);
}

#endif
