/*
 * deliver.c - the common part of the verbs that send one envelope and leave.
 */
#include "tools/mcpxctl/deliver.h"

#include "tools/common/visible.h"
#include "tools/mcpxctl/live.h"
#include "tools/mcpxctl/message.h"
#include "tools/mcpxctl/output.h"

/* How long a router that cannot store is given time. */
enum { SETTLE_MS = 15000 };

static int check_author(const struct live *live, struct mcpx_slice author)
{
    struct mcpx_slice us = mcpx_session_id(mcpx_client_session(live->client));

    if (!author.text || mcpx_slice_equal(mcpx_identity_of(us), mcpx_identity_of(author)))
        return STATUS_OK;
    return fail_with(STATUS_REFUSED, live->verb,
                     "only %.*s may, who made it; mcpxctl reject says no to it",
                     (int)author.len, author.text);
}

int deliver(const struct arguments *arguments, const struct mcpx_draft *draft,
            struct mcpx_slice author)
{
    struct mcpx_text out = {0};
    struct live live;
    int status = live_join(arguments, 0, &live);

    if (status == STATUS_OK)
        status = check_author(&live, author);
    if (status == STATUS_OK && arguments_have(arguments, "--to"))
        live_has_all(&live, draft->to, draft->to_count,
                     "it is sent all the same, and waits in the history");
    if (status == STATUS_OK)
        status = live_send(&live, draft);
    if (status == STATUS_OK)
        status = live_settle(&live, arguments_ms(arguments, "--timeout", SETTLE_MS));
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
