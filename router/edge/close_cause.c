/*
 * close_cause.c - the log names the cause that the close frame names: code and reason come from the
 * same row of the table of errors.
 */
#include "router/edge/close_cause.h"

/* The code stands before the text in the payload of a close frame. */
enum { CODE_LEN = 2 };

struct close_cause close_cause_lost(void)
{
    return (struct close_cause){.code = CLOSE_LOST, .reason = "lost"};
}

struct close_cause close_cause_of_client(int code, struct mcpx_slice payload)
{
    struct close_cause cause = {.code = code, .reason = mcpx_error_wire(MCPX_ECLOSED)};

    if (payload.len > CODE_LEN)
        cause.says = (struct mcpx_slice){payload.text + CODE_LEN, payload.len - CODE_LEN};
    return cause;
}

struct close_cause close_cause_of_router(enum mcpx_err err)
{
    return (struct close_cause){.code = mcpx_error_close(err), .reason = mcpx_error_wire(err)};
}
