/*
 * decimal.c - strtol was refused: it takes blanks, signs and what follows the digits, and needs a
 * text that ends with a zero.
 */
#include "lib/core/decimal.h"

enum { DIGITS_MAX = 18 }; /* what no 64 bits overflow at */

bool mx_decimal_read(struct mcpx_slice text, uint64_t max, uint64_t *out)
{
    uint64_t number = 0;

    if (text.len == 0 || text.len > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.text[i] < '0' || text.text[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(text.text[i] - '0');
    }
    if (number > max)
        return false;
    *out = number;
    return true;
}
