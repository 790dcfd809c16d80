/*
 * What breaks for whom: a proxy that speaks HTTP/2 to its clients knows no length of their bodies
 * and sends chunks. Where a chunk ends has to be seen as the proxy sees it. RFC 9112 section 7.1.
 */
#include "lib/wire/http_head.h"
#include "tests/support/envelope_text.h"
#include <mcpx/text.h>

#include <criterion/criterion.h>

/* In pieces of that many bytes, as they arrive. Returns the status; 0 when it is whole, -1 when
 * there is more to come. */
static int take_in_pieces(struct mcpx_slice bytes, size_t piece, struct mcpx_text *body)
{
    struct mx_http_chunks chunks = {0};
    const struct mx_http_fault *fault = NULL;

    for (size_t at = 0; at < bytes.len && !fault; at += piece) {
        size_t left = bytes.len - at;
        struct mcpx_slice part = {bytes.text + at, left < piece ? left : piece};

        fault = mx_http_chunks_take(&chunks, &part, body);
    }
    return fault ? fault->status : chunks.is_done ? 0 : -1;
}

/* `body`: what came of it, if it was not refused. */
static const struct {
    struct mcpx_slice bytes;
    int status;
    const char *body;
} rows[] = {
    {T("0\r\n\r\n"), 0, ""},
    {T("3\r\nabc\r\n0\r\n\r\n"), 0, "abc"},
    {T("3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.1"), 0, "abc"},
    {T("1\r\n\r\r\n2\r\n\r\n\r\n0\r\n\r\n"), 0, "\r\r\n"},
    {T("00000003\r\nabc\r\n0\r\n\r\n"), 0, "abc"},
    {T("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n"), 0, "01234567890123456789"},
    {T("1;a;b=\"c d\"\r\nx\r\n1 ; e\r\ny\r\n0\t\r\n\r\n"), 0, "xy"},
    {T("1\r\nx\r\n0\r\nA: b\r\nContent-Length: 7\r\n\r\n"), 0, "x"},
    {T("3\r\nabc\r\n"), -1, "abc"},
    {T("3\r\nabc\r\n0\r\n"), -1, "abc"},
    {T("ffffffff\r\nabc"), -1, "abc"},
    {T("000000003\r\nabc\r\n"), 400, ""},
    {T("\r\nabc"), 400, ""},
    {T(";a\r\nabc"), 400, ""},
    {T("-1\r\nabc"), 400, ""},
    {T("0x1\r\nabc"), 400, ""},
    {T("g\r\nabc"), 400, ""},
    {T(" 1\r\nabc"), 400, ""},
    {T("1\nabc"), 400, ""},
    {T("1\r\rabc"), 400, ""},
    {T("1;a\nabc"), 400, ""},
    {T("1;a\0\r\nabc"), 400, ""},
    {T("1\0\r\nabc"), 400, ""},
    {T("1\r\nabc"), 400, ""},
    {T("1\r\na\n0\r\n\r\n"), 400, ""},
    {T("1\r\na\r0\r\n\r\n"), 400, ""},
    {T("0\r\n\r0"), 400, ""},
    {T("0\r\n\n"), 400, ""},
    {T("0\r\nA: b\n\r\n"), 400, ""},
    {T("0\r\nA: b\r\r\n"), 400, ""},
};

Test(http_chunks, end_where_a_proxy_sees_them_end)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t piece = 1; piece <= rows[i].bytes.len; piece++) {
            struct mcpx_text body = {0};
            int status = take_in_pieces(rows[i].bytes, piece, &body);

            cr_expect_eq(status, rows[i].status, "%s in %zu: %d", rows[i].bytes.text, piece,
                         status);
            if (status <= 0)
                cr_expect(mcpx_slice_equal(mcpx_text_view(&body), mcpx_slice_of(rows[i].body)),
                          "%s in %zu: %.*s", rows[i].bytes.text, piece, (int)body.len,
                          body.text);
            mcpx_text_fini(&body);
        }
}

/* An agent that sends nothing but sizes keeps the router reading for nothing. */
Test(http_chunks, are_bounded_in_what_stands_around_them)
{
    static const char *const endless[][2] = {{"", "1\r\nx\r\n"}, {"1;", "aaaaaaaaaa"}};

    for (size_t i = 0; i < COUNT(endless); i++) {
        struct mcpx_slice bytes = mcpx_slice_of(endless[i][0]);
        struct mx_http_chunks chunks = {0};
        struct mcpx_text body = {0};
        const struct mx_http_fault *fault = mx_http_chunks_take(&chunks, &bytes, &body);
        size_t sent = 0;

        for (; !fault && sent < 100000; sent += strlen(endless[i][1])) {
            bytes = mcpx_slice_of(endless[i][1]);
            fault = mx_http_chunks_take(&chunks, &bytes, &body);
        }
        cr_expect(fault && fault->status == 413, "%s after %zu bytes", endless[i][1], sent);
        mcpx_text_fini(&body);
    }
}
