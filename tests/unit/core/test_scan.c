/*
 * What breaks for whom: a text that one reader accepts and another refuses poisons a topic's
 * history for everybody; a fault without its place leaves an author guessing.
 * Protocol: section 1 (UTF-8, well-formed JSON, nesting).
 */
#include "lib/json/scan.h"
#include "tests/support/count.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

struct refusal {
    struct mcpx_slice text;
    size_t offset;
    const char *reason;
};

static void expect_refusal(const struct refusal *row, enum mcpx_err expected)
{
    struct mx_scan scan;
    struct mcpx_fault fault = {"", NULL, 0};
    enum mcpx_err err = mx_scan(row->text, 0, &scan, &fault);

    cr_expect_eq(err, expected, "%.*s gave %d", (int)row->text.len, row->text.text, (int)err);
    if (err != expected)
        return;
    cr_expect_eq(fault.offset, row->offset, "%.*s refused at %zu", (int)row->text.len,
                 row->text.text, fault.offset);
    cr_expect_str_eq(fault.reason, row->reason, "%.*s refused: %s", (int)row->text.len,
                     row->text.text, fault.reason);
    cr_expect_str_eq(fault.field, "");
}

static void expect_refusals(const struct refusal *rows, size_t count, enum mcpx_err expected)
{
    for (size_t i = 0; i < count; i++)
        expect_refusal(&rows[i], expected);
}

#define T(literal)                                                                            \
    {                                                                                         \
        literal, sizeof(literal) - 1                                                          \
    }

Test(scan, accepts_every_form_of_json)
{
    static const struct {
        struct mcpx_slice text;
        enum mcpx_json_type type;
        size_t depth; /* a scalar: 0, {}: 1 */
    } rows[] = {
        {T("{}"), MCPX_JSON_OBJECT, 1},
        {T(" \t\r\n{ \t\r\n} \t\r\n"), MCPX_JSON_OBJECT, 1},
        {T("[]"), MCPX_JSON_ARRAY, 1},
        {T("[ ]"), MCPX_JSON_ARRAY, 1},
        {T("\"\""), MCPX_JSON_STRING, 0},
        {T("0"), MCPX_JSON_NUMBER, 0},
        {T("-0"), MCPX_JSON_NUMBER, 0},
        {T("-0.0e-0"), MCPX_JSON_NUMBER, 0},
        {T("12345678901234567890123456789012345678901234567890"), MCPX_JSON_NUMBER, 0},
        {T("1e400"), MCPX_JSON_NUMBER, 0},
        {T("1.10"), MCPX_JSON_NUMBER, 0},
        {T("-1.5E+10"), MCPX_JSON_NUMBER, 0},
        {T("0e1"), MCPX_JSON_NUMBER, 0},
        {T("true"), MCPX_JSON_BOOL, 0},
        {T("false"), MCPX_JSON_BOOL, 0},
        {T("null"), MCPX_JSON_NULL, 0},
        {T("[[[[]],{}]]"), MCPX_JSON_ARRAY, 4},
        {T("{\"a\":{\"b\":[{}]}}"), MCPX_JSON_OBJECT, 4},
        {T("[1,{\"a\":[2,{\"a\":3,\"b\":[[]]}],\"c\":{}},4]"), MCPX_JSON_ARRAY, 6},
        {T("{\"a\":1,\"a\":2}"), MCPX_JSON_OBJECT,
         1}, /* doubles are mx_scan_duplicate's affair */
        {T("{\"\":\"\"}"), MCPX_JSON_OBJECT, 1},
        {T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uABCD\\uabcd\""), MCPX_JSON_STRING, 0},
        {T("\"\\ud800\""), MCPX_JSON_STRING, 0}, /* well-formed text, if no Unicode string */
        {T("\"\\udc00\\ud800\""), MCPX_JSON_STRING, 0},
        {T("\"\x7f\""), MCPX_JSON_STRING, 0},
        {T("\"12345678\""), MCPX_JSON_STRING, 0},
        {T("\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\""),
         MCPX_JSON_STRING, 0},
        {T("\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\""), MCPX_JSON_STRING, 0},
        {T("\"\xef\xbb\xbf\""), MCPX_JSON_STRING,
         0}, /* a BOM inside a string is a character */
        {T("{\"\xc3\xa9\":\"\xe2\x82\xac\"}"), MCPX_JSON_OBJECT, 1},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_scan scan;
        struct mcpx_fault fault = {"", "", 0};
        enum mcpx_err err = mx_scan(rows[i].text, 0, &scan, &fault);

        cr_expect_eq(err, MCPX_OK, "%s: %s", rows[i].text.text, fault.reason);
        if (err)
            continue;
        cr_expect_eq(scan.type, rows[i].type, "%s", rows[i].text.text);
        cr_expect_eq(mx_scan(rows[i].text, rows[i].depth, &scan, &fault), MCPX_OK);
        cr_expect(rows[i].depth < 2 ||
                      mx_scan(rows[i].text, rows[i].depth - 1, &scan, &fault) != MCPX_OK,
                  "%s", rows[i].text.text);
    }
}

Test(scan, says_what_is_wrong_between_values)
{
    static const struct refusal rows[] = {
        {T(""), 0, "text ends where a value was expected"},
        {T(" \n"), 2, "text ends where a value was expected"},
        {T("{"), 1, "text ends where a member name was expected"},
        {T("{\"a\""), 4, "text ends where a ':' was expected"},
        {T("{\"a\":"), 5, "text ends where a value was expected"},
        {T("{\"a\":1"), 6, "text ends inside an object"},
        {T("{\"a\":1,"), 7, "text ends where a member name was expected"},
        {T("["), 1, "text ends where a value was expected"},
        {T("[1"), 2, "text ends inside an array"},
        {T("[1,"), 3, "text ends where a value was expected"},
        {T("[{\"a\":1"), 7, "text ends inside an object"},
        {T("{} {}"), 3, "expected nothing after the JSON value"},
        {T("{},"), 2, "expected nothing after the JSON value"},
        {T("{}\0"), 2, "expected nothing after the JSON value"},
        {T("[]]"), 2, "expected nothing after the JSON value"},
        {T("1 2"), 2, "expected nothing after the JSON value"},
        {T("{\"a\":1,}"), 7, "expected a member name between ',' and '}'"},
        {T("[{\"a\":1 , }]"), 10, "expected a member name between ',' and '}'"},
        {T("{,}"), 1, "expected a member name in double quotes"},
        {T("{a:1}"), 1, "expected a member name in double quotes"},
        {T("{'a':1}"), 1, "expected a member name in double quotes"},
        {T("{1:1}"), 1, "expected a member name in double quotes"},
        {T("{\"a\" 1}"), 5, "expected ':' after a member name"},
        {T("{\"a\",1}"), 4, "expected ':' after a member name"},
        {T("{\"a\"::1}"), 5, "expected a value before this"},
        {T("{\"a\":}"), 5, "expected a value before this"},
        {T("[{\"a\":}]"), 6, "expected a value before this"},
        {T("{\"a\":1 \"b\":2}"), 7, "expected ',' or '}' after a member"},
        {T("{\"a\":1]"), 6, "expected ',' or '}' after a member"},
        {T("[{\"a\":1]"), 7, "expected ',' or '}' after a member"},
        {T("[1 2]"), 3, "expected ',' or ']' after an element"},
        {T("[1}"), 2, "expected ',' or ']' after an element"},
        {T("[\"a\":1]"), 4, "expected ',' or ']' after an element"},
        {T("[1,]"), 3, "expected a value before this"},
        {T("[,1]"), 1, "expected a value before this"},
        {T("}"), 0, "expected a value before this"},
        {T("]"), 0, "expected a value before this"},
        {T("[}"), 1, "expected a value before this"},
    };

    expect_refusals(rows, COUNT(rows), MCPX_EINVALID);
}

Test(scan, says_what_is_wrong_with_a_value)
{
    static const struct refusal rows[] = {
        {T("\xef\xbb\xbf{}"), 0, "byte order mark, expected the text to begin without one"},
        {T("\xef\xbb\xbf"), 0, "byte order mark, expected the text to begin without one"},
        {T("'a'"), 0, "expected a value; strings take double quotes"},
        {T("/* */1"), 0, "expected a value; JSON has no comments"},
        {T("# x"), 0, "expected a value; JSON has no comments"},
        {T("[// x\n1]"), 1, "expected a value; JSON has no comments"},
        {T("+1"), 0, "expected a value; numbers begin with a digit or '-'"},
        {T(".5"), 0, "expected a value; numbers begin with a digit or '-'"},
        {T("NaN"), 0, "expected a value; JSON has no NaN or Infinity"},
        {T("Infinity"), 0, "expected a value; JSON has no NaN or Infinity"},
        {T("True"), 0, "expected a value; true, false and null are lower case"},
        {T("False"), 0, "expected a value; true, false and null are lower case"},
        {T("undefined"), 0, "expected a value"},
        {T("\v1"), 0, "expected a value"},
        {T("\xc2\xa0{}"), 0, "expected a value"},
        {T("\xef\xbf\xbf"), 0, "expected a value"},
        {T("\0"), 0, "expected a value"},
        {T("\\"), 0, "expected a value"},
        {T("t"), 1, "expected 'true'"},
        {T("trve"), 2, "expected 'true'"},
        {T("fals"), 4, "expected 'false'"},
        {T("nulL"), 3, "expected 'null'"},
        {T("[nul]"), 4, "expected 'null'"},
        {T("nulll"), 4, "expected nothing after the JSON value"},
        {T("-"), 1, "expected a digit after '-'"},
        {T("--1"), 1, "expected a digit after '-'"},
        {T("-a"), 1, "expected a digit after '-'"},
        {T("-Infinity"), 1, "expected a digit after '-'"},
        {T("00"), 1, "expected no digit after a leading 0"},
        {T("-01"), 2, "expected no digit after a leading 0"},
        {T("0x1"), 1, "expected nothing after the JSON value"},
        {T("1."), 2, "expected a digit after the decimal point"},
        {T("1.e1"), 2, "expected a digit after the decimal point"},
        {T("[-.5]"), 2, "expected a digit after '-'"},
        {T("1e"), 2, "expected a digit in the exponent"},
        {T("1e+"), 3, "expected a digit in the exponent"},
        {T("1E-x"), 3, "expected a digit in the exponent"},
        {T("1.2.3"), 3, "expected nothing after the JSON value"},
        {T("1e2e3"), 3, "expected nothing after the JSON value"},
        {T("1e2.5"), 3, "expected nothing after the JSON value"},
    };

    expect_refusals(rows, COUNT(rows), MCPX_EINVALID);
}

Test(scan, says_what_is_wrong_inside_a_string)
{
    static const char control[] = "control character in a string, expected an escape";
    static const char escape[] = "expected one of \" \\ / b f n r t u after '\\'";
    static const char hex[] = "expected four hexadecimal digits after '\\u'";
    static const char ends[] = "text ends inside a string";
    static const struct refusal rows[] = {
        {T("\""), 1, ends},
        {T("\"abc"), 4, ends},
        {T("\"12345678"), 9, ends},
        {T("\"\\"), 2, ends},
        {T("\"\\\""), 3, ends},
        {T("\"\\u"), 3, ends},
        {T("\"\\u123"), 6, ends},
        {T("\"a\nb\""), 2, control},
        {T("\"\0\""), 1, control},
        {T("\"\x1f\""), 1, control},
        {T("\"12345678\t\""), 9, control},
        {T("\"1234567\t90\""), 8, control},
        {T("\"\\a\""), 2, escape},
        {T("\"\\'\""), 2, escape},
        {T("\"\\U0041\""), 2, escape},
        {T("\"\\x41\""), 2, escape},
        {T("\"\\\0\""), 2, escape},
        {T("\"\\\xc3\xa9\""), 2, escape},
        {T("\"\\u\""), 3, hex},
        {T("\"\\u12g4\""), 5, hex},
        {T("\"\\u123\""), 6, hex},
        {T("\"\\u-123\""), 3, hex},
        {T("\"\\u00 0\""), 5, hex},
        {T("\"\\u@ABC\""), 3, hex},
        {T("{\"a\nb\":1}"), 3, control},
        {T("{\"\\z\":1}"), 3, escape},
    };

    expect_refusals(rows, COUNT(rows), MCPX_EINVALID);
}

Test(scan, answers_bytes_that_are_no_text_before_anything_else)
{
    static const char reason[] = "expected UTF-8, found bytes that are none";
    static const struct refusal rows[] = {
        {T("\xff"), 0, reason},
        {T("\"\xff\""), 1, reason},
        {T("\"\xc3\""), 1, reason},
        {T("{\"\x80\":1}"), 2, reason},
        {T("{} \xff"), 3, reason},
        {T("\"\xed\xa0\x80\""), 1, reason},
        {T("\"12345678\xc0\x80\""), 9, reason},
        {T("oops \"\xc3\xa9 \xfe\""), 9, reason}, /* the JSON fault stands before it */
        {T("{\"a\":1,} \xe2\x82"), 9, reason},
        {T("[\"\\x\", \"\xf5\x80\x80\x80\"]"), 8, reason},
        {T("\xff\xfe{\0}\0"), 0, reason}, /* UTF-16 */
    };

    expect_refusals(rows, COUNT(rows), MCPX_EUTF8);
}

Test(scan, finds_faults_at_every_place_of_a_word)
{
    /* strings are read in words of eight bytes: no place in or after one may be special */
    static const char bad[] = {'\n', '\0', '\x1f', '"', '\\', '\x80', '\xff'};
    char text[64];

    for (size_t len = 0; len < 40; len++)
        for (size_t at = 0; at < len; at++)
            for (size_t which = 0; which < sizeof bad; which++) {
                struct mx_scan scan;
                struct mcpx_fault fault = {"", "", 0};
                size_t noticed = bad[which] == '"' || bad[which] == '\\' ? at + 2 : at + 1;

                memset(text, 'z', sizeof text);
                text[0] = '"';
                text[1 + at] = bad[which];
                text[1 + len] = '"';
                if (bad[which] == '\\' && at + 1 == len)
                    noticed = len + 2;
                cr_expect_neq(mx_scan((struct mcpx_slice){text, len + 2}, 0, &scan, &fault),
                              MCPX_OK);
                cr_expect_eq(fault.offset, noticed, "%d at %zu of %zu: noticed at %zu",
                             bad[which], at, len, fault.offset);
            }
}

Test(scan, refuses_every_byte_from_128_on_outside_strings)
{
    for (int byte = 0x80; byte <= 0xff; byte++) {
        char text[] = "[1,x]";
        struct mx_scan scan;
        struct mcpx_fault fault;

        text[3] = (char)byte;
        cr_expect_eq(mx_scan(mcpx_slice_of(text), 0, &scan, &fault), MCPX_EUTF8, "%02x", byte);
    }
}

Test(scan, refuses_every_cut_of_a_text)
{
    static const char whole[] =
        "{\"protocol\":\"mcpx/"
        "v0.1\",\"n\":[-1.5e+3,true,false,null,{\"\\u00e9\":\"\xc3\xa9\"}],"
        "\"k\\u0069nd\":\"chat\",\"payload\":{}}";
    size_t len = sizeof whole - 1;
    struct mx_scan scan;
    struct mcpx_fault fault;

    cr_assert_eq(mx_scan((struct mcpx_slice){whole, len}, 0, &scan, &fault), MCPX_OK);
    for (size_t cut = 0; cut < len; cut++) {
        char *copy = malloc(cut + 1); /* ends with its block: a read too far is seen */

        memcpy(copy + 1, whole, cut);
        cr_expect_neq(mx_scan((struct mcpx_slice){copy + 1, cut}, 0, &scan, &fault), MCPX_OK,
                      "cut at %zu", cut);
        cr_expect_leq(fault.offset, cut, "cut at %zu, noticed at %zu", cut, fault.offset);
        free(copy);
    }
    cr_expect_neq(mx_scan((struct mcpx_slice){NULL, 0}, 0, &scan, &fault), MCPX_OK);
}

/* `depth` brackets of a kind, closed or not: "[[...]]" or {"a":{"a":...}} */
static struct mcpx_slice nested(size_t depth, bool objects, bool closed)
{
    size_t step = objects ? 5 : 1;
    char *text = malloc(depth * (step + 1) + 1);
    size_t len = 0;

    for (size_t i = 0; i < depth; i++) {
        memcpy(text + len, objects ? "{\"a\":" : "[", step);
        len += step;
    }
    if (objects)
        len -= 4; /* the innermost is empty */
    for (size_t i = 0; closed && i < depth; i++)
        text[len++] = objects ? '}' : ']';
    return (struct mcpx_slice){text, len};
}

Test(scan, counts_nesting_and_refuses_one_too_many)
{
    static const struct {
        size_t depth;
        size_t max;
        bool accepted;
    } rows[] = {
        {1, 1, true},         {2, 1, false},         {63, 63, true},     {64, 64, true},
        {65, 65, true},       {65, 64, false},       {128, 128, true},   {511, 512, true},
        {512, 512, true},     {513, 512, false},     {65535, 0, true},   {65536, 0, true},
        {65537, 0, false},    {65537, 99999, false}, {100000, 0, false}, {100000, 512, false},
        {65536, 70000, true},
    };

    for (size_t i = 0; i < COUNT(rows) * 2; i++) {
        size_t depth = rows[i / 2].depth, max = rows[i / 2].max;
        bool objects = i % 2;
        struct mcpx_slice text = nested(depth, objects, true);
        size_t limit = max && max < MX_DEPTH_MAX ? max : MX_DEPTH_MAX;
        struct mx_scan scan;
        struct mcpx_fault fault = {"", "", 0};
        enum mcpx_err err = mx_scan(text, max, &scan, &fault);

        cr_expect_eq(err == MCPX_OK, rows[i / 2].accepted, "%zu of %zu: %s", depth, max,
                     fault.reason);
        if (err == MCPX_OK) {
            cr_expect(depth == 1 || mx_scan(text, depth - 1, &scan, &fault), "%zu", depth);
        } else {
            cr_expect_eq(fault.offset, limit * (objects ? 5 : 1), "%zu", fault.offset);
            cr_expect_str_eq(fault.reason, "nesting is deeper than the limit");
        }
        free((char *)text.text);
    }
}

Test(scan, survives_brackets_nobody_closes)
{
    for (int objects = 0; objects < 2; objects++) {
        struct mcpx_slice text = nested(100000, objects, false);
        struct mx_scan scan;
        struct mcpx_fault fault;

        cr_expect_eq(mx_scan(text, 0, &scan, &fault), MCPX_EINVALID);
        cr_expect_eq(mx_scan(text, 512, &scan, &fault), MCPX_EINVALID);
        free((char *)text.text);
    }
}

Test(scan, remembers_which_bracket_closes_which)
{
    /* each text is right but for one bracket, at depths around the words of the bit stack */
    static const size_t depths[] = {1, 2, 3, 62, 63, 64, 65, 66, 127, 128, 129, 1000};

    for (size_t i = 0; i < COUNT(depths); i++) {
        size_t depth = depths[i];
        char *text = malloc(depth * 6 + 2);
        size_t len = 0, closers;
        struct mx_scan scan;
        struct mcpx_fault fault = {"", "", 0};

        for (size_t d = 0; d < depth; d++) {
            bool object = d * 7 % 3 == 0;

            memcpy(text + len, object ? "{\"a\":" : "[", object ? 5 : 1);
            len += object ? 5 : 1;
        }
        text[len++] = '0';
        closers = len;
        for (size_t d = depth; d-- > 0;)
            text[len++] = d * 7 % 3 == 0 ? '}' : ']';
        cr_expect_eq(mx_scan((struct mcpx_slice){text, len}, 0, &scan, &fault), MCPX_OK,
                     "%zu: %s at %zu", depth, fault.reason, fault.offset);
        for (size_t at = closers; at < len; at++) {
            text[at] = text[at] == '}' ? ']' : '}';
            cr_expect_eq(mx_scan((struct mcpx_slice){text, len}, 0, &scan, &fault),
                         MCPX_EINVALID);
            cr_expect_eq(fault.offset, at, "%zu", fault.offset);
            text[at] = text[at] == '}' ? ']' : '}';
        }
        free(text);
    }
}

static void expect_slice(struct mcpx_slice found, const char *expected)
{
    cr_expect(mcpx_slice_equal(found, mcpx_slice_of(expected)), "'%.*s' instead of '%s'",
              (int)found.len, found.text, expected);
}

Test(scan, finds_the_extents_of_top_level_members)
{
    static const char text[] =
        " { \"a\" : 1 ,\"b\\n\":\"x\\ty\", \"\":[ {\"a\":[]} ] ,"
        "\"c\":{\"d\":\"\\\\\"},\"e\":null,\"f\":false , \"g\":-0.5e1}\n";
    static const struct {
        const char *name;
        const char *value;
        enum mcpx_json_type type;
        bool name_escaped, value_escaped;
    } rows[] = {
        {"a", "1", MCPX_JSON_NUMBER, false, false},
        {"b\\n", "\"x\\ty\"", MCPX_JSON_STRING, true, true},
        {"", "[ {\"a\":[]} ]", MCPX_JSON_ARRAY, false, false},
        {"c", "{\"d\":\"\\\\\"}", MCPX_JSON_OBJECT, false, true},
        {"e", "null", MCPX_JSON_NULL, false, false},
        {"f", "false", MCPX_JSON_BOOL, false, false},
        {"g", "-0.5e1", MCPX_JSON_NUMBER, false, false},
    };
    struct mx_scan scan;
    struct mcpx_fault fault;

    cr_assert_eq(mx_scan(mcpx_slice_of(text), 0, &scan, &fault), MCPX_OK);
    cr_assert_eq(scan.count, COUNT(rows));
    cr_expect_eq(scan.total, COUNT(rows));
    cr_expect_eq(scan.value.text, text + 1);
    cr_expect_eq(scan.value.len, sizeof text - 3);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct mx_member *member = &scan.members[i];

        expect_slice(member->name, rows[i].name);
        expect_slice(member->value, rows[i].value);
        cr_expect_eq(member->type, rows[i].type, "%s", rows[i].name);
        cr_expect_eq(member->name_escaped, rows[i].name_escaped, "%s", rows[i].name);
        cr_expect_eq(member->value_escaped, rows[i].value_escaped, "%s", rows[i].name);
    }
}

Test(scan, stores_64_members_and_counts_the_rest)
{
    static const size_t counts[] = {0, 1, 63, 64, 65, 1000};

    for (size_t i = 0; i < COUNT(counts); i++) {
        char text[16000] = "{";
        size_t len = 1;
        struct mx_scan scan;
        struct mcpx_fault fault;

        for (size_t n = 0; n < counts[i]; n++)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s\"m%zu\":%zu",
                                    n ? "," : "", n, n);
        text[len++] = '}';
        cr_assert_eq(mx_scan((struct mcpx_slice){text, len}, 0, &scan, &fault), MCPX_OK);
        cr_expect_eq(scan.total, counts[i]);
        cr_expect_eq(scan.count, counts[i] < 64 ? counts[i] : 64);
        if (scan.count == 64)
            expect_slice(scan.members[63].name, "m63");
    }
}
