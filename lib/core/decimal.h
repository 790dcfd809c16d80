/*
 * decimal.h - whole numbers in decimal digits, as headers, query strings and payloads have them.
 */
#ifndef MX_DECIMAL_H
#define MX_DECIMAL_H

#include <mcpx/base.h>

/**
 * Reads 1 to 18 digits and nothing else: no sign, no blank. Zeros may lead.
 *
 * max   the largest number that is taken
 */
bool mx_decimal_read(struct mcpx_slice text, uint64_t max, uint64_t *out);

/**
 * Reads any number of digits and nothing else. A number above `max` counts as `max`: for limits and
 * pauses, where a number that is too large must not look like none.
 */
bool mx_decimal_clamp(struct mcpx_slice text, uint64_t max, uint64_t *out);

#endif
