/*
 * strbuf.h - text that grows. Failure is sticky: write everything, ask once at the end.
 * Includes base.h only.
 */
#ifndef MX_STRBUF_H
#define MX_STRBUF_H

#include <mcpx/base.h>

/**
 * Growing text. Zero-initialised is empty and ready.
 *
 * text     `len` bytes and a NUL after them once anything was added; NULL before
 * failed   memory ran out at some point; the content is then incomplete
 */
struct mx_strbuf {
    char *text;
    size_t len;
    size_t size;
    bool failed;
};

/** Frees the text and leaves an empty buffer. */
void mx_strbuf_fini(struct mx_strbuf *buf);

/** Empties the buffer and forgives an earlier failure, but keeps its memory. */
void mx_strbuf_reset(struct mx_strbuf *buf);

/** Makes room for `more` bytes beyond `len` and their NUL; false (and sticky) on failure. */
bool mx_strbuf_reserve(struct mx_strbuf *buf, size_t more);

/** Appends bytes. No effect once failed. */
void mx_strbuf_add(struct mx_strbuf *buf, const char *text, size_t len);

/** Appends a C string. */
void mx_strbuf_puts(struct mx_strbuf *buf, const char *text);

/** Appends a slice. */
void mx_strbuf_slice(struct mx_strbuf *buf, struct mcpx_slice slice);

/** Appends a decimal number. */
void mx_strbuf_number(struct mx_strbuf *buf, int64_t number);

/** The content as a slice, lent until the buffer changes. */
static inline struct mcpx_slice mx_strbuf_text(const struct mx_strbuf *buf)
{
    return (struct mcpx_slice){buf->text, buf->len};
}

#endif
