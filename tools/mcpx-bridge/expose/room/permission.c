/*
 * permission.c - a client's own permission prompts, asked in the topic: a proposal to ourselves,
 * protocol section 9. Its approval is a request to us; our answer to that, back from the topic,
 * ends the client's call. Any other end of the call is a denial.
 */
#include "tools/common/proposal.h"
#include "tools/mcpx-bridge/expose/state.h"

struct mcpx_text expose_permission_answer(const struct expose *x,
                                          const struct mcpx_event *event)
{
    struct bridge_call *call = x->calls.first;
    struct mcpx_text out = {0};

    while (call &&
           !(bridge_is(call->method, EXPOSE_PERMISSION) &&
             mcpx_slice_equal(mcpx_text_view(&call->approved_in), event->envelope->id)))
        call = call->next;
    if (call)
        call->written =
            !proposal_answer_prompt(&out, x->view.self(x->view.user), call->params, event);
    return out;
}

struct mcpx_call_answer expose_permission_end(const struct bridge_call *call,
                                              const struct mcpx_call_end *how,
                                              struct mcpx_text *out)
{
    struct mcpx_slice why = mcpx_json_get(how->text, "message");
    mx_scoped_text decision = {0};

    /* Only our own answer permits: who has our former id may answer, too. */
    if (call->written && how->type == MCPX_CALL_RESULT &&
        mcpx_json_equals(mcpx_json_get(how->text, "behavior"), MCPX_SLICE("allow")))
        mx_format(&decision, "{\"behavior\":\"allow\",\"updatedInput\":%s}",
                  mcpx_json_get(call->params, "input"));
    else
        mx_format(&decision, "{\"behavior\":\"deny\",\"message\":%s}",
                  why.text ? why : MCPX_SLICE("\"not permitted\""));
    mx_format(out, "{\"content\":[{\"type\":\"text\",\"text\":%q}]}", &decision);
    return (struct mcpx_call_answer){false, mcpx_text_view(out)};
}
