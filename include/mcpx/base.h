/* base.h - types that every other header uses: borrowed text, an instant, a fault. */
#ifndef MCPX_BASE_H
#define MCPX_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Around declarations: C++ calls these functions by the names that C gives them. */
#if defined(__cplusplus)
#define MCPX_BEGIN_C extern "C" {
#define MCPX_END_C }
#else
#define MCPX_BEGIN_C
#define MCPX_END_C
#endif

#if defined(__GNUC__)
#define MCPX_API __attribute__((visibility("default")))
#else
#define MCPX_API
#endif

MCPX_BEGIN_C

/** A run of bytes that another object owns. */
struct mcpx_slice {
    /* Not NUL-terminated; may hold NUL; NULL means "absent", which differs from empty. */
    const char *text;
    size_t len; /* bytes; 0 when text is NULL */
};

/** The slice of a string literal, without its terminating NUL. */
#if defined(__cplusplus)
#define MCPX_SLICE(literal) (mcpx_slice{(literal), sizeof(literal) - 1})
#else
#define MCPX_SLICE(literal) ((struct mcpx_slice){(literal), sizeof(literal) - 1})
#endif

/** The slice of a C string; absent for NULL. Borrows `text`. */
static inline struct mcpx_slice mcpx_slice_of(const char *text)
{
    struct mcpx_slice slice = {text, text ? strlen(text) : 0};

    return slice;
}

/** True when both hold the same bytes; absent equals empty. Time depends on the content. */
static inline bool mcpx_slice_equal(struct mcpx_slice a, struct mcpx_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.text, b.text, a.len) == 0);
}

/** Compares byte by byte; a prefix comes before the longer text. Negative, 0 or positive. */
MCPX_API int mcpx_slice_compare(struct mcpx_slice a, struct mcpx_slice b);

/**
 * Both clocks at one instant, in milliseconds. Deadlines use `mono_ms`, which never jumps;
 * `ts` fields and expiry dates use `wall_ms`, counted from 1970-01-01T00:00:00Z.
 */
struct mcpx_now {
    int64_t mono_ms;
    int64_t wall_ms;
};

/** Where and why a text was refused. It tells the author what to correct. */
struct mcpx_fault {
    /* A static sentence without final stop ("expected ',' or '}' after a member"). */
    const char *reason;
    /* The envelope member or pattern component concerned; "" when none is. */
    const char *field;
    size_t offset; /* 0-based byte in the text at which the fault was found */
};

/** The version of the library as "major.minor.patch"; static, never NULL. */
MCPX_API const char *mcpx_version(void);

MCPX_END_C

#endif
