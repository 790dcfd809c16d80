/*
 * What breaks for whom: a client that cannot parse what the router itself says because a name
 * held a quote, or that is not told why it was cut off. Protocol: section 6 (close codes).
 */
#include "lib/base/scoped.h"
#include "router/hub/topic/notice.h"
#include "tests/support/fault_alloc.h"
#include "tests/support/frames.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <jansson.h>

Test(notice, closes_with_the_code_and_the_text_of_the_error)
{
    static const struct {
        enum mcpx_err err;
        int code;
    } rows[] = {
        {MCPX_ECLOSED, 1000},  {MCPX_EGOING, 1001},    {MCPX_EBINARY, 1003},
        {MCPX_EUTF8, 1007},    {MCPX_EFLOOD, 1008},    {MCPX_ETOOBIG, 1009},
        {MCPX_ERESTART, 1012}, {MCPX_ENOTNOW, 1013},   {MCPX_ESLOW, 4003},
        {MCPX_EKICKED, 4004},  {MCPX_EREPLACED, 4001}, {MCPX_EEXPIRED, 4005},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_text out = {0};
        const char *reason = rows[i].err == MCPX_ENOTNOW  ? "unavailable"
                             : rows[i].err == MCPX_EGOING ? "the router is going away; "
                                                            "retry_after_ms=1234"
                                                          : mcpx_strerror(rows[i].err);
        struct mcpx_slice stream;
        struct frame_view frame;

        notice_close(&out, rows[i].err, 1234);
        stream = mcpx_text_view(&out);
        cr_assert(frame_cut(&stream, &frame));
        cr_expect_eq(frame.opcode, MX_CLOSE);
        cr_expect_eq(frame.close_code, rows[i].code, "%s", mcpx_strerror(rows[i].err));
        cr_expect(mcpx_slice_equal(
                      (struct mcpx_slice){frame.payload.text + 2, frame.payload.len - 2},
                      mcpx_slice_of(reason)),
                  "%s", mcpx_strerror(rows[i].err));
        cr_expect_eq(stream.len, 0);
        mcpx_text_fini(&out);
    }
}

Test(notice, pings_with_one_byte_or_without_memory_not_at_all)
{
    mx_scoped_text out = {0};
    struct mcpx_slice stream;
    struct frame_view frame;

    fault_alloc_arm(1);
    notice_ping(&out);
    cr_expect(fault_alloc_disarm());
    cr_expect_eq(out.len, 0);
    cr_expect_not(out.failed, "the next notice is not lost with it");
    notice_ping(&out);
    stream = mcpx_text_view(&out);
    cr_assert(frame_cut(&stream, &frame));
    cr_expect_eq(frame.opcode, MX_PING);
    cr_expect_eq(frame.payload.len, 1);
}

Test(notice, shows_a_participant_with_any_name_as_valid_json)
{
    static const char *const names[] = {"ann", "a\"b\\c", "\xc3\xa9t\xc3\xa9", "</script>"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct mcpx_capset *set = NULL;
        struct mcpx_text out = {0};
        struct peer peer = {.number = 1};
        json_t *root;

        cr_assert_eq(mcpx_capset_new(NULL, 0, NULL, 0, NULL, NULL, &set), MCPX_OK);
        peer.id = mcpx_slice_of(names[i]);
        peer.grant = grant_new(peer.id, set, ROUTING_ALL, 0);
        notice_participant(&peer, &out);
        root = json_loadb(out.text, out.len, JSON_REJECT_DUPLICATES, NULL);
        cr_assert(root, "%s", names[i]);
        cr_expect_str_eq(json_string_value(json_object_get(root, "id")), names[i]);
        json_decref(root);
        grant_unref(peer.grant);
        mcpx_capset_unref(set);
        mcpx_text_fini(&out);
    }
}

/* Protocol: section 6. A sender that took one outcome for the other would say it twice, or not
   at all. */
Test(notice, says_of_what_was_not_stored_when_to_send_it_again_and_who_may_have_it)
{
    static const struct {
        struct error_notice error;
        int64_t wait_ms;
        const char *outcome;
    } rows[] = {
        {{.err = MCPX_EUNAVAILABLE, .wait_ms = 250}, 250, "refused"},
        {{.err = MCPX_EUNAVAILABLE, .wait_ms = 9, .uncertain = true}, 9, "unknown"},
    };
    struct world *w = world_new();

    world_joins(w, "ann", "chat");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_slice text;
        json_t *root, *payload;

        cr_assert(notice_error(world_peer(w, "ann"), &rows[i].error, &text));
        root = json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, NULL);
        payload = json_object_get(root, "payload");
        cr_expect_str_eq(json_string_value(json_object_get(payload, "error")), "unavailable");
        cr_expect_eq(json_integer_value(json_object_get(payload, "retry_after_ms")),
                     rows[i].wait_ms);
        cr_expect_str_eq(json_string_value(json_object_get(payload, "outcome")),
                         rows[i].outcome);
        json_decref(root);
    }
    world_skip(w);
    world_end();
}
