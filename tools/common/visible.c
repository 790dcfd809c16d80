/*
 * visible.c - makes text from others safe for a terminal. A person approves a proposal by its text
 * on the screen. So the most important part here is the table of characters that are invisible or
 * change the look of a text. Rejected: to delete such characters. The reader would not see that
 * they were there. The layout of JSON is changed token by token; no values are built, so the
 * original bytes are shown: 1.10, 1e400, a repeated name.
 */
#include "tools/common/visible.h"

#include "lib/base/scoped.h"
#include "lib/json/escape.h"

#include <assert.h>
#include <mcpx/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct range {
    uint32_t first, last;
};

/* Invisible, changing direction, or breaking lines; ascending. Look-alikes are too many. */
static const struct range hidden[] = {
    {0x0000, 0x001f},   {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f},
    {0x061c, 0x061c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}, {0x110000, UINT32_MAX},
};

/* Blanks that look like a space, or like nothing, but are characters; common in prose. */
static const struct range blank[] = {
    {0x00a0, 0x00a0}, {0x1680, 0x1680}, {0x2000, 0x200a}, {0x202f, 0x202f},
    {0x205f, 0x205f}, {0x2800, 0x2800}, {0x3000, 0x3000}, {0x110000, UINT32_MAX},
};

static bool is_in(const struct range *ranges, uint32_t character)
{
    size_t i = 0;

    while (ranges[i].last < character)
        i++;
    return ranges[i].first <= character;
}

/* Groups to escape: LIES hide or turn text, BLANKS look alike, LAYOUT is below 0x20. LINES: but not
 * line ends and tabs. */
enum { LIES = 1, BLANKS = 2, LAYOUT = 4, LINES = 8 };

static bool is_escaped(uint32_t character, unsigned what)
{
    if (what & LINES && (character == '\n' || character == '\t'))
        return false;
    if (character < 0x20)
        return what & LAYOUT;
    return is_in(hidden, character) || (what & BLANKS && is_in(blank, character));
}

static void write_visible(struct mcpx_text *out, struct mcpx_slice text, size_t columns,
                          unsigned what)
{
    while (text.len > 0) {
        uint32_t character = 0;
        size_t len = mx_utf8_decode(text, &character);

        if (columns-- == 0) {
            mcpx_text_puts(out, "...");
            return;
        }
        if (len == 0)
            mx_hex_add(out, "\\x", character, 2);
        else if (is_escaped(character, what))
            mx_escape_add(out, character);
        else
            mcpx_text_add(out, text.text, len);
        len = len ? len : 1;
        text = (struct mcpx_slice){text.text + len, text.len - len};
    }
}

void text_visible_short(struct mcpx_text *out, struct mcpx_slice text, size_t columns)
{
    write_visible(out, text, columns, LIES | LAYOUT);
}

void text_visible_value(struct mcpx_text *out, struct mcpx_slice value, size_t columns)
{
    mx_scoped_text plain = {0};
    bool is_string = mcpx_json_add_unescaped(&plain, value);

    text_visible_short(out, is_string ? mcpx_text_view(&plain) : value, columns);
}

void text_shown(struct mcpx_text *out, struct mcpx_slice text)
{
    write_visible(out, text, SIZE_MAX, LIES);
}

void text_visible(struct mcpx_text *out, struct mcpx_slice text)
{
    text_visible_short(out, text, SIZE_MAX);
}

static void add_piece(struct mcpx_text *out, char sign, const struct mx_piece *piece)
{
    if (piece->type != MX_PIECE_TEXT || sign == 'q')
        mx_format_pieces(out, (char[]){'%', strchr("qbt", sign) ? sign : 's', '\0'}, 1, piece);
    else if (sign == 'v')
        text_visible_value(out, piece->text, SIZE_MAX);
    else
        write_visible(out, piece->text, SIZE_MAX, LIES | LAYOUT | (sign == 'x' ? BLANKS : 0));
}

void text_format_pieces(struct mcpx_text *out, const char *format, size_t count,
                        const struct mx_piece *pieces)
{
    size_t done = 0;
    const char *sign;

    while ((sign = strchr(format, '%')) != NULL && done < count) {
        mcpx_text_add(out, format, (size_t)(sign - format));
        add_piece(out, sign[1], &pieces[done++]);
        format = sign + 2;
    }
    assert(!sign && done == count);
    out->failed |= sign || done < count;
    mcpx_text_puts(out, format);
}

void text_lines(struct mcpx_text *out, struct mcpx_slice text)
{
    write_visible(out, text, SIZE_MAX, LIES | LAYOUT | LINES);
}

void text_member(struct mcpx_text *out, const char *format, struct mcpx_slice object,
                 const char *name)
{
    struct mcpx_slice value = mcpx_json_get(object, name);

    if (value.text)
        text_format(out, format, value);
}

/* ---- the layout of JSON ---- */

/* The next token: a string, a punctuation mark, or a run of anything else. Absent at the end. */
static struct mcpx_slice next_token(struct mcpx_slice *text)
{
    size_t at = 0, len = 1;
    struct mcpx_slice token;

    while (at < text->len && memchr(" \t\n\r", text->text[at], 4))
        at++;
    if (at == text->len)
        return (struct mcpx_slice){NULL, 0};
    token.text = text->text + at;
    if (token.text[0] == '"') {
        while (at + len < text->len && token.text[len] != '"')
            len += token.text[len] == '\\' ? 2 : 1;
        len++;
    } else if (!strchr("{}[]:,", token.text[0])) {
        while (at + len < text->len && !strchr("{}[]:, \t\n\r", token.text[len]))
            len++;
    }
    token.len = len <= text->len - at ? len : text->len - at;
    *text = (struct mcpx_slice){token.text + token.len, text->len - at - token.len};
    return token;
}

void text_compact(struct mcpx_text *out, struct mcpx_slice value)
{
    for (struct mcpx_slice token = next_token(&value); token.text; token = next_token(&value))
        mcpx_text_slice(out, token);
}

void text_pretty(struct mcpx_text *out, struct mcpx_slice value, size_t indent)
{
    char last = '\0';

    for (struct mcpx_slice token = next_token(&value); token.text;
         token = next_token(&value)) {
        char first = token.text[0];
        bool closes = first == '}' || first == ']', opened = last == '{' || last == '[';

        indent -= closes ? 2 : 0;
        if (closes ? !opened : opened || last == ',') {
            mcpx_text_puts(out, "\n");
            for (size_t i = 0; i < indent; i++)
                mcpx_text_puts(out, " ");
        }
        write_visible(out, token, SIZE_MAX, LIES | BLANKS | LAYOUT);
        if (first == ':')
            mcpx_text_puts(out, " ");
        indent += first == '{' || first == '[' ? 2 : 0;
        last = first;
    }
}

bool text_list(struct mcpx_text *out, const char *before, struct mcpx_slice array,
               const char *member)
{
    bool any = false;

    MCPX_JSON_EACH(walk, array) {
        text_format(out, "%s%v", any ? ", " : before,
                    member ? mcpx_json_get(walk.value, member) : walk.value);
        any = true;
    }
    return any;
}

/* ---- colours: the usual rules, and those of the eight that every terminal has ---- */

static bool is_set(const char *variable, const char *unless)
{
    const char *value = getenv(variable);

    return value && value[0] && strcmp(value, unless) != 0;
}

bool colour_is_wanted(const char *option, bool tty)
{
    const char *term = getenv("TERM");

    if (option && strcmp(option, "auto") != 0)
        return strcmp(option, "always") == 0;
    if (is_set("NO_COLOR", ""))
        return false;
    return is_set("CLICOLOR_FORCE", "0") || (tty && !(term && strcmp(term, "dumb") == 0));
}

static const char *const sequences[] = {
    [PAINT_NONE] = "",
    [PAINT_DIM] = "\x1b[2m",
    [PAINT_NAME] = "\x1b[1m",
    [PAINT_REQUEST] = "\x1b[36m",
    [PAINT_RESPONSE] = "\x1b[32m",
    [PAINT_PROPOSAL] = "\x1b[33m",
    [PAINT_BAD] = "\x1b[31m",
};

void paint_begin(struct mcpx_text *out, enum paint paint, bool on)
{
    if (on)
        mcpx_text_puts(out, sequences[paint]);
}

void paint_end(struct mcpx_text *out, enum paint paint, bool on)
{
    if (on && paint != PAINT_NONE)
        mcpx_text_puts(out, "\x1b[0m");
}

void text_painted(struct mcpx_text *out, enum paint paint, bool on, struct mcpx_slice text)
{
    paint_begin(out, paint, on);
    text_visible(out, text);
    paint_end(out, paint, on);
}
