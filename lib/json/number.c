/*
 * number.c - JSON numbers as exact decimals. Rejected: doubles; documents that differ in the
 * twentieth digit would be equal, and an error in the arguments of a payment would stay hidden.
 * Rejected: a library for big numbers; only order, form and divisibility by a step are needed, and
 * the first two need no arithmetic.
 *
 * A number is never expanded: 1e999999999 stays one digit with an exponent. A number is not a
 * multiple when its last digit has a lower exponent than that of the step, because neither ends
 * with a zero. Else the number gets the zeros between both exponents, at most four for each digit
 * of the step: a step of n digits has fewer than 4n factors 2 or 5, so more zeros change nothing.
 */
#include "lib/json/number.h"

#include "lib/base/digits.h"

#include <stdlib.h>

enum { EXPONENT_MAX = 999999999 }; /* of nine digits */

/* The exponent after "e"; false when it has too many digits. `at` is behind the "e". */
static bool read_exponent(struct mcpx_slice text, size_t at, int64_t *exponent)
{
    bool negative = text.text[at] == '-';
    int64_t sum = 0;

    at += !mx_is_digit(text.text[at]);
    if (text.len - at > MX_NUMBER_EXPONENT_DIGITS)
        return false;
    for (; at < text.len; at++)
        sum = sum * 10 + (text.text[at] - '0');
    *exponent = negative ? -sum : sum;
    return true;
}

/* Takes the span from the first nonzero digit to the last; `exponent` as it was behind the "e". */
static void take_digits(struct mcpx_slice text, int64_t exponent, struct mx_number *number)
{
    const char *point = memchr(text.text, '.', text.len);
    const char *begin = text.text, *end = text.text + text.len;

    while (begin < end && (*begin == '0' || *begin == '.'))
        begin++;
    while (end > begin && (end[-1] == '0' || end[-1] == '.'))
        end--;
    if (begin == end)
        return;
    number->digits = (struct mcpx_slice){begin, (size_t)(end - begin)};
    number->count = number->digits.len - (point > begin && point < end);
    number->exponent = exponent + (text.text + text.len - end);
    if (point)
        number->exponent -= text.text + text.len - point - (point < end);
}

/* The exponent of the first digit: 2 for 123. */
static int64_t lead_of(const struct mx_number *number)
{
    return (int64_t)number->count + number->exponent - 1;
}

bool mx_number_read(struct mcpx_slice text, struct mx_number *out)
{
    struct mx_number number = {{NULL, 0}, 0, 0, 0, false, false};
    size_t sign = text.text[0] == '-', end = sign;
    int64_t exponent = 0;

    number.small = mx_number_small(text, &number.value);
    while (end < text.len && (mx_is_digit(text.text[end]) || text.text[end] == '.'))
        end++;
    if (end < text.len && !read_exponent(text, end + 1, &exponent))
        return false;
    take_digits((struct mcpx_slice){text.text + sign, end - sign}, exponent, &number);
    if (number.count > 0 && llabs(lead_of(&number)) > EXPONENT_MAX)
        return false;
    number.negative = sign && number.count > 0;
    *out = number;
    return true;
}

bool mx_number_is_integer(const struct mx_number *number)
{
    return number->exponent >= 0;
}

/* The next digit of a number; '0' after the last. */
static char next_digit(const struct mx_number *number, size_t *at)
{
    if (*at < number->digits.len && number->digits.text[*at] == '.')
        ++*at;
    return *at < number->digits.len ? number->digits.text[(*at)++] : '0';
}

/* The order of two numbers above zero with first digits of the same place. */
static int compare_digits(const struct mx_number *a, const struct mx_number *b)
{
    size_t shared = a->count < b->count ? a->count : b->count, at_a = 0, at_b = 0;

    for (size_t i = 0; i < shared; i++) {
        int difference = next_digit(a, &at_a) - next_digit(b, &at_b);

        if (difference != 0)
            return difference;
    }
    return (a->count > b->count) - (a->count < b->count);
}

static int compare_sizes(const struct mx_number *a, const struct mx_number *b)
{
    if (lead_of(a) != lead_of(b))
        return lead_of(a) < lead_of(b) ? -1 : 1;
    return compare_digits(a, b);
}

static int sign_of(const struct mx_number *number)
{
    return number->negative ? -1 : number->count > 0;
}

int mx_number_compare(const struct mx_number *a, const struct mx_number *b)
{
    int sign = sign_of(a);

    if (a->small && b->small)
        return (a->value > b->value) - (a->value < b->value);
    if (sign != sign_of(b))
        return sign - sign_of(b);
    return sign == 0 ? 0 : sign * compare_sizes(a, b);
}

/* `count` digits of a number from `at` on, zeros behind the last. */
static int64_t next_limb(const struct mx_number *number, size_t *at, size_t count)
{
    int64_t limb = 0;

    while (count-- > 0)
        limb = limb * 10 + (next_digit(number, at) - '0');
    return limb;
}

/* True when the remainder by a step of at most 18 digits is 0. */
static bool divides_small(const struct mx_number *step, const struct mx_number *number,
                          size_t length)
{
    size_t at = 0;
    uint64_t rest = 0, by = (uint64_t)next_limb(step, &at, step->count);

    if (by == 0)
        return false; /* a step is above zero */
    at = 0;
    for (size_t i = 0; i < length; i++)
        rest = (rest * 10 + (uint64_t)next_limb(number, &at, 1)) % by;
    return rest == 0;
}

/* Longer steps are cut into limbs of six digits. Limb 0 is the lowest. */
enum { LIMB_DIGITS = 6, LIMB = 1000000 };

static size_t limbs_of(size_t digits)
{
    return (digits + LIMB_DIGITS - 1) / LIMB_DIGITS;
}

/* How many of a number's digits are in its highest limb. */
static size_t first_of(size_t digits)
{
    return (digits - 1) % LIMB_DIGITS + 1;
}

static void subtract(int64_t *rest, const int64_t *step, size_t count, int64_t times)
{
    int64_t borrow = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t limb = rest[i] - times * step[i] - borrow;

        borrow = limb < 0 ? (LIMB - 1 - limb) / LIMB : 0;
        rest[i] = limb + borrow * LIMB;
    }
    rest[count] -= borrow;
}

/* rest = rest * LIMB + next. Then subtracts the step `times` times: a guess from the highest limbs,
 * never too high, because `lead` is rounded up. At a guess of 0 less than twice the step is left:
 * the highest limbs of `rest` do not exceed those of the step. `rest` has one limb more. */
static void shift_in(int64_t *rest, const int64_t *step, size_t count, int64_t next)
{
    int64_t lead = step[count - 1] * LIMB + step[count - 2] + 1, times;

    memmove(rest + 1, rest, count * sizeof *rest);
    rest[0] = next;
    do {
        times = ((rest[count] * LIMB + rest[count - 1]) * LIMB + rest[count - 2]) / lead;
        if (times > 0)
            subtract(rest, step, count, times);
    } while (times > 0);
}

/* True when the rest, less than twice the step, is 0 or equal to the step. */
static bool is_multiple(const int64_t *rest, const int64_t *step, size_t count)
{
    bool is_zero = true;

    for (size_t i = 0; i <= count; i++)
        is_zero = is_zero && rest[i] == 0;
    return is_zero || memcmp(rest, step, count * sizeof *rest) == 0;
}

static enum mx_multiple divides_large(const struct mx_number *step,
                                      const struct mx_number *number, size_t length)
{
    size_t count = limbs_of(step->count), at = 0;
    int64_t *limbs = calloc(2 * count + 1, sizeof *limbs), *rest = limbs + count;
    enum mx_multiple result;

    if (!limbs)
        return MX_MULTIPLE_UNKNOWN;
    for (size_t i = count; i-- > 0;)
        limbs[i] = next_limb(step, &at, i == count - 1 ? first_of(step->count) : LIMB_DIGITS);
    at = 0;
    for (size_t i = limbs_of(length); i-- > 0;)
        shift_in(rest, limbs, count,
                 next_limb(number, &at,
                           i == limbs_of(length) - 1 ? first_of(length) : LIMB_DIGITS));
    result = is_multiple(rest, limbs, count) ? MX_MULTIPLE_YES : MX_MULTIPLE_NO;
    free(limbs);
    return result;
}

enum mx_multiple mx_number_is_multiple(const struct mx_number *number,
                                       const struct mx_number *step, uint64_t *work)
{
    int64_t zeros = number->exponent - step->exponent;
    uint64_t length, cost;

    if (number->small && step->small)
        return number->value % step->value == 0 ? MX_MULTIPLE_YES : MX_MULTIPLE_NO;
    if (number->count == 0)
        return MX_MULTIPLE_YES;
    if (zeros < 0 || (int64_t)number->count + zeros < (int64_t)step->count)
        return MX_MULTIPLE_NO;
    if (zeros > 4 * (int64_t)step->count)
        zeros = 4 * (int64_t)step->count;
    length = number->count + (uint64_t)zeros;
    cost = step->count <= MX_NUMBER_SMALL_DIGITS
               ? 4 * length
               : limbs_of(length) * (limbs_of(step->count) + 16);
    if (cost > *work)
        return MX_MULTIPLE_UNKNOWN;
    *work -= cost;
    if (step->count > MX_NUMBER_SMALL_DIGITS)
        return divides_large(step, number, length);
    return divides_small(step, number, length) ? MX_MULTIPLE_YES : MX_MULTIPLE_NO;
}

/* Decimal places up to which ECMAScript writes a number without an exponent. */
enum { PLACES_MAX = 21, PLACES_MIN = -6 };

static void add_zeros(struct mcpx_text *out, int64_t count)
{
    while (count-- > 0)
        mcpx_text_add(out, "0", 1);
}

/* The digits, with a point after the first `whole` of them. */
static void add_digits(struct mcpx_text *out, const struct mx_number *number, size_t whole)
{
    size_t at = 0;

    if (!mcpx_text_reserve(out, number->count + 1))
        return;
    for (size_t i = 0; i < number->count; i++) {
        char digit = next_digit(number, &at);

        if (i == whole)
            mcpx_text_add(out, ".", 1);
        mcpx_text_add(out, &digit, 1);
    }
}

void mx_number_write(struct mcpx_text *out, const struct mx_number *number)
{
    int64_t places = lead_of(number) + 1;

    if (number->small) {
        mcpx_text_number(out, number->value);
        return;
    }
    if (number->count == 0) {
        mcpx_text_add(out, "0", 1);
        return;
    }
    if (number->negative)
        mcpx_text_add(out, "-", 1);
    if (places > 0 && places <= PLACES_MAX) {
        add_digits(out, number, (size_t)places);
        add_zeros(out, number->exponent);
    } else if (places > PLACES_MIN && places <= 0) {
        mcpx_text_add(out, "0.", 2);
        add_zeros(out, -places);
        add_digits(out, number, number->count);
    } else {
        add_digits(out, number, 1);
        mcpx_text_puts(out, places > 0 ? "e+" : "e");
        mcpx_text_number(out, places - 1);
    }
}
