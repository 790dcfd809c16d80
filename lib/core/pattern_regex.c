/*
 * pattern_regex.c - writes a pattern as a regular expression.
 * Every literal byte that is not a letter, digit or "_" gets a backslash ("\Q..\E" was refused: a
 * pattern may hold "\E"). A run of literal bytes between two stars is looked for once and then
 * kept, by an atomic group: the leftmost place leaves the most to those behind it, so another try
 * cannot succeed where the first did not, and nine stars cost what one costs nine times instead of
 * its ninth power. Looking still compares the run at each byte of the kind, so a long run costs the
 * product of both lengths. PCRE2 has no better way: a set with such a pattern gets no program.
 * A run at the end of a component is not looked for: the star takes all of the component, at least
 * as many bytes as the run has, and then the last of these have to be the run. "[^:]*RUN" was
 * refused: PCRE2 would try the run at each byte on the way back.
 */
#include "lib/core/format.h"
#include "lib/core/pattern.h"

static bool is_plain(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

static void put_literal(struct mcpx_text *out, struct mcpx_slice literal)
{
    for (size_t i = 0; i < literal.len; i++) {
        if (!is_plain(literal.text[i]))
            mcpx_text_add(out, "\\", 1);
        mcpx_text_add(out, &literal.text[i], 1);
    }
}

/* Cuts the bytes before the next "*" off `rest`. */
static struct mcpx_slice take_literal(struct mcpx_slice *rest)
{
    struct mcpx_slice literal = {rest->text, 0};

    while (literal.len < rest->len && rest->text[literal.len] != '*')
        literal.len++;
    rest->text += literal.len;
    rest->len -= literal.len;
    return literal;
}

/* A run of stars is one. */
static void skip_stars(struct mcpx_slice *rest)
{
    while (rest->len > 0 && rest->text[0] == '*') {
        rest->text++;
        rest->len--;
    }
}

/* `any` is what one byte of the component may be. */
static void put_component(struct mcpx_text *out, struct mcpx_slice component, const char *any)
{
    struct mcpx_slice rest = component;

    put_literal(out, take_literal(&rest));
    while (rest.len > 0) {
        struct mcpx_slice literal;

        skip_stars(&rest);
        literal = take_literal(&rest);
        if (literal.len == 0) { /* the component ends in a star */
            mx_format(out, "%s*+", any);
        } else if (rest.len > 0) { /* another star follows: the leftmost place will do */
            mx_format(out, "(?>%s*?", any);
            put_literal(out, literal);
            mcpx_text_puts(out, ")");
        } else { /* the component ends in this literal */
            mx_format(out, "%s{%s,}+(?<=", any, literal.len);
            put_literal(out, literal);
            mcpx_text_puts(out, ")");
        }
    }
}

static bool is_costly(struct mcpx_slice component)
{
    struct mcpx_slice rest = component;

    take_literal(&rest);
    while (rest.len > 0) {
        struct mcpx_slice literal;

        skip_stars(&rest);
        literal = take_literal(&rest);
        if (rest.len > 0 && literal.len > MX_PATTERN_SOUGHT_MAX)
            return true;
    }
    return false;
}

bool mx_pattern_is_costly(const struct mx_pattern *pattern)
{
    const struct mcpx_kind *parts = &pattern->parts;

    return is_costly(parts->type) || is_costly(parts->method) || is_costly(parts->context);
}

void mx_pattern_regex(const struct mx_pattern *pattern, struct mcpx_text *out)
{
    const struct mcpx_kind *parts = &pattern->parts;

    put_component(out, parts->type, "[^:]");
    if (parts->method.text) {
        mcpx_text_puts(out, ":");
        put_component(out, parts->method, "[^:]");
    }
    if (parts->context.text && !pattern->context_any) {
        mcpx_text_puts(out, ":");
        put_component(out, parts->context, ".");
        return;
    }
    if (parts->method.text || pattern->final_star) /* rules 2, 3 and 4: whatever follows */
        mcpx_text_puts(out, "(?::.*+)?+");
}
