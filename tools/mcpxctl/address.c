/*
 * address.c - --to, given once or several times.
 */
#include "tools/mcpxctl/address.h"

int address_read(const struct arguments *arguments, struct address *out)
{
    out->count = 0;
    for (size_t i = 0; i < arguments->option_count; i++) {
        struct mcpx_slice to = mcpx_slice_of(arguments->options[i].value);

        if (strcmp(arguments->options[i].option->name, "--to") != 0)
            continue;
        if (!mcpx_participant_id_is_valid(to)) {
            complain(arguments->command->name, "--to wants a participant id of 1..%d bytes",
                     MCPX_ID_MAX);
            return STATUS_USAGE;
        }
        if (out->count == MCPX_TO_MAX) {
            complain(arguments->command->name, "at most %d addressees", MCPX_TO_MAX);
            return STATUS_USAGE;
        }
        out->to[out->count++] = to;
    }
    return STATUS_OK;
}
