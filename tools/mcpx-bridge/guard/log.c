/*
 * log.c - lines for people and lines for programs, of the same facts in the same order. A
 * line is composed whole before it is written, so that it stays one line whatever stands in it.
 */
#include "tools/mcpx-bridge/guard/log.h"

#include "tools/common/visible.h"

#include <mcpx/json.h>

/* Most columns of a stranger's text in a line for people. */
enum { SHOWN_MAX = 160 };

/* In quotes, so that a text cannot pretend to be the next word of the line. */
static void add_visible(struct mcpx_text *out, struct mcpx_slice text)
{
    struct mcpx_text quoted = {0};

    mcpx_json_add_string(&quoted, text);
    text_visible_short(out, mcpx_text_view(&quoted), SHOWN_MAX);
    out->failed = out->failed || quoted.failed;
    mcpx_text_fini(&quoted);
}

/* `,"name":"text"`, or nothing when the text is absent. */
static void add_fact(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    if (!text.text)
        return;
    mcpx_text_puts(out, ",");
    mcpx_json_add_member(out, name, text);
}

static void add_words(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    if (!text.text)
        return;
    mcpx_text_puts(out, " ");
    mcpx_text_puts(out, name);
    mcpx_text_puts(out, "=");
    add_visible(out, text);
}

static void begin_event(struct mcpx_text *out, const char *event)
{
    mcpx_text_puts(out, "{");
    mcpx_json_add_member(out, "event", mcpx_slice_of(event));
}

void guard_log_left_out(struct mcpx_text *out, bool json, enum guard_verdict verdict,
                        const struct guard_judge *judge)
{
    const struct mcpx_envelope *envelope = &judge->envelope;
    const char *name = guard_verdict_name(verdict);
    const char *text = guard_verdict_text(verdict);
    struct mcpx_slice id = envelope->from.text ? envelope->id : (struct mcpx_slice){NULL, 0};

    if (json) {
        begin_event(out, "left_out");
        add_fact(out, "reason", mcpx_slice_of(name));
        add_fact(out, "text", mcpx_slice_of(text));
        add_fact(out, "detail", mcpx_slice_of(judge->fault.reason));
        add_fact(out, "from", envelope->from);
        add_fact(out, "kind", envelope->kind.text);
        add_fact(out, "id", id);
        mcpx_text_puts(out, "}\n");
        return;
    }
    mcpx_text_puts(out, "guard: left out (");
    mcpx_text_puts(out, name);
    mcpx_text_puts(out, "): ");
    mcpx_text_puts(out, text);
    if (judge->fault.reason) {
        mcpx_text_puts(out, ": ");
        mcpx_text_puts(out, judge->fault.reason);
    }
    if (envelope->from.text)
        mcpx_text_puts(out, ";");
    add_words(out, "from", envelope->from);
    add_words(out, "kind", envelope->kind.text);
    add_words(out, "id", id);
    mcpx_text_puts(out, "\n");
}

void guard_log_summary(struct mcpx_text *out, bool json, const struct guard_counts *counts)
{
    const char *between = "";

    if (json) {
        begin_event(out, "summary");
        mcpx_text_puts(out, ",\"left_out\":{");
    } else {
        mcpx_text_puts(out, "guard: left out ");
    }
    for (int i = GUARD_PASS + 1; i < GUARD_VERDICT_COUNT; i++) {
        const char *name = guard_verdict_name((enum guard_verdict)i);

        if (!counts->of[i])
            continue;
        mcpx_text_puts(out, between);
        mcpx_text_puts(out, json ? "\"" : "");
        mcpx_text_puts(out, name);
        mcpx_text_puts(out, json ? "\":" : " ");
        mcpx_text_number(out, (int64_t)counts->of[i]);
        between = json ? "," : ", ";
    }
    if (json)
        mcpx_text_puts(out, "}}\n");
    else
        mcpx_text_puts(out, *between ? "\n" : "nothing\n");
}

void guard_log_note(struct mcpx_text *out, bool json, const char *event, const char *text)
{
    if (json) {
        begin_event(out, event);
        add_fact(out, "text", mcpx_slice_of(text));
        mcpx_text_puts(out, "}\n");
        return;
    }
    mcpx_text_puts(out, "guard: ");
    text_visible(out, mcpx_slice_of(text));
    mcpx_text_puts(out, "\n");
}
