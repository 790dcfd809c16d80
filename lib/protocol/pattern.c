/*
 * pattern.c - the structure of a capability pattern, the walk that decides whether it covers a
 * kind, and its regular expression. The walk compares component with component, so a "*" cannot
 * match a colon by accident. Rejected: a glob over the whole text; the kind
 * "...:tools/call:evil/list" would pass the grant "...:*" followed by "/list".
 *
 * In the expression every literal byte that is not a letter, digit or "_" gets a backslash
 * (rejected: "\Q..\E"; a pattern may hold "\E"). An atomic group searches a run of literal bytes
 * between two stars once. The leftmost place leaves the most to the runs behind it, so another try
 * cannot succeed after the first failed. Nine stars cost nine times one star, not its ninth power.
 * The search compares the run at each byte of the kind, so a long run costs the product of both
 * lengths. PCRE2 has no better way: a set with such a pattern gets no program. A run at the end of
 * a component needs no search: the star takes the whole component, and its last bytes must be the
 * run. Rejected: "[^:]*RUN"; PCRE2 would try the run at each byte on the way back.
 */
#include "lib/protocol/pattern.h"

#include "lib/base/digits.h"
#include "lib/base/match.h"
#include "lib/json/json_write.h"
#include "lib/protocol/grammar.h"

static bool has_star(struct mcpx_slice component)
{
    return component.text && memchr(component.text, '*', component.len);
}

static bool is_all_stars(struct mcpx_slice component)
{
    if (!component.text)
        return false;
    for (size_t i = 0; i < component.len; i++)
        if (component.text[i] != '*')
            return false;
    return true;
}

enum mcpx_err mx_pattern_parse(struct mcpx_slice text, struct mx_pattern *out,
                               struct mcpx_fault *fault)
{
    struct mcpx_kind parts;

    if (!mx_grammar_split(text, true, &parts, fault)) {
        if (fault && strcmp(fault->field, "kind") == 0)
            fault->field = "pattern";
        return MCPX_EPATTERN;
    }
    out->parts = parts;
    out->final_star = !parts.context.text && text.text[text.len - 1] == '*';
    out->context_any = is_all_stars(parts.context);
    out->context_stars = has_star(parts.context) && !out->context_any;
    return MCPX_OK;
}

bool mx_pattern_covers(const struct mx_pattern *pattern, const struct mcpx_kind *kind,
                       bool dotted)
{
    const struct mcpx_kind *parts = &pattern->parts;

    if (!mx_glob_matches(parts->type, kind->type))
        return false;
    if (!parts->method.text)
        return pattern->final_star || !kind->method.text; /* rules 2 and 5 */
    if (!kind->method.text || !mx_glob_matches(parts->method, kind->method))
        return false;
    if (!parts->context.text || pattern->context_any)
        return true; /* rules 3 and 4 */
    if (!kind->context.text || (dotted && pattern->context_stars))
        return false; /* rules 3 and 6 */
    return mx_glob_matches(parts->context, kind->context);
}

/* A "*" of the inner pattern is an ordinary byte here; only a "*" of the outer one matches it. That
 * is exact: some bytes stand in neither pattern, and a "*" covering those covers all. */
bool mx_pattern_contains(const struct mx_pattern *outer, const struct mx_pattern *inner,
                         bool denies)
{
    const struct mcpx_kind *out = &outer->parts, *in = &inner->parts;

    if (!mx_glob_matches(out->type, in->type))
        return false;
    if (!out->method.text)
        return outer->final_star || (!in->method.text && !inner->final_star);
    if (!in->method.text || !mx_glob_matches(out->method, in->method))
        return false;
    if (!out->context.text || outer->context_any)
        return true;
    if (!in->context.text || inner->context_any || !mx_glob_matches(out->context, in->context))
        return false;
    return denies || !outer->context_stars || inner->context_stars ||
           !mcpx_kind_has_dot_segment(in);
}

/* How many bytes stand before the first "*" of a component that has one, and behind its last. */
static size_t length_before(struct mcpx_slice glob)
{
    return (size_t)((const char *)memchr(glob.text, '*', glob.len) - glob.text);
}

static size_t length_behind(struct mcpx_slice glob)
{
    size_t len = 0;

    while (glob.text[glob.len - 1 - len] != '*')
        len++;
    return len;
}

static size_t smaller(size_t one, size_t other)
{
    return one < other ? one : other;
}

static bool components_may_meet(struct mcpx_slice one, struct mcpx_slice other)
{
    size_t before, behind;

    if (!has_star(one))
        return mx_glob_matches(other, one);
    if (!has_star(other))
        return mx_glob_matches(one, other);
    before = smaller(length_before(one), length_before(other));
    behind = smaller(length_behind(one), length_behind(other));
    return memcmp(one.text, other.text, before) == 0 &&
           memcmp(one.text + one.len - behind, other.text + other.len - behind, behind) == 0;
}

bool mx_pattern_may_meet(const struct mx_pattern *one, const struct mx_pattern *other)
{
    const struct mcpx_kind *a = &one->parts, *b = &other->parts;

    if (!components_may_meet(a->type, b->type))
        return false;
    if (!a->method.text && !b->method.text)
        return true; /* a kind without method, if nothing else */
    if (!a->method.text || !b->method.text)
        return a->method.text ? other->final_star : one->final_star;
    if (!components_may_meet(a->method, b->method))
        return false;
    return !a->context.text || !b->context.text || one->context_any || other->context_any ||
           components_may_meet(a->context, b->context);
}

size_t mx_pattern_agreement(const struct mx_pattern *pattern, const struct mcpx_kind *kind)
{
    struct mcpx_slice a = pattern->parts.text;
    struct mcpx_slice b = kind->text;
    size_t n = 0;

    while (n < a.len && n < b.len && a.text[n] == b.text[n] && a.text[n] != '*')
        n++;
    return n;
}

enum mcpx_err mcpx_pattern_check(struct mcpx_slice pattern, struct mcpx_fault *fault)
{
    struct mx_pattern parsed;

    return mx_pattern_parse(pattern, &parsed, fault);
}

/* The types of the protocol: those with a method in every kind, and those without. */
static const char *const with_method[] = {"mcp/request", "mcp/response", "mcp/proposal"};
static const char *const without_method[] = {
    "mcp/reject",  "mcp/withdraw", "chat",       "chat/acknowledge", "admin/check",
    "admin/grant", "admin/kick",   "admin/read", "admin/reload"};

static bool is_among(struct mcpx_slice type, const char *const *types, size_t count)
{
    size_t i = 0;

    while (i < count && !mcpx_slice_equal(type, mcpx_slice_of(types[i])))
        i++;
    return i < count;
}

/* "chat:x" may be an application's kind; "mcp/withdraw:tools/call" is a mistake. */
static bool wants_method_in_vain(const struct mcpx_kind *parts)
{
    bool is_any = parts->method.text && !parts->context.text &&
                  mcpx_slice_equal(parts->method, MCPX_SLICE("*"));
    bool is_chat = parts->type.text[0] == 'c';

    return parts->method.text && (is_any || !is_chat) &&
           is_among(parts->type, without_method,
                    sizeof without_method / sizeof *without_method);
}

static bool has_escaped_star(struct mcpx_slice text)
{
    for (size_t i = 1; i < text.len; i++)
        if (text.text[i] == '*' && text.text[i - 1] == '\\')
            return true;
    return false;
}

const char *mcpx_pattern_hint(struct mcpx_slice pattern)
{
    struct mx_pattern parsed;
    const struct mcpx_kind *parts = &parsed.parts;

    if (mx_pattern_parse(pattern, &parsed, NULL))
        return NULL;
    if (mcpx_kind_is_reserved(parts))
        return "covers nothing: the types system and presence are the router's own";
    if (!parts->method.text && is_among(parts->type, with_method, 3))
        return "covers no MCP message, all of which have a method; append ':*' to cover them";
    if (wants_method_in_vain(parts))
        return "does not cover the plain kind, which has no method; the type alone does";
    if (parsed.context_stars && mcpx_kind_has_dot_segment(parts))
        return "covers nothing: a context with a dot segment is not covered by a '*'";
    if (has_escaped_star(parts->context))
        return "a backslash does not escape: it is an ordinary byte and the '*' still a star";
    return NULL;
}

/* ---- as a regular expression ---- */

static bool is_plain(char byte)
{
    return mx_is_letter(byte) || mx_is_digit(byte) || byte == '_';
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

    for (; rest->len > 0 && rest->text[0] != '*'; rest->len--) {
        rest->text++;
        literal.len++;
    }
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

/* `any` is the expression for one byte of the component. */
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
