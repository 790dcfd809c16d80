/*
 * farewell.c - the hub says why it closes a connection in one place: the close frame. The log reads
 * it there, so both say the same. Counting, for each cause, who was closed for it was refused: most
 * causes are found deep in the hub.
 */
#include "router/edge/farewell.h"

/* Head and code of a close frame, whose payload has 125 bytes at most. */
enum { CLOSE_FIRST = 0x88, CLOSE_HEAD = 2, CODE_LEN = 2 };

struct farewell farewell_lost(void)
{
    return (struct farewell){.code = CLOSE_LOST, .reason = "lost"};
}

struct farewell farewell_of_client(int code, struct mcpx_slice payload)
{
    struct farewell farewell = {.code = code, .reason = mcpx_error_wire(MCPX_ECLOSED)};

    if (payload.len > CODE_LEN)
        farewell.says = (struct mcpx_slice){payload.text + CODE_LEN, payload.len - CODE_LEN};
    return farewell;
}

struct farewell farewell_of_router(enum mcpx_err err)
{
    return (struct farewell){.code = mcpx_error_close(err), .reason = mcpx_error_wire(err)};
}

/* The length in its head is part of the comparison, so no text is taken for the end of another. */
static bool ends_with_close(const struct output *output, enum mcpx_err err)
{
    struct mcpx_slice text = mcpx_slice_of(mcpx_strerror(err));
    size_t len = CLOSE_HEAD + CODE_LEN + text.len;
    const unsigned char *frame;

    if (len > output->len)
        return false;
    frame = (const unsigned char *)output->bytes + output->len - len;
    return frame[0] == CLOSE_FIRST && frame[1] == CODE_LEN + text.len &&
           (frame[2] << 8 | frame[3]) == mcpx_error_close(err) &&
           memcmp(frame + CLOSE_HEAD + CODE_LEN, text.text, text.len) == 0;
}

enum mcpx_err farewell_read(const struct output *output)
{
    for (int err = 1; output->close && err < MCPX_ERR_COUNT; err++)
        if (mcpx_error_close((enum mcpx_err)err) &&
            ends_with_close(output, (enum mcpx_err)err))
            return (enum mcpx_err)err;
    return MCPX_OK;
}
