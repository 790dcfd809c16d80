/*
 * http_head.c - two steps. The first finds the empty line and sees every byte once, however the
 * bytes arrive: after it no line can end where somebody else would not see it end. The second
 * reads the lines, with no way to repair any of them: what two readers could understand in two
 * ways is refused, because one of them may stand in front of us. A parser with callbacks per piece
 * was refused: heads are short and kept anyway.
 */
#include "lib/core/http_head.h"

#include "lib/core/decimal.h"
#include "lib/core/http_line.h"
#include <strings.h>

static const struct mx_http_fault bad_line_end = {
    400, "Bad Request",
    "a line of the head has to end with CR and LF, and neither stands alone"};
static const struct mx_http_fault bad_control = {400, "Bad Request",
                                                 "the head holds a control character"};
static const struct mx_http_fault long_target = {
    414, "URI Too Long", "the request line is longer than 16384 bytes"};
static const struct mx_http_fault long_head = {431, "Request Header Fields Too Large",
                                               "the head is longer than 16384 bytes"};
static const struct mx_http_fault many_fields = {431, "Request Header Fields Too Large",
                                                 "the head has more than 100 fields"};
static const struct mx_http_fault bad_field = {
    400, "Bad Request",
    "a header field has to be a name, a colon right behind it, and a value on the same line"};
static const struct mx_http_fault no_host = {400, "Bad Request", "Host is missing"};
static const struct mx_http_fault bad_host = {400, "Bad Request",
                                              "Host has to stand there once and name a host"};
static const struct mx_http_fault bad_length = {400, "Bad Request",
                                                "Content-Length has to be one decimal number"};
static const struct mx_http_fault no_coding = {
    501, "Not Implemented", "Transfer-Encoding is not supported; send Content-Length"};
static const struct mx_http_fault bad_coding = {
    400, "Bad Request", "Transfer-Encoding does not exist in HTTP/1.0"};

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

/* ---- fields ---- */

static const struct mx_http_fault *read_field(struct mcpx_slice line,
                                              struct mx_http_field *out)
{
    const char *colon = memchr(line.text, ':', line.len);

    if (!colon)
        return &bad_field;
    out->name = (struct mcpx_slice){line.text, (size_t)(colon - line.text)};
    if (!mx_http_is_token(out->name))
        return &bad_field; /* a folded line begins with a blank, and so is caught here */
    out->value = mx_http_trimmed((struct mcpx_slice){colon + 1, line.len - out->name.len - 1});
    return NULL;
}

static const struct mx_http_fault *read_fields(struct mcpx_slice rest,
                                               struct mx_http_head *out)
{
    const struct mx_http_fault *fault = NULL;
    struct mcpx_slice line;

    out->count = 0;
    while (!fault && mx_http_next_line(&rest, &line) && line.len) {
        if (out->count == MX_HTTP_FIELDS_MAX)
            return &many_fields;
        fault = read_field(line, &out->fields[out->count++]);
    }
    return fault;
}

static bool same_word(struct mcpx_slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.text, word, text.len) == 0;
}

size_t mx_http_find(const struct mx_http_head *head, const char *name,
                    struct mcpx_slice *value)
{
    size_t found = 0;

    *value = (struct mcpx_slice){0};
    for (size_t i = 0; i < head->count; i++)
        if (same_word(head->fields[i].name, name) && found++ == 0)
            *value = head->fields[i].value;
    return found;
}

static bool list_holds(struct mcpx_slice list, const char *word)
{
    while (list.len) {
        const char *comma = memchr(list.text, ',', list.len);
        size_t len = comma ? (size_t)(comma - list.text) : list.len;

        if (same_word(mx_http_trimmed((struct mcpx_slice){list.text, len}), word))
            return true;
        len += comma ? 1 : 0;
        list.text += len;
        list.len -= len;
    }
    return false;
}

bool mx_http_lists(const struct mx_http_head *head, const char *name, const char *word)
{
    for (size_t i = 0; i < head->count; i++)
        if (same_word(head->fields[i].name, name) && list_holds(head->fields[i].value, word))
            return true;
    return false;
}

bool mx_http_is(const struct mx_http_head *head, const char *name, const char *text)
{
    struct mcpx_slice value;

    return mx_http_find(head, name, &value) == 1 && same_word(value, text);
}

/* ---- the head ---- */

/* RFC 9112 section 3.2. */
static const struct mx_http_fault *check_host(const struct mx_http_head *head)
{
    struct mcpx_slice host;
    size_t count = mx_http_find(head, "host", &host);

    if (count == 0)
        return head->minor == 0 ? NULL : &no_host;
    return count == 1 && (host.len == 0 || mx_http_is_authority(host)) ? NULL : &bad_host;
}

/* RFC 9112 section 6: what describes a body, and only in one way. */
static const struct mx_http_fault *check_body(struct mx_http_head *head)
{
    struct mcpx_slice value;
    size_t count;

    if (mx_http_find(head, "transfer-encoding", &value))
        return head->minor == 0 ? &bad_coding : &no_coding;
    count = mx_http_find(head, "content-length", &value);
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

    out->has_length = false;
    out->length = 0;
    out->status = 0;
    mx_http_next_line(&head, &line);
    if (!line.len)
        mx_http_next_line(&head, &line);
    fault = mx_http_request_line(line, out);
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
    struct mcpx_slice line;

    out->has_length = false;
    out->length = 0;
    out->method = out->target = (struct mcpx_slice){0};
    mx_http_next_line(&head, &line);
    fault = mx_http_status_line(line, out);
    return fault ? fault : read_fields(head, out);
}
