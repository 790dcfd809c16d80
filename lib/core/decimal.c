/*
 * decimal.c - strtol was refused: it takes blanks, signs and what follows the digits, and needs a
 * text that ends with a zero.
 */
#include "lib/core/decimal.h"

enum { DIGITS_MAX = 18 }; /* what no 64 bits overflow at */

bool mx_decimal_clamp(struct mcpx_slice text, uint64_t max, uint64_t *out)
{
    uint64_t number = 0;

    if (text.len == 0)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint64_t digit = (uint64_t)(text.text[i] - '0');

        if (text.text[i] < '0' || text.text[i] > '9')
            return false;
        number = number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : number * 10 + digit;
    }
    *out = number < max ? number : max;
    return true;
}

bool mx_decimal_read(struct mcpx_slice text, uint64_t max, uint64_t *out)
{
    uint64_t number;

    if (text.len > DIGITS_MAX || !mx_decimal_clamp(text, UINT64_MAX, &number) || number > max)
        return false;
    *out = number;
    return true;
}
