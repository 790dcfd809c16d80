/*
 * post.c - strict where another reading could admit an attacker: names of this machine are compared
 * as they are written, and a repeated field is refused. lib/wire has refused heads that two parsers
 * could read differently.
 */
#include "tools/mcpx-bridge/expose/edge/post.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "lib/json/number.h"
#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/expose/expose.h"

#include <mcpx/contract.h>
#include <mcpx/rpc.h>

#include <arpa/inet.h>

/* ---- the head ---- */

static bool is_type(struct mcpx_slice value, const char *type)
{
    return mx_same_word(mx_trim(mx_cut_at(&value, ';'), " 	"), type);
}

/* True for 127.x.y.z in four numbers: some programs read other spellings differently. */
static bool is_loopback_number(struct mcpx_slice host)
{
    char text[INET_ADDRSTRLEN] = "";
    unsigned char number[4];

    if (!host.len || host.len >= sizeof text)
        return false;
    memcpy(text, host.text, host.len);
    return strlen(text) == host.len && inet_pton(AF_INET, text, number) == 1 &&
           number[0] == 127;
}

bool expose_post_is_loopback(struct mcpx_slice authority)
{
    static const char six[] = "[::1]";
    size_t len = sizeof six - 1;
    struct mcpx_slice host, rest = authority;

    if (authority.len >= len && memcmp(authority.text, six, len) == 0) {
        rest = mx_behind(authority, len);
        return !rest.len || (*rest.text == ':' && mx_port_is_valid(mx_behind(rest, 1)));
    }
    host = mx_cut_at(&rest, ':');
    if (host.len < authority.len && !mx_port_is_valid(rest))
        return false;
    return mx_same_word(host, "localhost") || is_loopback_number(host);
}

/* True for http://HOST[:PORT] of this machine, or the same with https. */
static bool is_own_origin(struct mcpx_slice origin)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        size_t len = strlen(schemes[i]);

        if (origin.len > len && memcmp(origin.text, schemes[i], len) == 0)
            return expose_post_is_loopback(mx_behind(origin, len));
    }
    return false;
}

bool expose_post_wants_events(const struct mx_http_head *head)
{
    for (size_t i = 0; i < head->count; i++) {
        struct mcpx_slice accept = head->fields[i].value;

        while (mx_same_word(head->fields[i].name, "accept") && accept.len)
            if (is_type(mx_cut_at(&accept, ','), "text/event-stream"))
                return true;
    }
    return false;
}

const struct mx_http_fault *expose_post_judge(const struct mx_http_head *head)
{
    static const struct mx_http_fault
        twice = {400, "Origin or Content-Type stands there twice", NULL},
        no_host = {403, "the Host is not this machine: use localhost, 127.0.0.1 or [::1]",
                   NULL},
        no_origin = {403, "the Origin is not this machine: pages of other hosts may not ask",
                     NULL},
        no_path = {404, "there is nothing here: the path is /mcp", NULL},
        no_method = {405, "the method is not POST: there are no event streams and no sessions",
                     NULL},
        no_type = {415, "the Content-Type is not application/json", NULL};
    struct mcpx_slice host, origin, type;
    size_t origins = mx_http_find(head, "origin", &origin);

    mx_http_find(head, "host", &host);
    if (origins > 1 || mx_http_find(head, "content-type", &type) > 1)
        return &twice;
    if (!expose_post_is_loopback(host))
        return &no_host;
    if (origins && !is_own_origin(origin))
        return &no_origin;
    /* In the absolute form a host stands in front, and another server might read that. */
    if (!bridge_is(head->target, "/mcp") ||
        head->target.text != head->method.text + head->method.len + 1)
        return &no_path;
    if (!bridge_is(head->method, "POST"))
        return &no_method;
    return is_type(type, "application/json") ? NULL : &no_type;
}

/* ---- the body ---- */

enum expose_post_form expose_post_read(struct mcpx_slice body, int64_t number,
                                       struct mcpx_text *line, struct mcpx_slice *id)
{
    struct mcpx_text own;
    struct mcpx_slice value;
    struct mcpx_rpc rpc;

    *id = (struct mcpx_slice){0};
    if (mcpx_json_check(body, EXPOSE_DEPTH_MAX, &value, NULL) != MCPX_OK ||
        mcpx_rpc_read(value, &rpc, NULL) != MCPX_OK || rpc.form == MCPX_RPC_BODY) {
        /* On a pipe an empty line is skipped; here a client waits for an answer. */
        mcpx_text_slice(line, body.len ? body : MCPX_SLICE(" "));
        return EXPOSE_POST_BROKEN;
    }
    if (rpc.form != MCPX_RPC_REQUEST)
        return EXPOSE_POST_NOTICE;
    *id = rpc.id;
    own = mx_formatted("%s", number);
    bridge_add_with(line, value, "id", &own);
    mcpx_text_fini(&own);
    return EXPOSE_POST_REQUEST;
}

struct mcpx_text expose_post_cancel(int64_t number)
{
    return mx_formatted("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                        "\"params\":{\"requestId\":%s,\"reason\":\"the client is gone\"}}",
                        number);
}

bool expose_post_answers(struct mcpx_slice line, int64_t *number)
{
    *number = 0;
    (void)bridge_number(mcpx_json_get(line, "id"), number); /* else it stays as it is */
    return !mcpx_json_get(line, "method").text;
}

struct mcpx_text expose_post_answer(struct mcpx_slice line, struct mcpx_slice id)
{
    struct mcpx_json_change change = {"id", id};
    struct mcpx_text out = {0};

    mcpx_json_add_changed(&out, line, &change, 1);
    return out;
}

int expose_post_status(struct mcpx_slice answer, bool wants_events)
{
    struct mcpx_slice error = mcpx_json_get(answer, "error");
    struct mcpx_slice number = mcpx_json_get(error, "code");
    mx_scoped_text name = {0};
    enum mcpx_code code;
    int64_t rpc;

    if (!error.text || wants_events)
        return 200;
    mcpx_json_add_unescaped(&name,
                            mcpx_json_get(mcpx_json_get(error, "data"), "canonical_code"));
    if (mcpx_code_find(mcpx_text_view(&name), &code) ||
        (mcpx_json_type(number) == MCPX_JSON_NUMBER && mx_number_small(number, &rpc) &&
         mcpx_code_of_protocol(rpc, &code)))
        return mcpx_code_status(code);
    return 500;
}
