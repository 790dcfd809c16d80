/*
 * http_head.c - two steps. The first finds the empty line and sees every byte once, however the
 * bytes arrive: after it all readers agree where each line ends. The second reads the lines and
 * repairs none of them. It refuses ambiguous text, because another reader may stand in front of us.
 * Rejected: a parser with callbacks per piece; heads are short and kept anyway.
 *
 * The target is not decoded here: the caller splits it first and decodes each part once, so that
 * "%2F" never becomes a separator. HTTP/1.0 is read because health checks still speak it.
 */
#include "lib/wire/http_head.h"

#include "lib/base/digits.h"
#include <strings.h>

#define FAULT(name, status, detail)                                                           \
    static const struct mx_http_fault name = {(status), (detail), NULL}

FAULT(bad_line_end, 400,
      "a line of the head has to end with CR and LF, and neither stands alone");
FAULT(bad_control, 400, "the head holds a control character");
FAULT(long_target, 414, "the request line is longer than 16384 bytes");
FAULT(long_head, 431, "the head is longer than 16384 bytes");
FAULT(many_fields, 431, "the head has more than 100 fields");
FAULT(
    bad_field, 400,
    "a header field has to be a name, a colon right behind it, and a value on the same line");
FAULT(no_host, 400, "Host is missing");
FAULT(bad_host, 400, "Host has to stand there once and name a host");
FAULT(bad_length, 400, "Content-Length has to be one decimal number");
FAULT(no_coding, 501, "Transfer-Encoding has to be chunked, once and alone");
FAULT(bad_coding, 400, "Transfer-Encoding does not exist in HTTP/1.0");
FAULT(two_lengths, 400, "a body has Content-Length or Transfer-Encoding, not both");
FAULT(bad_request_line, 400, "the first line has to be METHOD SP TARGET SP HTTP/1.1");
FAULT(bad_target, 400,
      "the request target has to be a path, or http:// with a host and a path");
FAULT(bad_version, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
FAULT(bad_status_line, 502, "the router's answer is not HTTP/1.1");

/* ---- statuses ---- */

/* RFC 9110 section 15, RFC 6585. */
const char *mx_http_phrase(int status)
{
    static const struct {
        int status;
        const char *phrase;
    } rows[] = {
        {200, "OK"},
        {202, "Accepted"},
        {204, "No Content"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {409, "Conflict"},
        {411, "Length Required"},
        {413, "Content Too Large"},
        {414, "URI Too Long"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {426, "Upgrade Required"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return rows[i].phrase;
    return "Internal Server Error";
}

/* ---- where the head ends ---- */

/* One line ended at scan->at. True when it was the empty one. An empty line before the first one
 * is passed over: RFC 9112 section 2.2. */
static bool end_line(struct mx_http_scan *scan)
{
    bool empty = scan->at - scan->begin == 2;
    bool leading = empty && scan->begin == 0;

    scan->begin = scan->at;
    if (!empty)
        scan->lines++;
    return empty && !leading;
}

const struct mx_http_fault *mx_http_scan(struct mx_http_scan *scan, struct mcpx_slice bytes,
                                         size_t *len)
{
    *len = 0;
    while (scan->at < bytes.len && scan->at < MX_HTTP_HEAD_MAX) {
        unsigned char byte = (unsigned char)bytes.text[scan->at];

        if (byte == '\n')
            return &bad_line_end;
        if (byte != '\r') {
            if ((byte < ' ' && byte != '\t') || byte == 0x7f)
                return &bad_control;
            scan->at++;
            continue;
        }
        if (scan->at + 1 == bytes.len)
            return NULL;
        if (bytes.text[scan->at + 1] != '\n')
            return &bad_line_end;
        scan->at += 2;
        if (end_line(scan)) {
            *len = scan->at;
            return NULL;
        }
    }
    if (scan->at < MX_HTTP_HEAD_MAX)
        return NULL;
    return scan->lines ? &long_head : &long_target;
}

/* ---- lines ---- */

/* Cuts a line off, without its CRLF; an empty one when none is left. */
static struct mcpx_slice next_line(struct mcpx_slice *rest)
{
    struct mcpx_slice line = mx_cut_at(rest, '\r');

    if (rest->len)
        *rest = mx_behind(*rest, 1);
    return line;
}

static bool consists_of(struct mcpx_slice text, const char *others)
{
    for (size_t i = 0; i < text.len; i++)
        if (!mx_is_letter(text.text[i]) && !mx_is_digit(text.text[i]) &&
            (!text.text[i] || !strchr(others, text.text[i])))
            return false;
    return text.len > 0;
}

static bool is_token(struct mcpx_slice text)
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
static bool is_authority(struct mcpx_slice text)
{
    return consists_of(text, "-._~%!$&'()*+,;=:[]");
}

/* "HTTP/1.1" and nothing behind it. Returns false when the text is not a version. */
static bool read_version(struct mcpx_slice text, int *major, int *minor)
{
    if (text.len != 8 || memcmp(text.text, "HTTP/", 5) != 0 || !mx_is_digit(text.text[5]) ||
        text.text[6] != '.' || !mx_is_digit(text.text[7]))
        return false;
    *major = text.text[5] - '0';
    *minor = text.text[7] - '0';
    return true;
}

/* RFC 9112 section 3.2.2: a server must accept the absolute form. Every host in it counts as ours;
 * an empty path is "/". */
static bool read_absolute(struct mcpx_slice *target)
{
    size_t scheme = target->len > 8 && strncasecmp(target->text, "https://", 8) == 0 ? 8 : 7;
    struct mcpx_slice host = {target->text + scheme, 0};

    if (target->len <= scheme || (scheme == 7 && strncasecmp(target->text, "http://", 7) != 0))
        return false;
    while (scheme + host.len < target->len && !strchr("/?", host.text[host.len]))
        host.len++;
    if (!is_authority(host))
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
        return is_authority(*target);
    return read_absolute(target);
}

static const struct mx_http_fault *request_line(struct mcpx_slice line,
                                                struct mx_http_head *out)
{
    int major = 0;

    out->method = mx_cut_at(&line, ' ');
    out->target = mx_cut_at(&line, ' ');
    if (!is_token(out->method) || !read_version(line, &major, &out->minor))
        return &bad_request_line;
    if (major != 1 || out->minor > 1)
        return &bad_version;
    return read_target(out->method, &out->target) ? NULL : &bad_target;
}

/* A more lenient reader would see another status, possibly a 101. */
static const struct mx_http_fault *status_line(struct mcpx_slice line,
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

/* ---- fields ---- */

static const struct mx_http_fault *read_field(struct mcpx_slice line,
                                              struct mx_http_field *out)
{
    out->name = mx_cut_at(&line, ':');
    out->value = mx_trim(line, " \t");
    /* a folded line begins with a blank, and so is caught here */
    return line.text && is_token(out->name) ? NULL : &bad_field;
}

static const struct mx_http_fault *read_fields(struct mcpx_slice rest,
                                               struct mx_http_head *out)
{
    const struct mx_http_fault *fault = NULL;
    struct mcpx_slice line;

    out->count = 0;
    while (!fault && (line = next_line(&rest)).len) {
        if (out->count == MX_HTTP_FIELDS_MAX)
            return &many_fields;
        fault = read_field(line, &out->fields[out->count++]);
    }
    return fault;
}

size_t mx_http_find(const struct mx_http_head *head, const char *name,
                    struct mcpx_slice *value)
{
    size_t found = 0;

    *value = (struct mcpx_slice){0};
    for (size_t i = 0; i < head->count; i++)
        if (mx_same_word(head->fields[i].name, name) && found++ == 0)
            *value = head->fields[i].value;
    return found;
}

static bool list_holds(struct mcpx_slice list, const char *word)
{
    while (list.len)
        if (mx_same_word(mx_trim(mx_cut_at(&list, ','), " \t"), word))
            return true;
    return false;
}

bool mx_http_lists(const struct mx_http_head *head, const char *name, const char *word)
{
    for (size_t i = 0; i < head->count; i++)
        if (mx_same_word(head->fields[i].name, name) &&
            list_holds(head->fields[i].value, word))
            return true;
    return false;
}

bool mx_http_is(const struct mx_http_head *head, const char *name, const char *text)
{
    struct mcpx_slice value;

    return mx_http_find(head, name, &value) == 1 && mx_same_word(value, text);
}

/* ---- the head ---- */

/* RFC 9112 section 3.2. */
static const struct mx_http_fault *check_host(const struct mx_http_head *head)
{
    struct mcpx_slice host;
    size_t count = mx_http_find(head, "host", &host);

    if (count == 0)
        return head->minor == 0 ? NULL : &no_host;
    return count == 1 && (host.len == 0 || is_authority(host)) ? NULL : &bad_host;
}

/* RFC 9112 section 6: what describes a body, and only in one way. */
static const struct mx_http_fault *check_body(struct mx_http_head *head)
{
    struct mcpx_slice value;
    size_t codings = mx_http_find(head, "transfer-encoding", &value);
    size_t count = mx_http_find(head, "content-length", &value);

    if (codings && head->minor == 0)
        return &bad_coding;
    if (codings && count)
        return &two_lengths;
    head->is_chunked = codings > 0;
    if (codings)
        return mx_http_is(head, "transfer-encoding", "chunked") ? NULL : &no_coding;
    if (count > 1 || (count == 1 && !mx_decimal_read(value, UINT64_MAX, &head->length)))
        return &bad_length;
    head->has_length = count == 1;
    return NULL;
}

const struct mx_http_fault *mx_http_request_read(struct mcpx_slice head,
                                                 struct mx_http_head *out)
{
    const struct mx_http_fault *fault;
    struct mcpx_slice line;

    out->has_length = out->is_chunked = false;
    out->length = 0;
    out->status = 0;
    line = next_line(&head);
    if (!line.len)
        line = next_line(&head);
    fault = request_line(line, out);
    if (!fault)
        fault = read_fields(head, out);
    if (!fault)
        fault = check_host(out);
    return fault ? fault : check_body(out);
}

const struct mx_http_fault *mx_http_answer_read(struct mcpx_slice head,
                                                struct mx_http_head *out)
{
    const struct mx_http_fault *fault;

    out->has_length = out->is_chunked = false;
    out->length = 0;
    out->method = out->target = (struct mcpx_slice){0};
    fault = status_line(next_line(&head), out);
    return fault ? fault : read_fields(head, out);
}
