/*
 * cmd_say.c - a chat message. It prints the id, with which later commands can refer to the
 * message.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/mcpxctl/address.h"
#include "tools/mcpxctl/deliver.h"
#include "tools/mcpxctl/message.h"

int cmd_say(const struct arguments *arguments)
{
    struct mcpx_text payload = {0};
    struct address address;
    int status = address_read(arguments, &address);

    if (status != STATUS_OK)
        return status;
    message_write(&payload, "text", mcpx_slice_of(arguments->operands[0]));
    status = deliver(arguments,
                     &(struct mcpx_draft){.type = "chat",
                                          .to = address.to,
                                          .to_count = address.count,
                                          .payload = mcpx_text_view(&payload)},
                     (struct mcpx_slice){NULL, 0});
    mcpx_text_fini(&payload);
    return status;
}
