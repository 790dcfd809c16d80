/*
 * plain_portable.c - eight bytes at a time, in standard C, for machines without a vector unit
 * that we know.
 * Includes plain.h only.
 */
#include "lib/core/plain.h"

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
            return at + mx_plain_before(marks);
        at += 8;
    }
    while (at < end && mx_is_plain[*at])
        at++;
    return at;
}
