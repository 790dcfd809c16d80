/*
 * text.h - text that grows. A failure is remembered: callers write everything and check once at
 * the end.
 */
#ifndef MCPX_TEXT_H
#define MCPX_TEXT_H

#include <mcpx/base.h>

MCPX_BEGIN_C

/** Growing text. Zero-initialised is empty and ready. */
struct mcpx_text {
    char *text; /* `len` bytes and a NUL after them once anything was added; NULL before */
    size_t len;
    size_t size;
    bool failed; /* memory ran out at some point; the content is then incomplete */
};

/** Frees the text and leaves an empty buffer. */
MCPX_API void mcpx_text_fini(struct mcpx_text *buf);

/** Empties the buffer and forgives an earlier failure, but keeps its memory. */
MCPX_API void mcpx_text_reset(struct mcpx_text *buf);

/**
 * Makes room for `more` bytes beyond `len`, and a NUL. Returns false on failure, which is
 * remembered.
 */
MCPX_API bool mcpx_text_reserve(struct mcpx_text *buf, size_t more);

/** Appends bytes. No effect once failed. */
MCPX_API void mcpx_text_add(struct mcpx_text *buf, const char *text, size_t len);

/** Appends a C string. */
MCPX_API void mcpx_text_puts(struct mcpx_text *buf, const char *text);

/** Appends a slice. */
MCPX_API void mcpx_text_slice(struct mcpx_text *buf, struct mcpx_slice slice);

/** Appends a decimal number. */
MCPX_API void mcpx_text_number(struct mcpx_text *buf, int64_t number);

/** The content as a slice, lent until the buffer changes. */
static inline struct mcpx_slice mcpx_text_view(const struct mcpx_text *buf)
{
    struct mcpx_slice slice = {buf->text, buf->len};

    return slice;
}

MCPX_END_C

#endif
