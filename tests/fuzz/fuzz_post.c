/*
 * fuzz_post.c - a request by HTTP: its head, if there is one, and its body. What passes comes from
 * this machine; a request gets its own id back, byte for byte, whatever stands around it.
 */
#include "lib/base/scoped.h"
#include "tests/fuzz/fuzz.h"
#include "tools/mcpx-bridge/expose/edge/post.h"

#include <mcpx/rpc.h>

#include <string.h>

/* Returns what stands behind the head. */
static struct mcpx_slice judge(struct mcpx_slice bytes)
{
    struct mx_http_scan scan = {0};
    struct mx_http_head head;
    struct mcpx_slice host, origin;
    size_t len;

    if (mx_http_scan(&scan, bytes, &len) || !len)
        return bytes;
    if (!mx_http_request_read((struct mcpx_slice){bytes.text, len}, &head)) {
        expose_post_wants_events(&head);
        if (!expose_post_judge(&head)) {
            must(mx_http_find(&head, "host", &host) == 1 && expose_post_is_loopback(host));
            must(mx_http_find(&head, "origin", &origin) <= 1);
            must(!origin.text || origin.len > strlen("http://"));
        }
    }
    return (struct mcpx_slice){bytes.text + len, bytes.len - len};
}

static void read_back(struct mcpx_slice line, struct mcpx_slice id)
{
    mx_scoped_text back = expose_post_answer(line, id);
    struct mcpx_slice value;
    struct mcpx_rpc rpc;
    int64_t number;

    must(!expose_post_answers(line, &number) && number == 7);
    must(mcpx_json_check(mcpx_text_view(&back), 0, &value, NULL) == MCPX_OK);
    must(mcpx_rpc_read(value, &rpc, NULL) == MCPX_OK);
    must(mcpx_slice_equal(rpc.id, id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice body = {(const char *)data, size}, id, value;
    struct mcpx_text line = {0};

    body = judge(body);
    if (expose_post_read(body, 7, &line, &id) == EXPOSE_POST_REQUEST) {
        read_back(mcpx_text_view(&line), id);
    }
    if (mcpx_json_check(body, 512, &value, NULL) == MCPX_OK)
        must(expose_post_status(value, true) == 200 &&
             expose_post_status(value, false) >= 200);
    mcpx_text_fini(&line);
    return 0;
}
