/*
 * What breaks for whom: a grant that expires at the wrong instant, a `ts` other programs cannot
 * read, two envelopes of the router with one id. Protocol: section 1 (ts), section 3 (expires).
 */
#include "lib/base/ident.h"

#include <criterion/criterion.h>

Test(ident, formats_and_reads_instants)
{
    static const struct {
        const char *text;
        int64_t wall_ms;
        bool canonical; /* is what the router itself writes */
    } rows[] = {
        {"1970-01-01T00:00:00.000Z", 0, true},
        {"2000-02-29T23:59:59.999Z", 951868799999, true},
        {"2026-11-21T23:18:00.001Z", 1795303080001, true},
        {"9999-12-31T23:59:59.999Z", 253402300799999, true},
        {"2026-11-21T23:18:00Z", 1795303080000, false},
        {"2026-11-22t01:18:00.0019+02:00", 1795303080001, false},
        {"2026-11-21 18:48:00-04:30", 1795303080000, false},
        {"1969-12-31T23:59:59Z", -1000, false},
        {"2016-12-31T23:59:60Z", 1483228800000, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char written[MX_TIME_LEN + 1];
        int64_t wall_ms = 1;

        cr_expect(mx_time_parse(mcpx_slice_of(rows[i].text), &wall_ms), "%s", rows[i].text);
        cr_expect_eq(wall_ms, rows[i].wall_ms, "%s read as %lld", rows[i].text,
                     (long long)wall_ms);
        mx_time_format(rows[i].wall_ms, written);
        if (rows[i].canonical)
            cr_expect_str_eq(written, rows[i].text);
    }
}

Test(ident, refuses_what_is_no_date)
{
    static const char *const rows[] = {
        "",
        "2026",
        "2026-11-21",
        "2026-11-21T23:18Z",
        "2026-11-21T23:18:00",
        "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-11-31T00:00:00Z",
        "2026-00-10T00:00:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T23:60:00Z",
        "2026-11-21T23:18:61Z",
        "2026-11-21T23:18:00.Z",
        "2026-11-21T23:18:00+2:00",
        "2026-11-21T23:18:00+24:00",
        "2026-11-21T23:18:00Zx",
        "+026-11-21T23:18:00Z",
        "2026-11-21T23:18:00+0200",
        "20261121T231800Z",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t wall_ms = 42;

        cr_expect_not(mx_time_parse(mcpx_slice_of(rows[i]), &wall_ms), "%s", rows[i]);
        cr_expect_eq(wall_ms, 42, "'%s' touched the result", rows[i]);
    }
}

Test(ident, clamps_dates_nobody_can_write)
{
    char written[MX_TIME_LEN + 1];

    mx_time_format(-5, written);
    cr_expect_str_eq(written, "1970-01-01T00:00:00.000Z");
    mx_time_format(INT64_MAX, written);
    cr_expect_str_eq(written, "9999-12-31T23:59:59.999Z");
}

Test(ident, writes_version_4_uuids)
{
    static const unsigned char zeros[16];
    static const unsigned char ones[16] = {255, 255, 255, 255, 255, 255, 255, 255,
                                           255, 255, 255, 255, 255, 255, 255, 255};
    char written[MX_UUID_LEN + 1];

    mx_uuid_format(zeros, written);
    cr_expect_str_eq(written, "00000000-0000-4000-8000-000000000000");
    mx_uuid_format(ones, written);
    cr_expect_str_eq(written, "ffffffff-ffff-4fff-bfff-ffffffffffff");
}
