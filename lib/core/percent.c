/*
 * percent.c - one byte at a time: what is escaped is short, names and paths mostly.
 */
#include "lib/core/percent.h"

void mx_percent_add(struct mcpx_text *out, struct mcpx_slice text)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.text[i];

        if (mx_percent_is_unreserved(text.text[i]))
            mcpx_text_add(out, text.text + i, 1);
        else
            mcpx_text_add(out, (char[]){'%', digits[byte >> 4], digits[byte & 15]}, 3);
    }
}
