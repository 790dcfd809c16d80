/*
 * want.c - wishes, with the number of the server that has them.
 */
#include "tools/mcpx-bridge/import/want.h"

#include "tools/mcpx-bridge/import/state.h"

bool import_want(struct import *import, struct bridge_row row)
{
    row.action.server = import->setup.number;
    return bridge_output_add(&import->setup.shared->output, &row);
}

bool import_want_send(struct import *import, size_t topic, const struct mcpx_draft *draft)
{
    struct bridge_action action = {.type = BRIDGE_SEND, .topic = topic, .draft = *draft};

    return import_want(import, (struct bridge_row){.action = action});
}

void import_want_drop(struct import *import, size_t topic, struct mcpx_slice request)
{
    struct bridge_action action = {.type = BRIDGE_DROP, .topic = topic, .about = request};

    import_want(import, (struct bridge_row){.action = action});
}

void import_want_kill(struct import *import)
{
    import->kill.action =
        (struct bridge_action){.type = BRIDGE_KILL, .server = import->setup.number};
    bridge_output_keep(&import->setup.shared->output, &import->kill);
}
