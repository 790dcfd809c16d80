/*
 * judge.c - every participant must check messages; the judge checks them for an agent that does
 * not. Existing agents look only at a payload's method and id, so any participant that may send
 * something can make them do anything. A message is read once and goes through a list of
 * checks; the first check that fails gives the verdict. A message is never corrected, only left
 * out: a changed message would have no true sender. Rejected: the session of the library. It
 * handles ids, replies and reconnecting, and these belong to the agent.
 */
#include "tools/mcpx-bridge/guard/guard.h"

#include "lib/base/ident.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/bridge.h"

#include <mcpx/json.h>

/* ---- what was asked ---- */

/* Without a secret: only the agent, which chooses the ids, waits when they collide. */
static int64_t number_of(struct mcpx_slice self, struct mcpx_slice id)
{
    struct mx_map_key key = {{0, 0}};

    return (int64_t)((mx_map_hash(key, self) * 31 + mx_map_hash(key, id)) >> 1 | 1);
}

/* Remembers a request of `self`. It replaces an earlier one with the same id. */
static void remember(struct guard_asked *asked, struct mcpx_slice self,
                     const struct mcpx_envelope *envelope, const struct mcpx_rpc *rpc)
{
    struct mcpx_slice context = envelope->kind.context;
    struct bridge_call from = {.number = number_of(self, envelope->id),
                               .who.id = self,
                               .id = envelope->id,
                               .method = envelope->kind.method,
                               .context = context.text ? context : rpc->context};
    struct bridge_call *known = bridge_calls_find(&asked->calls, from.number);

    if (envelope->to_count)
        from.params = mcpx_json_get(envelope->text, "to");
    if (known || asked->calls.count >= asked->max)
        bridge_calls_drop(&asked->calls, known ? known : asked->calls.first);
    bridge_calls_add(&asked->calls, &from);
}

/* ---- messages ---- */

const struct guard_verdict_row guard_verdicts[GUARD_VERDICT_COUNT] = {
#define GUARD_VERDICT_ROW(constant, name, sentence, routine) {name, sentence, routine},
    GUARD_VERDICTS(GUARD_VERDICT_ROW)
#undef GUARD_VERDICT_ROW
};

void guard_judge_init(struct guard_judge *judge, struct guard_asked *asked)
{
    *judge = (struct guard_judge){.asked = asked};
    mcpx_envelope_init(&judge->envelope);
}

void guard_judge_fini(struct guard_judge *judge)
{
    mcpx_text_fini(&judge->self);
    mcpx_envelope_fini(&judge->envelope);
}

/* ---- small questions ---- */

static struct mcpx_slice self_of(const struct guard_judge *judge)
{
    return mcpx_text_view(&judge->self);
}

/* True when any reader finds the member: some ignore letter case. */
static bool has(struct mcpx_slice payload, const char *member)
{
    return mcpx_json_count_like(payload, member) > 0;
}

/* The request of the agent that the message is about; NULL when it is about none. */
static struct bridge_call *question_of(const struct guard_judge *judge)
{
    struct mcpx_slice about = judge->envelope.correlation_id;
    struct bridge_call *call =
        bridge_calls_find(&judge->asked->calls, number_of(self_of(judge), about));

    return call && about.text && mcpx_slice_equal(call->id, about) &&
                   mcpx_slice_equal(call->who.id, self_of(judge))
               ? call
               : NULL;
}

static bool was_asked(const struct bridge_call *question, struct mcpx_slice id)
{
    MCPX_JSON_EACH(walk, question->params)
        if (mcpx_json_equals(walk.value, id))
            return true;
    return !question->params.len;
}

/* ---- reading ---- */

static bool read_envelope(struct guard_judge *judge, struct mcpx_slice text)
{
    judge->fault = (struct mcpx_fault){NULL, "", 0};
    if (memory_checked(mcpx_envelope_parse(text, 0, &judge->envelope, &judge->fault))) {
        judge->envelope.from = (struct mcpx_slice){NULL, 0};
        judge->envelope.kind = (struct mcpx_kind){0};
        return false;
    }
    if (!judge->envelope.from.text)
        judge->fault = (struct mcpx_fault){"it does not say from whom it is", "from", 0};
    return judge->envelope.from.text;
}

/* GUARD_PASS when the payload is a JSON-RPC message that agrees with the kind. */
static enum guard_verdict read_rpc(struct guard_judge *judge)
{
    if (mcpx_rpc_read(judge->envelope.payload, &judge->rpc, &judge->fault) != MCPX_OK)
        return GUARD_RPC;
    if (mcpx_rpc_agrees(&judge->rpc, &judge->envelope.kind, &judge->fault) != MCPX_OK)
        return GUARD_KIND;
    return GUARD_PASS;
}

void guard_judge_sent(struct guard_judge *judge, struct mcpx_slice text)
{
    const struct mcpx_envelope *envelope = &judge->envelope;

    if (memory_checked(mcpx_envelope_parse(text, 0, &judge->envelope, &judge->fault)) ||
        !bridge_is(envelope->kind.type, "mcp/request") || !has(envelope->payload, "id"))
        return;
    if (mcpx_rpc_read(envelope->payload, &judge->rpc, NULL) != MCPX_OK)
        judge->rpc.context = (struct mcpx_slice){NULL, 0};
    remember(judge->asked, self_of(judge), envelope, &judge->rpc);
}

/* ---- the rules ---- */

/* The first welcome tells the agent's id; a later one tells its new grants. */
static enum guard_verdict judge_welcome(struct guard_judge *judge)
{
    struct mcpx_slice you = mcpx_json_get(judge->envelope.payload, "you");
    mx_scoped_text id = {0};
    bool named =
        mcpx_json_add_unescaped(&id, mcpx_json_get(you, "id")) && id.len &&
        mx_id_is_among(mcpx_text_view(&id), judge->envelope.to, judge->envelope.to_count);
    bool same = !judge->self.len || mcpx_slice_equal(mcpx_text_view(&id), self_of(judge));

    if (!named || !same)
        return GUARD_ADDRESS;
    mcpx_text_reset(&judge->self);
    mcpx_text_slice(&judge->self, mcpx_text_view(&id));
    return GUARD_PASS;
}

static enum guard_verdict judge_system(struct guard_judge *judge)
{
    const struct mcpx_envelope *envelope = &judge->envelope;

    if (!bridge_is(envelope->from, "system:gateway"))
        return GUARD_ROUTER;
    if (bridge_is(envelope->kind.text, "system/welcome"))
        return judge_welcome(judge);
    if (!envelope->to_count && (bridge_is(envelope->kind.text, "system/presence") ||
                                bridge_is(envelope->kind.text, "system/position")))
        return GUARD_PASS;
    return mx_id_is_among(self_of(judge), envelope->to, envelope->to_count) ? GUARD_PASS
                                                                            : GUARD_ADDRESS;
}

/*
 * Existing clients take any message under mcp/ with the correlation_id of their request for the
 * answer, even a progress notification. So only an addressee of the request may send messages
 * about it.
 */
static enum guard_verdict judge_mention(const struct guard_judge *judge)
{
    const struct bridge_call *question = question_of(judge);

    return !question || was_asked(question, judge->envelope.from) ? GUARD_PASS : GUARD_SENDER;
}

static enum guard_verdict judge_response(struct guard_judge *judge)
{
    const struct mcpx_envelope *envelope = &judge->envelope;
    struct bridge_call *question = question_of(judge);
    enum guard_verdict verdict = read_rpc(judge);

    if (verdict != GUARD_PASS)
        return verdict;
    if (!question)
        return GUARD_UNSOLICITED;
    if (!was_asked(question, envelope->from))
        return GUARD_SENDER;
    if (!mcpx_slice_equal(envelope->kind.method, question->method) ||
        (envelope->kind.context.text &&
         !mcpx_slice_equal(envelope->kind.context, question->context)))
        return GUARD_OPERATION;
    if (mcpx_json_length(question->params) == 1)
        bridge_calls_drop(&judge->asked->calls, question);
    return GUARD_PASS;
}

/* Payloads of other kinds must not look like MCP messages: existing agents read payloads only. */
static enum guard_verdict judge_other(const struct guard_judge *judge)
{
    static const char *const rpc_members[] = {"jsonrpc", "id", "method", "result", "error"};
    struct mcpx_slice payload = judge->envelope.payload, type = judge->envelope.kind.type;

    if (has(payload, "method") && has(payload, "id"))
        return GUARD_DISGUISE;
    if (type.len < 4 || memcmp(type.text, "mcp/", 4) != 0)
        return GUARD_PASS;
    for (size_t i = 0; i < sizeof rpc_members / sizeof *rpc_members; i++)
        if (has(payload, rpc_members[i]))
            return GUARD_DISGUISE;
    return judge_mention(judge);
}

static enum guard_verdict judge_by_type(struct guard_judge *judge)
{
    struct mcpx_slice type = judge->envelope.kind.type;
    enum guard_verdict verdict;

    if (bridge_is(type, "mcp/response"))
        return judge_response(judge);
    if (!bridge_is(type, "mcp/request") && !bridge_is(type, "mcp/proposal"))
        return judge_other(judge);
    if (bridge_is(type, "mcp/proposal") && has(judge->envelope.payload, "id"))
        return GUARD_PROPOSAL;
    verdict = read_rpc(judge);
    return verdict == GUARD_PASS ? judge_mention(judge) : verdict;
}

enum guard_verdict guard_judge_message(struct guard_judge *judge, struct mcpx_slice text)
{
    const struct mcpx_envelope *envelope = &judge->envelope;

    if (!read_envelope(judge, text))
        return GUARD_TEXT;
    if (mcpx_kind_is_reserved(&envelope->kind))
        return judge_system(judge);
    if (mcpx_slice_equal(envelope->from, self_of(judge)))
        return GUARD_ECHO;
    if (envelope->to_count &&
        !mx_id_is_among(self_of(judge), envelope->to, envelope->to_count))
        return GUARD_ADDRESS;
    return judge_by_type(judge);
}
