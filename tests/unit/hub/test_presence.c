/*
 * What breaks for whom: readers that are told of others twice or not at all, or never see the end
 * of what somebody else has not read. Protocol: section 5 (presence).
 */
#include "lib/base/scoped.h"
#include "router/hub/log/presence.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>

static void add(struct presence *presence, const char *text, uint64_t at)
{
    cr_assert(presence_add(presence, mcpx_slice_of(text), at));
}

/* Reads all that is published, "text text ", and returns how many frames that was. */
static size_t read_all(struct presence *presence, struct presence_reader *reader,
                       struct mcpx_text *out)
{
    size_t sum = 0, count;

    mcpx_text_reset(out);
    mcpx_text_puts(out, "");
    while (reader->batch) {
        struct presence_batch *batch = reader->batch;
        struct mcpx_slice rest = presence_rest(presence, reader, batch, &count);

        for (size_t at = 0; at < rest.len; at += 2 + (size_t)rest.text[at + 1]) {
            mcpx_text_add(out, rest.text + at + 2, (size_t)rest.text[at + 1]);
            mcpx_text_puts(out, " ");
        }
        sum += count;
        presence_reader_pass(presence, reader, batch);
    }
    return sum;
}

static void expect(struct presence *presence, struct presence_reader *reader, const char *text,
                   size_t count)
{
    mx_scoped_text out = {0};
    size_t found = read_all(presence, reader, &out);

    cr_expect_str_eq(out.text, text);
    cr_expect_eq(found, count, "%zu frames in '%s'", found, text);
}

Test(presence, is_read_when_it_is_published_from_where_the_reader_came)
{
    struct presence_reader first, second, third, last;
    struct presence presence;

    presence_init(&presence);
    presence_reader_init(&first);
    presence_reader_init(&second);
    presence_reader_init(&third);
    presence_reader_init(&last);
    presence_reader_join(&presence, &first);
    add(&presence, "a", 0);
    presence_reader_join(&presence, &second);
    add(&presence, "b", 0);
    presence_reader_join(&presence, &third);
    expect(&presence, &first, "", 0);
    presence_publish(&presence);
    presence_publish(&presence);
    add(&presence, "c", 7);
    presence_reader_join(&presence, &last);
    expect(&presence, &first, "a b ", 2);
    expect(&presence, &second, "b ", 1);
    expect(&presence, &third, "", 0);
    cr_expect_eq(presence.added - third.next, 1);
    add(&presence, "d", 7);
    presence_publish(&presence);
    cr_expect_eq(first.batch->at, 7);
    expect(&presence, &first, "c d ", 2);
    expect(&presence, &third, "c d ", 2);
    expect(&presence, &last, "d ", 1);
    expect(&presence, &second, "c d ", 2);
    presence_drop(&presence);
    cr_expect_eq(presence.memory, 0);
    cr_expect_null(presence.newest);
    presence_reader_leave(&first);
    presence_reader_leave(&second);
    presence_reader_leave(&third);
    presence_reader_leave(&last);
    presence_fini(&presence);
}

Test(presence, is_kept_for_who_has_not_read_it_and_names_who_is_overdue)
{
    struct presence_reader slow, quick;
    struct presence presence;

    presence_init(&presence);
    presence_reader_init(&slow);
    presence_reader_init(&quick);
    presence_reader_join(&presence, &slow);
    presence_reader_join(&presence, &quick);
    for (int i = 0; i < 10; i++) {
        add(&presence, "x", (uint64_t)i);
        presence_publish(&presence);
        expect(&presence, &quick, "x ", 1);
        presence_drop(&presence);
        cr_expect_eq(presence.added - slow.next, (uint64_t)i + 1);
    }
    cr_expect_null(presence_overdue(&presence, 0), "no bound");
    cr_expect_null(presence_overdue(&presence, presence.memory));
    cr_expect_eq(presence_overdue(&presence, 9 * sizeof(struct presence_batch)),
                 &presence.oldest->readers);
    cr_expect_eq(presence.oldest->readers.next, &slow.link);
    presence_reader_leave(&slow);
    presence_drop(&presence);
    cr_expect_eq(presence.memory, 0);
    presence_reader_leave(&quick);
    presence_fini(&presence);
}

Test(presence, that_cannot_be_added_leaves_what_is_there)
{
    char text[121] = "";
    struct presence_reader reader;
    struct presence presence;
    size_t failures = 0;

    memset(text, 't', sizeof text - 1);
    presence_init(&presence);
    presence_reader_init(&reader);
    presence_reader_join(&presence, &reader);
    for (uint64_t i = 0; i < 20;) {
        size_t memory = presence.memory;
        bool added;

        fault_alloc_arm(1);
        added = presence_add(&presence, mcpx_slice_of(text), 0);
        if (fault_alloc_disarm()) {
            failures++;
            cr_expect_not(added);
            cr_expect_eq(presence.memory, memory);
            cr_expect_eq(presence.added, i);
            add(&presence, text, 0);
        }
        cr_expect_eq(presence.added, ++i);
    }
    cr_expect_geq(failures, 3);
    presence_publish(&presence);
    cr_expect_eq(reader.batch->frames.len, 20 * 122u);
    presence_reader_leave(&reader);
    presence_drop(&presence);
    presence_fini(&presence);
}
