/*
 * kind.c - the grammar of kinds and of the names of participants and topics. A parser splits
 * TYPE[:METHOD[:CONTEXT]] and finds the first wrong byte. One function reads kinds and patterns: a
 * pattern is a kind with "*" allowed everywhere. Rejected: two functions; a text that they split
 * differently is a hole in a grant.
 *
 * The search for dot segments undoes one layer of percent-encoding. The context is never rewritten
 * into a "clean" form: the receiver interprets the bytes it gets, not ours.
 *
 * Ids, kinds, participants, topics and contexts share one list of control characters, so all
 * readers agree about a name. Rejected: a list of all characters that terminals hide; people's
 * names and emoji contain some. Programs that show text know more of them (tools/common/visible.c).
 * The rules of names are those of header strings, so every valid name can be written into an
 * envelope and read back.
 */
#include <mcpx/envelope.h>

#include "lib/base/digits.h"
#include "lib/base/fault.h"
#include "lib/json/decisive.h"
#include "lib/json/escape.h"
#include "lib/protocol/grammar.h"

/* ---- control characters ---- */

/* Ascending; three bytes of UTF-8 at most. */
static const struct {
    unsigned first, last;
} controls[] = {
    {0x80, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200b}, {0x200e, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff},
};

static bool is_control(const unsigned char *at, size_t len)
{
    unsigned code = len == 2 ? at[0] & 0x1fu : at[0] & 0x0fu;

    if (len < 2 || len > 3)
        return false;
    for (size_t i = 1; i < len; i++)
        code = code << 6 | (at[i] & 0x3fu);
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        if (code >= controls[i].first && code <= controls[i].last)
            return true;
    return false;
}

size_t mx_control_find(struct mcpx_slice text)
{
    const unsigned char *begin = (const unsigned char *)(text.text ? text.text : "");
    const unsigned char *at = begin, *end = begin + text.len;

    while (at < end) {
        size_t len = 1;

        if (*at < 0x20 || *at == 0x7f)
            break;
        if (*at >= 0x80) {
            len = mx_utf8_sequence(at, end);
            if (is_control(at, len))
                break;
            len = len ? len : 1;
        }
        at += len;
    }
    return (size_t)(at - begin);
}

/* ---- the grammar ---- */

static bool is_segment_byte(char byte, bool stars)
{
    return mx_is_letter(byte) || mx_is_digit(byte) || byte == '_' || byte == '.' ||
           byte == '-' || byte == '$' || (stars && byte == '*');
}

static bool is_dots(struct mcpx_slice segment)
{
    return mcpx_slice_equal(segment, MCPX_SLICE(".")) ||
           mcpx_slice_equal(segment, MCPX_SLICE(".."));
}

/* Returns why a segment is invalid, or NULL; `offset` counts from the segment's first byte. */
static const char *segment_fault(struct mcpx_slice segment, bool stars, size_t *offset)
{
    *offset = 0;
    if (segment.len == 0)
        return "expected a segment; a '/' stands between two of them";
    if (is_dots(segment))
        return "a segment must not be '.' or '..'";
    for (; *offset < segment.len; (*offset)++)
        if (!is_segment_byte(segment.text[*offset], stars))
            return stars ? "only ASCII letters, digits and _ . - $ / * are allowed here"
                         : "only ASCII letters, digits and _ . - $ / are allowed here";
    return NULL;
}

/* Type and method: segments between slashes. */
static const char *segments_fault(struct mcpx_slice component, bool stars, size_t *offset)
{
    struct mcpx_slice rest = component;
    const char *reason;

    *offset = 0;
    if (component.len == 0)
        return "must not be empty";
    do {
        struct mcpx_slice segment = mx_cut_at(&rest, '/');

        reason = segment_fault(segment, stars, offset);
        *offset += (size_t)(segment.text - component.text);
    } while (!reason && rest.text);
    return reason;
}

/* Context: anything that cannot garble a log or a terminal. */
static const char *context_fault(struct mcpx_slice context, size_t *offset)
{
    *offset = 0;
    if (context.len == 0)
        return "must not be empty";
    *offset = mx_control_find(context);
    return *offset < context.len ? "control characters are not allowed" : NULL;
}

bool mx_grammar_split(struct mcpx_slice text, bool stars, struct mcpx_kind *out,
                      struct mcpx_fault *fault)
{
    struct mcpx_slice rest = text;
    struct mcpx_kind kind = {.text = text};
    const char *reason = NULL, *field = "kind", *at = text.text;
    size_t offset = 0;

    if (text.len == 0)
        reason = "must not be empty";
    if (text.len > MCPX_KIND_MAX) {
        reason = "must not be longer than 2048 bytes";
        offset = MCPX_KIND_MAX;
    }
    if (!reason) {
        field = "type";
        kind.type = mx_cut_at(&rest, ':');
        reason = segments_fault(kind.type, stars, &offset);
    }
    if (!reason && rest.text) {
        field = "method";
        at = rest.text;
        kind.method = mx_cut_at(&rest, ':');
        reason = segments_fault(kind.method, stars, &offset);
    }
    if (!reason && rest.text) {
        field = "context";
        at = rest.text;
        kind.context = rest;
        reason = context_fault(kind.context, &offset);
    }
    if (reason)
        mx_fault_set(fault, reason, field, (size_t)(at - text.text) + offset);
    else
        *out = kind;
    return !reason;
}

/* ---- kinds ---- */

enum mcpx_err mcpx_kind_parse(struct mcpx_slice text, struct mcpx_kind *out,
                              struct mcpx_fault *fault)
{
    return mx_grammar_split(text, false, out, fault) ? MCPX_OK : MCPX_EKIND;
}

bool mcpx_kind_is_reserved(const struct mcpx_kind *kind)
{
    struct mcpx_slice rest = kind->type, first = mx_cut_at(&rest, '/');

    return mx_same_word(first, "system") || mx_same_word(first, "presence");
}

/* Reads one byte, percent-decoded where that is possible, and moves `rest` behind it. */
static char take_decoded(struct mcpx_slice *rest)
{
    char byte;

    *rest = mx_behind(*rest, mx_percent_read(*rest, &byte));
    return byte;
}

/* URL parsers end a segment at "?" and "#" too, and most take a backslash for a slash. */
static bool ends_segment(char byte)
{
    return byte == '/' || byte == '\\' || byte == '?' || byte == '#';
}

bool mcpx_kind_has_dot_segment(const struct mcpx_kind *kind)
{
    struct mcpx_slice rest = kind->context;
    size_t dots = 0;     /* of the segment so far */
    bool others = false; /* the segment holds something else */

    while (rest.len > 0) {
        char byte = take_decoded(&rest);

        if (ends_segment(byte)) {
            if (!others && (dots == 1 || dots == 2))
                return true;
            dots = 0;
            others = false;
        } else if (byte == '.') {
            dots++;
        } else {
            others = true;
        }
    }
    return !others && (dots == 1 || dots == 2);
}

/* ---- names ---- */

static bool is_header_text(struct mcpx_slice text)
{
    return text.len >= 1 && text.len <= MCPX_ID_MAX && mx_control_find(text) == text.len &&
           mx_utf8_is_valid(text, NULL);
}

/* `system` and `system:...` in any letter case, `ſ` being one of s: senders of the router's own
 * envelopes. mx_fold_compare undoes escapes, which an id does not have. */
static bool is_router_name(struct mcpx_slice id)
{
    struct mcpx_slice name = mx_cut_at(&id, ':');

    return !memchr(name.text, '\\', name.len) && mx_fold_compare(name, "system") != MX_UNLIKE;
}

bool mcpx_participant_id_is_valid(struct mcpx_slice id)
{
    return is_header_text(id) && !is_router_name(id);
}

/* Bytes of a final `~` and digits; 0 when the id has none. */
static size_t suffix_len(struct mcpx_slice id)
{
    size_t len = id.len;

    while (len > 0 && mx_is_digit(id.text[len - 1]))
        len--;
    return len > 0 && len < id.len && id.text[len - 1] == '~' ? id.len - len + 1 : 0;
}

bool mcpx_identity_is_valid(struct mcpx_slice identity)
{
    return mcpx_participant_id_is_valid(identity) && suffix_len(identity) == 0;
}

struct mcpx_slice mcpx_identity_of(struct mcpx_slice id)
{
    return (struct mcpx_slice){id.text, id.len - suffix_len(id)};
}

bool mcpx_topic_name_is_valid(struct mcpx_slice name)
{
    return is_header_text(name);
}
