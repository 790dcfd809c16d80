/*
 * What breaks for whom: a grant was given for the member `name`, and a receiver that ignores letter
 * case acts on the member `Name`. Protocol: sections 1 and 9.
 */
#include "lib/json/decisive.h"
#include "tests/support/count.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

Test(fold, tells_same_like_and_unlike_names_apart)
{
    static const struct {
        const char *raw;
        const char *name;
        enum mx_likeness likeness;
    } rows[] = {
        {"name", "name", MX_SAME},
        {"n\\u0061me", "name", MX_SAME},
        {"Name", "name", MX_LIKE},
        {"NAME", "name", MX_LIKE},
        {"n\\u0041me", "name", MX_LIKE},
        {"taskid", "taskId", MX_LIKE},
        {"ta\xc5\xbfkId", "taskId", MX_LIKE},
        {"task\\u0130d", "taskId", MX_LIKE},
        {"task\xc4\xb1"
         "d",
         "taskId", MX_LIKE},
        {"\xe2\x84\xaa"
         "ind",
         "kind", MX_LIKE},
        {"\\u212aind", "kind", MX_LIKE},
        {"param\\u017f", "params", MX_LIKE},
        {"PARAM\\u017F", "params", MX_LIKE},
        {"_META", "_meta", MX_LIKE},
        {"name\\u0000", "name", MX_LIKE}, /* for a reader in C it ends here */
        {"Name\\u0000x", "name", MX_LIKE},
        {"", "name", MX_UNLIKE},
        {"nam", "name", MX_UNLIKE},
        {"names", "name", MX_UNLIKE},
        {"name ", "name", MX_UNLIKE},
        {"\\u0000name", "name", MX_UNLIKE},
        {"n\\\\ame", "name", MX_UNLIKE},
        {"meta", "_meta", MX_UNLIKE},
        {"\x7fmeta", "_meta", MX_UNLIKE}, /* 0x20 apart, and no letter */
        {"task\xc4\xb2"
         "d",
         "taskId", MX_UNLIKE},
        {"\xe2\x84\xab"
         "ind",
         "kind", MX_UNLIKE},
        {"\xc3\xad"
         "d",
         "id", MX_UNLIKE},
        {"\xf0\x9d\x90\xa2"
         "d",
         "id", MX_UNLIKE}, /* a mathematical i */
        {"\\ud800d", "id", MX_UNLIKE},
        {"\xce\xb9"
         "d",
         "id", MX_UNLIKE}, /* iota */
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        cr_expect_eq(mx_fold_compare(mcpx_slice_of(rows[i].raw), rows[i].name),
                     rows[i].likeness, "%s, %s", rows[i].raw, rows[i].name);
}

/* Every character that folds to an ASCII letter in the tables of another program, one a line. */
static const char other_tables[] =
    "python3 -c '\n"
    "for c in map(chr, range(128, 0x110000)):\n"
    "    if 0xd800 <= ord(c) < 0xe000: continue\n"
    "    for f in (c.casefold(), c.lower(), c.upper(), c.title()):\n"
    "        f = f.replace(chr(0x307), \"\").lower()\n"
    "        if len(f) == 1 and f.isascii(): print(ord(c), f); break\n"
    "' 2>/dev/null";

static size_t put_utf8(unsigned code, char out[4])
{
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = len; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(leads[len] | code);
    return len;
}

static void expect_letters(unsigned code, const char *expected)
{
    char bytes[4];
    struct mcpx_slice raw = {bytes, put_utf8(code, bytes)};

    for (char name[2] = "a"; name[0] <= 'z'; name[0]++)
        cr_expect_eq(mx_fold_compare(raw, name), name[0] == expected[0] ? MX_LIKE : MX_UNLIKE,
                     "U+%04X, %s", code, name);
}

Test(fold, knows_every_character_that_another_program_folds_to_ascii)
{
    char letter[8] = "";
    unsigned next = 128, code, found = 0;
    FILE *tables = popen(other_tables, "r"); /* NOLINT(cert-env33-c): the text is ours */

    cr_assert_not_null(tables);
    while (fscanf(tables, "%u %7s", &code, letter) == 2) {
        for (; next < code; next++)
            if (next < 0xd800 || next > 0xdfff)
                expect_letters(next, "");
        expect_letters(code, letter);
        next = code + 1;
        found++;
    }
    if (pclose(tables) != 0) {
        fputs("SKIPPED: there is no python3 to compare the folding of letters with.\n",
              stderr);
        return;
    }
    cr_expect_eq(found, 4);
    for (; next < 0x110000; next++)
        if (next < 0xd800 || next > 0xdfff)
            expect_letters(next, "");
}

Test(fold, decisive_members_are_found_or_refused_in_one_walk)
{
    static const struct {
        const char *object;
        const char *fault; /* NULL: found */
        const char *id, *method;
    } rows[] = {
        {"{}", NULL, NULL, NULL},
        {"[1]", NULL, NULL, NULL},
        {"{\"id\":1}", NULL, "1", NULL},
        {"{\"method\":\"a\",\"x\":1,\"X\":2,\"x\":3,\"id\":1}", NULL, "1", "\"a\""},
        {"{\"m\\u0065thod\":[]}", NULL, NULL, "[]"},
        {"{\"x\":{\"ID\":1}}", NULL, NULL, NULL},
        {"{\"id\":1,\"id\":1}", "id", NULL, NULL},
        {"{\"id\":1,\"Id\":1}", "id", NULL, NULL},
        {"{\"Id\":1,\"id\":1}", "id", NULL, NULL},
        {"{\"ID\":1}", "id", NULL, NULL},
        {"{\"id\":1,\"METHOD\":1}", "method", NULL, NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mx_decisive members[] = {{.name = "id"}, {.name = "method"}};
        struct mcpx_slice object = mcpx_slice_of(rows[i].object);
        struct mcpx_fault fault = {NULL, NULL, 0};
        const char *const values[] = {rows[i].id, rows[i].method};
        bool found = mx_decisive_find(object, members, 2, &fault);

        cr_expect_eq(found, !rows[i].fault, "%s", rows[i].object);
        cr_expect_eq(mx_decisive_find(object, members, 2, NULL), found);
        if (!found) {
            cr_expect_str_eq(fault.field, rows[i].fault, "%s", rows[i].object);
            continue;
        }
        for (size_t n = 0; n < 2; n++)
            cr_expect(values[n] ? mcpx_slice_equal(members[n].value, mcpx_slice_of(values[n]))
                                : !members[n].value.text,
                      "%s: %s", rows[i].object, members[n].name);
    }
}
