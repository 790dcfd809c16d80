/*
 * ecma.c - ECMA-262 and PCRE2 agree on most of their syntax. This file passes through what means
 * the same in both, rewrites what is said in other words (\s, the dot, \uXXXX, \p{Letter}), and
 * refuses what only PCRE2 has: a pattern that means one thing here and another in the server behind
 * would let pass what the server does not expect.
 */
#include "lib/contract/regex.h"

#include "lib/core/format.h"
#include "lib/core/percent.h"

/* White space of ECMA-262, and all else, as parts of a class. */
static const char space[] = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"
                            "\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
static const char no_space[] =
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"
    "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"
    "\\x{3001}-\\x{d7ff}\\x{e000}-\\x{fefe}\\x{ff00}-\\x{10ffff}";

/* General categories by their long names. */
static const struct {
    const char *name;
    const char *code;
} categories[] = {
    {"Letter", "L"},
    {"Cased_Letter", "L&"},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Other", "C"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
    {"Format", "Cf"},
    {"Surrogate", "Cs"},
    {"Private_Use", "Co"},
    {"Unassigned", "Cn"},
};

struct reader {
    struct mcpx_slice pattern;
    size_t at;
    struct mcpx_text *out;
    const char *reason;
    bool in_class;
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

/* Passes bytes through as they are. */
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
        int digit = mx_percent_digit(peek(r, i));

        if (digit < 0)
            return -1;
        number = number * 16 + digit;
    }
    return number;
}

static bool put_code_point(struct reader *r, size_t count, long code)
{
    static const char digits[] = "0123456789abcdef";
    char text[12] = "\\x{000000}";

    for (int i = 8; i > 2; i--, code /= 16)
        text[i] = digits[code % 16];
    return put(r, count, text);
}

/* "\u{...}" */
static bool take_braced(struct reader *r)
{
    size_t digits = 0;
    long code;

    while (mx_percent_digit(peek(r, 3 + digits)) >= 0)
        digits++;
    if (digits == 0 || digits > 6 || peek(r, 3 + digits) != '}')
        return refuse(r, "must have one to six hexadecimal digits in \\u{}");
    code = hex_number(r, 3, digits);
    return put_code_point(r, digits + 4, code);
}

/* "\uXXXX", or two of them that are one character. */
static bool take_unit(struct reader *r)
{
    long code = hex_number(r, 2, 4), low = -1;

    if (peek(r, 2) == '{')
        return take_braced(r);
    if (code < 0)
        return refuse(r, "must have four hexadecimal digits after \\u");
    if (code < 0xd800 || code > 0xdbff)
        return put_code_point(r, 6, code);
    if (peek(r, 6) == '\\' && peek(r, 7) == 'u')
        low = hex_number(r, 8, 4);
    if (low < 0xdc00 || low > 0xdfff)
        return refuse(r, "must not have half a surrogate pair");
    return put_code_point(r, 12, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
}

static bool starts_with(struct mcpx_slice text, const char *start)
{
    return text.len >= strlen(start) && memcmp(text.text, start, strlen(start)) == 0;
}

/* "\p{...}": PCRE2 knows categories by their codes and scripts by their names. */
static bool take_property(struct reader *r)
{
    struct mcpx_slice name = {r->pattern.text + r->at + 3, 0};
    size_t whole;

    while (r->at + 3 + name.len < r->pattern.len && name.text[name.len] != '}')
        name.len++;
    if (peek(r, 2) != '{' || r->at + 3 + name.len == r->pattern.len)
        return refuse(r, "must have a property in braces after \\p");
    whole = name.len + 4;
    for (size_t i = 0; i < 4; i++) {
        static const char *const keys[] = {"General_Category=", "gc=", "Script=", "sc="};

        if (starts_with(name, keys[i]))
            name =
                (struct mcpx_slice){name.text + strlen(keys[i]), name.len - strlen(keys[i])};
    }
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        if (mcpx_slice_equal(name, mcpx_slice_of(categories[i].name)))
            name = mcpx_slice_of(categories[i].code);
    }
    mcpx_text_add(r->out, r->pattern.text + r->at, 2);
    mx_format(r->out, "{%s}", name);
    r->at += whole;
    return true;
}

static bool take_space(struct reader *r, bool negated)
{
    const char *set = negated ? no_space : space;

    if (!r->in_class)
        mcpx_text_puts(r->out, "[");
    mcpx_text_puts(r->out, set);
    if (!r->in_class)
        mcpx_text_puts(r->out, "]");
    r->at += 2;
    return true;
}

static bool is_alphanumeric(char byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

/* "\k<name>" */
static bool take_named_reference(struct reader *r)
{
    if (r->in_class || peek(r, 2) != '<')
        return refuse(r, "must have a group's name in <> after \\k");
    return pass(r, 3);
}

/* `r` stands at the backslash. */
static bool take_escape(struct reader *r)
{
    char byte = peek(r, 1);

    switch (byte) {
    case 0:
        return refuse(r, "must not end in a backslash");
    case 'd':
    case 'D':
    case 'w':
    case 'W':
    case 't':
    case 'n':
    case 'r':
    case 'f':
        return pass(r, 2);
    case 'b':
        return r->in_class ? put(r, 2, "\\x{8}") : pass(r, 2);
    case 'B':
        return r->in_class ? refuse(r, "must not have \\B in a class") : pass(r, 2);
    case 'v':
        return put(r, 2, "\\x{b}");
    case 's':
    case 'S':
        return take_space(r, byte == 'S');
    case 'c':
        return (peek(r, 2) | 0x20) >= 'a' && (peek(r, 2) | 0x20) <= 'z'
                   ? put_code_point(r, 3, peek(r, 2) & 31)
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
        return take_named_reference(r);
    case '0':
        return put(r, 2, "\\x{0}");
    default:
        if (byte >= '1' && byte <= '9')
            return r->in_class ? refuse(r, "must not refer to a group in a class")
                               : pass(r, 2);
        if (is_alphanumeric(byte))
            return refuse(r, "must not have an escape that ECMA-262 does not have");
        return pass(r, 2);
    }
}

/* `r` stands at "(". */
static bool take_group(struct reader *r)
{
    if (peek(r, 1) == '*')
        return refuse(r, "must not repeat what is not there");
    if (peek(r, 1) != '?')
        return pass(r, 1);
    if (peek(r, 2) == ':' || peek(r, 2) == '=' || peek(r, 2) == '!')
        return pass(r, 3);
    if (peek(r, 2) != '<')
        return refuse(r, "must not have a group that ECMA-262 does not have");
    return pass(r, peek(r, 3) == '=' || peek(r, 3) == '!' ? 4 : 3);
}

/* The length of a quantifier that stands here; 0 when there is none. */
static size_t quantifier(const struct reader *r)
{
    size_t len = 1;

    if (peek(r, 0) == '*' || peek(r, 0) == '+' || peek(r, 0) == '?')
        return 1;
    if (peek(r, 0) != '{' || peek(r, 1) < '0' || peek(r, 1) > '9')
        return 0;
    while ((peek(r, len) >= '0' && peek(r, len) <= '9') || peek(r, len) == ',')
        len++;
    return peek(r, len) == '}' ? len + 1 : 0;
}

static bool take_quantifier(struct reader *r)
{
    pass(r, quantifier(r));
    if (peek(r, 0) == '?')
        pass(r, 1);
    return quantifier(r) ? refuse(r, "must not repeat a repetition") : true;
}

/* One item outside of a class. */
static bool take_item(struct reader *r)
{
    if (quantifier(r))
        return take_quantifier(r);
    switch (peek(r, 0)) {
    case '\\':
        return take_escape(r);
    case '(':
        return take_group(r);
    case '.':
        return put(r, 1, "[^\\n\\r\\x{2028}\\x{2029}]");
    case '[':
        r->in_class = true;
        return pass(r, peek(r, 1) == '^' ? 2 : 1);
    case '{':
        return put(r, 1, "\\{");
    default:
        return pass(r, 1);
    }
}

static bool take_class_item(struct reader *r)
{
    switch (peek(r, 0)) {
    case '\\':
        return take_escape(r);
    case '[': /* PCRE2 has [:alpha:] */
        return put(r, 1, "\\[");
    case ']':
        r->in_class = false;
        return pass(r, 1);
    default:
        return pass(r, 1);
    }
}

bool mx_ecma_translate(struct mcpx_slice pattern, struct mcpx_text *out, const char **reason)
{
    struct reader r = {pattern, 0, out, "", false};

    while (r.at < pattern.len) {
        if (!(r.in_class ? take_class_item(&r) : take_item(&r))) {
            *reason = r.reason;
            return false;
        }
    }
    return true;
}
