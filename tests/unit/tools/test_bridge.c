/*
 * What breaks for whom: a message that is too long to be read has a sender who waits. What its
 * beginning shows decides whether he hears of it; what it does not show must not be made up.
 */
#include "tools/mcpx-bridge/bridge.h"

#include <criterion/criterion.h>

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
