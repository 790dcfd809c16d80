/*
 * answer.c - finds the envelope of ours that a message is about, and checks the sender. An
 * answer must come from an addressee of the request, a fulfilment from a participant that may
 * act on the proposal.
 */
#include "lib/participant/answer.h"

#include "lib/participant/delivery.h"
#include "lib/participant/tell.h"
#include "lib/participant/validate.h"

/*
 * An addressee of the proposal may fulfil it with any request; an approver, for example, asks
 * another participant. A participant that is no addressee may only send the request to the
 * proposal's addressees. Otherwise it could name itself as the one that answers.
 */
static bool may_fulfil(const struct mcpx_session *session,
                       const struct mcpx_envelope *envelope, const struct mx_asked *proposal)
{
    size_t asked = 0;

    if (mx_asked_was_for(proposal, envelope->from))
        return true;
    for (size_t i = 0; i < envelope->to_count; i++) {
        if (mx_asked_was_for(proposal, envelope->to[i]))
            asked++;
        else if (!mcpx_slice_equal(envelope->to[i], mx_id_view(&session->id)) &&
                 !mcpx_slice_equal(envelope->to[i], mx_id_view(&session->former)))
            return false;
    }
    return asked > 0 || envelope->to_count == 0;
}

struct mx_own *mx_answer_fulfils(const struct mcpx_session *session,
                                 const struct mx_incoming *in)
{
    const struct mcpx_envelope *envelope = in->envelope;
    struct mx_own *own = mx_pending_awaited(&session->pending, envelope->correlation_id);

    if (!own || !own->proposal || in->rpc->form != MCPX_RPC_REQUEST ||
        mcpx_slice_equal(envelope->from, mx_id_view(&session->id)))
        return NULL;
    if (!mx_asked_is_operation(own->asked, in->rpc) ||
        !may_fulfil(session, envelope, own->asked))
        return NULL;
    return own;
}

struct mx_asked mx_answer_asks(const struct mx_incoming *in, const struct mx_own *own)
{
    struct mx_asked asked = mx_asked_of(in->envelope, in->rpc);

    if (asked.to_count == 0) {
        asked.to = own->asked->to;
        asked.to_count = own->asked->to_count;
    }
    return asked;
}

/*
 * False for a message that is addressed to others only. The answer to a request that we sent
 * under our former id is addressed to the former id.
 */
static bool may_concern(const struct mcpx_session *session,
                        const struct mcpx_envelope *envelope)
{
    return envelope->to_count == 0 ||
           mx_id_is_among(mx_id_view(&session->id), envelope->to, envelope->to_count) ||
           mx_id_is_among(mx_id_view(&session->former), envelope->to, envelope->to_count);
}

enum mcpx_violation mx_answer_judge(const struct mcpx_session *session,
                                    const struct mx_incoming *in, struct mx_own **own,
                                    struct mcpx_fault *fault)
{
    const struct mcpx_envelope *envelope = in->envelope;
    struct mx_own *asked = mx_pending_awaited(&session->pending, envelope->correlation_id);
    struct mx_fulfilment *fulfilment =
        mx_pending_fulfilment(&session->pending, envelope->correlation_id);

    *own = NULL;
    if (asked && !asked->proposal && !may_concern(session, envelope))
        return MCPX_VIOLATION_NONE;
    if (asked && !asked->proposal) {
        *own = asked;
        return mx_validate_response(asked->asked, envelope, in->rpc, fault);
    }
    if (!fulfilment)
        return MCPX_VIOLATION_NONE;
    *own = fulfilment->proposal;
    return mx_validate_response(fulfilment->asked, envelope, in->rpc, fault);
}

void mx_answer_settle(struct mcpx_session *session, const struct mx_incoming *in,
                      struct mx_own *own)
{
    struct mx_event *event = mx_tell(session, in, MCPX_EVENT_RESPONSE);

    mx_event_about(event, own);
    event->proposal = own->proposal ? MX_PROPOSAL_OWN : MX_PROPOSAL_NONE;
    mx_delivery_drop(session, own);
}
