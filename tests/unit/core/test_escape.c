/*
 * What breaks for whom: a `kind` or `from` written with escapes slips past a rule that its plain
 * form would hit, or an id comes back changed. RFC 8259 section 7. Protocol: section 1.
 */
#include "lib/json/scan.h"
#include "tests/support/count.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define T(literal)                                                                            \
    {                                                                                         \
        literal, sizeof(literal) - 1                                                          \
    }

Test(escape, undoes_escapes)
{
    static const struct {
        struct mcpx_slice raw, expected;
        bool whole;
    } rows[] = {
        {T(""), T(""), true},
        {T("plain \xc3\xa9"), T("plain \xc3\xa9"), true},
        {T("\\\"\\\\\\/\\b\\f\\n\\r\\t"), T("\"\\/\b\f\n\r\t"), true},
        {T("mcp\\/request"), T("mcp/request"), true},
        {T("k\\u0069nd"), T("kind"), true},
        {T("\\\\u0069"), T("\\u0069"), true},
        {T("\\\\\\u0069"), T("\\i"), true},
        {T("\\u0000"), T("\0"), true},
        {T("a\\u0000b"), T("a\0b"), true},
        {T("\\u007f"), T("\x7f"), true},
        {T("\\u0080"), T("\xc2\x80"), true},
        {T("\\u07FF"), T("\xdf\xbf"), true},
        {T("\\u07ff\\u0800"), T("\xdf\xbf\xe0\xa0\x80"), true},
        {T("\\ud7ff\\ue000\\uffff"), T("\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"), true},
        {T("\\uFEFF"), T("\xef\xbb\xbf"), true},
        {T("\\ud800\\udc00"), T("\xf0\x90\x80\x80"), true},
        {T("\\uD83D\\uDE00!"), T("\xf0\x9f\x98\x80!"), true},
        {T("\\udbff\\udfff"), T("\xf4\x8f\xbf\xbf"), true},
        {T("\\ud800"), T("\xef\xbf\xbd"), false},
        {T("\\udfff"), T("\xef\xbf\xbd"), false},
        {T("\\ud800x"), T("\xef\xbf\xbdx"), false},
        {T("\\ud800\\n"), T("\xef\xbf\xbd\n"), false},
        {T("\\ud800\\u0041"),
         T("\xef\xbf\xbd"
           "A"),
         false},
        {T("\\udc00\\ud800"), T("\xef\xbf\xbd\xef\xbf\xbd"), false},
        {T("\\ud800\\ud800\\udc00"), T("\xef\xbf\xbd\xf0\x90\x80\x80"), false},
        {T("\\u0041\\udc00"), T("A\xef\xbf\xbd"), false},
        {T("\\ud800xudc00"),
         T("\xef\xbf\xbd"
           "xudc00"),
         false},
        {T("\\ue000\\udc00"), T("\xee\x80\x80\xef\xbf\xbd"), false},
        {T("\\ud800\\\\udc00"), T("\xef\xbf\xbd\\udc00"), false},
        {T("\\ud800udc00"),
         T("\xef\xbf\xbd"
           "udc00"),
         false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_slice raw = rows[i].raw;
        char *out = malloc(raw.len ? raw.len : 1); /* the room the contract asks for */
        size_t len = 99;
        bool whole = mx_unescape(raw, out, &len);

        cr_expect_eq(whole, rows[i].whole, "%s", raw.text);
        cr_expect(mcpx_slice_equal((struct mcpx_slice){out, len}, rows[i].expected),
                  "%s became %.*s", raw.text, (int)len, out);
        cr_expect_leq(len, raw.len);
        free(out);
    }
}

Test(escape, undoes_every_code_point_as_utf8)
{
    size_t wrong = 0;

    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char raw[16], out[16];
        size_t len;
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        uint32_t rest = code - 0x10000;

        if (code < 0x10000)
            snprintf(raw, sizeof raw, "\\u%04x", (unsigned)code);
        else
            snprintf(raw, sizeof raw, "\\u%04X\\u%04x", 0xd800 + (unsigned)(rest >> 10),
                     0xdc00 + (unsigned)(rest & 0x3ff));
        wrong += mx_unescape(mcpx_slice_of(raw), out, &len) == surrogate;
        wrong += !mx_utf8_is_valid((struct mcpx_slice){out, len}, NULL);
        wrong += mx_utf8_sequence((unsigned char *)out, (unsigned char *)out + len) != len;
    }
    cr_expect_eq(wrong, 0, "%zu faults", wrong);
}
