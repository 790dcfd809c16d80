/*
 * proxy_head.c - both versions are told apart by their first bytes, which no request and no TLS
 * handshake begins with. Extensions of version 2 are passed over.
 */
#include "router/edge/proxy_head.h"

#include "lib/core/decimal.h"

/*
 * LINE_MAX    of version 1, with its end
 * V2_HEAD     of version 2, before the addresses
 */
enum {
    LINE_MAX = 107,
    V2_HEAD = 16,
    V4_PAIR = 12,
    V6_PAIR = 36,
    V4_LEN = 4,
    PORT_MAX = 65535
};

static const unsigned char signature[] = {0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D,
                                          0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A};

static const char begin[] = "PROXY ";

/* Do the bytes begin like this, as far as they have come? */
static bool is_like(struct mcpx_slice bytes, const void *with, size_t len)
{
    return bytes.len == 0 || memcmp(bytes.text, with, bytes.len < len ? bytes.len : len) == 0;
}

/* The next word, which one blank ends, or the end. */
static struct mcpx_slice take_word(struct mcpx_slice *line)
{
    const char *blank = line->len ? memchr(line->text, ' ', line->len) : NULL;
    struct mcpx_slice word = *line;

    if (blank)
        word.len = (size_t)(blank - line->text);
    line->text += word.len + (blank != NULL);
    line->len -= word.len + (blank != NULL);
    return word;
}

static bool has_colon(struct mcpx_slice word)
{
    return word.len && memchr(word.text, ':', word.len);
}

/* "TCP4 192.0.2.1 192.0.2.2 5000 80" */
static enum proxy_head read_line(struct mcpx_slice line, struct address *from)
{
    struct mcpx_slice sort = take_word(&line), words[4];
    bool v6 = mcpx_slice_equal(sort, MCPX_SLICE("TCP6"));
    struct address source, target;
    uint64_t port;

    if (mcpx_slice_equal(sort, MCPX_SLICE("UNKNOWN")))
        return PROXY_HEAD_OWN;
    if (!v6 && !mcpx_slice_equal(sort, MCPX_SLICE("TCP4")))
        return PROXY_HEAD_BAD;
    for (size_t i = 0; i < 4; i++)
        words[i] = take_word(&line);
    if (line.len || !address_read(words[0], &source) || !address_read(words[1], &target) ||
        has_colon(words[0]) != v6 || has_colon(words[1]) != v6 ||
        !mx_decimal_read(words[2], PORT_MAX, &port) ||
        !mx_decimal_read(words[3], PORT_MAX, &port))
        return PROXY_HEAD_BAD;
    *from = source;
    return PROXY_HEAD_FROM;
}

static enum proxy_head read_v1(struct mcpx_slice bytes, size_t *len, struct address *from)
{
    size_t most = bytes.len < LINE_MAX ? bytes.len : LINE_MAX;
    const char *end = memchr(bytes.text, '\n', most);
    struct mcpx_slice line = {bytes.text + sizeof begin - 1, 0};

    if (!end)
        return most == LINE_MAX ? PROXY_HEAD_BAD : PROXY_HEAD_MORE;
    if (end - line.text < 1 || end[-1] != '\r')
        return PROXY_HEAD_BAD;
    line.len = (size_t)(end - line.text) - 1;
    *len = (size_t)(end - bytes.text) + 1;
    return read_line(line, from);
}

/* The addresses of version 2; `family` as its byte has it. */
static enum proxy_head read_pair(struct mcpx_slice pair, unsigned family, struct address *from)
{
    static const struct address mapped = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}};

    if (family == 0x11 && pair.len >= V4_PAIR) {
        *from = mapped;
        memcpy(from->bytes + ADDRESS_LEN - V4_LEN, pair.text, V4_LEN);
        return PROXY_HEAD_FROM;
    }
    if (family == 0x21 && pair.len >= V6_PAIR) {
        memcpy(from->bytes, pair.text, ADDRESS_LEN);
        return PROXY_HEAD_FROM;
    }
    return family == 0x11 || family == 0x21 ? PROXY_HEAD_BAD : PROXY_HEAD_OWN;
}

static enum proxy_head read_v2(struct mcpx_slice bytes, size_t *len, struct address *from)
{
    const unsigned char *at = (const unsigned char *)bytes.text;
    size_t more;

    if (bytes.len < V2_HEAD)
        return PROXY_HEAD_MORE;
    more = (size_t)at[14] << 8 | at[15];
    if ((at[12] != 0x20 && at[12] != 0x21) || V2_HEAD + more > PROXY_HEAD_MAX)
        return PROXY_HEAD_BAD;
    if (bytes.len < V2_HEAD + more)
        return PROXY_HEAD_MORE;
    *len = V2_HEAD + more;
    if (at[12] == 0x20)
        return PROXY_HEAD_OWN;
    return read_pair((struct mcpx_slice){bytes.text + V2_HEAD, more}, at[13], from);
}

enum proxy_head proxy_head_read(struct mcpx_slice bytes, size_t *len, struct address *from)
{
    if (is_like(bytes, signature, sizeof signature))
        return bytes.len < sizeof signature ? PROXY_HEAD_MORE : read_v2(bytes, len, from);
    if (is_like(bytes, begin, sizeof begin - 1))
        return bytes.len < sizeof begin - 1 ? PROXY_HEAD_MORE : read_v1(bytes, len, from);
    return PROXY_HEAD_BAD;
}
