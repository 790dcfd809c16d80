/*
 * cmd_propose.c - proposes an operation, for others to carry out.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/mcpxctl/address.h"
#include "tools/mcpxctl/deliver.h"
#include "tools/mcpxctl/operation.h"

int cmd_propose(const struct arguments *arguments)
{
    struct mcpx_text input = {0}, payload = {0};
    struct operation operation;
    struct address address;
    int status = address_read(arguments, &address);

    if (status == STATUS_OK)
        status = operation_from(arguments, &input, &operation);
    if (status == STATUS_OK) {
        operation_write_proposal(&payload, &operation);
        status = deliver(arguments,
                         &(struct mcpx_draft){.type = "mcp/proposal",
                                              .to = address.to,
                                              .to_count = address.count,
                                              .payload = mcpx_text_view(&payload)},
                         (struct mcpx_slice){NULL, 0});
    }
    mcpx_text_fini(&payload);
    mcpx_text_fini(&input);
    return status;
}
