/*
 * What breaks for whom: an abbreviated id finds another envelope than the one meant, and the wrong
 * proposal is approved.
 */
#include "tests/support/count.h"
#include "tools/mcpxctl/core/snapshot.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void add(struct snapshot *snapshot, const char *id, const char *about)
{
    char text[512];
    struct mcpx_fault fault = {"", "", 0};
    struct entry *entry = NULL;

    snprintf(text, sizeof text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"%s\",\"from\":\"ann\",\"kind\":\"chat\","
             "\"correlation_id\":\"%s\",\"payload\":{}}",
             id, about);
    cr_assert_eq(entry_new(mcpx_slice_of(text), &fault, &entry), MCPX_OK, "%s", fault.reason);
    snapshot_add(snapshot, entry);
}

static void fill(struct snapshot *snapshot)
{
    add(snapshot, "abc", "x");
    add(snapshot, "abcd", "abc");
    add(snapshot, "b1", "abc");
    add(snapshot, "b\xc3\xa9z", "b1");
    add(snapshot, "b\xc3\xa8z", "abc");
    snapshot_seal(snapshot);
}

Test(snapshot, finds_ids_and_their_only_beginnings)
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
    struct snapshot snapshot = {.count = 0};

    fill(&snapshot);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct entry *entry = NULL;

        cr_expect_eq(snapshot_find(&snapshot, mcpx_slice_of(rows[i].word), &entry),
                     rows[i].err, "%s", rows[i].word);
        if (rows[i].id && entry)
            cr_expect(mcpx_slice_equal(entry->id, mcpx_slice_of(rows[i].id)), "%s",
                      rows[i].word);
    }
    snapshot_fini(&snapshot);
}

Test(snapshot, brief_ids_find_their_envelope_and_cut_no_character)
{
    struct snapshot snapshot = {.count = 0};

    fill(&snapshot);
    for (size_t least = 1; least < 6; least++)
        for (size_t i = 0; i < snapshot.count; i++) {
            struct mcpx_slice brief = snapshot_brief(&snapshot, snapshot.entries[i], least);
            const struct entry *found = NULL;

            cr_expect_eq(snapshot_find(&snapshot, brief, &found), MCPX_OK, "%.*s",
                         (int)brief.len, brief.text);
            cr_expect_eq(found, snapshot.entries[i], "%.*s", (int)brief.len, brief.text);
            cr_expect(brief.len == snapshot.entries[i]->id.len ||
                      ((unsigned char)brief.text[brief.len] & 0xc0) != 0x80);
        }
    snapshot_fini(&snapshot);
}

Test(snapshot, knows_what_is_about_an_envelope_in_order)
{
    struct snapshot snapshot = {.count = 0};
    struct entry *const *about;
    size_t count;

    fill(&snapshot);
    about = snapshot_about(&snapshot, MCPX_SLICE("abc"), &count);
    cr_assert_eq(count, 3);
    cr_expect_eq(about[0]->index, 1);
    cr_expect_eq(about[1]->index, 2);
    cr_expect_eq(about[2]->index, 4);
    snapshot_about(&snapshot, MCPX_SLICE("nothing"), &count);
    cr_expect_eq(count, 0);
    snapshot_fini(&snapshot);
}

Test(snapshot, an_empty_one_answers)
{
    struct snapshot snapshot = {.count = 0};
    const struct entry *entry = NULL;
    size_t count;

    snapshot_reverse(&snapshot);
    snapshot_seal(&snapshot);
    cr_expect_null(snapshot_get(&snapshot, MCPX_SLICE("x")));
    cr_expect_eq(snapshot_find(&snapshot, MCPX_SLICE("x"), &entry), MCPX_ENOTFOUND);
    snapshot_about(&snapshot, MCPX_SLICE("x"), &count);
    cr_expect_eq(count, 0);
    snapshot_fini(&snapshot);
}

/* The forms of times: test_ident. */
Test(entry, a_time_before_1970_is_none)
{
    cr_expect_eq(time_read(MCPX_SLICE("2026-11-22T05:10:00.125+02:00")), 1795317000125);
    cr_expect_eq(time_read(MCPX_SLICE("1969-12-31T23:59:59Z")), -1);
    cr_expect_eq(time_read(MCPX_SLICE("yesterday")), -1);
}
