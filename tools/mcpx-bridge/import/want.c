/*
 * want.c - wishes, with the number of the server that has them.
 */
#include "tools/mcpx-bridge/import/want.h"

#include "tools/mcpx-bridge/import/state.h"

bool import_want(struct import *import, struct import_row row)
{
    row.action.server = import->setup.number;
    return import_output_add(&import->setup.shared->output, &row);
}

bool import_want_send(struct import *import, size_t topic, const struct mcpx_draft *draft)
{
    struct import_action action = {.type = IMPORT_SEND, .topic = topic, .draft = *draft};

    return import_want(import, (struct import_row){.action = action});
}

void import_want_drop(struct import *import, size_t topic, struct mcpx_slice request)
{
    struct import_action action = {.type = IMPORT_DROP, .topic = topic, .about = request};

    import_want(import, (struct import_row){.action = action});
}

void import_want_kill(struct import *import)
{
    import->kill.action =
        (struct import_action){.type = IMPORT_KILL, .server = import->setup.number};
    import_output_keep(&import->setup.shared->output, &import->kill);
}
