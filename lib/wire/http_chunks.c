/* http_chunks.c - reads a chunk at once, and the bytes around the chunks one by one. */
#include "lib/base/digits.h"
#include "lib/wire/http_head.h"

enum { DIGITS_MAX = 8 };

/* Where the next byte belongs. Each *_LF is behind its CR. */
enum {
    SIZE,
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER,
    IN_TRAILER,
    TRAILER_LF,
    END_LF
};

static bool take_digit(struct mx_http_chunks *chunks, int value)
{
    chunks->left = chunks->left << 4 | (unsigned)value;
    return ++chunks->digits <= DIGITS_MAX;
}

/* Behind the digits of a size. */
static bool end_digits(struct mx_http_chunks *chunks, char c)
{
    chunks->at = c == '\r' ? SIZE_LF : EXTENSION;
    return chunks->digits && strchr("\r; \t", c);
}

/* A line that nothing is taken from: to its CR, without any other control character. */
static bool read_over(struct mx_http_chunks *chunks, char c, int end, int inside)
{
    chunks->at = c == '\r' ? end : inside;
    return c == '\r' || c == '\t' || ((unsigned char)c >= ' ' && c != 0x7f);
}

static bool expect(struct mx_http_chunks *chunks, bool is_it, int next)
{
    chunks->at = next;
    return is_it;
}

/* False when the byte cannot stand there. */
static bool step(struct mx_http_chunks *chunks, char c)
{
    int value;

    switch (chunks->at) {
    case SIZE:
        value = mx_hex_digit(c);
        return c && (value < 0 ? end_digits(chunks, c) : take_digit(chunks, value));
    case EXTENSION:
        return read_over(chunks, c, SIZE_LF, EXTENSION);
    case SIZE_LF:
        chunks->digits = 0;
        return expect(chunks, c == '\n', chunks->left ? DATA : TRAILER);
    case DATA_CR:
        return expect(chunks, c == '\r', DATA_LF);
    case DATA_LF:
        return expect(chunks, c == '\n', SIZE);
    case TRAILER:
        return read_over(chunks, c, END_LF, IN_TRAILER);
    case IN_TRAILER:
        return read_over(chunks, c, TRAILER_LF, IN_TRAILER);
    case TRAILER_LF:
        return expect(chunks, c == '\n', TRAILER);
    default: /* END_LF */
        chunks->is_done = true;
        return c == '\n';
    }
}

/* Returns how many bytes it took. */
static size_t take_data(struct mx_http_chunks *chunks, struct mcpx_slice bytes,
                        struct mcpx_text *body)
{
    size_t len = bytes.len < chunks->left ? bytes.len : (size_t)chunks->left;

    mcpx_text_add(body, bytes.text, len);
    chunks->left -= len;
    if (!chunks->left)
        chunks->at = DATA_CR;
    chunks->is_done = chunks->is_one && !chunks->left;
    return len;
}

struct mx_http_chunks mx_http_body(const struct mx_http_head *head)
{
    if (head->is_chunked)
        return (struct mx_http_chunks){.at = SIZE};
    return (struct mx_http_chunks){
        .at = DATA, .left = head->length, .is_one = true, .is_done = !head->length};
}

const struct mx_http_fault *mx_http_chunks_take(struct mx_http_chunks *chunks,
                                                struct mcpx_slice *bytes,
                                                struct mcpx_text *body)
{
    static const struct mx_http_fault
        bad =
            {400,
             "a chunk of the body has to be its size in at most 8 hexadecimal digits, CR LF, "
             "that many bytes, and CR LF",
             NULL},
        slow = {413,
                "sizes of chunks, extensions and trailers are 16384 bytes more than the "
                "body itself; "
                "send larger chunks",
                NULL};

    while (bytes->len && !chunks->is_done) {
        size_t taken = 1;

        if (chunks->at == DATA)
            taken = take_data(chunks, *bytes, body);
        else if (!step(chunks, *bytes->text))
            return &bad;
        else if (++chunks->around > MX_HTTP_HEAD_MAX + body->len)
            return &slow;
        *bytes = mx_behind(*bytes, taken);
    }
    return NULL;
}
