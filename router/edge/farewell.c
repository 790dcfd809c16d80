/*
 * farewell.c - the log names the cause that the close frame names: code and reason come from the
 * same row of the table of errors.
 */
#include "router/edge/farewell.h"

/* The code stands before the text in the payload of a close frame. */
enum { CODE_LEN = 2 };

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
