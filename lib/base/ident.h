/*
 * ident.h - identifiers made from given random bytes, lists of identifiers, hexadecimal digits,
 * dates made from given times. It reads no clock and no random source.
 */
#ifndef MX_IDENT_H
#define MX_IDENT_H

#include <mcpx/base.h>

enum { MX_UUID_LEN = 36, MX_TIME_LEN = 24 };

/** Writes bytes as `2 * count` hexadecimal digits, in lower case, and a NUL. */
void mx_hex_format(const unsigned char *bytes, size_t count, char *out);

/** Writes a version 4 UUID made of 16 random bytes, and a NUL. RFC 9562 section 5.4. */
void mx_uuid_format(const unsigned char random[16], char out[MX_UUID_LEN + 1]);

/** True when `id` is in the list. */
bool mx_id_is_among(struct mcpx_slice id, const struct mcpx_slice *ids, size_t count);

/**
 * Writes an instant as "2026-01-31T23:59:59.123Z" and a NUL.
 *
 * wall_ms   milliseconds since 1970; clamped to years 1970..9999
 */
void mx_time_format(int64_t wall_ms, char out[MX_TIME_LEN + 1]);

/**
 * Reads an RFC 3339 date-time (any offset, fraction of any length, cut to milliseconds; a leap
 * second reads as the second after it). Returns false, with `wall_ms` untouched, for any other
 * text.
 */
bool mx_time_parse(struct mcpx_slice text, int64_t *wall_ms);

#endif
