/*
 * fuzz_http_head.c - any bytes, as the head of a request: found byte by byte where it is found in
 * one piece, and what was read out of it holds no end of line, no blank around a value, and no
 * target that somebody else would take for another. The same bytes as a body in chunks: one verdict
 * and one content, however they arrive.
 */
#include "lib/base/scoped.h"
#include "lib/wire/http_head.h"
#include "tests/fuzz/fuzz.h"

/* Nothing that begins another line, field or word for any reader. */
static void check_part(struct mcpx_slice part, const char *forbidden)
{
    for (size_t i = 0; i < part.len; i++) {
        unsigned char byte = (unsigned char)part.text[i];

        must(byte && byte != '\r' && byte != '\n' && byte != 0x7f);
        must(!strchr(forbidden, byte));
    }
}

static void check_request(struct mcpx_slice bytes)
{
    struct mx_http_head head;
    const struct mx_http_fault *fault = mx_http_request_read(bytes, &head);

    must(!fault || (fault->status >= 400 && fault->status < 600 && *fault->detail));
    if (fault)
        return;
    check_part(head.method, " \t:/");
    check_part(head.target, " \t#");
    must(head.method.len > 0 && head.target.len > 0 && head.count <= MX_HTTP_FIELDS_MAX);
    must(*head.target.text == '/' || mcpx_slice_equal(head.method, MCPX_SLICE("CONNECT")) ||
         mcpx_slice_equal(head.target, MCPX_SLICE("*")));
    for (size_t i = 0; i < head.count; i++) {
        struct mcpx_slice value = head.fields[i].value;

        check_part(head.fields[i].name, " \t:");
        check_part(value, "");
        must(!value.len ||
             (!strchr(" \t", value.text[0]) && !strchr(" \t", value.text[value.len - 1])));
    }
}

static void check_chunks(struct mcpx_slice bytes)
{
    struct mx_http_chunks whole = {0}, pieces = {0};
    mx_scoped_text body = {0}, again = {0};
    struct mcpx_slice rest = bytes;
    const struct mx_http_fault *fault = mx_http_chunks_take(&whole, &rest, &body),
                               *other = NULL;
    size_t taken = bytes.len - rest.len, at;

    for (at = 0; at < bytes.len && !other && !pieces.is_done; at++) {
        struct mcpx_slice byte = {bytes.text + at, 1};

        other = mx_http_chunks_take(&pieces, &byte, &again);
    }
    must(fault || at == taken);
    must(fault == other && whole.is_done == pieces.is_done && whole.left == pieces.left);
    must(mcpx_slice_equal(mcpx_text_view(&body), mcpx_text_view(&again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice bytes = {(const char *)data, size};
    const struct mx_http_fault *fault, *again = NULL;
    struct mx_http_scan whole = {0}, pieces = {0};
    size_t len, had, found = 0;

    fault = mx_http_scan(&whole, bytes, &len);
    must(len <= size && (!len || !fault));
    for (had = 1; had <= size && !again && !found; had++)
        again = mx_http_scan(&pieces, (struct mcpx_slice){bytes.text, had}, &found);
    must(again == fault && found == len);
    if (len)
        check_request((struct mcpx_slice){bytes.text, len});
    check_chunks(bytes);
    return 0;
}
