/*
 * time.c - the times that envelopes carry. strptime was refused: it follows the locale and knows
 * neither fractions nor offsets.
 * Includes entry.h only.
 */
#include "tools/mcpxctl/entry.h"

/* Digits from `at` on; -1 when one of them is none. */
static int64_t digits(struct mcpx_slice text, size_t at, size_t count)
{
    int64_t number = 0;

    if (text.len < at + count)
        return -1;
    for (size_t i = at; i < at + count; i++) {
        if (text.text[i] < '0' || text.text[i] > '9')
            return -1;
        number = number * 10 + (text.text[i] - '0');
    }
    return number;
}

/* Days from 1970-01-01 in the Gregorian calendar; years count from March. */
static int64_t days_before(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month > 2 ? year : year - 1, m = (month + 9) % 12;

    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool has_marks(struct mcpx_slice text)
{
    return text.len >= 20 && text.text[4] == '-' && text.text[7] == '-' &&
           (text.text[10] | 0x20) == 't' && text.text[13] == ':' && text.text[16] == ':';
}

/* The offset at the end, in minutes east. False when it is none. */
static bool read_offset(struct mcpx_slice text, size_t at, int64_t *minutes)
{
    int64_t hour, minute;

    *minutes = 0;
    if (at + 1 == text.len && (text.text[at] | 0x20) == 'z')
        return true;
    if (at + 6 != text.len || text.text[at + 3] != ':' ||
        (text.text[at] != '+' && text.text[at] != '-'))
        return false;
    hour = digits(text, at + 1, 2);
    minute = digits(text, at + 4, 2);
    *minutes = (text.text[at] == '-' ? -1 : 1) * (hour * 60 + minute);
    return hour >= 0 && hour < 24 && minute >= 0 && minute < 60;
}

/* Milliseconds of the fraction at *at, which is moved behind it. */
static int64_t read_fraction(struct mcpx_slice text, size_t *at)
{
    int64_t ms = 0, weight = 100;

    if (text.text[*at] != '.')
        return 0;
    while (++*at < text.len && text.text[*at] >= '0' && text.text[*at] <= '9') {
        ms += weight * (text.text[*at] - '0');
        weight /= 10;
    }
    return ms;
}

int64_t time_read(struct mcpx_slice text)
{
    int64_t year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
    int64_t hour = digits(text, 11, 2), minute = digits(text, 14, 2);
    int64_t second = digits(text, 17, 2), offset, ms, days;
    size_t at = 19;

    if (!has_marks(text) || year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 ||
        hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return -1;
    ms = read_fraction(text, &at);
    if (!read_offset(text, at, &offset))
        return -1;
    days = days_before(year, month, day);
    return (((days * 24 + hour) * 60 + minute - offset) * 60 + second) * 1000 + ms;
}
