/*
 * grammar.c - splits TYPE[:METHOD[:CONTEXT]] and finds the first byte that does not belong.
 * A pattern is a kind in which "*" is allowed everywhere, so both are read by this one function;
 * two readers would drift apart, and what one of them accepts and the other cuts elsewhere is a
 * hole in a grant.
 */
#include "lib/core/grammar.h"

#include "lib/core/control.h"
#include "lib/core/fault.h"

static const char bad_kind_byte[] =
    "only ASCII letters, digits and _ . - $ / are allowed here";
static const char bad_pattern_byte[] =
    "only ASCII letters, digits and _ . - $ / * are allowed here";

static bool is_segment_byte(char byte, bool stars)
{
    if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
        (byte >= '0' && byte <= '9'))
        return true;
    return byte == '_' || byte == '.' || byte == '-' || byte == '$' || (stars && byte == '*');
}

static bool is_dots(struct mcpx_slice segment)
{
    return mcpx_slice_equal(segment, MCPX_SLICE(".")) ||
           mcpx_slice_equal(segment, MCPX_SLICE(".."));
}

/* The reason why a segment is none, or NULL; `offset` counts from the segment's first byte. */
static const char *segment_fault(struct mcpx_slice segment, bool stars, size_t *offset)
{
    *offset = 0;
    if (segment.len == 0)
        return "expected a segment; a '/' stands between two of them";
    if (is_dots(segment))
        return "a segment must not be '.' or '..'";
    for (; *offset < segment.len; (*offset)++)
        if (!is_segment_byte(segment.text[*offset], stars))
            return stars ? bad_pattern_byte : bad_kind_byte;
    return NULL;
}

/* Type and method: segments between slashes. */
static const char *segments_fault(struct mcpx_slice component, bool stars, size_t *offset)
{
    size_t from = 0;

    if (component.len == 0) {
        *offset = 0;
        return "must not be empty";
    }
    while (from <= component.len) {
        const char *begin = component.text + from;
        const char *slash = memchr(begin, '/', component.len - from);
        size_t len = slash ? (size_t)(slash - begin) : component.len - from;
        size_t within;
        const char *reason = segment_fault((struct mcpx_slice){begin, len}, stars, &within);

        if (reason) {
            *offset = from + within;
            return reason;
        }
        from += len + 1;
    }
    return NULL;
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

/* Cuts the component before the next colon off `rest`, which becomes absent without one. */
static struct mcpx_slice take_component(struct mcpx_slice *rest)
{
    const char *colon = rest->len > 0 ? memchr(rest->text, ':', rest->len) : NULL;
    struct mcpx_slice taken = *rest;

    if (!colon) {
        *rest = (struct mcpx_slice){NULL, 0};
        return taken;
    }
    taken.len = (size_t)(colon - rest->text);
    rest->text = colon + 1;
    rest->len -= taken.len + 1;
    return taken;
}

static bool refuse_kind(struct mcpx_fault *fault, const char *reason, const char *field,
                        size_t offset)
{
    mx_fault_set(fault, reason, field, offset);
    return false;
}

bool mx_grammar_split(struct mcpx_slice text, bool stars, struct mcpx_kind *out,
                      struct mcpx_fault *fault)
{
    struct mcpx_slice rest = text;
    struct mcpx_kind kind = {.text = text};
    const char *reason;
    size_t offset;

    if (text.len == 0)
        return refuse_kind(fault, "must not be empty", "kind", 0);
    if (text.len > MCPX_KIND_MAX)
        return refuse_kind(fault, "must not be longer than 2048 bytes", "kind", MCPX_KIND_MAX);
    kind.type = take_component(&rest);
    reason = segments_fault(kind.type, stars, &offset);
    if (reason)
        return refuse_kind(fault, reason, "type", offset);
    if (rest.text) {
        kind.method = take_component(&rest);
        reason = segments_fault(kind.method, stars, &offset);
        if (reason)
            return refuse_kind(fault, reason, "method",
                               (size_t)(kind.method.text - text.text) + offset);
    }
    if (rest.text) {
        kind.context = rest;
        reason = context_fault(kind.context, &offset);
        if (reason)
            return refuse_kind(fault, reason, "context",
                               (size_t)(kind.context.text - text.text) + offset);
    }
    *out = kind;
    return true;
}
