/*
 * What breaks for whom: an operator behind a proxy whose limits all fall on the proxy; everybody,
 * when a stranger can write the address that others are charged by.
 */
#include "router/http/forwarded.h"

#include <criterion/criterion.h>

#define V2 "\r\n\r\n\0\r\nQUIT\n"
#define TEXT(literal)                                                                         \
    {                                                                                         \
        literal, sizeof(literal) - 1                                                          \
    }

static const struct {
    const char *what;
    struct mcpx_slice bytes;
    enum proxy_head result;
    const char *from;
} heads[] = {
    {"IPv4", TEXT("PROXY TCP4 192.0.2.1 192.0.2.2 5000 80\r\n"), PROXY_HEAD_FROM, "192.0.2.1"},
    {"IPv6", TEXT("PROXY TCP6 2001:db8::1 2001:db8::2 65535 0\r\n"), PROXY_HEAD_FROM,
     "2001:db8::1"},
    {"nobody", TEXT("PROXY UNKNOWN\r\n"), PROXY_HEAD_OWN, ""},
    {"nobody, with a remark", TEXT("PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"), PROXY_HEAD_OWN,
     ""},
    {"no end", TEXT("PROXY TCP4 192.0.2.1 192.0.2.2 5000 80"), PROXY_HEAD_MORE, ""},
    {"LF alone", TEXT("PROXY TCP4 192.0.2.1 192.0.2.2 5000 80\n"), PROXY_HEAD_BAD, ""},
    {"two blanks", TEXT("PROXY TCP4  192.0.2.1 192.0.2.2 5000 80\r\n"), PROXY_HEAD_BAD, ""},
    {"one word too many", TEXT("PROXY TCP4 192.0.2.1 192.0.2.2 5000 80 1\r\n"), PROXY_HEAD_BAD,
     ""},
    {"one too few", TEXT("PROXY TCP4 192.0.2.1 192.0.2.2 5000\r\n"), PROXY_HEAD_BAD, ""},
    {"the other family", TEXT("PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n"), PROXY_HEAD_BAD,
     ""},
    {"the other family", TEXT("PROXY TCP6 192.0.2.1 192.0.2.2 1 2\r\n"), PROXY_HEAD_BAD, ""},
    {"no address", TEXT("PROXY TCP4 192.0.2.256 192.0.2.2 1 2\r\n"), PROXY_HEAD_BAD, ""},
    {"no port", TEXT("PROXY TCP4 192.0.2.1 192.0.2.2 65536 2\r\n"), PROXY_HEAD_BAD, ""},
    {"another protocol", TEXT("PROXY UDP4 192.0.2.1 192.0.2.2 1 2\r\n"), PROXY_HEAD_BAD, ""},
    {"small letters", TEXT("proxy TCP4 192.0.2.1 192.0.2.2 1 2\r\n"), PROXY_HEAD_BAD, ""},
    {"a request", TEXT("GET / HTTP/1.1\r\n"), PROXY_HEAD_BAD, ""},
    {"a TLS handshake", TEXT("\x16\x03\x01\x02"), PROXY_HEAD_BAD, ""},
    {"a line without end",
     TEXT("PROXY UNKNOWN "
          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
          "aaaaaaaaaaaaaaaaaaaaaaaaa"),
     PROXY_HEAD_BAD, ""},
    {"IPv4", TEXT(V2 "\x21\x11\0\x0c\xc0\0\2\1\xc0\0\2\2\x13\x88\0\x50"), PROXY_HEAD_FROM,
     "192.0.2.1"},
    {"IPv4 with an extension",
     TEXT(V2 "\x21\x11\0\x10\xc0\0\2\1\xc0\0\2\2\x13\x88\0\x50\4\0\1x"), PROXY_HEAD_FROM,
     "192.0.2.1"},
    {"IPv6",
     TEXT(V2 "\x21\x21\0\x24\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
             "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2\x13\x88\0\x50"),
     PROXY_HEAD_FROM, "2001:db8::1"},
    {"the proxy itself", TEXT(V2 "\x20\0\0\0"), PROXY_HEAD_OWN, ""},
    {"a local socket", TEXT(V2 "\x21\x31\0\0"), PROXY_HEAD_OWN, ""},
    {"addresses that are cut", TEXT(V2 "\x21\x11\0\x0b\xc0\0\2\1\xc0\0\2\2\x13\x88\0"),
     PROXY_HEAD_BAD, ""},
    {"addresses to come", TEXT(V2 "\x21\x11\0\x0c\xc0\0\2\1"), PROXY_HEAD_MORE, ""},
    {"another version", TEXT(V2 "\x31\x11\0\x0c"), PROXY_HEAD_BAD, ""},
    {"another command", TEXT(V2 "\x22\x11\0\x0c"), PROXY_HEAD_BAD, ""},
    {"extensions without end", TEXT(V2 "\x21\x11\xff\xff"), PROXY_HEAD_BAD, ""},
};

static const char *text_of(struct address address, char text[ADDRESS_TEXT_SIZE])
{
    static const struct address none;

    return memcmp(&address, &none, sizeof none) == 0 ? "" : address_text(address, text);
}

Test(proxy_head, is_read_strictly_and_says_whom_it_is_for)
{
    char text[ADDRESS_TEXT_SIZE];

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct mcpx_slice bytes = heads[i].bytes;
        struct address from = {{0}};
        size_t len = 0;

        cr_expect_eq(proxy_head_read(bytes, &len, &from), heads[i].result, "%s",
                     heads[i].what);
        cr_expect_str_eq(text_of(from, text), heads[i].from);
        if (heads[i].result == PROXY_HEAD_FROM || heads[i].result == PROXY_HEAD_OWN)
            cr_expect_eq(len, bytes.len, "%s", heads[i].what);
    }
}

Test(proxy_head, waits_for_the_rest_at_every_byte)
{
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct mcpx_slice part = {heads[i].bytes.text, 0};
        struct address from = {{0}};
        size_t len = 0;

        if (heads[i].result == PROXY_HEAD_BAD)
            continue;
        for (; part.len < heads[i].bytes.len; part.len++)
            cr_expect_eq(proxy_head_read(part, &len, &from), PROXY_HEAD_MORE, "%s, %zu",
                         heads[i].what, part.len);
    }
}

/* 10.0.0.0/8 and 2001:db8:1::/48 */
static struct config_network trusted[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 0}, 104},
    {{0x20, 1, 0x0d, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 48}};

static const struct {
    enum proxy_address how;
    const char *fields;
    const char *found;
} requests[] = {
    {PROXY_X_FORWARDED_FOR, "X-Forwarded-For: 192.0.2.1\r\n", "192.0.2.1"},
    {PROXY_X_FORWARDED_FOR, "x-forwarded-for: 192.0.2.1:5000\r\n", "192.0.2.1"},
    {PROXY_X_FORWARDED_FOR, "X-Forwarded-For: 2001:db8::7\r\n", "2001:db8::7"},
    {PROXY_X_FORWARDED_FOR, "X-Forwarded-For: [2001:db8::7]:80\r\n", "2001:db8::7"},
    {PROXY_X_FORWARDED_FOR, "X-Forwarded-For: 6.6.6.6, 192.0.2.1, 10.9.9.9\r\n", "192.0.2.1"},
    {PROXY_X_FORWARDED_FOR, "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 192.0.2.1\r\n",
     "192.0.2.1"},
    {PROXY_X_FORWARDED_FOR,
     "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 10.2.2.2, 2001:db8:1::5\r\n",
     "192.0.2.1"},
    {PROXY_X_FORWARDED_FOR, "X-Forwarded-For: 10.1.1.1\r\n", "10.1.1.1"},
    {PROXY_X_FORWARDED_FOR, "X-Forwarded-For: 192.0.2.1, unknown, 10.2.2.2\r\n", "10.2.2.2"},
    {PROXY_X_FORWARDED_FOR, "X-Forwarded-For: 192.0.2.1,\r\n", "10.0.0.1"},
    {PROXY_X_FORWARDED_FOR, "X-Forwarded-For: \r\n", "10.0.0.1"},
    {PROXY_X_FORWARDED_FOR, "Forwarded: for=6.6.6.6\r\n", "10.0.0.1"},
    {PROXY_X_FORWARDED_FOR, "X-Forwarded-Foo: 6.6.6.6\r\n", "10.0.0.1"},
    {PROXY_FORWARDED, "Forwarded: for=192.0.2.1\r\n", "192.0.2.1"},
    {PROXY_FORWARDED, "Forwarded: proto=https; For=\"192.0.2.1:47\"; by=10.0.0.1\r\n",
     "192.0.2.1"},
    {PROXY_FORWARDED, "Forwarded: for=\"[2001:db8::7]:80\";host=a\r\n", "2001:db8::7"},
    {PROXY_FORWARDED, "Forwarded: for=\"a, for=6.6.6.6\r\nForwarded: for=192.0.2.1\r\n",
     "192.0.2.1"},
    {PROXY_FORWARDED, "Forwarded: for=192.0.2.1;host=\"a, for=6.6.6.6;b=\"\r\n", "192.0.2.1"},
    {PROXY_FORWARDED, "Forwarded: for=192.0.2.1;host=\"a;for=6.6.6.6;b=\"\r\n", "192.0.2.1"},
    {PROXY_FORWARDED, "Forwarded: for=192.0.2.1;host=\"\\\", for=6.6.6.6;b=\\\\\"\r\n",
     "192.0.2.1"},
    {PROXY_FORWARDED, "Forwarded: for=6.6.6.6;host=\", for=192.0.2.1\r\n", "192.0.2.1"},
    {PROXY_FORWARDED, "Forwarded: for=6.6.6.6, for=_hidden\r\n", "10.0.0.1"},
    {PROXY_FORWARDED, "Forwarded: proto=http\r\n", "10.0.0.1"},
    {PROXY_FORWARDED, "Forwarded: for=6.6.6.6;for=192.0.2.1\r\n", "10.0.0.1"},
    {PROXY_FORWARDED, "Forwarded: for=192.0.2.1; proto=http; For=\"6.6.6.6\"\r\n", "10.0.0.1"},
    {PROXY_FORWARDED, "Forwarded: for=6.6.6.6;for=, for=192.0.2.1\r\n", "192.0.2.1"},
    {PROXY_FORWARDED, "Forwarded: for=6.6.6.6;for=7.7.7.7, for=10.2.2.2\r\n", "10.2.2.2"},
    {PROXY_FORWARDED, "X-Forwarded-For: 6.6.6.6\r\n", "10.0.0.1"},
};

Test(forwarded, goes_back_as_far_as_it_is_believed)
{
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        const struct config config = {
            .proxies = trusted, .proxy_count = 2, .proxy_address = requests[i].how};
        struct address from;
        struct mx_http_head head;
        struct mcpx_text bytes = {0};
        char text[ADDRESS_TEXT_SIZE];

        mcpx_text_puts(&bytes, "GET / HTTP/1.1\r\nHost: a\r\n");
        mcpx_text_puts(&bytes, requests[i].fields);
        mcpx_text_puts(&bytes, "\r\n");
        cr_assert_null(mx_http_request_read(mcpx_text_view(&bytes), &head));
        cr_assert(address_read(MCPX_SLICE("10.0.0.1"), &from));
        from = forwarded_find(&config, &head, from);
        cr_expect_str_eq(address_text(from, text), requests[i].found, "%s: %s",
                         requests[i].fields, text);
        mcpx_text_fini(&bytes);
    }
}

Test(forwarded, believes_what_begins_like_a_network_and_nothing_else)
{
    const struct config config = {.proxies = trusted, .proxy_count = 2};
    static const struct {
        const char *address;
        bool trusted;
    } rows[] = {{"10.0.0.0", true},        {"10.255.255.255", true}, {"11.0.0.0", false},
                {"9.255.255.255", false},  {"2001:db8:1::1", true},  {"2001:db8:2::1", false},
                {"::ffff:10.0.0.1", true}, {"::10.0.0.1", false},    {"a00::1", false}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct address address;

        cr_assert(address_read(mcpx_slice_of(rows[i].address), &address));
        cr_expect_eq(forwarded_is_trusted(&config, address), rows[i].trusted, "%s",
                     rows[i].address);
    }
}
