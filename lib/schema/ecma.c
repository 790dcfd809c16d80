/*
 * ecma.c - ECMA-262 (with the flag u) and PCRE2 agree on most of their syntax. This file copies
 * common syntax, rewrites different forms of the same meaning (\s, the dot, \uXXXX, \p{Letter}),
 * and refuses everything else: a pattern with another meaning here than in the server would admit
 * values unexpected there.
 *
 * A pattern is read twice. The first pass finds its groups, the second one writes, because the
 * meaning of \1 and \k<name> depends on later groups.
 */
#include "lib/schema/regex.h"

#include "lib/base/digits.h"
#include "lib/json/escape.h"
#include "lib/json/json_write.h"

#include <stdlib.h>

/* Parts of a class. PCRE2 has other white space, and has a bug with \D or \W beside a \p. */
static const char space[] = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"
                            "\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
static const char no_space[] =
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"
    "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"
    "\\x{3001}-\\x{d7ff}\\x{e000}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
static const char no_digit[] = "\\x{0}-/:-\\x{10ffff}";
static const char no_word[] = "\\x{0}-/:-@\\[-\\^`\\{-\\x{10ffff}";

/* Characters with the same meaning behind a backslash. Escapes of the second row are needless and
 * invalid with the flag u; schemas have them, and browsers accept them without it. */
static const char plain[] = "dwtnrf^$\\.*+?()[]{}|/"
                            " !\"#%&',-:;<=>@_`~";

/* A group, or the whole pattern. `around` and `branch` are its place. */
struct group {
    size_t around;
    size_t branch;
    size_t branches; /* between | in it, so far */
    size_t number;   /* the number for \1; 0: none */
    struct mcpx_slice name;
    bool is_open;
    bool looks;     /* around, ahead or behind */
    bool is_behind; /* or within one behind */
    bool repeats;
    bool is_optional;
};

/* `last` is the group that has just ended, 0 for none. */
struct reader {
    struct mcpx_slice pattern;
    size_t at;
    struct mcpx_text *out;
    const char *reason;
    struct group *groups; /* the whole pattern, then in the order of the text */
    size_t group_count;
    size_t captures;
    size_t total; /* groups found by the first pass; 0 during it */
    size_t current;
    size_t last;
    bool in_class;
    bool can_repeat; /* the last item may have a quantifier */
};

/* The byte `ahead` bytes from here; 0 behind the end. */
static char peek(const struct reader *r, size_t ahead)
{
    return r->pattern.len - r->at > ahead ? r->pattern.text[r->at + ahead] : 0;
}

static bool refuse(struct reader *r, const char *reason)
{
    r->reason = reason;
    return false;
}

/* Copies bytes unchanged. */
static bool pass(struct reader *r, size_t count)
{
    mcpx_text_add(r->out, r->pattern.text + r->at, count);
    r->at += count;
    return true;
}

/* Replaces bytes. */
static bool put(struct reader *r, size_t count, const char *text)
{
    mcpx_text_puts(r->out, text);
    r->at += count;
    return true;
}

/* The number written with exactly `count` digits from `ahead` on; -1 when they are not there. */
static long hex_number(const struct reader *r, size_t ahead, size_t count)
{
    long number = 0;

    for (size_t i = ahead; i < ahead + count; i++) {
        int digit = mx_hex_digit(peek(r, i));

        if (digit < 0)
            return -1;
        number = number > 0x10ffff ? number : number * 16 + digit;
    }
    return number;
}

/* The number written with decimal digits from `ahead` on, at most 99999999. */
static size_t decimal_number(const struct reader *r, size_t *ahead)
{
    size_t number = 0;

    for (; mx_is_digit(peek(r, *ahead)); ++*ahead)
        number = number < 9999999 ? number * 10 + (size_t)(peek(r, *ahead) - '0') : 99999999;
    return number;
}

static bool put_code_point(struct reader *r, size_t count, long code)
{
    if (code > 0x10ffff)
        return refuse(r, "must not have a character above 10ffff");
    if (code >= 0xd800 && code <= 0xdfff)
        return refuse(r,
                      "must not have half a surrogate pair: no text that is judged has one");
    mx_hex_add(r->out, "\\x{", (uint32_t)code, 6);
    return put(r, count, "}");
}

/* "\uXXXX", or a pair of them for one character, or "\u{...}". */
static bool take_unit(struct reader *r)
{
    long code = hex_number(r, 2, 4), low = -1;
    size_t digits = 0;

    if (peek(r, 2) == '{') {
        while (mx_hex_digit(peek(r, 3 + digits)) >= 0)
            digits++;
        if (digits == 0 || peek(r, 3 + digits) != '}')
            return refuse(r, "must have hexadecimal digits in \\u{}");
        return put_code_point(r, digits + 4, hex_number(r, 3, digits));
    }
    if (code < 0)
        return refuse(r, "must have four hexadecimal digits after \\u");
    if (code >= 0xd800 && code <= 0xdbff && peek(r, 6) == '\\' && peek(r, 7) == 'u')
        low = hex_number(r, 8, 4);
    if (low >= 0xdc00 && low <= 0xdfff)
        return put_code_point(r, 12, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
    return put_code_point(r, 6, code);
}

/* "\p{...}" */
static bool take_property(struct reader *r)
{
    const char *name = r->pattern.text + r->at + 3;
    const char *end = peek(r, 2) != '{' ? NULL : memchr(name, '}', r->pattern.len - r->at - 3);
    size_t len = end ? (size_t)(end - name) : 0;

    if (!mx_property_add(r->out, (struct mcpx_slice){name, len}, peek(r, 1) == 'P'))
        return refuse(r, "must have in \\p{} a property of ECMA-262, spelt as there, that "
                         "PCRE2 has too");
    r->at += len + 4;
    return true;
}

static bool take_set(struct reader *r, const char *set)
{
    const char *begin = r->in_class ? "" : "[", *end = r->in_class ? "" : "]";

    mx_format(r->out, "%s%s%s", begin, set, end);
    r->at += 2;
    return true;
}

/* PCRE2 keeps a group's last match for longer: ECMA-262 forgets it at each new round of a
 * repetition around it, and reads lookbehinds from their end. */
static bool means_the_same(const struct reader *r, const struct group *group)
{
    const struct group *around = &r->groups[group->around];

    if (r->groups[r->current].is_behind || group->is_behind)
        return false;
    if (group < r->groups + r->group_count && !group->is_open && around->is_open &&
        around->branches == group->branch && !group->repeats && !group->is_optional)
        return true;
    for (; group != r->groups; group = &r->groups[group->around])
        if (group->repeats || group->looks)
            return false;
    return true;
}

/* A reference of `len` bytes: to the group with this number, or else with this name. */
static bool take_reference(struct reader *r, size_t len, size_t number, struct mcpx_slice name)
{
    size_t i = 1;

    if (r->in_class)
        return refuse(r, "must not refer to a group in a class");
    r->at += len;
    if (r->total == 0)
        return true;
    while (i < r->total && !(number ? r->groups[i].number == number
                                    : mcpx_slice_equal(r->groups[i].name, name)))
        i++;
    if (i == r->total)
        return refuse(r, "must refer to a group that is there");
    if (!means_the_same(r, &r->groups[i]))
        return refuse(r, "must not refer to a group that is repeated or looks around: PCRE2 "
                         "reads that otherwise than ECMA-262");
    mx_format(r->out, "(?:\\g{%s})", r->groups[i].number); /* else machine code has a bug */
    return true;
}

/* The name in <> behind "(?<" or "\\k<"; empty when there is none. */
static struct mcpx_slice group_name(const struct reader *r)
{
    struct mcpx_slice name = {r->pattern.text + r->at + 3, 0};
    char byte = peek(r, 3);

    while (mx_is_letter(byte) || byte == '_' || byte == '$' ||
           (name.len > 0 && mx_is_digit(byte)))
        byte = peek(r, 3 + ++name.len);
    if (byte != '>')
        name.len = 0;
    return name;
}

static const char no_name[] = "must have in <> a group's name: ASCII letters, digits, _, $";

/* `r` stands at the backslash. */
static bool take_escape(struct reader *r)
{
    char byte = peek(r, 1);
    struct mcpx_slice name;
    size_t len = 1, number;

    if (byte && strchr(plain, byte))
        return pass(r, 2);
    switch (byte) {
    case 'D':
        return take_set(r, no_digit);
    case 'W':
        return take_set(r, no_word);
    case 'b':
    case 'B':
        r->can_repeat = false;
        if (r->in_class)
            return byte == 'b' ? put(r, 2, "\\x{8}")
                               : refuse(r, "must not have \\B in a class");
        return pass(r, 2);
    case 'v':
        return put(r, 2, "\\x{b}");
    case 's':
        return take_set(r, space);
    case 'S':
        return take_set(r, no_space);
    case 'c':
        return mx_is_letter(peek(r, 2)) ? put_code_point(r, 3, peek(r, 2) & 31)
                                        : refuse(r, "must have a letter after \\c");
    case 'x':
        return hex_number(r, 2, 2) >= 0
                   ? put_code_point(r, 4, hex_number(r, 2, 2))
                   : refuse(r, "must have two hexadecimal digits after \\x");
    case 'u':
        return take_unit(r);
    case 'p':
    case 'P':
        return take_property(r);
    case 'k':
        name = group_name(r);
        return peek(r, 2) == '<' && name.len > 0 ? take_reference(r, name.len + 4, 0, name)
                                                 : refuse(r, no_name);
    case '0':
        return mx_is_digit(peek(r, 2)) ? refuse(r, "must not have a digit after \\0")
                                       : put(r, 2, "\\x{0}");
    default:
        number = decimal_number(r, &len);
        return len > 1 ? take_reference(r, len, number, (struct mcpx_slice){NULL, 0})
                       : refuse(r, "must not have an escape that ECMA-262 does not have");
    }
}

/* `r` stands at "(". */
static bool take_group(struct reader *r)
{
    char kind = peek(r, 1) == '?' ? peek(r, 2) : 0;
    bool is_behind = kind == '<' && (peek(r, 3) == '=' || peek(r, 3) == '!');
    struct group *group = &r->groups[r->group_count];
    const struct group *around = &r->groups[r->current];

    r->can_repeat = false;
    group->around = r->current;
    group->branch = around->branches;
    group->branches = 0;
    group->is_open = true;
    group->looks = is_behind || kind == '=' || kind == '!';
    group->is_behind = is_behind || around->is_behind;
    r->current = r->group_count++;
    if (kind == ':' || group->looks)
        return pass(r, is_behind ? 4 : 3);
    if (kind ? kind != '<' : peek(r, 1) == '?' || peek(r, 1) == '*')
        return refuse(r, "must not have a group that ECMA-262 does not have");
    group->number = ++r->captures;
    if (!kind)
        return pass(r, 1);
    group->name = group_name(r);
    if (group->name.len == 0)
        return refuse(r, no_name);
    for (size_t i = 1; i < r->current; i++)
        if (mcpx_slice_equal(r->groups[i].name, group->name))
            return refuse(r, "must not name two groups alike");
    return put(r, group->name.len + 4, "(");
}

static bool take_group_end(struct reader *r)
{
    struct group *group = &r->groups[r->current];

    r->can_repeat = !group->looks;
    r->last = r->current;
    group->is_open = r->current == 0;
    r->current = group->around;
    return pass(r, 1);
}

/* The length of the quantifier here; 0 when there is none. */
static size_t quantifier(const struct reader *r)
{
    size_t len = 1;

    if (peek(r, 0) == '*' || peek(r, 0) == '+' || peek(r, 0) == '?')
        return 1;
    if (peek(r, 0) != '{' || !mx_is_digit(peek(r, 1)))
        return 0;
    decimal_number(r, &len);
    if (peek(r, len) == ',') {
        len++;
        decimal_number(r, &len);
    }
    return peek(r, len) == '}' ? len + 1 : 0;
}

static bool take_quantifier(struct reader *r)
{
    if (!r->can_repeat)
        return refuse(r, "must not repeat what is not there, an assertion or a repetition");
    r->can_repeat = false;
    r->groups[r->last].is_optional = r->last && peek(r, 0) != '+';
    r->groups[r->last].repeats = r->last && peek(r, 0) != '?';
    pass(r, quantifier(r));
    return peek(r, 0) != '?' || pass(r, 1);
}

/* True when a set of characters, such as \d, begins `ahead` bytes from here. */
static bool is_set(const struct reader *r, size_t ahead)
{
    return peek(r, ahead) == '\\' && peek(r, ahead + 1) &&
           strchr("dDwWsSpP", peek(r, ahead + 1));
}

static bool take_class_character(struct reader *r)
{
    char byte = peek(r, 0);

    if (byte == '\\')
        return take_escape(r);
    if (byte > ' ' && byte < 127 && !mx_is_letter(byte) && !mx_is_digit(byte)) {
        mcpx_text_puts(r->out, "\\"); /* PCRE2 has [:alpha:] */
        return pass(r, 1);
    }
    do
        pass(r, 1);
    while ((peek(r, 0) & 0xc0) == 0x80);
    return true;
}

/* A character or set, or characters from one to another. A dash beside a set is a literal: browsers
 * accept it without the flag u, and schemas have [\w-.]. */
static bool take_class_item(struct reader *r)
{
    bool is_range;

    if (peek(r, 0) == ']') {
        r->in_class = false;
        r->can_repeat = true;
        return pass(r, 1);
    }
    is_range = !is_set(r, 0);
    if (!take_class_character(r))
        return false;
    if (peek(r, 0) != '-' || peek(r, 1) == ']' || r->at + 1 >= r->pattern.len)
        return true;
    is_range = is_range && !is_set(r, 1);
    put(r, 1, is_range ? "-" : "\\-");
    return take_class_character(r);
}

/* `r` stands at "[". PCRE2 reads [] as empty only where no quantifier follows. */
static bool take_class(struct reader *r)
{
    size_t begin = peek(r, 1) == '^' ? 2 : 1;

    r->in_class = true;
    if (peek(r, begin) != ']')
        return pass(r, begin);
    return put(r, begin, begin == 2 ? "[\\x{0}-\\x{10ffff}" : "[^\\x{0}-\\x{10ffff}");
}

/* One item outside of a class. */
static bool take_item(struct reader *r)
{
    if (quantifier(r))
        return take_quantifier(r);
    r->last = 0;
    r->can_repeat = true;
    switch (peek(r, 0)) {
    case '\\':
        return take_escape(r);
    case '(':
        return take_group(r);
    case ')':
        return take_group_end(r);
    case '.':
        return put(r, 1, "[^\\n\\r\\x{2028}\\x{2029}]");
    case '[':
        return take_class(r);
    case ']':
    case '{':
    case '}':
        return refuse(r, "must have a backslash before ], { or } that stands for itself");
    case '|':
    case '^':
    case '$':
        r->groups[r->current].branches += peek(r, 0) == '|';
        r->can_repeat = false;
        return pass(r, 1);
    default:
        return pass(r, 1);
    }
}

bool mx_ecma_translate(struct mcpx_slice pattern, struct mcpx_text *out, const char **reason)
{
    struct reader r = {.pattern = pattern, .out = out};
    size_t before = out->len;
    bool is_read = true;

    r.groups = calloc(pattern.len + 1, sizeof *r.groups);
    out->failed = out->failed || !r.groups;
    for (int pass = 0; pass < 2 && is_read && r.groups; pass++) {
        r.total = r.group_count;
        r.group_count = 1;
        r.groups[0].is_open = true;
        r.at = r.captures = r.current = r.groups[0].branches = 0;
        r.in_class = r.can_repeat = false;
        out->len = before;
        while (r.at < pattern.len && is_read)
            is_read = r.in_class ? take_class_item(&r) : take_item(&r);
    }
    *reason = r.reason;
    free(r.groups);
    return is_read;
}
