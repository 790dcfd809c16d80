/*
 * ws_upgrade.c - heads are read by the router's own reader. A refused upgrade has its reason in the
 * body: the router's problem document, or a gateway's page when no router was there.
 */
#include "lib/client/ws_wire.h"

#include "lib/base/digits.h"
#include "lib/edge/timer.h"
#include "lib/json/decisive.h"
#include "lib/json/json_write.h"

#include <mcpx/json.h>
#include <openssl/evp.h>

enum { BODY_MAX = 16384, BODY_DEPTH = 16, NONCE_LEN = 16 };

void mx_upgrade_fini(struct mx_upgrade *upgrade)
{
    mcpx_text_fini(&upgrade->reason);
    mcpx_text_fini(&upgrade->in);
    mcpx_text_fini(&upgrade->body);
    *upgrade = (struct mx_upgrade){0};
}

/* RFC 6455 section 4.1. */
void mx_upgrade_ask(struct mx_upgrade *upgrade, const struct mcpx_text *target,
                    const struct mcpx_text *host, const struct mcpx_text *token,
                    struct mcpx_text *out)
{
    unsigned char nonce[NONCE_LEN];
    char key[MX_KEY_LEN + 1];

    mx_chance_fill(NULL, nonce, sizeof nonce);
    EVP_EncodeBlock((unsigned char *)key, nonce, sizeof nonce);
    (void)mx_websocket_accept(mcpx_slice_of(key), upgrade->accept); /* else none fits */
    mx_format(out,
              "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n%s\r\n",
              target, host, key, token);
}

/* Reads the reason from the body, else from the bare status. */
static enum mx_upgrade_step read_refusal(struct mx_upgrade *upgrade)
{
    struct mcpx_slice value = {0};
    struct mcpx_text *why = &upgrade->reason;

    if (mcpx_json_check(mcpx_text_view(&upgrade->body), BODY_DEPTH, &value, NULL) == MCPX_OK &&
        !mcpx_json_add_unescaped(why, mcpx_json_get(value, "detail")))
        mcpx_json_add_unescaped(why, mcpx_json_get(value, "title"));
    /* a gateway's page has none of the codes that routers name */
    upgrade->is_foreign = !mx_error_named(mcpx_json_get(value, "code"));
    if (!why->len)
        mx_format(why, "the answer is HTTP status %s", upgrade->status);
    return MX_UPGRADE_REFUSED;
}

static bool is_granted(const struct mx_upgrade *upgrade, const struct mx_http_head *head)
{
    struct mcpx_slice value;

    return mx_http_is(head, "upgrade", "websocket") &&
           mx_http_lists(head, "connection", "upgrade") &&
           !mx_http_find(head, "sec-websocket-extensions", &value) &&
           mx_http_find(head, "sec-websocket-accept", &value) == 1 &&
           mcpx_slice_equal(value, mcpx_slice_of(upgrade->accept));
}

static enum mx_upgrade_step take_body(struct mx_upgrade *upgrade, struct mcpx_slice bytes)
{
    const struct mx_http_fault *fault =
        mx_http_chunks_take(&upgrade->chunks, &bytes, &upgrade->body);

    return fault || upgrade->chunks.is_done || upgrade->body.len > BODY_MAX
               ? read_refusal(upgrade)
               : MX_UPGRADE_MORE;
}

static enum mx_upgrade_step take_head(struct mx_upgrade *upgrade, struct mcpx_slice bytes,
                                      size_t len)
{
    struct mx_http_head head;
    const struct mx_http_fault *fault =
        mx_http_answer_read((struct mcpx_slice){bytes.text, len}, &head);
    struct mcpx_slice left = {bytes.text + len, bytes.len - len}, value;

    if (fault || (head.status == 101 && !is_granted(upgrade, &head))) {
        mcpx_text_puts(&upgrade->reason,
                       fault ? fault->detail
                             : "the answer does not switch to WebSocket as it was asked to");
        return MX_UPGRADE_BAD;
    }
    if (head.status == 101) {
        upgrade->left = left;
        return MX_UPGRADE_GRANTED;
    }
    upgrade->status = head.status;
    head.is_chunked = mx_http_is(&head, "transfer-encoding", "chunked");
    head.length = BODY_MAX;
    if (mx_http_find(&head, "content-length", &value))
        (void)mx_decimal_read(value, BODY_MAX, &head.length);
    upgrade->chunks = mx_http_body(&head);
    return take_body(upgrade, left);
}

enum mx_upgrade_step mx_upgrade_take(struct mx_upgrade *upgrade, struct mcpx_slice bytes)
{
    const struct mx_http_fault *fault;
    size_t len;

    if (upgrade->status)
        return bytes.len ? take_body(upgrade, bytes) : read_refusal(upgrade);
    mcpx_text_slice(&upgrade->in, bytes);
    fault = mx_http_scan(&upgrade->scan, mcpx_text_view(&upgrade->in), &len);
    if (len)
        return take_head(upgrade, mcpx_text_view(&upgrade->in), len);
    if (!fault && bytes.len)
        return MX_UPGRADE_MORE;
    mcpx_text_puts(&upgrade->reason,
                   fault ? fault->detail : "it does not answer as a router does");
    return MX_UPGRADE_BAD;
}
