/*
 * control.c - one list for ids, kinds, participants, topics and the search for a CONTEXT, because a
 * character that is refused in one and taken in another is a name that two readers disagree about.
 * A list of all characters that terminals hide was refused: some of them stand in people's names
 * and in emoji. Programs that show text know more of them (tools/common/visible.c).
 */
#include "lib/core/control.h"

#include "lib/core/utf8.h"

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
