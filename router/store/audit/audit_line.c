/*
 * audit_line.c - writes and reads lines. A line has the members that its note fills in: one table
 * of members serves all sorts. The first four members are the same in every line, in the same
 * order. So a reader need not search for them, and an attacker cannot hide a second `seq` behind
 * the first.
 */
#include "router/store/audit/audit_chain.h"

#include "lib/base/digits.h"
#include "lib/base/ident.h"
#include "lib/json/escape.h"
#include "lib/json/json_write.h"
#include <mcpx/json.h>

const char audit_prev_none[MCPX_SHA256_LEN + 1] =
    "0000000000000000000000000000000000000000000000000000000000000000";

#define SORT_NAME(constant, name) [constant] = (name),
static const char *const names[] = {AUDIT_SORTS(SORT_NAME)};

#define MEMBER(member) {"" #member, offsetof(struct audit_note, member)},

static const struct member {
    const char *name;
    size_t offset;
} texts[] = {AUDIT_TEXTS(MEMBER)}, numbers[] = {MEMBER(of) MEMBER(count) MEMBER(cut)},
  times[] = {MEMBER(since) MEMBER(until)};

#define COUNT_OF(table) (sizeof(table) / sizeof(table)[0])

static const void *member_of(const struct audit_note *note, const struct member *member)
{
    return (const char *)note + member->offset;
}

/* The longest start of a text that is valid UTF-8, at most AUDIT_TEXT_MAX bytes. */
static struct mcpx_slice writable(struct mcpx_slice text)
{
    struct mcpx_slice shown = {text.text,
                               text.len < AUDIT_TEXT_MAX ? text.len : AUDIT_TEXT_MAX};
    size_t valid;

    if (!mx_utf8_is_valid(shown, &valid))
        shown.len = valid;
    return shown;
}

static void add_item(struct mcpx_text *out, struct mcpx_slice text)
{
    struct mcpx_slice shown = writable(text);

    mx_json_add_item(out, shown);
    if (shown.len < text.len && !out->failed) {
        out->len--;
        mcpx_text_puts(out, "\xe2\x80\xa6\"");
    }
}

static void add_text(struct mcpx_text *out, const char *name, struct mcpx_slice text)
{
    if (!text.text)
        return;
    mx_format(out, ",\"%s\":", name);
    add_item(out, text);
}

static void add_addressees(struct mcpx_text *out, const struct audit_note *note)
{
    if (note->to_count == 0)
        return;
    mx_json_begin_array(out, "to");
    for (size_t i = 0; i < note->to_count; i++)
        add_item(out, note->to[i]);
    mx_json_end_array(out);
}

static void add_message(struct mcpx_text *out, const struct audit_note *note, bool payloads)
{
    char sum[MCPX_SHA256_LEN + 1] = "";

    if (note->bytes || note->text.text)
        mx_json_add_number(out, "bytes",
                           (int64_t)(note->text.text ? note->text.len : note->bytes));
    if (!note->text.text)
        return;
    out->failed |= mcpx_digest_bytes(note->text, sum) != MCPX_OK;
    mcpx_json_add_member(out, "sha256", mcpx_slice_of(sum));
    if (payloads)
        mcpx_json_add_member(out, "text", note->text);
}

void audit_line_begin(struct mcpx_text *out, const struct audit_head *head,
                      enum audit_what what, int64_t wall_ms)
{
    char time[MX_TIME_LEN + 1];

    mx_time_format(wall_ms, time);
    mx_format(out, "{\"seq\":%s,\"time\":%q,\"what\":%q,\"prev\":%q", head->seq, time,
              names[what], head->prev);
}

void audit_line_add(struct mcpx_text *out, const struct audit_head *head,
                    const struct audit_note *note, bool payloads)
{
    audit_line_begin(out, head, note->what, note->wall_ms);
    if (note->what == AUDIT_BEGIN)
        mx_json_add_number(out, "format", AUDIT_FORMAT);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        add_text(out, texts[i].name, *(const struct mcpx_slice *)member_of(note, &texts[i]));
        if (texts[i].offset == offsetof(struct audit_note, from))
            add_addressees(out, note);
    }
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        uint64_t number = *(const uint64_t *)member_of(note, &numbers[i]);

        if (number)
            mx_json_add_number(out, numbers[i].name, (int64_t)number);
    }
    for (size_t i = 0; i < COUNT_OF(times); i++)
        mx_json_add_time(out, times[i].name, *(const int64_t *)member_of(note, &times[i]));
    add_message(out, note, payloads);
    mcpx_text_puts(out, "}\n");
}

/* Reads the next member: a string of this name without escapes. `out` is without its quotes. */
static bool next_text(struct mcpx_json_walk *walk, const char *name, struct mcpx_slice *out)
{
    if (!mcpx_json_walk_next(walk) || !mcpx_slice_equal(walk->name, mcpx_slice_of(name)) ||
        mcpx_json_type(walk->value) != MCPX_JSON_STRING)
        return false;
    *out = (struct mcpx_slice){walk->value.text + 1, walk->value.len - 2};
    return memchr(out->text, '\\', out->len) == NULL;
}

static bool next_seq(struct mcpx_json_walk *walk, uint64_t *out)
{
    return mcpx_json_walk_next(walk) && mcpx_slice_equal(walk->name, MCPX_SLICE("seq")) &&
           mx_decimal_read(walk->value, INT64_MAX, out) && *out > 0;
}

static bool is_sum(struct mcpx_slice text)
{
    return text.len == MCPX_SHA256_LEN && strspn(text.text, "0123456789abcdef") >= text.len;
}

static enum audit_what sort_of(struct mcpx_slice name)
{
    size_t what = 0;

    while (what < COUNT_OF(names) && !mcpx_slice_equal(name, mcpx_slice_of(names[what])))
        what++;
    return (enum audit_what)what;
}

bool audit_line_read(struct mcpx_slice text, struct audit_line *out)
{
    struct audit_line line = {0};
    struct mcpx_json_walk walk;

    if (text.len == 0 || mcpx_json_check(text, 0, &line.whole, NULL) != MCPX_OK ||
        line.whole.len != text.len)
        return false;
    mcpx_json_walk_start(&walk, line.whole);
    if (!next_seq(&walk, &line.seq) || !next_text(&walk, "time", &line.time) ||
        !next_text(&walk, "what", &line.name) || !next_text(&walk, "prev", &line.prev) ||
        line.time.len != MX_TIME_LEN || !mx_time_parse(line.time, &line.wall_ms) ||
        !is_sum(line.prev))
        return false;
    line.what = sort_of(line.name);
    *out = line;
    return true;
}
