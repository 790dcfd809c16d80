/*
 * guard_http.c - a walk over header lines, bytes in place. No field is changed, so what the router
 * reads is what the agent wrote. An HTTP library was refused: it would have to be asked for the
 * bytes it has read, and what is needed is three fields.
 * Includes guard_http.h only.
 */
#include "tools/mcpx-bridge/guard_http.h"

#include <strings.h>

size_t guard_http_head(struct mcpx_slice bytes)
{
    for (size_t i = 3; i < bytes.len; i++)
        if (memcmp(bytes.text + i - 3, "\r\n\r\n", 4) == 0)
            return i + 1;
    return 0;
}

/* Cuts a line off; false when none is left. */
static bool next_line(struct mcpx_slice *rest, struct mcpx_slice *line)
{
    const char *end = rest->len ? memchr(rest->text, '\n', rest->len) : NULL;

    if (!end)
        return false;
    *line = (struct mcpx_slice){rest->text, (size_t)(end - rest->text)};
    rest->len -= line->len + 1;
    rest->text = end + 1;
    if (line->len && line->text[line->len - 1] == '\r')
        line->len--;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct mcpx_slice trimmed(struct mcpx_slice text)
{
    while (text.len && is_blank(*text.text)) {
        text.text++;
        text.len--;
    }
    while (text.len && is_blank(text.text[text.len - 1]))
        text.len--;
    return text;
}

static bool same(struct mcpx_slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.text, word, text.len) == 0;
}

/* The value of a header line of that name. */
static bool field(struct mcpx_slice line, const char *name, struct mcpx_slice *value)
{
    size_t len = strlen(name);

    if (line.len <= len || line.text[len] != ':' || strncasecmp(line.text, name, len) != 0)
        return false;
    *value = trimmed((struct mcpx_slice){line.text + len + 1, line.len - len - 1});
    return true;
}

/* Is the word in a comma-separated list? */
static bool lists(struct mcpx_slice value, const char *word)
{
    while (value.len) {
        const char *comma = memchr(value.text, ',', value.len);
        size_t len = comma ? (size_t)(comma - value.text) : value.len;

        if (same(trimmed((struct mcpx_slice){value.text, len}), word))
            return true;
        len += comma ? 1 : 0;
        value.text += len;
        value.len -= len;
    }
    return false;
}

static bool number(struct mcpx_slice value, uint64_t *out)
{
    uint64_t result = 0;

    for (size_t i = 0; i < value.len; i++) {
        if (value.text[i] < '0' || value.text[i] > '9')
            return false;
        result = result * 10 + (uint64_t)(value.text[i] - '0');
    }
    if (!value.len || value.len > 18)
        return false;
    *out = result;
    return true;
}

const char *guard_http_request(struct mcpx_slice head, struct guard_request *out)
{
    struct guard_request request = {false, 0};
    struct mcpx_slice line, value;
    size_t lengths = 0;

    if (!next_line(&head, &line) || !memchr(line.text, ' ', line.len))
        return "the request does not begin with a request line";
    while (next_line(&head, &line)) {
        if (field(line, "transfer-encoding", &value))
            return "the guard takes requests with Content-Length only";
        if (field(line, "content-length", &value) &&
            (lengths++ || !number(value, &request.body)))
            return "the request's Content-Length is not one number";
        if (field(line, "upgrade", &value) && lists(value, "websocket"))
            request.upgrade = true;
    }
    if (request.upgrade && request.body)
        return "a request for a WebSocket has a body";
    *out = request;
    return NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Who reads more leniently than this would see another status, and so might see a 101. */
static bool read_status(struct mcpx_slice line, int *out)
{
    const char *text = line.text;

    if (line.len < 12 || memcmp(text, "HTTP/1.", 7) != 0 ||
        (text[7] != '0' && text[7] != '1') || text[8] != ' ' || text[9] == '0' ||
        (line.len > 12 && text[12] != ' '))
        return false;
    *out = 0;
    for (size_t i = 9; i < 12; i++) {
        if (!is_digit(text[i]))
            return false;
        *out = *out * 10 + (text[i] - '0');
    }
    return true;
}

static bool has_bare_newline(struct mcpx_slice head)
{
    for (size_t i = 0; i < head.len; i++)
        if (head.text[i] == '\n' && (i == 0 || head.text[i - 1] != '\r'))
            return true;
    return false;
}

const char *guard_http_answer(struct mcpx_slice head, int *status)
{
    struct mcpx_slice line, value;
    int read = 0;

    if (has_bare_newline(head))
        return "a line of the router's answer ends without CR";
    if (!next_line(&head, &line) || !read_status(line, &read))
        return "the router's answer is not HTTP/1.1";
    while (read == 101 && next_line(&head, &line))
        if (field(line, "sec-websocket-extensions", &value) && value.len)
            return "the router agreed on a WebSocket extension; the guard cannot read its "
                   "frames";
    *status = read;
    return NULL;
}
