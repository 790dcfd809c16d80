/*
 * address.c - reads --to, which may be given several times.
 */
#include "tools/mcpxctl/address.h"

int address_read(const struct arguments *arguments, struct address *out)
{
    const struct option_word *word;

    out->count = 0;
    for (size_t at = 0; (word = arguments_next(arguments, "--to", &at));) {
        struct mcpx_slice to = mcpx_slice_of(word->value);

        if (!mcpx_participant_id_is_valid(to))
            return fail_with(STATUS_USAGE, arguments->command->name,
                             "--to wants a participant id of 1..%d bytes", MCPX_ID_MAX);
        if (out->count == MCPX_TO_MAX)
            return fail_with(STATUS_USAGE, arguments->command->name, "at most %d addressees",
                             MCPX_TO_MAX);
        out->to[out->count++] = to;
    }
    return STATUS_OK;
}
