/*
 * utf8.c - the whole-text check. ASCII is passed eight bytes at a time, everything else one
 * sequence at a time; a state table would treat both alike and be slower on the texts at hand.
 */
#include "lib/json/utf8.h"

#include "lib/base/plain.h"

bool mx_utf8_is_valid(struct mcpx_slice text, size_t *offset)
{
    const unsigned char *begin = (const unsigned char *)(text.text ? text.text : "");
    const unsigned char *at = begin;
    const unsigned char *end = begin + text.len;

    while ((at = mx_plain_ascii(at, end)) < end) {
        size_t len = mx_utf8_sequence(at, end);

        if (len == 0) {
            if (offset)
                *offset = (size_t)(at - begin);
            return false;
        }
        at += len;
    }
    return true;
}
