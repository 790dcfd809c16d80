/*
 * line.c - selects envelopes by patterns of grants, and writes the most telling parts of each as
 * one line. A person can use the same patterns in a configuration. Rejected: a second pattern
 * language.
 */
#include "tools/mcpxctl/core/line.h"

#include "tools/common/program.h"
#include "tools/common/visible.h"

#include <mcpx/json.h>
#include <time.h>
#include <unistd.h>

/* ---- which ---- */

enum mcpx_err filter_make(const char *pattern, const char *from, struct mcpx_fault *fault,
                          struct filter *out)
{
    *out = (struct filter){.by_kind = pattern, .from = mcpx_slice_of(from)};
    return pattern ? mx_pattern_parse(mcpx_slice_of(pattern), &out->kinds, fault) : MCPX_OK;
}

void filter_read(const struct arguments *arguments, struct filter *out)
{
    struct mcpx_fault fault;

    if (filter_make(arguments_value(arguments, "--kind"), arguments_value(arguments, "--from"),
                    &fault, out) != MCPX_OK)
        end_with(STATUS_USAGE, "--kind needs a pattern: %s, byte %zu: %s", fault.field,
                 fault.offset, fault.reason);
}

bool filter_passes_from(const struct filter *filter, struct mcpx_slice from)
{
    return !filter->from.text || mcpx_slice_equal(filter->from, from) ||
           mcpx_slice_equal(filter->from, mcpx_identity_of(from));
}

bool filter_passes(const struct filter *filter, const struct mcpx_kind *kind,
                   struct mcpx_slice from)
{
    return filter_passes_from(filter, from) &&
           (!filter->by_kind ||
            mx_pattern_covers(&filter->kinds, kind, mcpx_kind_has_dot_segment(kind)));
}

/* ---- as a line ---- */

enum { COLUMNS = 100, BRIEF = 8 };

static enum paint paint_of(const struct entry *entry)
{
    if (entry_is(entry, "mcp/request"))
        return PAINT_REQUEST;
    if (entry_is(entry, "mcp/response"))
        return mcpx_json_count(entry->payload, "error") > 0 ? PAINT_BAD : PAINT_RESPONSE;
    if (entry_is(entry, "mcp/proposal"))
        return PAINT_PROPOSAL;
    if (entry_is(entry, "mcp/reject") || entry_is(entry, "system/error"))
        return PAINT_BAD;
    return PAINT_NONE;
}

void time_write(struct mcpx_text *out, int64_t at_ms)
{
    time_t seconds = (time_t)(at_ms / 1000);
    char text[16];
    struct tm local;
    bool known = at_ms >= 0 && localtime_r(&seconds, &local) &&
                 strftime(text, sizeof text, "%H:%M:%S", &local) > 0;

    mcpx_text_puts(out, known ? text : "--:--:--");
}

void addressees_write(struct mcpx_text *out, const struct mcpx_slice *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_format(out, i > 0 ? ", %s" : "%s", to[i]);
    if (count == 0)
        mcpx_text_puts(out, "everyone");
}

/* The first text item of the content in a tool's result. */
static struct mcpx_slice text_of_result(struct mcpx_slice result)
{
    MCPX_JSON_EACH(walk, mcpx_json_get(result, "content")) {
        struct mcpx_slice text = mcpx_json_get(walk.value, "text");

        if (mcpx_json_type(text) == MCPX_JSON_STRING)
            return text;
    }
    return result;
}

/* The most telling value, or the payload itself. */
static struct mcpx_slice summary_of(const struct entry *entry)
{
    struct mcpx_slice payload = entry->payload, params = mcpx_json_get(payload, "params");
    struct mcpx_slice found = {NULL, 0};

    if (entry_is(entry, "chat"))
        found = mcpx_json_get(payload, "text");
    else if (entry_is(entry, "mcp/reject") || entry_is(entry, "mcp/withdraw"))
        found = mcpx_json_get(payload, "reason");
    else if (entry_is(entry, "system/error"))
        found = mcpx_json_get(payload, "message");
    else if (entry_is(entry, "mcp/request") || entry_is(entry, "mcp/proposal"))
        found = mcpx_json_get(params, "arguments");
    else if (entry_is(entry, "mcp/response") && mcpx_json_count(payload, "error") > 0)
        found = mcpx_json_get(mcpx_json_get(payload, "error"), "message");
    else if (entry_is(entry, "mcp/response"))
        found = text_of_result(mcpx_json_get(payload, "result"));
    if (!found.text && params.text)
        found = params;
    return found.text ? found : payload;
}

void gist_write(struct mcpx_text *out, const struct entry *entry, size_t columns)
{
    struct mcpx_slice gist = summary_of(entry);
    mx_scoped_text plain = {0};

    if (mcpx_json_type(gist) != MCPX_JSON_STRING || !mcpx_json_add_unescaped(&plain, gist))
        text_compact(&plain, gist);
    text_visible_short(out, mcpx_text_view(&plain), columns);
}

bool colour_for(const struct arguments *arguments)
{
    return colour_is_wanted(arguments_value(arguments, "--color"), isatty(STDOUT_FILENO));
}

struct line_style line_style_of(const struct arguments *arguments)
{
    return (struct line_style){.json = arguments_have(arguments, "--json"),
                               .colour = colour_for(arguments),
                               .columns = COLUMNS,
                               .brief = BRIEF};
}

/* The digest is beside the envelope: a digest inside could come from the sender. */
static void write_json(struct mcpx_text *out, const struct entry *entry, const char *digest)
{
    if (digest)
        mx_format(out, "{\"id\":%q,\"digest\":%q,\"envelope\":", entry->id, digest);
    envelope_write_json(out, entry->text);
    mcpx_text_puts(out, digest ? "}\n" : "\n");
}

void line_write(struct mcpx_text *out, const struct entry *entry,
                const struct line_style *style, const char *warning)
{
    bool colour = style->colour && !style->past;
    struct mcpx_slice id = entry->id;

    if (style->json) {
        write_json(out, entry, style->digest);
        return;
    }
    if (style->brief > 0 && id.len > style->brief)
        id.len = style->brief;
    paint_begin(out, PAINT_DIM, style->colour);
    time_write(out, entry->at_ms);
    text_format(out, style->digest ? " %s@%s" : " %s%s", id, style->digest);
    paint_end(out, PAINT_DIM, colour);
    mcpx_text_puts(out, "  ");
    text_painted(out, PAINT_NAME, colour, entry->from);
    mcpx_text_puts(out, " -> ");
    addressees_write(out, entry->to, entry->to_count);
    mcpx_text_puts(out, "  ");
    text_painted(out, paint_of(entry), colour, entry->kind.text);
    mcpx_text_puts(out, "  ");
    if (style->until_ms > 0 && style->until_ms < INT64_MAX) {
        mcpx_text_puts(out, "[until ");
        time_write(out, style->until_ms);
        mcpx_text_puts(out, "] ");
    }
    if (warning) {
        paint_begin(out, PAINT_BAD, colour);
        mx_format(out, "[ignored: %s]", warning);
        paint_end(out, PAINT_BAD, colour);
        mcpx_text_puts(out, " ");
    }
    gist_write(out, entry, style->columns);
    if (style->past)
        paint_end(out, PAINT_DIM, style->colour);
    mcpx_text_puts(out, "\n");
}

void envelope_write_json(struct mcpx_text *out, struct mcpx_slice envelope)
{
    size_t at = out->len;

    mcpx_text_slice(out, envelope);
    /* A newline inside a string is always escaped, so these newlines are between tokens. */
    for (; at < out->len; at++)
        if (out->text[at] == '\n' || out->text[at] == '\r')
            out->text[at] = ' ';
}
