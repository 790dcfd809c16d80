/*
 * What breaks for whom: a guard that takes an upgrade for an ordinary request lets frames pass
 * unread; one that takes an ordinary request for an upgrade leaves an agent without its token.
 * RFC 9112, RFC 6455 section 4.
 */
#include "tests/support/envelope_text.h"
#include "tools/mcpx-bridge/guard/guard.h"

#include <criterion/criterion.h>

Test(guard_http, request_says_what_follows)
{
    static const struct {
        struct mcpx_slice head;
        bool good, upgrade;
        uint64_t body;
    } rows[] = {
        {T("GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n"), true, true, 0},
        {T("GET /ws HTTP/1.1\r\nHost: x\r\nupgrade:  h2c , WebSocket \r\n\r\n"), true, true,
         0},
        {T("GET /ws HTTP/1.1\r\nHost: x\r\nX-Upgrade: websocket\r\n\r\n"), true, false, 0},
        {T("GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websockets\r\n\r\n"), true, false, 0},
        {T("POST /t HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\n"), true, false, 12},
        {T("POST /t HTTP/1.1\r\nHost: x\r\ncontent-LENGTH:12\r\n\r\n"), true, false, 12},
        {T("GET /t HTTP/1.1\r\nHost: x\r\n\r\n"), true, false, 0},
        {T("POST /t HTTP/1.1\r\nContent-Length: 12\r\nContent-Length: 12\r\n\r\n"), false, 0,
         0},
        {T("POST /t HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), false, 0, 0},
        {T("POST /t HTTP/1.1\r\nContent-Length: 1,2\r\n\r\n"), false, 0, 0},
        {T("POST /t HTTP/1.1\r\nContent-Length:\r\n\r\n"), false, 0, 0},
        {T("POST /t HTTP/1.1\r\nContent-Length: 9999999999999999999\r\n\r\n"), false, 0, 0},
        {T("POST /t HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"), false, 0, 0},
        {T("GET /ws HTTP/1.1\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\n"), false, 0,
         0},
        {T("nonsense\r\n\r\n"), false, 0, 0},
        {T("\r\n\r\n"), false, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct guard_connection *proxied =
            guard_connection_new(&(struct guard_connection_config){0});

        guard_connection_from_agent(proxied, rows[i].head);
        cr_expect_eq(proxied->end == NULL, rows[i].good, "%s: %s", rows[i].head.text,
                     proxied->end ? proxied->end : "accepted");
        cr_expect_eq(proxied->phase == GUARD_ANSWER, rows[i].upgrade, "%s", rows[i].head.text);
        cr_expect_eq(proxied->body, rows[i].body, "%s", rows[i].head.text);
        guard_connection_free(proxied);
    }
}

Test(guard_http, answer_says_whether_frames_follow)
{
    enum { BAD = -1 };
    static const struct {
        struct mcpx_slice head;
        int phase; /* after it, or BAD */
    } rows[] = {
        {T("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"), GUARD_WELCOME},
        {T("HTTP/1.1 101\r\n\r\n"), GUARD_WELCOME},
        {T("HTTP/1.1 401 Unauthorized\r\nSec-WebSocket-Extensions: x\r\n\r\n"), GUARD_REST},
        {T("HTTP/1.0 200 OK\r\n\r\n"), GUARD_REST},
        {T("HTTP/1.1 100 Continue\r\n\r\n"), GUARD_PLAIN},
        {T("HTTP/1.1 101 S\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"), BAD},
        {T("HTTP/1.1  101 S\r\n\r\n"), BAD},
        {T("HTTP/1.1 1010\r\n\r\n"), BAD},
        {T("HTTP/1.1 011 S\r\n\r\n"), BAD},
        {T("HTTP/1.1 101\tS\r\n\r\n"), BAD},
        {T("HTTP/1.9 101 S\r\n\r\n"), BAD},
        {T("HTTP/2 200\r\n\r\n"), BAD},
        {T("SSH-2.0-OpenSSH\r\n\r\n"), BAD},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct guard_connection *proxied =
            guard_connection_new(&(struct guard_connection_config){0});
        const char *head = rows[i].head.text;
        bool plain = strstr(head, "100 Continue"); /* no answer to who asked for a WebSocket */

        guard_connection_from_agent(
            proxied,
            plain ? MCPX_SLICE("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                  : MCPX_SLICE("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n"));
        guard_connection_from_router(proxied, rows[i].head);
        cr_expect_eq(proxied->end == NULL, rows[i].phase != BAD, "%s: %s", head,
                     proxied->end ? proxied->end : "accepted");
        if (rows[i].phase != BAD) {
            cr_expect_eq((int)proxied->phase, rows[i].phase, "%s", head);
            cr_expect_str_eq(proxied->to_agent.text, head);
        }
        guard_connection_free(proxied);
    }
}

Test(guard_address, of_a_router_is_a_ws_url)
{
    static const struct {
        const char *url, *host, *path;
        int port;
    } rows[] = {
        {"ws://127.0.0.1:8080", "127.0.0.1", "", 8080},
        {"WS://router/ws", "router", "/ws", 80},
        {"http://[::1]:9/a/b", "::1", "/a/b", 9},
        {"ws://[::1]/", "::1", "/", 80},
        {"wss://router", NULL, NULL, 0},
        {"https://router", NULL, NULL, 0},
        {"router:8080", NULL, NULL, 0},
        {"ws://", NULL, NULL, 0},
        {"ws://:80", NULL, NULL, 0},
        {"ws://me:secret@router", NULL, NULL, 0},
        {"ws://me@router", NULL, NULL, 0},
        {"ws://router:", NULL, NULL, 0},
        {"ws://router:0", NULL, NULL, 0},
        {"ws://router:65536", NULL, NULL, 0},
        {"ws://router:8o", NULL, NULL, 0},
        {"ws://router?topic=x", NULL, NULL, 0},
        {"ws://[::1", NULL, NULL, 0},
        {"ws://[::1]8", NULL, NULL, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct guard_address address = {.port = -2};
        const char *fault = guard_address_read_url(rows[i].url, &address);

        cr_expect_eq(fault == NULL, rows[i].host != NULL, "%s", rows[i].url);
        if (fault || !rows[i].host) {
            cr_expect_eq(address.port, -2, "%s: untouched", rows[i].url);
            continue;
        }
        cr_expect_str_eq(address.host, rows[i].host, "%s", rows[i].url);
        cr_expect_str_eq(address.path, rows[i].path, "%s", rows[i].url);
        cr_expect_eq(address.port, rows[i].port, "%s", rows[i].url);
    }
}

Test(guard_address, to_listen_at_is_a_host_and_a_port)
{
    struct guard_address address;

    cr_expect_null(guard_address_read_listen("127.0.0.1:0", &address));
    cr_expect_eq(address.port, 0);
    cr_expect_null(guard_address_read_listen("[::1]:9", &address));
    cr_expect_str_eq(address.host, "::1");
    cr_expect_not_null(guard_address_read_listen("127.0.0.1", &address));
    cr_expect_not_null(guard_address_read_listen(":80", &address));
    cr_expect_not_null(guard_address_read_listen("::1:80", &address));
}
