/*
 * What breaks for whom: a message that is too long to be read has a sender who waits. What its
 * beginning shows decides whether he hears of it; what it does not show must not be made up.
 */
#include "tools/mcpx-bridge/bridge.h"
#include "tools/mcpx-bridge/output.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct {
    const char *beginning, *id;
    bool is_answer;
} rows[] = {
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"ty", "7", true},
    {" { \"id\" : \"a\\\"{\" , \"error\" : [1", "\"a\\\"{\"", true},
    {"{\"result\":{\"content\":[", NULL, true},
    {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{", "7", false},
    {"{\"method\":\"notifications/message\",\"params\":{", NULL, false},
    {"{\"id\":1,\"id\":2,\"result\":{", NULL, true},
    {"{\"id\":null,\"result\":{", NULL, true},
    {"{\"id\":7,\"result\":\"xxxxxxxx", NULL, false},
    {"[{\"id\":7,\"result\":{", NULL, false},
    {"{\"a\\\":{", NULL, false},
    {"xxxxxxxxx", NULL, false},
    {"{", NULL, false},
    {"", NULL, false},
};

Test(bridge, takes_from_the_beginning_of_a_message_what_is_whole_there)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_slice id;
        bool is_answer;

        bridge_read_beginning(mcpx_slice_of(rows[i].beginning), &id, &is_answer);
        cr_expect_eq(is_answer, rows[i].is_answer, "%s", rows[i].beginning);
        cr_expect(rows[i].id ? mcpx_slice_equal(id, mcpx_slice_of(rows[i].id)) : !id.text,
                  "%s", rows[i].beginning);
    }
}

/* What breaks for whom: an answer under an id that its reader never gave is an answer to nobody. */
Test(bridge, gives_a_message_another_id_and_leaves_the_rest)
{
    static const struct {
        struct mcpx_slice value;
        const char *expected;
    } cases[] = {
        {{0}, "{ \"x\":1e400, \"id\":7,\"result\":{},\"jsonrpc\":\"2.0\"}"},
        {{"[]", 2}, "{ \"x\":1e400, \"id\":7,\"result\":[],\"jsonrpc\":\"2.0\"}"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mcpx_text out = {0};

        bridge_add_message(&out, MCPX_SLICE("{ \"x\":1e400, \"id\":\"a\",\"result\":{}}"),
                           MCPX_SLICE("7"), "result", cases[i].value);
        cr_expect_str_eq(out.text, cases[i].expected);
        cr_expect(!out.failed);
        mcpx_text_fini(&out);
    }
}

/* What breaks for whom: a line of 64 MiB costs its reader's machine twice as much. */
Test(bridge, takes_a_text_that_was_made_for_an_action_as_it_is)
{
    static const enum bridge_action_type types[] = {BRIDGE_WRITE, BRIDGE_SEND};
    struct mcpx_slice to = MCPX_SLICE("s");

    for (size_t i = 0; i < 2; i++) {
        struct bridge_action action = {.type = types[i], .draft = {.to = &to, .to_count = 1}};
        struct bridge_output output = {0};
        struct mcpx_text text = {0};
        struct bridge_row *row;
        struct mcpx_slice given;

        mcpx_text_puts(&text, "{}");
        bridge_output_put(&output, (struct bridge_row){.action = action}, text);
        row = bridge_output_take(&output);
        given = i ? row->action.draft.payload : row->action.text;
        cr_expect_eq(given.text, text.text);
        cr_expect_eq(given.len, 2);
        bridge_row_free(row);
    }
}

/* What breaks for whom: an answer that stands for one that was too long frees the text of that
   one again. */
Test(bridge, leaves_a_taken_text_to_the_row_that_took_it)
{
    struct bridge_output output = {0};
    struct bridge_row *first, *second;
    struct mcpx_text text = {0};

    mcpx_text_puts(&text, "too long");
    bridge_output_put(&output, (struct bridge_row){.action.type = BRIDGE_RESPOND, .call = 7},
                      text);
    first = bridge_output_take(&output);
    bridge_output_add(&output, first);
    second = bridge_output_take(&output);
    cr_expect_eq(second->call, 7);
    cr_expect_neq(second->action.text.text, first->action.text.text);
    bridge_row_free(first);
    cr_expect(mcpx_slice_equal(second->action.text, MCPX_SLICE("too long")));
    bridge_row_free(second);
}

/*
 * One whose server writes garbage without end fills the disk with the log of who runs the bridge.
 */
Test(limit, lets_a_hundred_lines_of_a_sort_through_then_ten_a_second_and_counts_the_rest)
{
    static struct bridge_limit limit;
    size_t shown = 0, varied = 0;
    char line[80];

    for (int64_t ms = 0; ms < 10000; ms++)
        shown += bridge_limit_allows(
            &limit, MCPX_SLICE("the server wrote a line that is not JSON, ignored: xyz"), ms);
    cr_expect_eq(shown, 199, "%zu", shown);
    cr_expect_eq(bridge_limit_take_left(&limit, 10000), 10000 - shown);
    cr_expect_eq(bridge_limit_take_left(&limit, 10001), 0, "told once");
    cr_expect(bridge_limit_allows(&limit, MCPX_SLICE("the server is gone"), 10000),
              "another sort");
    for (int i = 0; i < 10000; i++) {
        snprintf(line, sizeof line, "%d begins otherwise each time", i);
        varied += bridge_limit_allows(&limit, mcpx_slice_of(line), 10000);
    }
    cr_expect_leq(varied, 500, "%zu", varied);
    cr_expect_eq(bridge_limit_take_left(&limit, 10500), 0, "once a second");
    cr_expect_eq(bridge_limit_take_left(&limit, 11000), 10000 - varied);
}
