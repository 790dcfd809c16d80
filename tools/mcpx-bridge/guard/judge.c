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
#include "lib/base/map.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/bridge.h"

#include <mcpx/json.h>

#include <stdlib.h>

/* ---- what was asked ---- */

/* Requests in a list, the oldest first, and a table by id. The texts stand behind `to`. */
struct entry {
    struct entry *previous, *next;
    uint64_t hash;
    struct mcpx_slice self, id, method, context;
    size_t to_count;
    struct mcpx_slice to[];
};

struct guard_asked {
    size_t max;
    struct entry *first, *last;
    struct mx_map by_id;
};

struct guard_asked *guard_asked_new(size_t max)
{
    struct guard_asked *asked = calloc(1, sizeof *asked);

    asked->max = max;
    return asked;
}

static void forget(struct guard_asked *asked, struct entry *entry)
{
    if (!entry)
        return;
    *(entry->previous ? &entry->previous->next : &asked->first) = entry->next;
    *(entry->next ? &entry->next->previous : &asked->last) = entry->previous;
    mx_map_remove(&asked->by_id, entry->hash, (uintptr_t)entry);
    free(entry);
}

void guard_asked_free(struct guard_asked *asked)
{
    while (asked->first)
        forget(asked, asked->first);
    mx_map_fini(&asked->by_id);
    free(asked);
}

/* Without a secret: only the agent, which chooses the ids, waits when they collide. */
static uint64_t hash_of(struct mcpx_slice id)
{
    return mx_map_hash((struct mx_map_key){{0, 0}}, id);
}

/* The request of `self` with that id; NULL when there is none. */
static struct entry *find_asked(const struct guard_asked *asked, struct mcpx_slice self,
                                struct mcpx_slice id)
{
    struct entry *entry;
    size_t at = 0;

    do {
        entry = (struct entry *)(uintptr_t)mx_map_next(&asked->by_id, hash_of(id), &at);
    } while (entry &&
             !(mcpx_slice_equal(entry->id, id) && mcpx_slice_equal(entry->self, self)));
    return entry;
}

static struct entry *entry_new(struct mcpx_slice self, const struct mcpx_envelope *envelope,
                               struct mcpx_slice context)
{
    size_t texts = self.len + envelope->id.len + envelope->kind.method.len + context.len;
    struct entry *entry;
    char *at;

    for (size_t i = 0; i < envelope->to_count; i++)
        texts += envelope->to[i].len;
    entry = malloc(sizeof *entry + envelope->to_count * sizeof *entry->to + texts);
    at = (char *)(entry->to + envelope->to_count);
    entry->hash = hash_of(envelope->id);
    entry->self = mx_keep(&at, self);
    entry->id = mx_keep(&at, envelope->id);
    entry->method = mx_keep(&at, envelope->kind.method);
    entry->context = mx_keep(&at, context);
    entry->to_count = envelope->to_count;
    for (size_t i = 0; i < envelope->to_count; i++)
        entry->to[i] = mx_keep(&at, envelope->to[i]);
    return entry;
}

/*
 * Remembers a request: `self` sent `envelope`, whose payload is `rpc`. It replaces an earlier
 * request of the same participant with the same id.
 */
static void remember(struct guard_asked *asked, struct mcpx_slice self,
                     const struct mcpx_envelope *envelope, const struct mcpx_rpc *rpc)
{
    struct mcpx_slice context =
        envelope->kind.context.text ? envelope->kind.context : rpc->context;
    struct entry *entry = entry_new(self, envelope, context);

    forget(asked, find_asked(asked, self, envelope->id));
    if (asked->by_id.count >= asked->max)
        forget(asked, asked->first);
    mx_map_reserve(&asked->by_id);
    mx_map_put(&asked->by_id, entry->hash, (uintptr_t)entry);
    entry->next = NULL;
    entry->previous = asked->last;
    *(asked->last ? &asked->last->next : &asked->first) = entry;
    asked->last = entry;
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
static struct entry *question_of(const struct guard_judge *judge)
{
    struct mcpx_slice about = judge->envelope.correlation_id;

    return about.text ? find_asked(judge->asked, self_of(judge), about) : NULL;
}

static bool was_asked(const struct entry *question, struct mcpx_slice id)
{
    return !question->to_count || mx_id_is_among(id, question->to, question->to_count);
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
    const struct entry *question = question_of(judge);

    return !question || was_asked(question, judge->envelope.from) ? GUARD_PASS : GUARD_SENDER;
}

static enum guard_verdict judge_response(struct guard_judge *judge)
{
    const struct mcpx_envelope *envelope = &judge->envelope;
    struct entry *question = question_of(judge);
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
    if (question->to_count == 1)
        forget(judge->asked, question);
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
