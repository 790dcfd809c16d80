/*
 * judge.c - every participant must check messages; the judge checks them for an agent that does
 * not. Existing agents look only at a payload's method and id, so any participant that may send
 * something can make them do anything. A message is read once and goes through a list of
 * checks; the first check that fails gives the verdict. A message is never corrected, only left
 * out: a changed message would have no true sender. The session of the library was refused
 * here: it handles ids, replies and reconnecting, and these belong to the agent.
 */
#include "tools/mcpx-bridge/guard/judge.h"

#include "lib/base/ident.h"
#include "tools/common/command.h"
#include "tools/mcpx-bridge/bridge.h"

#include <mcpx/json.h>

#include <stdlib.h>

/* ---- what was asked ---- */

/*
 * An array of slots, each with one allocation that holds a request's texts. A lookup compares a
 * 32-bit hash per slot, and then the texts. A few thousand comparisons of adjacent numbers take
 * less time than parsing one message. The search for the oldest is also such a walk. A ring was
 * refused: it would forget the oldest slot even when others are free.
 */

/* Texts of a request, in one allocation behind the addressees. */
struct entry {
    struct mcpx_slice self, id, method, context;
    size_t to_count;
    struct mcpx_slice to[];
};

struct guard_asked {
    size_t max;
    uint64_t last_serial;
    uint32_t *hashes;  /* of self and id; 0 = the slot is free */
    uint64_t *serials; /* the order of the requests; 0 = the slot is free */
    struct entry **entries;
};

struct guard_asked *guard_asked_new(size_t max)
{
    struct guard_asked *asked = malloc(sizeof *asked);

    *asked = (struct guard_asked){.max = max,
                                  .hashes = calloc(max, sizeof *asked->hashes),
                                  .serials = calloc(max, sizeof *asked->serials),
                                  .entries = calloc(max, sizeof *asked->entries)};
    return asked;
}

void guard_asked_free(struct guard_asked *asked)
{
    if (!asked)
        return;
    for (size_t i = 0; i < asked->max; i++)
        free(asked->entries[i]);
    free(asked->entries);
    free(asked->hashes);
    free(asked->serials);
    free(asked);
}

/* FNV-1a. An attacker gains nothing from collisions: the texts are compared too. */
static uint32_t hash_more(uint32_t hash, struct mcpx_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.text[i]) * 16777619u;
    return (hash ^ 0xff) * 16777619u;
}

static uint32_t hash_of(struct mcpx_slice self, struct mcpx_slice id)
{
    uint32_t hash = hash_more(hash_more(2166136261u, self), id);

    return hash ? hash : 1;
}

/* Returns asked->max when there is none. */
static size_t slot_of(const struct guard_asked *asked, struct mcpx_slice self,
                      struct mcpx_slice id)
{
    uint32_t hash = hash_of(self, id);

    for (size_t i = 0; i < asked->max; i++)
        if (asked->hashes[i] == hash && mcpx_slice_equal(asked->entries[i]->id, id) &&
            mcpx_slice_equal(asked->entries[i]->self, self))
            return i;
    return asked->max;
}

static void clear(struct guard_asked *asked, size_t slot)
{
    free(asked->entries[slot]);
    asked->entries[slot] = NULL;
    asked->hashes[slot] = 0;
    asked->serials[slot] = 0;
}

/* A free slot comes before the oldest, because its serial is 0. */
static size_t oldest_slot(const struct guard_asked *asked)
{
    size_t oldest = 0;

    for (size_t i = 0; i < asked->max && asked->serials[oldest]; i++)
        if (asked->serials[i] < asked->serials[oldest])
            oldest = i;
    return oldest;
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
    entry->self = bridge_copy(&at, self);
    entry->id = bridge_copy(&at, envelope->id);
    entry->method = bridge_copy(&at, envelope->kind.method);
    entry->context = bridge_copy(&at, context);
    entry->to_count = envelope->to_count;
    for (size_t i = 0; i < envelope->to_count; i++)
        entry->to[i] = bridge_copy(&at, envelope->to[i]);
    return entry;
}

/*
 * Remembers a request: `self` sent `envelope`, whose payload is `rpc`. It replaces an earlier
 * request of the same participant with the same id.
 */
static void guard_asked_add(struct guard_asked *asked, struct mcpx_slice self,
                            const struct mcpx_envelope *envelope, const struct mcpx_rpc *rpc)
{
    struct mcpx_slice context =
        envelope->kind.context.text ? envelope->kind.context : rpc->context;
    struct entry *entry = entry_new(self, envelope, context);
    size_t slot = slot_of(asked, self, envelope->id);

    if (slot == asked->max)
        slot = oldest_slot(asked);
    clear(asked, slot);
    asked->entries[slot] = entry;
    asked->serials[slot] = ++asked->last_serial;
    asked->hashes[slot] = hash_of(self, envelope->id);
}

/* The request of `self` with that id. Returns false when there is none. */
static bool guard_asked_find(const struct guard_asked *asked, struct mcpx_slice self,
                             struct mcpx_slice id, struct guard_question *out)
{
    size_t slot = slot_of(asked, self, id);
    const struct entry *entry;

    if (slot == asked->max)
        return false;
    entry = asked->entries[slot];
    *out = (struct guard_question){entry->to, entry->to_count, entry->method, entry->context};
    return true;
}

/* Forgets the request, if there is one. */
static void guard_asked_remove(struct guard_asked *asked, struct mcpx_slice self,
                               struct mcpx_slice id)
{
    size_t slot = slot_of(asked, self, id);

    if (slot != asked->max)
        clear(asked, slot);
}

/* ---- messages ---- */

const struct guard_verdict_row guard_verdicts[GUARD_VERDICT_COUNT] = {
#define GUARD_VERDICT_ROW(constant, name, sentence, routine) {name, sentence, routine},
    GUARD_VERDICTS(GUARD_VERDICT_ROW)
#undef GUARD_VERDICT_ROW
};

void guard_judge_init(struct guard_judge *judge, struct guard_asked *asked)
{
    judge->asked = asked;
    judge->self = (struct mcpx_text){0};
    judge->fault = (struct mcpx_fault){NULL, "", 0};
    mcpx_envelope_init(&judge->envelope);
}

void guard_judge_fini(struct guard_judge *judge)
{
    mcpx_text_fini(&judge->self);
    mcpx_envelope_fini(&judge->envelope);
}

bool guard_judge_is_welcome(const struct guard_judge *judge)
{
    return judge->self.len > 0;
}

/* ---- small questions ---- */

static bool is(struct mcpx_slice text, const char *literal)
{
    return mcpx_slice_equal(text, mcpx_slice_of(literal));
}

static struct mcpx_slice self_of(const struct guard_judge *judge)
{
    return mcpx_text_view(&judge->self);
}

/* True when any reader finds the member: some ignore letter case. */
static bool has(struct mcpx_slice payload, const char *member)
{
    return mcpx_json_count_like(payload, member) > 0;
}

static bool about_own_request(const struct guard_judge *judge, struct guard_question *question)
{
    return judge->envelope.correlation_id.text &&
           guard_asked_find(judge->asked, self_of(judge), judge->envelope.correlation_id,
                            question);
}

static bool was_asked(const struct guard_question *question, struct mcpx_slice id)
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
        !is(envelope->kind.type, "mcp/request") || !has(envelope->payload, "id"))
        return;
    if (mcpx_rpc_read(envelope->payload, &judge->rpc, NULL) != MCPX_OK)
        judge->rpc.context = (struct mcpx_slice){NULL, 0};
    guard_asked_add(judge->asked, self_of(judge), envelope, &judge->rpc);
}

/* ---- the rules ---- */

/* The first welcome tells the agent's id; a later one tells its new grants. */
static enum guard_verdict judge_welcome(struct guard_judge *judge)
{
    struct mcpx_slice you = mcpx_json_get(judge->envelope.payload, "you");
    struct mcpx_text id = {0};
    bool named =
        mcpx_json_add_unescaped(&id, mcpx_json_get(you, "id")) && id.len &&
        mx_id_is_among(mcpx_text_view(&id), judge->envelope.to, judge->envelope.to_count);
    bool same = !judge->self.len || mcpx_slice_equal(mcpx_text_view(&id), self_of(judge));

    if (named && same) {
        mcpx_text_fini(&judge->self);
        judge->self = id;
        return GUARD_PASS;
    }
    mcpx_text_fini(&id);
    return GUARD_ADDRESS;
}

static enum guard_verdict judge_system(struct guard_judge *judge)
{
    const struct mcpx_envelope *envelope = &judge->envelope;

    if (!is(envelope->from, "system:gateway"))
        return GUARD_ROUTER;
    if (is(envelope->kind.text, "system/welcome"))
        return judge_welcome(judge);
    if (!envelope->to_count && (is(envelope->kind.text, "system/presence") ||
                                is(envelope->kind.text, "system/position")))
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
    struct guard_question question;

    if (!about_own_request(judge, &question) || was_asked(&question, judge->envelope.from))
        return GUARD_PASS;
    return GUARD_SENDER;
}

static enum guard_verdict judge_response(struct guard_judge *judge)
{
    const struct mcpx_envelope *envelope = &judge->envelope;
    struct guard_question question;
    enum guard_verdict verdict = read_rpc(judge);

    if (verdict != GUARD_PASS)
        return verdict;
    if (!about_own_request(judge, &question))
        return GUARD_UNSOLICITED;
    if (!was_asked(&question, envelope->from))
        return GUARD_SENDER;
    if (!mcpx_slice_equal(envelope->kind.method, question.method) ||
        (envelope->kind.context.text &&
         !mcpx_slice_equal(envelope->kind.context, question.context)))
        return GUARD_OPERATION;
    if (question.to_count == 1)
        guard_asked_remove(judge->asked, self_of(judge), envelope->correlation_id);
    return GUARD_PASS;
}

/* A kind that is no MCP message must not look like one to an agent that reads payloads only. */
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

    if (is(type, "mcp/response"))
        return judge_response(judge);
    if (!is(type, "mcp/request") && !is(type, "mcp/proposal"))
        return judge_other(judge);
    if (is(type, "mcp/proposal") && has(judge->envelope.payload, "id"))
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
