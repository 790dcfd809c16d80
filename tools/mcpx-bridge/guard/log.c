/*
 * log.c - lines for people and lines for programs, with the same facts in the same order. A
 * line is composed completely before it is written, so that it is always one line.
 */
#include "tools/mcpx-bridge/guard/guard.h"

#include "lib/json/json_write.h"
#include "tools/common/command.h"
#include "tools/common/visible.h"
#include <mcpx/json.h>

/* Most columns of a sender's text in a line for people. */
enum { SHOWN_MAX = 160 };

/* In quotes, so that a text cannot look like the next word of the line. */
static void add_words(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    mx_scoped_text quoted = mx_formatted("%q", text);

    if (!text.text)
        return;
    mx_format(out, " %s=", name);
    text_visible_short(out, mcpx_text_view(&quoted), SHOWN_MAX);
}

void guard_log_left_out(struct mcpx_text *out, bool json, enum guard_verdict verdict,
                        const struct guard_judge *judge)
{
    const struct mcpx_envelope *envelope = &judge->envelope;
    const char *name = guard_verdicts[verdict].name, *text = guard_verdicts[verdict].text;
    struct mcpx_slice id = envelope->from.text ? envelope->id : (struct mcpx_slice){NULL, 0};

    if (json) {
        mx_format(out, "{\"event\":\"left_out\",\"reason\":%q,\"text\":%q", name, text);
        mx_json_add_optional(out, "detail", mcpx_slice_of(judge->fault.reason));
        mx_json_add_optional(out, "from", envelope->from);
        mx_json_add_optional(out, "kind", envelope->kind.text);
        mx_json_add_optional(out, "id", id);
        mcpx_text_puts(out, "}\n");
        return;
    }
    mx_format(out, "guard: left out (%s): %s%s%s%s", name, text,
              judge->fault.reason ? ": " : "", judge->fault.reason,
              envelope->from.text ? ";" : "");
    add_words(out, "from", envelope->from);
    add_words(out, "kind", envelope->kind.text);
    add_words(out, "id", id);
    mcpx_text_puts(out, "\n");
}

void guard_log_summary(struct mcpx_text *out, bool json,
                       const size_t counts[GUARD_VERDICT_COUNT])
{
    const char *between = "";

    mcpx_text_puts(out, json ? "{\"event\":\"summary\",\"left_out\":{" : "guard: left out ");
    for (int i = GUARD_PASS + 1; i < GUARD_VERDICT_COUNT; i++) {
        const char *name = guard_verdicts[i].name;

        if (!counts[i])
            continue;
        if (json)
            mx_json_add_number(out, name, (int64_t)counts[i]);
        else
            mx_format(out, "%s%s %s", between, name, counts[i]);
        between = ", ";
    }
    if (json)
        mcpx_text_puts(out, "}}\n");
    else
        mcpx_text_puts(out, *between ? "\n" : "nothing\n");
}

struct mcpx_text guard_log_note(bool json, const char *event, struct mcpx_text text)
{
    struct mcpx_text line = {0};

    if (json)
        mx_format(&line, "{\"event\":%q,\"text\":%q}\n", event, &text);
    else
        text_format(&line, "guard: %s\n", &text);
    mcpx_text_fini(&text);
    return line;
}

void guard_log_print(struct mcpx_text line)
{
    mx_scoped_text shown = {0};

    text_shown(&shown, text_whole(&line));
    complaints_put(text_whole(&shown));
    mcpx_text_fini(&line);
}
