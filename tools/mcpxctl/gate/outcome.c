/*
 * outcome.c - the three places where an edge writes a canonical code.
 */
#include "tools/mcpxctl/gate/outcome.h"

#include <mcpx/contract.h>

static const char *word_of(struct mcpx_slice code)
{
    for (int i = 0; i < MCPX_CODE_COUNT; i++) {
        const char *name = mcpx_code_name((enum mcpx_code)i);

        if (mcpx_json_equals(code, mcpx_slice_of(name)))
            return name;
    }
    return "error";
}

/* The first item of an array. */
static struct mcpx_slice first_of(struct mcpx_slice array)
{
    struct mcpx_json_walk walk;

    mcpx_json_walk_start(&walk, array);
    return mcpx_json_walk_next(&walk) ? walk.value : (struct mcpx_slice){NULL, 0};
}

const char *outcome_of(struct mcpx_slice response)
{
    struct mcpx_slice error = mcpx_json_get(response, "error");
    struct mcpx_slice result = mcpx_json_get(response, "result");
    struct mcpx_slice envelope = mcpx_json_get(result, "structuredContent");
    struct mcpx_slice details;

    if (error.text)
        return word_of(mcpx_json_get(mcpx_json_get(error, "data"), "canonical_code"));
    if (!mcpx_slice_equal(mcpx_json_get(result, "isError"), MCPX_SLICE("true")))
        return "ok";
    details = mcpx_json_get(mcpx_json_get(envelope, "error"), "error_details");
    if (!details.text)
        details = mcpx_json_get(first_of(mcpx_json_get(envelope, "errors")), "details");
    return word_of(mcpx_json_get(details, "canonical_code"));
}
