/*
 * chain.c - builds the tree of envelopes that correlation_id links in a snapshot. It walks depth
 * first; the list of steps serves as the stack.
 */
#include "tools/mcpxctl/core/chain.h"

#include "lib/base/ident.h"
#include "lib/base/rows.h"
#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include "tools/common/proposal.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/line.h"
#include <mcpx/json.h>
#include <mcpx/rpc.h>

#include <stdlib.h>

enum { STATE_DEPTH = 3 };

/* The name of each role, the state that a step in this role gives its chain, and its colour. */
static const struct {
    const char *name;
    enum chain_state state;
    enum paint paint;
} roles[] = {
    [CHAIN_PROPOSAL] = {"proposal", CHAIN_OPEN, PAINT_PROPOSAL},
    [CHAIN_REQUEST] = {"request", CHAIN_RUNNING, PAINT_REQUEST},
    [CHAIN_NOTIFICATION] = {"notification", CHAIN_OPEN, PAINT_NONE},
    [CHAIN_RESULT] = {"result", CHAIN_DONE, PAINT_RESPONSE},
    [CHAIN_QUESTION] = {"question", CHAIN_RUNNING, PAINT_RESPONSE},
    [CHAIN_TASK] = {"task", CHAIN_RUNNING, PAINT_RESPONSE},
    [CHAIN_FAILURE] = {"error", CHAIN_FAILED, PAINT_BAD},
    [CHAIN_REJECTION] = {"rejection", CHAIN_REJECTED, PAINT_BAD},
    [CHAIN_WITHDRAWAL] = {"withdrawal", CHAIN_WITHDRAWN, PAINT_BAD},
    [CHAIN_OTHER] = {"other", CHAIN_OPEN, PAINT_NONE},
};

static const char *const state_names[] = {
    [CHAIN_OPEN] = "open",           [CHAIN_EXPIRED] = "expired",
    [CHAIN_WITHDRAWN] = "withdrawn", [CHAIN_REJECTED] = "rejected",
    [CHAIN_RUNNING] = "running",     [CHAIN_FAILED] = "failed",
    [CHAIN_DONE] = "done",
};

const char *chain_role_name(enum chain_role role)
{
    return roles[role].name;
}

const char *chain_state_name(enum chain_state state)
{
    return state_names[state];
}

bool chain_is_open(const struct snapshot *snapshot, const struct entry *entry)
{
    /* The chain begins with this envelope. */
    MX_SCOPED(chain_fini) struct chain chain = chain_below(snapshot, entry);

    return chain.state == CHAIN_OPEN;
}

void chain_fini(struct chain *chain)
{
    free(chain->steps);
    *chain = (struct chain){.count = 0};
}

/* Strict, because no request may close a proposal that asked for something else, or others. */
static bool is_fulfilment(const struct entry *request, const struct entry *proposal)
{
    static struct mcpx_rpc proposed, requested;
    size_t asked = 0, others = 0;
    bool may;

    for (size_t i = 0; i < request->to_count; i++)
        if (mx_id_is_among(request->to[i], proposal->to, proposal->to_count))
            asked++;
        else
            others += !mcpx_slice_equal(request->to[i], proposal->from);
    may = proposal->to_count == 0 || request->to_count == 0 || (asked > 0 && others == 0) ||
          mx_id_is_among(request->from, proposal->to, proposal->to_count);
    return may && mcpx_rpc_read(proposal->payload, &proposed, NULL) == MCPX_OK &&
           mcpx_rpc_read(request->payload, &requested, NULL) == MCPX_OK &&
           mcpx_slice_equal(proposed.method, requested.method) &&
           mcpx_slice_equal(proposed.context, requested.context);
}

static enum chain_role role_of_task(struct mcpx_slice task)
{
    struct mcpx_slice status = mcpx_json_get(task, "status");

    if (mcpx_json_equals(status, MCPX_SLICE("completed")))
        return CHAIN_RESULT;
    return mcpx_json_equals(status, MCPX_SLICE("failed")) ||
                   mcpx_json_equals(status, MCPX_SLICE("cancelled"))
               ? CHAIN_FAILURE
               : CHAIN_TASK;
}

static enum chain_role role_of_response(const struct entry *entry, struct chain_step *above)
{
    struct mcpx_slice task;

    if (above && (!entry_answers(entry, above->entry) || above->answered))
        return CHAIN_OTHER;
    if (above)
        above->answered = true;
    if (entry_task(entry, above ? above->entry : NULL, &task))
        return role_of_task(task);
    if (mcpx_json_count(entry->payload, "error") > 0)
        return CHAIN_FAILURE;
    return entry_asks(entry) ? CHAIN_QUESTION : CHAIN_RESULT;
}

static enum chain_role role_of_request(const struct entry *entry, const struct entry *parent)
{
    if (!mcpx_json_get(entry->payload, "id").text)
        return entry->goes_on ? role_of_task(mcpx_json_get(entry->payload, "params"))
                              : CHAIN_NOTIFICATION;
    if (parent && entry_is(parent, "mcp/proposal") && !is_fulfilment(entry, parent))
        return CHAIN_OTHER;
    return CHAIN_REQUEST;
}

static enum chain_role role_of(const struct entry *entry, struct chain_step *above)
{
    const struct entry *parent = above ? above->entry : NULL;
    bool of_proposal = parent && entry_is(parent, "mcp/proposal");

    if (entry_is(entry, "mcp/proposal"))
        return CHAIN_PROPOSAL;
    if (parent && entry_fault(entry))
        return CHAIN_OTHER;
    if (entry_is(entry, "mcp/request"))
        return role_of_request(entry, parent);
    if (entry_is(entry, "mcp/response"))
        return role_of_response(entry, above);
    if (entry_is(entry, "mcp/reject") && of_proposal)
        return CHAIN_REJECTION;
    if (entry_is(entry, "mcp/withdraw") && of_proposal &&
        mcpx_slice_equal(mcpx_identity_of(entry->from), mcpx_identity_of(parent->from)))
        return CHAIN_WITHDRAWAL;
    return CHAIN_OTHER;
}

/* Compares operation and params. Whole payloads differ: a proposal's payload has no id. */
static enum chain_sameness compare(const struct entry *proposal, const struct entry *request)
{
    struct mcpx_slice proposed = mcpx_json_get(proposal->payload, "params");
    struct mcpx_slice requested = mcpx_json_get(request->payload, "params");
    struct mcpx_slice method = mcpx_json_get(proposal->payload, "method");

    if (!method.text || !mcpx_json_same(method, mcpx_json_get(request->payload, "method")))
        return CHAIN_CHANGED;
    if (!proposed.text || !requested.text)
        return proposed.text || requested.text ? CHAIN_CHANGED : CHAIN_SAME;
    return mcpx_json_same(proposed, requested) ? CHAIN_SAME : CHAIN_CHANGED;
}

static void add_step(struct chain *chain, const struct entry *entry, size_t parent)
{
    struct chain_step *above = chain->count > 0 ? &chain->steps[parent] : NULL;
    struct chain_step step = {.entry = entry, .parent = parent, .after_ms = -1};

    step.role = role_of(entry, above);
    step.fault = entry_fault(entry);
    step.is_call = step.role == CHAIN_REQUEST &&
                   (!above || (above->role == CHAIN_PROPOSAL && above->depth == 0) ||
                    (above->is_call && entry->goes_on));
    if (above) {
        step.depth = above->depth + 1;
        if (above->role == CHAIN_PROPOSAL && step.role == CHAIN_REQUEST)
            step.same = compare(above->entry, entry);
        if (above->entry->at_ms >= 0 && entry->at_ms >= 0)
            step.after_ms = entry->at_ms - above->entry->at_ms;
    }
    if (!mx_make_room(&chain->steps, chain->count, &chain->size, sizeof step))
        abort(); /* not reached: memory.c has ended the program */
    chain->steps[chain->count++] = step;
}

/* The place in `about` of the first entry after `index` in the log; `count` when there is none. */
static size_t first_after(struct entry *const *about, size_t count, size_t index)
{
    size_t low = 0, row;

    MX_SEARCH(low, count, row, about[row]->index <= index);
    return low;
}

/* Follows only later envelopes, so cycles are impossible. */
static void add_tree(const struct snapshot *snapshot, struct chain *chain,
                     const struct entry *root, size_t depth_max)
{
    /* The next step is about step `at`, and comes after `last` in the log. */
    size_t at = 0;
    const struct entry *last = root;

    add_step(chain, root, 0);
    for (;;) {
        size_t count, next;
        struct entry *const *about =
            snapshot_about(snapshot, chain->steps[at].entry->id, &count);

        if (chain->steps[at].depth == depth_max)
            count = 0;
        next = first_after(about, count, last->index);
        if (next < count) {
            add_step(chain, about[next], at);
            at = chain->count - 1;
            last = about[next];
        } else if (at == 0) {
            return;
        } else {
            last = chain->steps[at].entry;
            at = chain->steps[at].parent;
        }
    }
}

static enum chain_state state_of(const struct chain *chain, int64_t now_ms)
{
    const struct entry *first = chain->steps[0].entry;
    bool expired =
        entry_is(first, "mcp/proposal") && proposal_expires_ms(first->text) <= now_ms;
    enum chain_state state = expired ? CHAIN_EXPIRED : CHAIN_OPEN;

    for (size_t i = 0; i < chain->count; i++) {
        const struct chain_step *step = &chain->steps[i];
        enum chain_state reached = roles[step->role].state;

        /* The first is decisive, what is about it, and what is about its calls. */
        if ((step->parent == 0 || chain->steps[step->parent].is_call) && reached > state)
            state = reached;
    }
    return state;
}

static struct chain build(const struct snapshot *snapshot, const struct entry *entry,
                          size_t depth_max)
{
    struct chain chain = {.count = 0};

    add_tree(snapshot, &chain, entry, depth_max);
    chain.state = state_of(&chain, snapshot->now_ms);
    chain.incomplete =
        entry->correlation_id.len > 0 && !snapshot_get(snapshot, entry->correlation_id);
    return chain;
}

struct chain chain_below(const struct snapshot *snapshot, const struct entry *entry)
{
    return build(snapshot, entry, STATE_DEPTH);
}

struct chain chain_of(const struct snapshot *snapshot, const struct entry *entry)
{
    while (entry->correlation_id.len > 0) {
        const struct entry *above = snapshot_get(snapshot, entry->correlation_id);

        if (!above || above->index >= entry->index)
            break;
        entry = above;
    }
    return build(snapshot, entry, SIZE_MAX);
}

/* ---- as lines ---- */

enum { BRIEF = 8, COLUMNS = 80, INDENT_MAX = 20 };

static void add_when(struct mcpx_text *out, const struct chain_step *step)
{
    if (step->depth == 0)
        time_write(out, step->entry->at_ms);
    else if (step->after_ms < 0)
        mcpx_text_puts(out, "+?");
    else if (step->after_ms < 10000)
        mx_format(out, "+%s ms", step->after_ms);
    else
        mx_format(out, "+%t", step->after_ms);
}

static void add_sameness(struct mcpx_text *out, enum chain_sameness same, bool colour)
{
    if (same == CHAIN_UNCOMPARED)
        return;
    mcpx_text_puts(out, same == CHAIN_SAME ? "  [as proposed]" : "  ");
    if (same == CHAIN_CHANGED)
        text_painted(out, PAINT_BAD, colour, MCPX_SLICE("[NOT as proposed]"));
}

static void write_step(struct mcpx_text *out, const struct snapshot *snapshot,
                       const struct chain_step *step, bool colour)
{
    for (size_t i = 0; i < step->depth && i < INDENT_MAX; i++)
        mcpx_text_puts(out, "  ");
    text_format(out, "%s  ", snapshot_brief(snapshot, step->entry, BRIEF));
    add_when(out, step);
    mcpx_text_puts(out, "  ");
    text_painted(out, roles[step->role].paint, colour, mcpx_slice_of(roles[step->role].name));
    text_format(out, "  %s -> ", step->entry->from);
    addressees_write(out, step->entry->to, step->entry->to_count);
    text_format(out, "  %s", step->entry->kind.text);
    add_sameness(out, step->same, colour);
    if (step->fault)
        mx_format(out, "  [ignored: %s]", step->fault);
    mcpx_text_puts(out, "  ");
    gist_write(out, step->entry, COLUMNS);
    mcpx_text_puts(out, "\n");
}

void chain_write(struct mcpx_text *out, const struct snapshot *snapshot,
                 const struct chain *chain, bool colour)
{
    if (chain->incomplete)
        mcpx_text_puts(out, "(it is about an envelope that is no longer retained)\n");
    for (size_t i = 0; i < chain->count; i++)
        write_step(out, snapshot, &chain->steps[i], colour);
    mx_format(out, "state: %s\n", chain_state_name(chain->state));
}

static void add_json_step(struct mcpx_text *out, const struct chain *chain, size_t index)
{
    const struct chain_step *step = &chain->steps[index];

    mx_format(out, "{\"role\":%q", chain_role_name(step->role));
    if (index == 0)
        mcpx_json_add_member(out, "state", mcpx_slice_of(chain_state_name(chain->state)));
    mcpx_json_add_member(out, "id", step->entry->id);
    if (index > 0)
        mcpx_json_add_member(out, "parent", chain->steps[step->parent].entry->id);
    if (step->after_ms >= 0)
        mx_json_add_number(out, "after_ms", step->after_ms);
    if (step->same != CHAIN_UNCOMPARED)
        mx_json_add_bool(out, "same_params", step->same == CHAIN_SAME);
    mcpx_text_puts(out, ",\"envelope\":");
    envelope_write_json(out, step->entry->text);
    mcpx_text_puts(out, "}\n");
}

void chain_write_json(struct mcpx_text *out, const struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        add_json_step(out, chain, i);
}
