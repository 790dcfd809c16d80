/*
 * What breaks for whom: readers that are told of others twice or not at all, or never see the end
 * of what somebody else has not read. Protocol: section 5 (presence).
 */
#include "router/hub/log/news.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>

static void add(struct news *news, const char *text, uint64_t at)
{
    cr_assert(news_add(news, mcpx_slice_of(text), at));
}

/* Reads all that is published, "text text ", and returns how many frames that was. */
static size_t read_all(struct news *news, struct news_reader *reader, struct mcpx_text *out)
{
    size_t sum = 0, count;

    mcpx_text_reset(out);
    mcpx_text_puts(out, "");
    while (reader->batch) {
        struct batch *batch = reader->batch;
        struct mcpx_slice rest = news_rest(news, reader, batch, &count);

        for (size_t at = 0; at < rest.len; at += 2 + (size_t)rest.text[at + 1]) {
            mcpx_text_add(out, rest.text + at + 2, (size_t)rest.text[at + 1]);
            mcpx_text_puts(out, " ");
        }
        sum += count;
        news_reader_pass(news, reader, batch);
    }
    return sum;
}

static void expect(struct news *news, struct news_reader *reader, const char *text,
                   size_t count)
{
    struct mcpx_text out = {0};
    size_t found = read_all(news, reader, &out);

    cr_expect_str_eq(out.text, text);
    cr_expect_eq(found, count, "%zu frames in '%s'", found, text);
    mcpx_text_fini(&out);
}

Test(news, is_read_when_it_is_published_from_where_the_reader_came)
{
    struct news_reader first, second, third, last;
    struct news news;

    news_init(&news);
    news_reader_init(&first);
    news_reader_init(&second);
    news_reader_init(&third);
    news_reader_init(&last);
    news_reader_join(&news, &first);
    add(&news, "a", 0);
    news_reader_join(&news, &second);
    add(&news, "b", 0);
    news_reader_join(&news, &third);
    expect(&news, &first, "", 0);
    news_publish(&news);
    news_publish(&news);
    add(&news, "c", 7);
    news_reader_join(&news, &last);
    expect(&news, &first, "a b ", 2);
    expect(&news, &second, "b ", 1);
    expect(&news, &third, "", 0);
    cr_expect_eq(news.added - third.next, 1);
    add(&news, "d", 7);
    news_publish(&news);
    cr_expect_eq(first.batch->at, 7);
    expect(&news, &first, "c d ", 2);
    expect(&news, &third, "c d ", 2);
    expect(&news, &last, "d ", 1);
    expect(&news, &second, "c d ", 2);
    news_drop(&news);
    cr_expect_eq(news.memory, 0);
    cr_expect_null(news.newest);
    news_reader_leave(&first);
    news_reader_leave(&second);
    news_reader_leave(&third);
    news_reader_leave(&last);
    news_fini(&news);
}

Test(news, is_kept_for_who_has_not_read_it_and_names_who_is_overdue)
{
    struct news_reader slow, quick;
    struct news news;

    news_init(&news);
    news_reader_init(&slow);
    news_reader_init(&quick);
    news_reader_join(&news, &slow);
    news_reader_join(&news, &quick);
    for (int i = 0; i < 10; i++) {
        add(&news, "x", (uint64_t)i);
        news_publish(&news);
        expect(&news, &quick, "x ", 1);
        news_drop(&news);
        cr_expect_eq(news.added - slow.next, (uint64_t)i + 1);
    }
    cr_expect_null(news_overdue(&news, 0), "no bound");
    cr_expect_null(news_overdue(&news, news.memory));
    cr_expect_eq(news_overdue(&news, 9 * sizeof(struct batch)), &news.oldest->readers);
    cr_expect_eq(news.oldest->readers.next, &slow.link);
    news_reader_leave(&slow);
    news_drop(&news);
    cr_expect_eq(news.memory, 0);
    news_reader_leave(&quick);
    news_fini(&news);
}

Test(news, that_cannot_be_added_leaves_what_is_there)
{
    char text[121] = "";
    struct news_reader reader;
    struct news news;
    size_t failures = 0;

    memset(text, 't', sizeof text - 1);
    news_init(&news);
    news_reader_init(&reader);
    news_reader_join(&news, &reader);
    for (uint64_t i = 0; i < 20;) {
        size_t memory = news.memory;
        bool added;

        fault_alloc_arm(1);
        added = news_add(&news, mcpx_slice_of(text), 0);
        if (fault_alloc_disarm()) {
            failures++;
            cr_expect_not(added);
            cr_expect_eq(news.memory, memory);
            cr_expect_eq(news.added, i);
            add(&news, text, 0);
        }
        cr_expect_eq(news.added, ++i);
    }
    cr_expect_geq(failures, 3);
    news_publish(&news);
    cr_expect_eq(reader.batch->frames.len, 20 * 122u);
    news_reader_leave(&reader);
    news_drop(&news);
    news_fini(&news);
}
