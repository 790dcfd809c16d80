/*
 * What breaks for whom: a head that two readers read in two ways is how a request gets past a proxy
 * that would have refused it, how a topic is cut short, how an Origin is not seen. RFC 9112.
 */
#include "lib/wire/http_head.h"
#include "tests/support/envelope_text.h"
#include <mcpx/text.h>

#include <criterion/criterion.h>

/* Finds the end in pieces, as bytes arrive. */
static const struct mx_http_fault *scan_in_pieces(struct mcpx_slice bytes, size_t piece,
                                                  size_t *len)
{
    const struct mx_http_fault *fault = NULL;
    struct mx_http_scan scan = {0};
    size_t had = 0;

    *len = 0;
    while (!fault && !*len && had < bytes.len) {
        had = bytes.len - had < piece ? bytes.len : had + piece;
        fault = mx_http_scan(&scan, (struct mcpx_slice){bytes.text, had}, len);
    }
    return fault;
}

static const struct mx_http_fault *read_whole(struct mcpx_slice bytes,
                                              struct mx_http_head *head)
{
    size_t len, again;
    const struct mx_http_fault *fault = scan_in_pieces(bytes, bytes.len, &len);

    cr_expect_eq(scan_in_pieces(bytes, 1, &again), fault, "%s", bytes.text);
    cr_expect_eq(again, len, "%s", bytes.text);
    if (!fault && len)
        fault = mx_http_request_read((struct mcpx_slice){bytes.text, len}, head);
    return fault;
}

#define HOST "Host: x\r\n"

/* status 0: it is read; the target is then `says`. Otherwise `says` is part of the sentence. */
static const struct {
    struct mcpx_slice bytes;
    int status;
    const char *says;
} rows[] = {
    {T("GET / HTTP/1.1\r\n" HOST "\r\n"), 0, "/"},
    {T("\r\nGET / HTTP/1.1\r\n" HOST "\r\n"), 0, "/"},
    {T("GET /a/../b%2F?x=%0D;y HTTP/1.1\r\n" HOST "\r\n"), 0, "/a/../b%2F?x=%0D;y"},
    {T("GET /gr\xc3\xbc HTTP/1.1\r\n" HOST "\r\n"), 0, "/gr\xc3\xbc"},
    {T("GET / HTTP/1.0\r\n\r\n"), 0, "/"},
    {T("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 0, "/"},
    {T("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"), 0, "/"},
    {T("GET / HTTP/1.1\r\nhOST:\t x \t\r\nX:\r\nA: b:c\r\n\r\n"), 0, "/"},
    {T("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"), 0, "*"},
    {T("GET http://y/a?b HTTP/1.1\r\n" HOST "\r\n"), 0, "/a?b"},
    {T("GET HTTPS://y:1/a HTTP/1.1\r\n" HOST "\r\n"), 0, "/a"},
    {T("GET http://y HTTP/1.1\r\n" HOST "\r\n"), 0, "/"},
    {T("GET http://y?a HTTP/1.1\r\n" HOST "\r\n"), 0, "/"},
    {T("GET http://me@y/ HTTP/1.1\r\n" HOST "\r\n"), 400, "target"},
    {T("GET http:///a HTTP/1.1\r\n" HOST "\r\n"), 400, "target"},
    {T("GET ftp://y/a HTTP/1.1\r\n" HOST "\r\n"), 400, "target"},
    {T("GET a HTTP/1.1\r\n" HOST "\r\n"), 400, "target"},
    {T("GET * HTTP/1.1\r\n" HOST "\r\n"), 400, "target"},
    {T("GET /a#b HTTP/1.1\r\n" HOST "\r\n"), 400, "target"},
    {T("GET /a\tb HTTP/1.1\r\n" HOST "\r\n"), 400, "target"},
    {T("GET  / HTTP/1.1\r\n" HOST "\r\n"), 400, "first line"},
    {T("GET /  HTTP/1.1\r\n" HOST "\r\n"), 400, "first line"},
    {T("GET / HTTP/1.1 \r\n" HOST "\r\n"), 400, "first line"},
    {T(" GET / HTTP/1.1\r\n" HOST "\r\n"), 400, "first line"},
    {T("GET\t/\tHTTP/1.1\r\n" HOST "\r\n"), 400, "first line"},
    {T("GET /\r\n" HOST "\r\n"), 400, "first line"},
    {T("GET / http/1.1\r\n" HOST "\r\n"), 400, "first line"},
    {T("GET / HTTP/1.10\r\n" HOST "\r\n"), 400, "first line"},
    {T("GET / HTTP/1.1\r\n" HOST "\r\n"
       "\n"),
     0, "/"},
    {T("G(T / HTTP/1.1\r\n" HOST "\r\n"), 400, "first line"},
    {T("GET / HTTP/0.9\r\n" HOST "\r\n"), 505, "spoken"},
    {T("GET / HTTP/1.2\r\n" HOST "\r\n"), 505, "spoken"},
    {T("GET / HTTP/2.0\r\n" HOST "\r\n"), 505, "spoken"},
    {T("GET / HTTP/9.9\r\n" HOST "\r\n"), 505, "spoken"},
    {T("GET / HTTP/1.1\r\n\r\n"), 400, "Host is missing"},
    {T("GET / HTTP/1.1\r\n" HOST HOST "\r\n"), 400, "Host has"},
    {T("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), 400, "Host has"},
    {T("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400, "Host has"},
    {T("GET / HTTP/1.1\r\n" HOST "Origin : http://evil\r\n\r\n"), 400, "right behind"},
    {T("GET / HTTP/1.1\r\n" HOST "Ori gin: http://evil\r\n\r\n"), 400, "right behind"},
    {T("GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n"), 400, "right behind"},
    {T("GET / HTTP/1.1\r\n" HOST "nothing\r\n\r\n"), 400, "right behind"},
    {T("GET / HTTP/1.1\r\n" HOST "A: b\r\n c\r\n\r\n"), 400, "right behind"},
    {T("GET / HTTP/1.1\r\n Host: x\r\n\r\n"), 400, "right behind"},
    {T("GET / HTTP/1.1\r\n" HOST "A\x80: b\r\n\r\n"), 400, "right behind"},
    {T("GET / HTTP/1.1\n" HOST "\r\n"), 400, "CR and LF"},
    {T("GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n"), 400, "CR and LF"},
    {T("GET / HTTP/1.1\r\n" HOST "A: b\nC: d\r\n\r\n"), 400, "CR and LF"},
    {T("GET / HTTP/1.1\r\n" HOST "A: \x01\r\n\r\n"), 400, "control"},
    {T("GET / HTTP/1.1\r\n" HOST "A: \0\r\n\r\n"), 400, "control"},
    {T("GET / HTTP/1.1\r\n" HOST "A: \x7f\r\n\r\n"), 400, "control"},
    {T("\x16\x03\x01\x02\x00\x01"), 400, "control"},
    {T("POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n"), 400,
     "Content-Length"},
    {T("POST / HTTP/1.1\r\n" HOST "Content-Length: 5, 5\r\n\r\n"), 400, "Content-Length"},
    {T("POST / HTTP/1.1\r\n" HOST "Content-Length: +5\r\n\r\n"), 400, "Content-Length"},
    {T("POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n"), 400, "Content-Length"},
    {T("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: identity\r\n\r\n"), 501, "Transfer"},
    {T("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n"), 501, "once"},
    {T("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n"
       "Transfer-Encoding: chunked\r\n\r\n"),
     501, "once"},
    {T("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"),
     400, "not both"},
    {T("POST / HTTP/1.1\r\n" HOST "Transfer-encoding: Chunked\r\n\r\n"), 0, "/"},
    {T("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400, "Transfer"},
};

Test(http_head, of_a_request_is_read_or_refused_with_a_reason)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_http_head head = {.count = 0};
        const struct mx_http_fault *fault = read_whole(rows[i].bytes, &head);

        cr_expect_eq(fault ? fault->status : 0, rows[i].status, "%s: %s", rows[i].bytes.text,
                     fault ? fault->detail : "read");
        if (rows[i].status)
            cr_expect(fault && strstr(fault->detail, rows[i].says), "%s", rows[i].bytes.text);
        else
            cr_expect(mcpx_slice_equal(head.target, mcpx_slice_of(rows[i].says)), "%.*s",
                      (int)head.target.len, head.target.text);
    }
}

Test(http_head, fields_are_found_in_any_case)
{
    struct mx_http_head head;
    struct mcpx_slice value;

    cr_assert_null(
        read_whole(MCPX_SLICE("POST /t HTTP/1.1\r\nHost: x\r\nconnection: a ,UPGRADE\r\n"
                              "Connection: b\r\ncontent-LENGTH: 0012\r\n\r\nbody"),
                   &head));
    cr_expect(head.has_length && head.length == 12);
    cr_expect_eq(mx_http_find(&head, "CONNECTION", &value), 2);
    cr_expect(mcpx_slice_equal(value, MCPX_SLICE("a ,UPGRADE")));
    cr_expect(mx_http_lists(&head, "connection", "upgrade"));
    cr_expect(mx_http_lists(&head, "connection", "b"));
    cr_expect(!mx_http_lists(&head, "connection", "c"));
    cr_expect(mx_http_is(&head, "host", "X"));
    cr_expect(!mx_http_is(&head, "connection", "b"), "it comes twice");
    cr_expect_eq(mx_http_find(&head, "origin", &value), 0);
    cr_expect_null(value.text);
}

/* What is fed until the reader has had enough. */
static int status_of_endless(const char *begin, const char *more)
{
    const struct mx_http_fault *fault = NULL;
    struct mx_http_scan scan = {0};
    struct mcpx_text bytes = {0};
    struct mx_http_head head;
    size_t len = 0;

    mcpx_text_puts(&bytes, begin);
    while (!fault && !len && bytes.len < 100000) {
        mcpx_text_puts(&bytes, more);
        fault = mx_http_scan(&scan, mcpx_text_view(&bytes), &len);
        cr_expect_leq(scan.at, MX_HTTP_HEAD_MAX);
    }
    if (len)
        fault = mx_http_request_read((struct mcpx_slice){bytes.text, len}, &head);
    mcpx_text_fini(&bytes);
    return fault ? fault->status : 0;
}

Test(http_head, is_bounded)
{
    char many[101 * 6 + 3] = "";

    cr_expect_eq(status_of_endless("GET /", "aaaaaaaaaa"), 414);
    cr_expect_eq(status_of_endless("GET / HTTP/1.1\r\nA: ", "aaaaaaaaaa"), 431);
    cr_expect_eq(status_of_endless("GET / HTTP/1.1\r\n", "A: bcdefghijklmnop\r\n"), 431);
    for (int i = 0; i < 101; i++)
        strcat(many, "A: b\r\n");
    strcat(many, "\r\n");
    cr_expect_eq(status_of_endless("GET / HTTP/1.1\r\n", many), 431);
}

Test(http_head, of_an_answer_has_a_status)
{
    static const struct {
        struct mcpx_slice bytes;
        int status;
    } answers[] = {
        {T("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"), 101},
        {T("HTTP/1.1 101\r\n\r\n"), 101},
        {T("HTTP/1.0 200 OK\r\n\r\n"), 200},
        {T("HTTP/1.1  101 S\r\n\r\n"), 0},
        {T("HTTP/1.1 1010\r\n\r\n"), 0},
        {T("HTTP/1.1 011 S\r\n\r\n"), 0},
        {T("HTTP/1.1 101\tS\r\n\r\n"), 0},
        {T("HTTP/1.9 101 S\r\n\r\n"), 0},
        {T("HTTP/2 200\r\n\r\n"), 0},
        {T("HTTP/1.1 200 OK\r\nA : b\r\n\r\n"), 0},
    };

    for (size_t i = 0; i < COUNT(answers); i++) {
        struct mx_http_head head = {.status = 0};
        const struct mx_http_fault *fault = mx_http_answer_read(answers[i].bytes, &head);

        cr_expect_eq(fault == NULL, answers[i].status != 0, "%s", answers[i].bytes.text);
        if (!fault)
            cr_expect_eq(head.status, answers[i].status, "%s", answers[i].bytes.text);
    }
}
