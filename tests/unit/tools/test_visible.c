/*
 * What breaks for whom: somebody approves what the screen shows, and the screen was lied to: by
 * escape sequences, by text that runs from right to left, by characters nobody sees. A log is full
 * of colours. Who mistypes an option is told of one that has nothing to do with it.
 */
#include "tools/common/visible.h"

#include "tests/support/count.h"
#include "tools/common/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *text, *shown;
};

Test(visible, nothing_moves_hides_or_turns)
{
    static const struct row rows[] = {
        {"plain", "plain"},
        {"", ""},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f",
         "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f"},
        {"\x1b[2Jgone", "\\u001b[2Jgone"},
        {"a\rb\nc\td", "a\\u000db\\u000ac\\u0009d"},
        {"\x7f", "\\u007f"},
        {"\xc2\x9b"
         "31m",
         "\\u009b31m"},
        {"\xe2\x80\xae"
         "fdp.exe",
         "\\u202efdp.exe"},
        {"\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069"},
        {"a\xe2\x80\x8b"
         "b\xef\xbb\xbf",
         "a\\u200bb\\ufeff"},
        {"\xe2\x80\xa8", "\\u2028"},
        {"\xc2\xad", "\\u00ad"},
        {"\xf3\xa0\x81\x81", "\\udb40\\udc41"},
        {"\xff", "\\xff"},
        {"\xc3", "\\xc3"},
        {"\xc0\x80", "\\xc0\\x80"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
        {"\xe2\x82", "\\xe2\\x82"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};

        text_visible(&out, mcpx_slice_of(rows[i].text));
        cr_expect_str_eq(out.text ? out.text : "", rows[i].shown);
        mcpx_text_fini(&out);
    }
}

/* Layout and colours of ours stay, and JSON means what it meant. */
Test(visible, what_goes_to_a_terminal_keeps_its_layout)
{
    static const struct row rows[] = {
        {"\x1b[31mred\x1b[0m\n\tx\n", "\x1b[31mred\x1b[0m\n\tx\n"},
        {"{\"id\":\"\xe2\x80\xae\xc2\x9b\x7f\"}\n", "{\"id\":\"\\u202e\\u009b\\u007f\"}\n"},
        {"\xff\xef\xbb\xbf", "\\xff\\ufeff"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};

        text_shown(&out, mcpx_slice_of(rows[i].text));
        cr_expect_str_eq(out.text ? out.text : "", rows[i].shown);
        mcpx_text_fini(&out);
    }
}

/* The pattern is ours and keeps its layout; what is put into it has none. */
Test(visible, what_a_pattern_is_filled_with)
{
    mx_scoped_text out = {0};

    text_format(&out, "%s:\t%x|%v|%v|%v|%s%s|%q\n", "a\nb", "c\xc2\xa0",
                MCPX_SLICE("\"d\\n\\u202e\""), MCPX_SLICE("[\"e\n\"]"),
                ((struct mcpx_slice){NULL, 0}), -7, (const char *)NULL, "f\n");
    cr_expect_str_eq(out.text, "a\\u000ab:\tc\\u00a0|d\\u000a\\u202e|[\"e\\u000a\"]||-7|"
                               "\"f\\n\"\n");
}

Test(visible, blanks_that_are_no_space_show_where_something_is_decided)
{
    mx_scoped_text prose = {0}, exact = {0}, json = {0};
    struct mcpx_slice text = MCPX_SLICE("\"a b\xc2\xa0"
                                        "c\xe3\x80\x80"
                                        "d\xe2\xa0\x80\xe2\x80\x83\"");

    text_visible(&prose, text);
    text_format(&exact, "%x", text);
    text_pretty(&json, text, 0);
    cr_expect(mcpx_slice_equal(mcpx_text_view(&prose), text));
    cr_expect_str_eq(exact.text, "\"a b\\u00a0c\\u3000d\\u2800\\u2003\"");
    cr_expect_str_eq(json.text, exact.text);
}

Test(visible, a_nul_is_shown_too)
{
    mx_scoped_text out = {0};

    text_visible(&out, (struct mcpx_slice){"a\0b", 3});
    cr_expect_str_eq(out.text, "a\\u0000b");
}

Test(visible, short_text_is_cut_between_characters)
{
    static const struct {
        const char *text;
        size_t columns;
        const char *shown;
    } rows[] = {
        {"abc", 3, "abc"},
        {"abcd", 3, "abc..."},
        {"\xc3\xa9\xc3\xa9\xc3\xa9", 2, "\xc3\xa9\xc3\xa9..."},
        {"\x1b\x1b", 1, "\\u001b..."},
        {"", 0, ""},
        {"x", 0, "..."},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};

        text_visible_short(&out, mcpx_slice_of(rows[i].text), rows[i].columns);
        cr_expect_str_eq(out.text ? out.text : "", rows[i].shown);
        mcpx_text_fini(&out);
    }
}

Test(visible, json_is_laid_out_with_its_own_bytes)
{
    static const struct row rows[] = {
        {"1e400", "1e400"},
        {"{}", "{}"},
        {" [ ] ", "[]"},
        {"{\"a\":1.10,\"a\":[true,{\"b\":null}]}",
         "{\n  \"a\": 1.10,\n  \"a\": [\n    true,\n    {\n      \"b\": null\n    }\n  ]\n}"},
        {"\"a{,\\\"]\"", "\"a{,\\\"]\""},
        {"\"\\\\\"", "\"\\\\\""},
        {"[\"\xe2\x80\xae\"]", "[\n  \"\\u202e\"\n]"},
        {"{\"a\" : [ 1 , 2 ] , \"b\" : { } }",
         "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};

        text_pretty(&out, mcpx_slice_of(rows[i].text), 0);
        cr_expect_str_eq(out.text, rows[i].shown);
        mcpx_text_fini(&out);
    }
}

Test(visible, compact_json_loses_white_space_only_between_tokens)
{
    static const struct row rows[] = {
        {"{ \"a b\" : [ 1 , -2.0 ],\n\t\"c\" : \" \\\" \" }",
         "{\"a b\":[1,-2.0],\"c\":\" \\\" \"}"},
        {" true ", "true"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_text out = {0};

        text_compact(&out, mcpx_slice_of(rows[i].text));
        cr_expect_str_eq(out.text, rows[i].shown);
        mcpx_text_fini(&out);
    }
}

static void set(const char *variable, const char *value)
{
    cr_assert_eq(value ? setenv(variable, value, 1) : unsetenv(variable), 0);
}

Test(colour, follows_the_customs)
{
    static const struct {
        const char *option, *no_color, *clicolor_force, *term;
        bool tty, wanted;
    } rows[] = {
        {NULL, NULL, NULL, "xterm", true, true},    {NULL, NULL, NULL, "xterm", false, false},
        {NULL, NULL, NULL, "dumb", true, false},    {NULL, NULL, NULL, NULL, true, true},
        {NULL, "1", NULL, "xterm", true, false},    {NULL, "", NULL, "xterm", true, true},
        {NULL, NULL, "1", "xterm", false, true},    {NULL, NULL, "0", "xterm", false, false},
        {NULL, NULL, "", "xterm", false, false},    {NULL, "1", "1", "xterm", true, false},
        {"always", "1", NULL, "dumb", false, true}, {"never", NULL, "1", "xterm", true, false},
        {"auto", NULL, NULL, "xterm", true, true},  {"auto", "1", NULL, "xterm", true, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        set("NO_COLOR", rows[i].no_color);
        set("CLICOLOR_FORCE", rows[i].clicolor_force);
        set("TERM", rows[i].term);
        cr_expect_eq(colour_is_wanted(rows[i].option, rows[i].tty), rows[i].wanted, "row %zu",
                     i);
    }
}

Test(colour, paints_only_when_on)
{
    mx_scoped_text out = {0};

    paint_begin(&out, PAINT_BAD, false);
    paint_end(&out, PAINT_BAD, false);
    paint_begin(&out, PAINT_NONE, true);
    paint_end(&out, PAINT_NONE, true);
    cr_expect_eq(out.len, 0);
    paint_begin(&out, PAINT_BAD, true);
    mcpx_text_puts(&out, "x");
    paint_end(&out, PAINT_BAD, true);
    cr_expect_str_eq(out.text, "\x1b[31mx\x1b[0m");
}

static const char *const names[] = {"--topic", "--to",  "--token-file", "--timeout",
                                    "--json",  "say",   "watch",        "proposals",
                                    "propose", "--url", "who"};

Test(nearest, finds_the_name_that_was_meant)
{
    static const struct {
        const char *word;
        const char *name; /* NULL = none is near */
    } rows[] = {
        {"--topc", "--topic"},
        {"--toppic", "--topic"},
        {"--tpoic", "--topic"},
        {"--topix", "--topic"},
        {"-topic", "--topic"},
        {"topic", "--topic"},
        {"--tipoc", "--topic"},
        {"--token", "--token-file"},
        {"--tokenfile", "--token-file"},
        {"--tmieout", "--timeout"},
        {"--josn", "--json"},
        {"sya", "say"},
        {"prop", "proposals"},
        {"proposes", "propose"},
        {"watsh", "watch"},
        {"wo", "--to"},
        {"--says", "say"},
        {"fly", NULL},
        {"--secret", NULL},
        {"", NULL},
        {"--", NULL},
        {"x", NULL},
        {"proposalsproposalsproposalsproposals", NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct nearest nearest;
        char hint[64];

        nearest_begin(&nearest, rows[i].word, strlen(rows[i].word));
        for (size_t j = 0; j < COUNT(names); j++)
            nearest_consider(&nearest, names[j]);
        if (rows[i].name)
            snprintf(hint, sizeof hint, " (did you mean %s?)", rows[i].name);
        cr_expect_str_eq(nearest.hint, rows[i].name ? hint : "", "%s", rows[i].word);
    }
}

Test(nearest, says_so_or_nothing)
{
    struct nearest nearest;

    nearest_begin(&nearest, "--topc=secret", 6);
    cr_expect_str_eq(nearest.hint, "");
    nearest_consider(&nearest, "--topic");
    cr_expect_str_eq(nearest.hint, " (did you mean --topic?)");
}
