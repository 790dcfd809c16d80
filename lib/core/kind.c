/*
 * kind.c - what a kind says by itself: its parts, whether it is the router's own, whether its
 * context climbs out of where it seems to be.
 * Dot segments are looked for in the text as it stands, one layer of percent-encoding undone; the
 * context is never rewritten into a "clean" form, because the receiver will interpret the bytes it
 * gets and not ours.
 */
#include <mcpx/kind.h>

#include "lib/core/grammar.h"
#include "lib/core/percent.h"

enum mcpx_err mcpx_kind_parse(struct mcpx_slice text, struct mcpx_kind *out,
                              struct mcpx_fault *fault)
{
    return mx_grammar_split(text, false, out, fault) ? MCPX_OK : MCPX_EKIND;
}

/* `word` is in lower case. */
static bool is_word_in_any_case(struct mcpx_slice text, struct mcpx_slice word)
{
    if (text.len != word.len)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.text[i];

        if (byte >= 'A' && byte <= 'Z')
            byte = (char)(byte - 'A' + 'a');
        if (byte != word.text[i])
            return false;
    }
    return true;
}

bool mcpx_kind_is_reserved(const struct mcpx_kind *kind)
{
    const char *slash = memchr(kind->type.text, '/', kind->type.len);
    struct mcpx_slice first = kind->type;

    if (slash)
        first.len = (size_t)(slash - first.text);
    return is_word_in_any_case(first, MCPX_SLICE("system")) ||
           is_word_in_any_case(first, MCPX_SLICE("presence"));
}

/* Reads one byte, percent-decoded where that is possible, and moves `rest` behind it. */
static char take_decoded(struct mcpx_slice *rest)
{
    char byte;
    size_t taken = mx_percent_read(*rest, &byte);

    rest->text += taken;
    rest->len -= taken;
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
