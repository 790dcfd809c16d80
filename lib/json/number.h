/*
 * number.h - a JSON number as an exact decimal: 1, 1.0 and 10e-1 are equal, 12345678901234567890
 * and 12345678901234567891 are not, 1e400 is an integer. Nothing is rounded.
 */
#ifndef MX_NUMBER_H
#define MX_NUMBER_H

#include <mcpx/text.h>

enum {
    MX_NUMBER_EXPONENT_DIGITS = 9, /* digits an exponent may have */
    MX_NUMBER_SMALL_DIGITS = 18,   /* a number of so many digits fits into 64 bits */
};

/**
 * A number, read in place: digits * 10^exponent. Neither the first nor the last of its digits is
 * a zero, so that equal numbers have equal members.
 */
struct mx_number {
    /* From the first significant digit of the text to the last; a point may stand between them;
     * empty when the number is zero. */
    struct mcpx_slice digits;
    size_t count;     /* digits in it, the point left out */
    int64_t exponent; /* of the last digit */
    int64_t value;    /* of a small number, sign included */
    bool small; /* an integer written with at most 18 digits and neither point nor exponent */
    bool negative; /* below zero; -0 is not */
};

/** Is a number a multiple of another? UNKNOWN: the answer needs too much work or memory. */
enum mx_multiple { MX_MULTIPLE_NO = 0, MX_MULTIPLE_YES, MX_MULTIPLE_UNKNOWN };

/**
 * Reads a number that mcpx_json_check accepted.
 *
 * text   without white space; borrowed for as long as `out` is used
 *
 * Returns false, and leaves `out` untouched, when the exponent has more than nine digits: as it is
 * written here, or as mx_number_write would write it (10e999999999). Linear; never allocates.
 */
bool mx_number_read(struct mcpx_slice text, struct mx_number *out);

/** Order of two numbers: negative, 0 or positive. Linear in the shorter one. */
int mx_number_compare(const struct mx_number *a, const struct mx_number *b);

/** True when the number has no fraction: 27, 27.0, 1e400. */
bool mx_number_is_integer(const struct mx_number *number);

/**
 * Whether `number` is `step` times an integer. Exact.
 *
 * step   above zero
 * work   budget in steps of about a nanosecond; steps taken are subtracted. Two small numbers cost
 *        nothing.
 *
 * Returns UNKNOWN when `work` does not suffice, or when memory runs out. Allocates only for a step
 * of more than 18 digits: about its length.
 */
enum mx_multiple mx_number_is_multiple(const struct mx_number *number,
                                       const struct mx_number *step, uint64_t *work);

/**
 * Appends the number as ECMAScript writes numbers, but with all of its digits: 1E3 as 1000, -0 as
 * 0, 1e21 as 1e+21, 0.0000001 as 1e-7. Equal numbers give equal texts. RFC 8785 section 3.2.2.3.
 */
void mx_number_write(struct mcpx_text *out, const struct mx_number *number);

/**
 * Reads an integer written with 1 to 18 digits, a minus sign perhaps before them, and nothing else:
 * most numbers are such. Returns false for every other number. `value` is touched only on success.
 */
static inline bool mx_number_small(struct mcpx_slice text, int64_t *value)
{
    size_t at = text.text[0] == '-';
    int64_t sum = 0;

    if (text.len - at > MX_NUMBER_SMALL_DIGITS)
        return false;
    for (size_t i = at; i < text.len; i++) {
        unsigned digit = (unsigned)(unsigned char)text.text[i] - '0';

        if (digit > 9)
            return false;
        sum = sum * 10 + (int64_t)digit;
    }
    *value = at ? -sum : sum;
    return true;
}

#endif
