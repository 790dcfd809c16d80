/*
 * cmd_call.c - one request and its response.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/mcpxctl/address.h"
#include "tools/mcpxctl/live.h"
#include "tools/mcpxctl/operation.h"

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
        status = live_call(arguments,
                           &(struct mcpx_draft){.type = "mcp/request",
                                                .to = address.to,
                                                .to_count = address.count,
                                                .payload = mcpx_text_view(&payload),
                                                .timeout_ms = -1},
                           arguments_value(arguments, "--to"), &response);
    }
    if (status == STATUS_OK)
        status = response_print(arguments, mcpx_text_view(&response));
    mcpx_text_fini(&response);
    mcpx_text_fini(&payload);
    mcpx_text_fini(&input);
    return status;
}
