/*
 * rounds.c - questions for a client of 2026-07-28. Such a client gets no requests: its call is
 * answered with "input_required", the questions, and a state of ours. The call itself is parked: it
 * stays under way until the client asks again with state and answers, and goes on for that request.
 * So the server sees one call and one answer. Rejected: a second call to the server, which would do
 * again what it did before it asked.
 *
 * A state names the call and has 128 random bits, new in each round. It begins with our nonce; any
 * other state is a server's own, and passes. Addresses to visit need no state: the call is over,
 * and the client makes another.
 */
#include "tools/mcpx-bridge/expose/rounds.h"

#include "lib/base/ident.h"

/*
 * PARKED_MS: how long a client may take, when calls have no timeout. KEPT_BYTES: of answers to
 * parked calls; one participant may have a quarter.
 */
enum { PARKED_MS = 600000, KEPT_BYTES = 64 << 20 };

uint64_t expose_round_binding(const struct expose *x, const struct mcpx_rpc *rpc)
{
    mx_scoped_text same = mx_formatted("%s%q%s", rpc->method, rpc->context,
                                       mcpx_json_get(rpc->params, "arguments"));

    return mx_map_hash(x->config.key, mcpx_text_view(&same));
}

struct mcpx_text expose_round_questions(const struct expose *x, const struct bridge_call *call)
{
    struct mcpx_text questions = {0};

    for (const struct bridge_call *ask = x->asks.first; ask; ask = ask->next)
        if (ask->about == call->number && ask->id.text)
            mx_format(&questions, "%s\"%s\":{\"method\":%q,\"params\":%s}",
                      questions.len ? "," : "", ask->number, ask->method, ask->params);
    return questions;
}

bool expose_round_offer(struct expose *x, struct bridge_call *call)
{
    mx_scoped_text questions = expose_round_questions(x, call);
    int64_t wait_ms = x->config.request_ms ? x->config.request_ms : PARKED_MS;
    unsigned char random[16];
    char hex[2 * sizeof random + 1];

    if (!questions.len)
        return false;
    x->view.chance(x->view.user, random, sizeof random);
    mx_hex_format(random, sizeof random, hex);
    mx_format(&call->state, "\"%s-%s-%s\"", x->config.nonce, call->number, hex);
    call->rounds++;
    bridge_calls_defer(&x->calls, call, x->now.mono_ms + wait_ms);
    expose_tell_result(
        x, expose_request_of(call),
        mx_formatted("{\"resultType\":\"input_required\",\"inputRequests\":{%s},"
                     "\"requestState\":%s}",
                     &questions, &call->state));
    return true;
}

void expose_round_visits(const struct expose *x, const struct bridge_call *call,
                         struct mcpx_slice error, struct mcpx_call_answer *answer,
                         struct mcpx_text *scratch)
{
    const struct mcpx_json_change question[] = {{"mode", MCPX_SLICE("\"url\"")},
                                                {.name = "elicitationId"}};
    struct mcpx_json_change changes[] = {
        {"code", {0}},
        {"data", MCPX_SLICE("{\"requiredCapabilities\":{\"elicitation\":{\"url\":{}}}}")}};
    bool can = mcpx_json_get(mcpx_json_get(call->can, "elicitation"), "url").text, fits = can;
    mx_scoped_text code = mx_formatted("%s", can ? BRIDGE_UNAVAILABLE : BRIDGE_NO_CAPABILITY);
    size_t count = 0;

    if (!bridge_is(mcpx_json_get(error, "code"), "-32042"))
        return;
    mcpx_text_puts(scratch, "{\"resultType\":\"input_required\",\"inputRequests\":{");
    MCPX_JSON_EACH_WHILE(can, walk,
                         mcpx_json_get(mcpx_json_get(error, "data"), "elicitations")) {
        fits = mcpx_json_type(mcpx_json_get(walk.value, "url")) == MCPX_JSON_STRING;
        if (!fits)
            break;
        mx_format(scratch, "%s\"%s-%s\":{\"method\":\"elicitation/create\",\"params\":",
                  count ? "," : "", x->config.nonce, count);
        mcpx_json_add_changed(scratch, walk.value, question, 2);
        mcpx_text_puts(scratch, "}");
        count++;
    }
    mcpx_text_puts(scratch, "}}");
    if (fits && count) {
        *answer = (struct mcpx_call_answer){false, mcpx_text_view(scratch)};
    } else if (answer->is_error) {
        mcpx_text_reset(scratch);
        changes[0].value = mcpx_text_view(&code);
        mcpx_json_add_changed(scratch, error, changes, can ? 1 : 2);
        answer->text = mcpx_text_view(scratch);
    }
}

bool expose_round_keep(struct expose *x, struct bridge_call *call, struct mcpx_text line)
{
    bool fits = bridge_may_have(call->holder->payload_bytes + line.len,
                                x->calls.payload_bytes + line.len, KEPT_BYTES);

    if (fits)
        bridge_calls_hold(&x->calls, call, mcpx_text_view(&line));
    call->resend_ms = INT64_MAX; /* it is over */
    if (call->task)
        bridge_calls_defer(&x->calls, call, x->now.mono_ms + PARKED_MS);
    else
        mcpx_text_reset(&call->sent_in); /* nothing more comes for that */
    mcpx_text_fini(&line);
    return fits;
}
