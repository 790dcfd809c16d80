/*
 * text.c - growth by doubling; every size is checked before it is used. A caller composes a whole
 * document and then checks `failed` once, so no call in between needs an error path.
 */
#include <mcpx/text.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE_FIRST = 256 };

void mcpx_text_fini(struct mcpx_text *buf)
{
    free(buf->text);
    *buf = (struct mcpx_text){0};
}

void mcpx_text_reset(struct mcpx_text *buf)
{
    buf->len = 0;
    buf->failed = false;
}

bool mcpx_text_reserve(struct mcpx_text *buf, size_t more)
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

void mcpx_text_add(struct mcpx_text *buf, const char *text, size_t len)
{
    if (!mcpx_text_reserve(buf, len))
        return;
    if (len)
        memcpy(buf->text + buf->len, text, len);
    buf->len += len;
    buf->text[buf->len] = '\0';
}

void mcpx_text_puts(struct mcpx_text *buf, const char *text)
{
    mcpx_text_add(buf, text, strlen(text));
}

void mcpx_text_slice(struct mcpx_text *buf, struct mcpx_slice slice)
{
    mcpx_text_add(buf, slice.text, slice.len);
}

void mcpx_text_number(struct mcpx_text *buf, int64_t number)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRId64, number);

    mcpx_text_add(buf, digits, (size_t)len);
}
