/*
 * deliver.c - the verbs that say something and go.
 * Includes deliver.h, live.h, message.h, output.h, visible.h only.
 */
#include "tools/mcpxctl/deliver.h"

#include "tools/common/visible.h"
#include "tools/mcpxctl/live.h"
#include "tools/mcpxctl/message.h"
#include "tools/mcpxctl/output.h"

int deliver(const struct arguments *arguments, const struct mcpx_draft *draft)
{
    static const struct live_wishes wishes = {0, false};
    struct mcpx_text out = {0};
    struct live live;
    int status = live_join(arguments, &wishes, &live);

    if (status == STATUS_OK)
        status = live_send(&live, draft);
    if (status == STATUS_OK)
        status = live_settle(&live);
    if (status == STATUS_OK) {
        if (arguments_have(arguments, "--json"))
            message_write(&out, "id", mcpx_text_view(&live.sent));
        else
            text_visible(&out, mcpx_text_view(&live.sent));
        mcpx_text_puts(&out, "\n");
    }
    live_leave(&live);
    return output_print(&out, arguments->command->name, status);
}
