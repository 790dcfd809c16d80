/*
 * chain_text.c - the tree of a chain as lines.
 */
#include "tools/mcpxctl/chain_text.h"

#include "lib/core/json_write.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/line.h"
#include <mcpx/json.h>

enum { BRIEF = 8, COLUMNS = 80, INDENT_MAX = 20 };

static const enum paint paints[] = {
    [CHAIN_PROPOSAL] = PAINT_PROPOSAL, [CHAIN_REQUEST] = PAINT_REQUEST,
    [CHAIN_RESULT] = PAINT_RESPONSE,   [CHAIN_FAILURE] = PAINT_BAD,
    [CHAIN_REJECTION] = PAINT_BAD,     [CHAIN_WITHDRAWAL] = PAINT_BAD,
    [CHAIN_OTHER] = PAINT_NONE, /* as all that are not listed */
};

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
    mcpx_text_puts(out, "  ");
    if (same == CHAIN_SAME) {
        mcpx_text_puts(out, "[as proposed]");
        return;
    }
    paint_begin(out, PAINT_BAD, colour);
    mcpx_text_puts(out, "[NOT as proposed]");
    paint_end(out, PAINT_BAD, colour);
}

static void add_step(struct mcpx_text *out, const struct ledger *ledger,
                     const struct chain_step *step, bool colour)
{
    for (size_t i = 0; i < step->depth && i < INDENT_MAX; i++)
        mcpx_text_puts(out, "  ");
    text_format(out, "%s  ", ledger_brief(ledger, step->entry, BRIEF));
    add_when(out, step);
    mcpx_text_puts(out, "  ");
    paint_begin(out, paints[step->role], colour);
    mcpx_text_puts(out, chain_role_name(step->role));
    paint_end(out, paints[step->role], colour);
    text_format(out, "  %s -> ", step->entry->from);
    addressees_write(out, step->entry->to, step->entry->to_count);
    text_format(out, "  %s", step->entry->kind.text);
    add_sameness(out, step->same, colour);
    if (step->lie)
        mx_format(out, "  [ignored: %s]", step->lie);
    mcpx_text_puts(out, "  ");
    gist_write(out, step->entry, COLUMNS);
    mcpx_text_puts(out, "\n");
}

void chain_write(struct mcpx_text *out, const struct ledger *ledger, const struct chain *chain,
                 bool colour)
{
    if (chain->incomplete)
        mcpx_text_puts(out, "(it is about an envelope that is no longer retained)\n");
    for (size_t i = 0; i < chain->count; i++)
        add_step(out, ledger, &chain->steps[i], colour);
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
