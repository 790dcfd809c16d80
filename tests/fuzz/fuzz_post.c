/*
 * fuzz_post.c - a request by HTTP: the first line of the input is fields of its head, each ended by
 * '|', the rest is its body. What passes comes from this machine and has one length; a request gets
 * its own id back, byte for byte, whatever stands around it.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/mcpx-bridge/expose/edge/post.h"

#include <mcpx/rpc.h>

#include <string.h>

static struct mcpx_slice cut(struct mcpx_slice *rest, char end)
{
    const char *found = rest->len ? memchr(rest->text, end, rest->len) : NULL;
    struct mcpx_slice part = {rest->text, found ? (size_t)(found - rest->text) : rest->len};
    size_t used = part.len + (found ? 1 : 0);

    if (used)
        *rest = (struct mcpx_slice){rest->text + used, rest->len - used};
    return part.len ? part : (struct mcpx_slice){0};
}

static void judge(struct mcpx_slice line)
{
    struct expose_post_head head = {.method = MCPX_SLICE("POST"), .path = MCPX_SLICE("/mcp")};
    const struct expose_post_fault *fault;

    head.host = cut(&line, '|');
    head.origin = cut(&line, '|');
    head.type = cut(&line, '|');
    head.length = cut(&line, '|');
    head.encoding = cut(&line, '|');
    expose_post_wants_events(line);
    fault = expose_post_judge(&head, 1000);
    if (!fault) {
        must(expose_post_is_loopback(head.host));
        must(!head.length.text || !head.encoding.text);
        must(!head.origin.text || head.origin.len > strlen("http://"));
    }
}

static void read_back(struct mcpx_slice line, struct mcpx_slice id)
{
    struct mcpx_text back = expose_post_answer(line, id);
    struct mcpx_slice value;
    struct mcpx_rpc rpc;

    must(expose_post_number(line) == 7);
    must(mcpx_json_check(mcpx_text_view(&back), 0, &value, NULL) == MCPX_OK);
    must(mcpx_rpc_read(value, &rpc, NULL) == MCPX_OK);
    must(mcpx_slice_equal(rpc.id, id));
    mcpx_text_fini(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice body = {(const char *)data, size}, id, value;
    struct mcpx_text line = {0};

    judge(cut(&body, '\n'));
    if (expose_post_read(body, 7, &line, &id) == EXPOSE_POST_REQUEST) {
        must(!expose_post_is_answer(mcpx_text_view(&line)));
        read_back(mcpx_text_view(&line), id);
    }
    if (mcpx_json_check(body, 512, &value, NULL) == MCPX_OK)
        must(expose_post_status(value, true) == 200 &&
             expose_post_status(value, false) >= 200);
    mcpx_text_fini(&line);
    return 0;
}
