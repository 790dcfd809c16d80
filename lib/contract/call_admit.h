/*
 * call_admit.h - a call at the first door, as its two files see it: call.c reads, finds and passes
 * on, call_judge.c says whether it can work.
 */
#ifndef MX_CALL_ADMIT_H
#define MX_CALL_ADMIT_H

#include "lib/contract/call.h"

/**
 * A call at the door.
 *
 * name            that it came with
 * context         its own, or the one that was made; `given` is its own
 * params          that are passed on; those of `asked` until something changes
 * arguments       that are passed on
 * tools           among which the tool is: the server's, or that of the handshake
 * input, output   its schemas; NULL: they are unusable, or there is no tool
 * is_handshake    the edge answers
 */
struct mx_admitting {
    struct mcpx_calls *calls;
    const struct mcpx_call_request *request;
    struct mcpx_call *call;
    struct mx_asked asked;
    struct mcpx_slice name;
    struct mcpx_slice given;
    struct mcpx_slice context;
    struct mcpx_slice params;
    struct mcpx_slice arguments;
    struct mcpx_tools *tools;
    struct mcpx_tool_schema input;
    struct mcpx_tool_schema output;
    bool is_handshake;
};

/*
 * Steps: MCPX_EINVALID when calls->flaw says what is wrong, or MCPX_ENOMEM.
 */

/** Takes the schemas of the tool, and writes down that it is called. */
enum mcpx_err mx_admit_tell(struct mx_admitting *a);

/** Whether the edge's tier is enough for the tool. */
enum mcpx_err mx_admit_check_tier(struct mx_admitting *a);

/** Whether the arguments, and the tool's schemas, are what they should be. */
enum mcpx_err mx_admit_check_input(struct mx_admitting *a);

/** What becomes of a flaw that counts where schemas are enforced: MCPX_OK where they are not. */
enum mcpx_err mx_admit_weigh(struct mx_admitting *a, enum mcpx_err err);

#endif
