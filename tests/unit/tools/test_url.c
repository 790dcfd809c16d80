/*
 * What breaks for whom: a token is asked for at another address than the one that is connected to,
 * or a topic with a slash or blank becomes another topic.
 */
#include "tools/common/http.h"

#include "tests/support/count.h"
#include "tools/common/command.h"

#include <criterion/criterion.h>

Test(url, leads_from_the_websocket_to_the_api)
{
    static const struct {
        const char *url, *api; /* NULL: refused */
    } rows[] = {
        {"ws://127.0.0.1:8080", "http://127.0.0.1:8080"},
        {"ws://127.0.0.1:8080/", "http://127.0.0.1:8080"},
        {"ws://127.0.0.1:8080/ws", "http://127.0.0.1:8080"},
        {"ws://127.0.0.1:8080/v0.1/ws", "http://127.0.0.1:8080"},
        {"wss://example.org/mcpx/ws", "https://example.org/mcpx"},
        {"http://[::1]:80", "http://[::1]:80"},
        {"https://h", "https://h"},
        {"ws://h/wss", "http://h/wss"},
        {"", NULL},
        {"ws://", NULL},
        {"ws:///ws", NULL},
        {"h:8080", NULL},
        {"ftp://h", NULL},
        {"ws://h/ws?token=secret", NULL},
        {"ws://h/#x", NULL},
        {"ws://user@h", NULL},
        {"ws://h /", NULL},
        {"ws://h:65535/ws", "http://h:65535"},
        {"ws://h:65536", NULL},
        {"ws://h:99999999999999999999", NULL},
        {"ws://h:0", NULL},
        {"ws://h:", NULL},
        {"ws://h:80a", NULL},
        {"ws://:80", NULL},
        {"ws://[::1", NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};
        bool good = url_api(rows[i].url, &out);

        cr_expect_eq(good, rows[i].api != NULL, "%s", rows[i].url);
        if (good && rows[i].api)
            cr_expect_str_eq(out.text, rows[i].api);
        mcpx_text_fini(&out);
    }
}

Test(url, statuses_become_exit_codes)
{
    static const struct {
        long status;
        const char *code;
        int exit;
    } rows[] = {
        {200, "", STATUS_OK},
        {400, "bad_request", STATUS_USAGE},
        {401, "unauthorized", STATUS_UNREACHABLE},
        {403, "forbidden", STATUS_UNREACHABLE},
        {403, "capability_violation", STATUS_REFUSED},
        {404, "not_found", STATUS_ABSENT},
        {405, "method_not_allowed", STATUS_USAGE},
        {429, "connect_rate", STATUS_FAILED},
        {503, "draining", STATUS_UNREACHABLE},
        {503, "full", STATUS_FAILED},
        {500, "", STATUS_FAILED},
        {302, "", STATUS_FAILED},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(http_status_of(rows[i].status, rows[i].code), rows[i].exit, "%ld %s",
                     rows[i].status, rows[i].code);
}
