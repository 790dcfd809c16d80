/*
 * cmd_call.c - one request and its response.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/mcpxctl/address.h"
#include "tools/mcpxctl/live.h"
#include "tools/mcpxctl/operation.h"

enum { TIMEOUT_MS = 60000 };

static int ask_for_response(const struct arguments *arguments, const struct address *address,
                            struct mcpx_slice payload, struct mcpx_text *response)
{
    static const struct live_wishes wishes = {.instances = true};
    int64_t timeout = arguments_ms(arguments, "--timeout", TIMEOUT_MS);
    struct mcpx_draft draft = {.type = "mcp/request",
                               .to = address->to,
                               .to_count = address->count,
                               .payload = payload,
                               .timeout_ms = -1};
    struct live live;
    int status = live_join(arguments, &wishes, &live);

    if (status == STATUS_OK &&
        !live_has_all(&live, address->to, address->count, "mcpxctl who tells who is"))
        status = STATUS_ABSENT;
    if (status == STATUS_OK)
        status = live_send(&live, &draft);
    live.waiting_for = arguments_value(arguments, "--to");
    if (status == STATUS_OK)
        status = live_response(&live, &draft, timeout, response);
    live_leave(&live);
    return status;
}

int cmd_call(const struct arguments *arguments)
{
    struct mcpx_text input = {0}, payload = {0}, response = {0};
    struct operation operation;
    struct address address;
    int status = address_read(arguments, &address);

    if (status == STATUS_OK)
        status = operation_from(arguments, &input, &operation);
    if (status == STATUS_OK) {
        if (mcpx_slice_equal(operation.method, MCPX_SLICE("tools/call")))
            operation.token = MCPX_SLICE("mcpxctl");
        operation_write_request(&payload, &operation);
        status = ask_for_response(arguments, &address, mcpx_text_view(&payload), &response);
    }
    if (status == STATUS_OK)
        status = response_print(arguments, mcpx_text_view(&response));
    mcpx_text_fini(&response);
    mcpx_text_fini(&payload);
    mcpx_text_fini(&input);
    return status;
}
