/*
 * strbuf.c - doubling growth with every size checked before it is trusted. A caller composes a
 * whole document and asks `failed` once; so no call in between needs an error path.
 * Includes strbuf.h only.
 */
#include "lib/core/strbuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE_FIRST = 256 };

void mx_strbuf_fini(struct mx_strbuf *buf)
{
    free(buf->text);
    *buf = (struct mx_strbuf){0};
}

void mx_strbuf_reset(struct mx_strbuf *buf)
{
    buf->len = 0;
    buf->failed = false;
}

bool mx_strbuf_reserve(struct mx_strbuf *buf, size_t more)
{
    size_t size = buf->size ? buf->size : SIZE_FIRST;
    char *text;

    if (buf->failed)
        return false;
    if (more >= SIZE_MAX / 2 - buf->len) {
        buf->failed = true;
        return false;
    }
    while (size < buf->len + more + 1)
        size *= 2;
    if (size == buf->size)
        return true;
    text = realloc(buf->text, size);
    if (!text) {
        buf->failed = true;
        return false;
    }
    buf->text = text;
    buf->size = size;
    return true;
}

void mx_strbuf_add(struct mx_strbuf *buf, const char *text, size_t len)
{
    if (!mx_strbuf_reserve(buf, len))
        return;
    if (len)
        memcpy(buf->text + buf->len, text, len);
    buf->len += len;
    buf->text[buf->len] = '\0';
}

void mx_strbuf_puts(struct mx_strbuf *buf, const char *text)
{
    mx_strbuf_add(buf, text, strlen(text));
}

void mx_strbuf_slice(struct mx_strbuf *buf, struct mcpx_slice slice)
{
    mx_strbuf_add(buf, slice.text, slice.len);
}

void mx_strbuf_number(struct mx_strbuf *buf, int64_t number)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRId64, number);

    mx_strbuf_add(buf, digits, (size_t)len);
}
