/*
 * http_line.c - the target is not decoded here: who knows what its parts mean splits it first and
 * decodes each part once, so that "%2F" never becomes a separator. HTTP/1.0 is read because those
 * who ask whether the router is alive still speak it.
 */
#include "lib/core/http_line.h"

#include "lib/core/decimal.h"
#include <strings.h>

static const struct mx_http_fault bad_request_line = {
    400, "Bad Request", "the first line has to be METHOD SP TARGET SP HTTP/1.1"};
static const struct mx_http_fault bad_target = {
    400, "Bad Request",
    "the request target has to be a path, or http:// with a host and a path"};
static const struct mx_http_fault bad_version = {505, "HTTP Version Not Supported",
                                                 "only HTTP/1.1 and HTTP/1.0 are spoken here"};
static const struct mx_http_fault bad_status_line = {502, "Bad Gateway",
                                                     "the router's answer is not HTTP/1.1"};

bool mx_http_next_line(struct mcpx_slice *rest, struct mcpx_slice *line)
{
    const char *end = rest->len ? memchr(rest->text, '\r', rest->len) : NULL;
    size_t taken;

    *line = (struct mcpx_slice){0};
    if (!end)
        return false;
    line->text = rest->text;
    line->len = (size_t)(end - rest->text);
    taken = line->len + 2 <= rest->len ? line->len + 2 : rest->len;
    rest->text += taken;
    rest->len -= taken;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct mcpx_slice mx_http_trimmed(struct mcpx_slice text)
{
    while (text.len && is_blank(*text.text)) {
        text.text++;
        text.len--;
    }
    while (text.len && is_blank(text.text[text.len - 1]))
        text.len--;
    return text;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool consists_of(struct mcpx_slice text, const char *others)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_alnum(text.text[i]) && (!text.text[i] || !strchr(others, text.text[i])))
            return false;
    return text.len > 0;
}

bool mx_http_is_token(struct mcpx_slice text)
{
    return consists_of(text, "!#$%&'*+-.^_`|~");
}

bool mx_http_is_visible(struct mcpx_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.text[i] <= ' ' || text.text[i] > '~')
            return false;
    return text.len > 0;
}

/* RFC 3986 section 3.2.2, as far as characters go. */
bool mx_http_is_authority(struct mcpx_slice text)
{
    return consists_of(text, "-._~%!$&'()*+,;=:[]");
}

/* "HTTP/1.1" and nothing behind it. Returns false when it is no version at all. */
static bool read_version(struct mcpx_slice text, int *major, int *minor)
{
    if (text.len != 8 || memcmp(text.text, "HTTP/", 5) != 0 || !is_digit(text.text[5]) ||
        text.text[6] != '.' || !is_digit(text.text[7]))
        return false;
    *major = text.text[5] - '0';
    *minor = text.text[7] - '0';
    return true;
}

/* RFC 9112 section 3.2.2: a server has to take the absolute form. What it names is ours, whatever
 * the host; a path that is empty is "/". */
static bool read_absolute(struct mcpx_slice *target)
{
    size_t scheme = target->len > 8 && strncasecmp(target->text, "https://", 8) == 0 ? 8 : 7;
    struct mcpx_slice host = {target->text + scheme, 0};

    if (target->len <= scheme || (scheme == 7 && strncasecmp(target->text, "http://", 7) != 0))
        return false;
    while (scheme + host.len < target->len && !strchr("/?", host.text[host.len]))
        host.len++;
    if (!mx_http_is_authority(host))
        return false;
    target->text = host.text + host.len;
    target->len -= scheme + host.len;
    if (!target->len || *target->text == '?')
        *target = MCPX_SLICE("/");
    return true;
}

static bool read_target(struct mcpx_slice method, struct mcpx_slice *target)
{
    if (!target->len || memchr(target->text, '#', target->len) ||
        memchr(target->text, '\t', target->len))
        return false;
    if (*target->text == '/')
        return true;
    if (mcpx_slice_equal(*target, MCPX_SLICE("*")))
        return mcpx_slice_equal(method, MCPX_SLICE("OPTIONS"));
    if (mcpx_slice_equal(method, MCPX_SLICE("CONNECT")))
        return mx_http_is_authority(*target);
    return read_absolute(target);
}

/* Cuts off what stands before the next space; false when there is none. */
static bool next_word(struct mcpx_slice *rest, struct mcpx_slice *word)
{
    const char *space = rest->len ? memchr(rest->text, ' ', rest->len) : NULL;

    if (!space)
        return false;
    *word = (struct mcpx_slice){rest->text, (size_t)(space - rest->text)};
    rest->text = space + 1;
    rest->len -= word->len + 1;
    return true;
}

const struct mx_http_fault *mx_http_request_line(struct mcpx_slice line,
                                                 struct mx_http_head *out)
{
    int major = 0;

    if (!next_word(&line, &out->method) || !next_word(&line, &out->target) ||
        !mx_http_is_token(out->method) || !read_version(line, &major, &out->minor))
        return &bad_request_line;
    if (major != 1 || out->minor > 1)
        return &bad_version;
    return read_target(out->method, &out->target) ? NULL : &bad_target;
}

/* Who reads more leniently than this would see another status, and so might see a 101. */
const struct mx_http_fault *mx_http_status_line(struct mcpx_slice line,
                                                struct mx_http_head *out)
{
    struct mcpx_slice version = {line.text, line.len < 8 ? line.len : 8};
    uint64_t status;
    int major = 0;

    if (line.len < 12 || !read_version(version, &major, &out->minor) || major != 1 ||
        out->minor > 1 || line.text[8] != ' ' || line.text[9] == '0' ||
        (line.len > 12 && line.text[12] != ' ') ||
        !mx_decimal_read((struct mcpx_slice){line.text + 9, 3}, UINT64_MAX, &status))
        return &bad_status_line;
    out->status = (int)status;
    return NULL;
}
