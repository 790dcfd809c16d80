/*
 * What breaks for whom: an abbreviated id finds another envelope than the one meant, and the wrong
 * proposal is approved.
 */
#include "tools/mcpxctl/core/ledger.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void add(struct ledger *ledger, const char *id, const char *about)
{
    char text[512];
    struct mcpx_fault fault = {"", "", 0};
    struct entry *entry = NULL;

    snprintf(text, sizeof text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"ann\",\"kind\":\"chat\","
             "\"correlation_id\":\"%s\",\"payload\":{}}",
             id, about);
    cr_assert_eq(entry_new(mcpx_slice_of(text), &fault, &entry), MCPX_OK, "%s", fault.reason);
    ledger_add(ledger, entry);
}

static void fill(struct ledger *ledger)
{
    add(ledger, "abc", "x");
    add(ledger, "abcd", "abc");
    add(ledger, "b1", "abc");
    add(ledger, "b\xc3\xa9z", "b1");
    add(ledger, "b\xc3\xa8z", "abc");
    ledger_seal(ledger);
}

Test(ledger, finds_ids_and_their_only_beginnings)
{
    static const struct {
        const char *word;
        enum mcpx_err err;
        const char *id;
    } rows[] = {
        {"abc", MCPX_OK, "abc"},         {"abcd", MCPX_OK, "abcd"},
        {"ab", MCPX_EDUPLICATE, NULL},   {"b", MCPX_EDUPLICATE, NULL},
        {"b1", MCPX_OK, "b1"},           {"b\xc3\xa9", MCPX_OK, "b\xc3\xa9z"},
        {"", MCPX_ENOTFOUND, NULL},      {"c", MCPX_ENOTFOUND, NULL},
        {"abcde", MCPX_ENOTFOUND, NULL}, {"a0", MCPX_ENOTFOUND, NULL},
    };
    struct ledger ledger = {.count = 0};

    fill(&ledger);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct entry *entry = NULL;

        cr_expect_eq(ledger_find(&ledger, mcpx_slice_of(rows[i].word), &entry), rows[i].err,
                     "%s", rows[i].word);
        if (rows[i].id && entry)
            cr_expect(mcpx_slice_equal(entry->id, mcpx_slice_of(rows[i].id)), "%s",
                      rows[i].word);
    }
    ledger_fini(&ledger);
}

Test(ledger, brief_ids_find_their_envelope_and_cut_no_character)
{
    struct ledger ledger = {.count = 0};

    fill(&ledger);
    for (size_t least = 1; least < 6; least++)
        for (size_t i = 0; i < ledger.count; i++) {
            struct mcpx_slice brief = ledger_brief(&ledger, ledger.entries[i], least);
            const struct entry *found = NULL;

            cr_expect_eq(ledger_find(&ledger, brief, &found), MCPX_OK, "%.*s", (int)brief.len,
                         brief.text);
            cr_expect_eq(found, ledger.entries[i], "%.*s", (int)brief.len, brief.text);
            cr_expect(brief.len == ledger.entries[i]->id.len ||
                      ((unsigned char)brief.text[brief.len] & 0xc0) != 0x80);
        }
    ledger_fini(&ledger);
}

Test(ledger, knows_what_is_about_an_envelope_in_order)
{
    struct ledger ledger = {.count = 0};
    struct entry *const *about;
    size_t count;

    fill(&ledger);
    about = ledger_about(&ledger, MCPX_SLICE("abc"), &count);
    cr_assert_eq(count, 3);
    cr_expect_eq(about[0]->index, 1);
    cr_expect_eq(about[1]->index, 2);
    cr_expect_eq(about[2]->index, 4);
    ledger_about(&ledger, MCPX_SLICE("nothing"), &count);
    cr_expect_eq(count, 0);
    ledger_fini(&ledger);
}

Test(ledger, an_empty_one_answers)
{
    struct ledger ledger = {.count = 0};
    const struct entry *entry = NULL;
    size_t count;

    ledger_reverse(&ledger);
    ledger_seal(&ledger);
    cr_expect_null(ledger_get(&ledger, MCPX_SLICE("x")));
    cr_expect_eq(ledger_find(&ledger, MCPX_SLICE("x"), &entry), MCPX_ENOTFOUND);
    ledger_about(&ledger, MCPX_SLICE("x"), &count);
    cr_expect_eq(count, 0);
    ledger_fini(&ledger);
}

/* The forms of times: test_ident. */
Test(entry, a_time_before_1970_is_none)
{
    cr_expect_eq(time_read(MCPX_SLICE("2026-11-22T05:10:00.125+02:00")), 1795317000125);
    cr_expect_eq(time_read(MCPX_SLICE("1969-12-31T23:59:59Z")), -1);
    cr_expect_eq(time_read(MCPX_SLICE("yesterday")), -1);
}
