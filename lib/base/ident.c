/*
 * ident.c - UUIDs and RFC 3339 dates. Dates are computed here, by days in eras of 400 years that
 * begin in March. Rejected: gmtime(); it shares state with every other caller in the process and
 * has no bounds.
 */
#include "lib/base/ident.h"

#include "lib/base/digits.h"

bool mx_id_is_among(struct mcpx_slice id, const struct mcpx_slice *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (mcpx_slice_equal(ids[i], id))
            return true;
    return false;
}

static const int64_t ms_per_day = 86400000;

/* 9999-12-31T23:59:59.999Z: the last instant four year digits can name. */
static const int64_t wall_ms_max = 253402300799999;

static const char digits[] = "0123456789abcdef";

void mx_hex_format(const unsigned char *bytes, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

void mx_uuid_format(const unsigned char random[16], char out[MX_UUID_LEN + 1])
{
    unsigned char bytes[16];

    memcpy(bytes, random, sizeof bytes);
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40); /* version 4 */
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80); /* RFC 9562 variant */
    for (size_t i = 0; i < sizeof bytes; out += 2, i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        mx_hex_format(&bytes[i], 1, out);
    }
}

/* Days since 1970-01-01 of a proleptic Gregorian date. */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
    int64_t shifted = month <= 2 ? year - 1 : year; /* the year starts in March */
    int64_t era = (shifted >= 0 ? shifted : shifted - 399) / 400;
    int64_t year_of_era = shifted - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

static void civil_from_days(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
    int64_t shifted = days + 719468;
    int64_t era = shifted / 146097; /* never negative here: dates start in 1970 */
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t march_month = (5 * day_of_year + 2) / 153;

    *day = day_of_year - (153 * march_month + 2) / 5 + 1;
    *month = march_month < 10 ? march_month + 3 : march_month - 9;
    *year = year_of_era + era * 400 + (*month <= 2);
}

static void put_digits(char *out, int64_t number, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        out[i] = (char)('0' + number % 10);
        number /= 10;
    }
}

void mx_time_format(int64_t wall_ms, char out[MX_TIME_LEN + 1])
{
    int64_t year, month, day, ms;

    if (wall_ms < 0)
        wall_ms = 0;
    if (wall_ms > wall_ms_max)
        wall_ms = wall_ms_max;
    civil_from_days(wall_ms / ms_per_day, &year, &month, &day);
    ms = wall_ms % ms_per_day;
    memcpy(out, "0000-00-00T00:00:00.000Z", MX_TIME_LEN + 1);
    put_digits(out, year, 4);
    put_digits(out + 5, month, 2);
    put_digits(out + 8, day, 2);
    put_digits(out + 11, ms / 3600000, 2);
    put_digits(out + 14, ms / 60000 % 60, 2);
    put_digits(out + 17, ms / 1000 % 60, 2);
    put_digits(out + 20, ms % 1000, 3);
}

/* Reads exactly `width` digits; false when there are fewer. */
static bool take_digits(struct mcpx_slice *rest, size_t width, int64_t *number)
{
    uint64_t value;

    if (rest->len < width ||
        !mx_decimal_read((struct mcpx_slice){rest->text, width}, INT64_MAX, &value))
        return false;
    *rest = mx_behind(*rest, width);
    *number = (int64_t)value;
    return true;
}

/* Takes one of the accepted bytes, and returns it; 0 when another one is there. */
static char take_any(struct mcpx_slice *rest, const char *accepted)
{
    char taken = rest->len > 0 ? rest->text[0] : '\0';

    if (!taken || !strchr(accepted, taken))
        return '\0';
    *rest = mx_behind(*rest, 1);
    return taken;
}

/* ".123456" to 123; nothing to 0. A dot without a digit is a fault. */
static bool take_fraction(struct mcpx_slice *rest, int64_t *ms)
{
    int64_t digit, weight = 100;

    *ms = 0;
    if (!take_any(rest, "."))
        return true;
    if (!take_digits(rest, 1, &digit))
        return false;
    do {
        *ms += digit * weight;
        weight /= 10;
    } while (take_digits(rest, 1, &digit));
    return true;
}

static bool take_offset(struct mcpx_slice *rest, int64_t *ms)
{
    char sign = take_any(rest, "Zz+-");
    int64_t hours, minutes;

    *ms = 0;
    if (!sign || sign == 'Z' || sign == 'z')
        return sign;
    if (!take_digits(rest, 2, &hours) || !take_any(rest, ":") ||
        !take_digits(rest, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *ms = (hours * 60 + minutes) * 60000 * (sign == '-' ? -1 : 1);
    return true;
}

static int64_t days_in_month(int64_t year, int64_t month)
{
    static const int64_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month == 2 && leap ? 29 : days[month - 1];
}

static bool take_date(struct mcpx_slice *rest, int64_t *days)
{
    int64_t year, month, day;

    if (!take_digits(rest, 4, &year) || !take_any(rest, "-") ||
        !take_digits(rest, 2, &month) || !take_any(rest, "-") || !take_digits(rest, 2, &day))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
        return false;
    *days = days_from_civil(year, month, day);
    return true;
}

static bool take_time(struct mcpx_slice *rest, int64_t *ms)
{
    int64_t hour, minute, second, fraction;

    if (!take_digits(rest, 2, &hour) || !take_any(rest, ":") ||
        !take_digits(rest, 2, &minute) || !take_any(rest, ":") ||
        !take_digits(rest, 2, &second) || !take_fraction(rest, &fraction))
        return false;
    if (hour > 23 || minute > 59 || second > 60)
        return false;
    *ms = ((hour * 60 + minute) * 60 + second) * 1000 + fraction;
    return true;
}

bool mx_time_parse(struct mcpx_slice text, int64_t *wall_ms)
{
    struct mcpx_slice rest = text;
    int64_t days, ms, offset;

    if (!take_date(&rest, &days) || !take_any(&rest, "Tt ") || !take_time(&rest, &ms) ||
        !take_offset(&rest, &offset) || rest.len > 0)
        return false;
    *wall_ms = days * ms_per_day + ms - offset;
    return true;
}
