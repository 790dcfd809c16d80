/*
 * What breaks for whom: a URL that somebody copied from a terminal is refused or, worse, leads
 * elsewhere; a topic named "a&b" joins the topic "a". Protocol: sections 5 and 7.
 */
#include "lib/client/ws_wire.h"

#include <criterion/criterion.h>

Test(ws_url, reads_where_the_router_is)
{
    static const struct {
        const char *url, *host, *path, *header;
        int port;
        bool tls;
    } rows[] = {
        {"ws://127.0.0.1:8080", "127.0.0.1", "/ws", "127.0.0.1:8080", 8080, false},
        {"ws://127.0.0.1:8080/", "127.0.0.1", "/ws", "127.0.0.1:8080", 8080, false},
        {"ws://127.0.0.1:8080/ws", "127.0.0.1", "/ws", "127.0.0.1:8080", 8080, false},
        {"ws://localhost", "localhost", "/ws", "localhost:80", 80, false},
        {"http://localhost", "localhost", "/ws", "localhost:80", 80, false},
        {"wss://mcpx.example.org", "mcpx.example.org", "/ws", "mcpx.example.org:443", 443,
         true},
        {"HTTPS://a-b_c.example:1/v0.1/ws", "a-b_c.example", "/v0.1/ws", "a-b_c.example:1", 1,
         true},
        {"ws://[::1]:65535/x/y", "::1", "/x/y/ws", "[::1]:65535", 65535, false},
        {"wss://[::1]", "::1", "/ws", "[::1]:443", 443, true},
        {"https://x/mcpx/", "x", "/mcpx/ws", "x:443", 443, true},
        {"ws://x/mcpx/ws//", "x", "/mcpx/ws", "x:80", 80, false},
        {"ws://x/wss", "x", "/wss/ws", "x:80", 80, false},
        {"ws://[fe80::1.2.3.4]", "fe80::1.2.3.4", "/ws", "[fe80::1.2.3.4]:80", 80, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mx_address address = {0};
        struct mcpx_text header = {0};

        cr_expect_eq(mx_url_read(rows[i].url, &address, NULL), MCPX_OK, "%s", rows[i].url);
        cr_expect_str_eq(address.host, rows[i].host, "%s", rows[i].url);
        cr_expect_str_eq(address.path, rows[i].path, "%s", rows[i].url);
        cr_expect_eq(address.port, rows[i].port, "%s", rows[i].url);
        cr_expect_eq(address.tls, rows[i].tls, "%s", rows[i].url);
        mx_url_add_host(&header, &address);
        cr_expect_str_eq(header.text, rows[i].header, "%s", rows[i].url);
        mcpx_text_fini(&header);
    }
}

Test(ws_url, says_what_is_wrong_with_others)
{
    static const struct {
        const char *url, *reason;
        size_t offset;
    } rows[] = {
        {"", "begins with", 0},
        {"127.0.0.1:8080", "begins with", 0},
        {"://x", "begins with", 0},
        {"wsx://x", "begins with", 0},
        {"tcp://x", "begins with", 0},
        {"ws:/x", "begins with", 0},
        {"ws://", "a host is", 5},
        {"ws:///ws", "a host is", 5},
        {"ws://:80", "a host is", 5},
        {"ws://a b", "a host is", 5},
        {"ws://a\r\nX: y", "port", 10},
        {"ws://b\xc3\xbcro", "a host is", 5},
        {"ws://x:", "port", 7},
        {"ws://x:0", "port", 7},
        {"ws://x:65536", "port", 7},
        {"ws://x:80a", "port", 7},
        {"ws://x:-1", "port", 7},
        {"ws://x:000080", "port", 7},
        {"ws://::1", "port", 6},
        {"ws://[::1", "brackets", 5},
        {"ws://[]", "a host is", 5},
        {"ws://[::1]x", "brackets", 5},
        {"ws://[::g]", "a host is", 5},
        {"ws://user@x", "token", 5},
        {"ws://user:secret@x/ws", "token", 5},
        {"ws://x/ws?token=secret", "no query", 9},
        {"ws://x?topic=a", "no query", 6},
        {"ws://x/ws#a", "no query", 9},
        {"ws://x/a b", "the path holds", 8},
        {"ws://x/\x7f", "the path holds", 7},
        {"ws://x/\xc3\xa9", "the path holds", 7},
        {"ws://x/a\r\nEvil: yes", "the path holds", 8},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mx_address address = {.port = 7};
        struct mcpx_fault fault = {0};

        cr_expect_eq(mx_url_read(rows[i].url, &address, &fault), MCPX_EINVALID, "%s",
                     rows[i].url);
        cr_expect(fault.reason && strstr(fault.reason, rows[i].reason), "%s: %s", rows[i].url,
                  fault.reason);
        cr_expect_eq(fault.offset, rows[i].offset, "%s: %zu", rows[i].url, fault.offset);
        cr_expect_eq(address.port, 7, "%s: untouched", rows[i].url);
    }
}

Test(ws_url, refuses_what_would_not_fit_a_request_head)
{
    struct mx_address address;
    char url[600];

    memset(url, 'a', sizeof url);
    memcpy(url, "ws://", 5);
    url[5 + MX_HOST_MAX] = '\0';
    cr_expect_eq(mx_url_read(url, &address, NULL), MCPX_OK);
    url[5 + MX_HOST_MAX] = 'a';
    url[6 + MX_HOST_MAX] = '\0';
    cr_expect_eq(mx_url_read(url, &address, NULL), MCPX_EINVALID);
    memset(url, 'a', sizeof url);
    memcpy(url, "ws://x/", 7);
    url[6 + MX_PATH_MAX] = '\0';
    cr_expect_eq(mx_url_read(url, &address, NULL), MCPX_OK);
    url[6 + MX_PATH_MAX] = 'a';
    url[7 + MX_PATH_MAX] = '\0';
    cr_expect_eq(mx_url_read(url, &address, NULL), MCPX_EINVALID);
}

Test(ws_url, asks_for_a_topic_whatever_its_name)
{
    static const struct {
        struct mx_join join;
        const char *target;
    } rows[] = {
        {{.topic = {"room", 4}, .history = -1}, "/ws?topic=room"},
        {{.topic = {"a&b=c", 5}, .history = -1}, "/ws?topic=a%26b%3Dc"},
        {{.topic = {"b\xc3\xbcro 7/+%", 10}, .history = -1},
         "/ws?topic=b%C3%BCro%207%2F%2B%25"},
        {{.topic = {"A-z_0.9~", 8}, .routing = "directed"},
         "/ws?topic=A-z_0.9~&routing=directed&history=0"},
        {{.topic = {"t", 1}, .routing = "all", .history = 25, .place = {.epoch = {"E1", 2}}},
         "/ws?topic=t&routing=all&history=25&epoch=E1&serial=0"},
        {{.topic = {"t", 1},
          .history = -1,
          .place = {{"5a&", 3}, 999999999999, {"a\"&\xff", 4}}},
         "/ws?topic=t&epoch=5a%26&serial=999999999999&after=a%22%26%FF"},
        {{.topic = {"t", 1}, .history = -1, .place = {{NULL, 0}, 7, {"id", 2}}},
         "/ws?topic=t"}, /* an id is no place */
        {{.topic = {"t", 1},
          .history = -1,
          .instance = {"auto", 4},
          .instance_key = {"k&", 2}},
         "/ws?topic=t&instance=auto&instance_key=k%26"},
    };
    struct mx_address address;

    cr_assert_eq(mx_url_read("ws://x", &address, NULL), MCPX_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_text target = {0};

        mx_url_add_target(&target, &address, &rows[i].join);
        cr_expect_str_eq(target.text, rows[i].target);
        mcpx_text_fini(&target);
    }
}
