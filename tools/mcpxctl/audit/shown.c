/*
 * shown.c - lines and verdicts for a terminal. What participants wrote is made visible.
 */
#include "tools/mcpxctl/audit/shown.h"

#include "lib/core/json_write.h"
#include "tools/common/visible.h"
#include <mcpx/json.h>

/* Members that follow the sentence, each with a word in front. */
static const struct part {
    const char *name, *word;
} parts[] = {{"topic", "in"},      {"grant", "grant"}, {"error", "error"},
             {"reason", "reason"}, {"by", "by"},       {"address", "address"},
             {"of", "of line"},    {"count", "count"}, {"since", "since"},
             {"until", "until"},   {"cut", "cut off"}, {"key", "key"}};

static void add_addressees(struct mcpx_text *out, struct mcpx_slice to)
{
    struct mcpx_json_walk walk;
    const char *before = " to ";

    mcpx_json_walk_start(&walk, to);
    while (mcpx_json_walk_next(&walk)) {
        text_format(out, "%s%v", before, walk.value);
        before = ", ";
    }
}

void shown_line(struct mcpx_text *out, const struct audit_line *line)
{
    struct mcpx_slice kind = mcpx_json_get(line->whole, "kind");

    if (!kind.text)
        kind = mcpx_json_get(line->whole, "kind_sent");
    text_format(out, "%s  %s  %s", line->seq, line->time, line->name);
    text_format(out, "%s%v", mcpx_json_get(line->whole, "from").text ? "  " : "",
                mcpx_json_get(line->whole, "from"));
    add_addressees(out, mcpx_json_get(line->whole, "to"));
    text_format(out, "%s%v", kind.text ? "  " : "", kind);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct mcpx_slice value = mcpx_json_get(line->whole, parts[i].name);

        if (value.text)
            text_format(out, "  %s %v", parts[i].word, value);
    }
    mcpx_text_puts(out, "\n");
}

static void add_json(struct mcpx_text *out, const struct audit_verdict *verdict,
                     const char *folder, const char *file)
{
    bool whole = verdict->damage == AUDIT_WHOLE;

    mx_format(out, "{\"folder\":%q,\"whole\":%s", folder, whole);
    if (!whole) {
        mx_format(out, ",\"damage\":%q,\"file\":%q,\"line\":%s,\"seq\":%s,\"reason\":%q",
                  audit_damage_name(verdict->damage), file, verdict->row, verdict->seq,
                  verdict->reason);
        if (verdict->count > 0)
            mx_json_add_number(out, "count", (int64_t)verdict->count);
    }
    mx_format(out,
              ",\"lines\":%s,\"first_seq\":%s,\"checkpoints\":%s,\"signed_seq\":%s,"
              "\"uncovered\":%s",
              verdict->lines, verdict->first_seq, verdict->checkpoints, verdict->signed_seq,
              verdict->uncovered);
    if (whole)
        mx_format(out, ",\"last_seq\":%s,\"last_sha256\":%q", verdict->last_seq,
                  verdict->last_sum);
    mcpx_text_puts(out, "}\n");
}

static void add_damage(struct mcpx_text *out, const struct audit_verdict *verdict,
                       const char *folder, const char *file)
{
    text_format(out, "%s: damaged: %s at %s, line %s, seq %s\n", folder,
                audit_damage_name(verdict->damage), file, verdict->row, verdict->seq);
    mx_format(out, "  reason       %s\n", verdict->reason);
    if (verdict->count > 0)
        mx_format(out, "  lines        %s\n", verdict->count);
    mx_format(out, "  before it    %s lines, %s of them signed\n", verdict->lines,
              verdict->signed_seq > 0 ? verdict->signed_seq - verdict->first_seq + 1 : 0);
}

void shown_verdict(struct mcpx_text *out, const struct audit_verdict *verdict, bool json,
                   const char *folder, const char *file)
{
    if (json) {
        add_json(out, verdict, folder, file);
        return;
    }
    if (verdict->damage != AUDIT_WHOLE) {
        add_damage(out, verdict, folder, file);
        return;
    }
    text_format(out, "%s: whole: %s lines, seq %s to %s\n", folder, verdict->lines,
                verdict->first_seq, verdict->last_seq);
    mx_format(out, "  checkpoints  %s, the last is seq %s\n", verdict->checkpoints,
              verdict->signed_seq);
    mx_format(out, "  not signed   %s lines behind it\n", verdict->uncovered);
    mx_format(out, "  to note      %s:%s\n", verdict->last_seq, verdict->last_sum);
}
