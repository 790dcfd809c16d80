/*
 * plain_portable.c - which bytes are plain, as a table that all units share, and the unit for
 * machines without a vector unit that we know: eight bytes at a time, in standard C.
 */
#include "lib/base/plain.h"

/* clang-format off */
const bool mx_is_plain[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
};
/* clang-format on */

/* How many bytes precede the lowest marked one; `marks` has at least one bit, all are 0x80s. */
static inline size_t before_first(uint64_t marks)
{
    uint64_t below = (marks - 1) & ~marks; /* one bit 0 in every byte up to the marked one */

    return (size_t)((((below & MX_EACH_BYTE(1)) * MX_EACH_BYTE(1)) >> 56) - 1);
}

/*
 * 0x80 in every byte that is a quote, a backslash, a control character or not ASCII. A borrow
 * may mark further bytes, but only above the first right one, and only the first one counts.
 */
static inline uint64_t marks_of(uint64_t word)
{
    uint64_t control = word - MX_EACH_BYTE(0x20);
    uint64_t quote = (word ^ MX_EACH_BYTE('"')) - MX_EACH_BYTE(1);
    uint64_t backslash = (word ^ MX_EACH_BYTE('\\')) - MX_EACH_BYTE(1);

    return (control | quote | backslash | word) & MX_EACH_BYTE(0x80);
}

const unsigned char *mx_plain_portable(const unsigned char *at, const unsigned char *end)
{
    while (end - at >= 8) {
        uint64_t marks = marks_of(mx_plain_load(at));

        if (marks)
            return at + before_first(marks);
        at += 8;
    }
    while (at < end && mx_is_plain[*at])
        at++;
    return at;
}

const unsigned char *mx_nested_portable(const unsigned char *at, const unsigned char *end)
{
    bool inside = false;
    size_t depth = 0;

    for (; at < end; at++) {
        if (inside)
            at = mx_plain_portable(at, end);
        if (at == end)
            return NULL;
        if (*at == '"')
            inside = !inside;
        else if (inside)
            at += *at == '\\' && end - at > 1;
        else if (*at == '{' || *at == '[')
            depth++;
        else if ((*at == '}' || *at == ']') && --depth == 0)
            return at + 1;
    }
    return NULL;
}
