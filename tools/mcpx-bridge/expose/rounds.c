/*
 * rounds.c - questions for a client of 2026-07-28. Such a client gets no requests: its call is
 * answered with "input_required", the questions, and a state of ours. The call itself is parked: it
 * stays under way until the client asks again with state and answers, and goes on for that request.
 * So the server sees one call and one answer. Rejected: a second call to the server, which would do
 * again what it did before it asked.
 *
 * A state names the call and has 128 random bits, new in each round. It begins with our nonce; any
 * other state is a server's own, and passes.
 */
#include "tools/mcpx-bridge/expose/rounds.h"

#include "lib/base/ident.h"

/*
 * PARKED_MS: how long a client may take, when calls have no timeout. GATHER_MS: time to gather
 * questions. The others: most questions about a call; most bytes of answers to parked calls, of
 * which one participant may have a quarter; most addresses to visit.
 */
enum {
    PARKED_MS = 600000,
    GATHER_MS = 10,
    ABOUT_MAX = 16,
    KEPT_BYTES = 64 << 20,
    VISITS_MAX = 16
};

bool expose_round_find(const struct expose *x, const struct mcpx_rpc *rpc,
                       struct bridge_call **out)
{
    mx_scoped_text ours = mx_formatted("\"%s-", x->config.nonce);
    struct mcpx_slice given = mcpx_json_get(rpc->params, "requestState");
    struct bridge_call *call = x->calls.first;

    if (given.len < ours.len || memcmp(given.text, ours.text, ours.len) != 0)
        return false;
    while (call && !mcpx_slice_equal(given, mcpx_text_view(&call->state)))
        call = call->next;
    *out = call && call->bound == expose_round_binding(x, rpc) ? call : NULL;
    return true;
}

uint64_t expose_round_binding(const struct expose *x, const struct mcpx_rpc *rpc)
{
    uint64_t sum = mx_map_hash(x->config.key, rpc->method);

    MCPX_JSON_EACH(walk, rpc->params) {
        mx_scoped_text member = {0};

        if (bridge_is_any(walk.name, "inputResponses", "requestState", "_meta"))
            continue;
        mx_format(&member, "%s:%s", walk.name, walk.value);
        sum += mx_map_hash(x->config.key, mcpx_text_view(&member));
    }
    return sum;
}

/* Parked calls, and one more: of a participant, and all; and the oldest of them. */
struct parked {
    size_t own, all;
    struct bridge_call *oldest_own, *oldest;
};

static struct parked count_parked(const struct expose *x, const struct bridge_holder *holder)
{
    struct parked parked = {.own = 1, .all = 1};

    for (struct bridge_call *call = x->calls.last; call; call = call->previous) {
        if (!call->state.len)
            continue;
        parked.all++;
        parked.oldest = call;
        if (call->holder != holder)
            continue;
        parked.own++;
        parked.oldest_own = call;
    }
    return parked;
}

struct bridge_call *expose_round_excess(const struct expose *x, const struct bridge_call *call)
{
    const struct bridge_holder *asks = bridge_calls_holder(&x->asks, call->who);
    struct parked parked = count_parked(x, call->holder);
    size_t all = x->asks.count < parked.all ? parked.all : x->asks.count + 1;
    size_t own = asks && asks->calls >= parked.own ? asks->calls + 1 : parked.own;

    if (!x->config.answers_only || !call->modern || call->state.len ||
        bridge_may_have(own, all, EXPOSE_ASKS_MAX))
        return NULL;
    return parked.oldest_own || all <= EXPOSE_ASKS_MAX ? parked.oldest_own : parked.oldest;
}

const char *expose_round_obstacle(const struct expose *x, const struct bridge_call *call)
{
    struct parked parked = count_parked(x, call->holder);
    size_t about = 0;

    for (const struct bridge_call *ask = x->asks.first; ask; ask = ask->next)
        about += ask->about == call->number;
    if (about >= ABOUT_MAX)
        return "the client has 16 questions about this call before it already";
    if (call->rounds >= EXPOSE_ROUNDS_MAX)
        return "the client was asked ten times about this call already";
    return call->state.len || bridge_may_have(parked.own, parked.all, EXPOSE_ASKS_MAX)
               ? NULL
               : "too many calls wait for answers of the client";
}

/* Answers the call with these questions, and parks it. */
static void park(struct expose *x, struct bridge_call *call, const struct mcpx_text *questions)
{
    const struct mcpx_rpc rpc = {.id = call->id, .method = call->method};
    const struct expose_request request = {.rpc = &rpc};
    int64_t wait_ms = x->config.request_ms ? x->config.request_ms : PARKED_MS;
    unsigned char random[16];
    char hex[2 * sizeof random + 1];

    x->view.chance(x->view.user, random, sizeof random);
    mx_hex_format(random, sizeof random, hex);
    mx_format(&call->state, "\"%s-%s-%s\"", x->config.nonce, call->number, hex);
    call->rounds++;
    call->heartbeat_ms = INT64_MAX;
    bridge_calls_defer(&x->calls, call, x->now.mono_ms + wait_ms);
    expose_tell_result(
        x, &request,
        mx_formatted("{\"resultType\":\"input_required\",\"inputRequests\":{%s},"
                     "\"requestState\":%s}",
                     questions, &call->state));
}

void expose_round_want(struct expose *x, struct bridge_call *call)
{
    if (!call->state.len)
        call->heartbeat_ms = x->now.mono_ms + GATHER_MS;
}

bool expose_round_offer(struct expose *x, struct bridge_call *call)
{
    mx_scoped_text questions = {0};

    call->heartbeat_ms = INT64_MAX;
    for (const struct bridge_call *ask = x->asks.first; ask; ask = ask->next)
        if (ask->about == call->number)
            mx_format(&questions, "%s\"%s\":{\"method\":%q,\"params\":%s}",
                      questions.len ? "," : "", ask->number, ask->method, &ask->payload);
    if (questions.len)
        park(x, call, &questions);
    return questions.len > 0;
}

bool expose_round_keep(struct expose *x, struct bridge_call *call, struct mcpx_text line)
{
    bool fits = bridge_may_have(call->holder->payload_bytes + line.len,
                                x->calls.payload_bytes + line.len, KEPT_BYTES);

    if (fits)
        bridge_calls_hold(&x->calls, call, mcpx_text_view(&line));
    mcpx_text_reset(&call->sent_in); /* nothing more comes for that */
    mcpx_text_fini(&line);
    return fits;
}

/* ---- addresses to visit ---- */

/* Appends the addresses as questions; nothing when one is none, or there are too many. */
static void add_visits(struct mcpx_slice addresses, struct mcpx_text *out)
{
    const struct mcpx_json_change changes[] = {{"mode", MCPX_SLICE("\"url\"")},
                                               {.name = "elicitationId"}};
    int count = 0;

    MCPX_JSON_EACH(walk, addresses) {
        if (++count > VISITS_MAX ||
            mcpx_json_type(mcpx_json_get(walk.value, "url")) != MCPX_JSON_STRING) {
            mcpx_text_reset(out);
            return;
        }
        mx_format(out, "%s\"%s\":{\"method\":\"elicitation/create\",\"params\":",
                  count > 1 ? "," : "", count);
        mcpx_json_add_changed(out, walk.value, changes, 2);
        mcpx_text_puts(out, "}");
    }
}

struct mcpx_slice expose_round_error(struct expose *x, struct bridge_call *call,
                                     struct mcpx_slice error, struct mcpx_text *scratch)
{
    struct mcpx_json_change changes[] = {
        {"code", {0}},
        {"data", MCPX_SLICE("{\"requiredCapabilities\":{\"elicitation\":{\"url\":{}}}}")}};
    struct mcpx_slice data = mcpx_json_get(error, "data");
    bool can = mcpx_json_get(mcpx_json_get(call->can, "elicitation"), "url").text != NULL;
    mx_scoped_text visits = {0}, code = {0};

    if (!bridge_is(mcpx_json_get(error, "code"), "-32042"))
        return error;
    add_visits(mcpx_json_get(data, "elicitations"), &visits);
    if (can && visits.len && !call->state.len && !expose_round_obstacle(x, call)) {
        park(x, call, &visits);
        call->stage = EXPOSE_VISIT;
    }
    mx_format(&code, "%s",
              !can                          ? BRIDGE_NO_CAPABILITY
              : call->stage == EXPOSE_VISIT ? BRIDGE_REJECTED
                                            : BRIDGE_UNAVAILABLE);
    changes[0].value = mcpx_text_view(&code);
    mcpx_json_add_changed(scratch, error, changes, can ? 1 : 2);
    return mcpx_text_view(scratch);
}
