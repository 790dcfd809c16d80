/*
 * What breaks for whom: an application that fetches its events one by one gets messages out of
 * order, or those of the next connection before the end of the last.
 */
#include "lib/client/ws_client_state.h"

#include <criterion/criterion.h>
#include <stdio.h>

Test(ws_inbox, keeps_order_and_bytes)
{
    struct mx_inbox inbox = {0};
    struct mx_input input;
    char text[32];
    int i, len;

    cr_expect_eq(mx_inbox_bytes(&inbox), 0);
    cr_expect_not(mx_inbox_take(&inbox, &input));
    for (i = 0; i < 1000; i++) {
        len = snprintf(text, sizeof text, "message %d", i);
        input = (struct mx_input){MX_INPUT_TEXT, 0, {text, (size_t)len}};
        cr_assert(mx_inbox_put(&inbox, input));
        input = (struct mx_input){MX_INPUT_ENDED, i, {NULL, 0}};
        cr_assert(mx_inbox_put(&inbox, input));
    }
    for (i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "message %d", i);
        cr_assert(mx_inbox_take(&inbox, &input) && input.type == MX_INPUT_TEXT);
        cr_expect(mcpx_slice_equal(input.text, mcpx_slice_of(text)), "%d", i);
        cr_assert(mx_inbox_take(&inbox, &input) && input.type == MX_INPUT_ENDED);
        cr_expect(input.code == i && input.text.len == 0, "%d", i);
    }
    cr_expect_eq(mx_inbox_bytes(&inbox), 0);
    cr_expect_not(mx_inbox_take(&inbox, &input));
    mcpx_text_fini(&inbox.queue);
}

Test(ws_inbox, can_be_thrown_away_half_full)
{
    struct mx_inbox inbox = {0};
    struct mx_input input = {MX_INPUT_TEXT, 0, {"\0a", 2}};

    for (int i = 0; i < 10; i++)
        cr_assert(mx_inbox_put(&inbox, input));
    cr_assert(mx_inbox_take(&inbox, &input));
    cr_expect_eq(mx_inbox_bytes(&inbox), 9 * (2 + sizeof input));
    mcpx_text_fini(&inbox.queue);
}
