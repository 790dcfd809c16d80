/*
 * chain_text.c - the tree of a chain as lines.
 */
#include "tools/mcpxctl/chain_text.h"

#include "tools/common/visible.h"
#include "tools/mcpxctl/line.h"
#include <mcpx/json.h>

#include <stdio.h>

enum { BRIEF = 8, COLUMNS = 80, INDENT_MAX = 20 };

static enum paint paint_of(enum chain_role role)
{
    switch (role) {
    case CHAIN_PROPOSAL:
        return PAINT_PROPOSAL;
    case CHAIN_REQUEST:
        return PAINT_REQUEST;
    case CHAIN_RESULT:
        return PAINT_RESPONSE;
    case CHAIN_FAILURE:
    case CHAIN_REJECTION:
    case CHAIN_WITHDRAWAL:
        return PAINT_BAD;
    default:
        return PAINT_NONE;
    }
}

static void add_when(struct mcpx_text *out, const struct chain_step *step)
{
    char text[48];

    if (step->depth == 0) {
        time_write(out, step->entry->at_ms);
        return;
    }
    if (step->after_ms < 0)
        snprintf(text, sizeof text, "+?");
    else if (step->after_ms < 10000)
        snprintf(text, sizeof text, "+%d ms", (int)step->after_ms);
    else
        snprintf(text, sizeof text, "+%lld.%d s", (long long)(step->after_ms / 1000),
                 (int)(step->after_ms % 1000 / 100));
    mcpx_text_puts(out, text);
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
    text_visible(out, ledger_brief(ledger, step->entry, BRIEF));
    mcpx_text_puts(out, "  ");
    add_when(out, step);
    mcpx_text_puts(out, "  ");
    paint_begin(out, paint_of(step->role), colour);
    mcpx_text_puts(out, chain_role_name(step->role));
    paint_end(out, paint_of(step->role), colour);
    mcpx_text_puts(out, "  ");
    text_visible(out, step->entry->from);
    mcpx_text_puts(out, " -> ");
    addressees_write(out, step->entry->to, step->entry->to_count);
    mcpx_text_puts(out, "  ");
    text_visible(out, step->entry->kind.text);
    add_sameness(out, step->same, colour);
    if (step->lie) {
        mcpx_text_puts(out, "  [ignored: ");
        mcpx_text_puts(out, step->lie);
        mcpx_text_puts(out, "]");
    }
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
    mcpx_text_puts(out, "state: ");
    mcpx_text_puts(out, chain_state_name(chain->state));
    mcpx_text_puts(out, "\n");
}

static void add_json_step(struct mcpx_text *out, const struct chain *chain, size_t index)
{
    const struct chain_step *step = &chain->steps[index];

    mcpx_text_puts(out, "{");
    mcpx_json_add_member(out, "role", mcpx_slice_of(chain_role_name(step->role)));
    if (index == 0) {
        mcpx_text_puts(out, ",");
        mcpx_json_add_member(out, "state", mcpx_slice_of(chain_state_name(chain->state)));
    }
    mcpx_text_puts(out, ",");
    mcpx_json_add_member(out, "id", step->entry->id);
    if (index > 0) {
        mcpx_text_puts(out, ",");
        mcpx_json_add_member(out, "parent", chain->steps[step->parent].entry->id);
    }
    if (step->after_ms >= 0) {
        mcpx_text_puts(out, ",\"after_ms\":");
        mcpx_text_number(out, step->after_ms);
    }
    if (step->same != CHAIN_UNCOMPARED)
        mcpx_text_puts(out, step->same == CHAIN_SAME ? ",\"same_params\":true"
                                                     : ",\"same_params\":false");
    mcpx_text_puts(out, ",\"envelope\":");
    line_write_json(out, step->entry->text);
    if (!out->failed)
        out->len--; /* the line's end comes behind the brace */
    mcpx_text_puts(out, "}\n");
}

void chain_write_json(struct mcpx_text *out, const struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        add_json_step(out, chain, i);
}
