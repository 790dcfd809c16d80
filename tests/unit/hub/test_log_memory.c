/*
 * What breaks for whom: everybody in a topic, when memory ran out in the middle of an append and
 * the log was left half changed. Contract: log_append changes nothing when it fails.
 */
#include "router/hub/log/log.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGES = 300 };

static enum mcpx_err put(struct log *log, int number)
{
    static const char text[900];
    char id[16];
    struct log_message message = {.piece_count = 1};

    message.id.len = (size_t)snprintf(id, sizeof id, "e%d", number);
    message.id.text = id;
    message.kind = MCPX_SLICE("chat");
    message.pieces[0] = (struct mcpx_slice){text, (size_t)(number * 7 % 900)};
    return log_append(log, &message);
}

/* Every append fails at every allocation it makes, and then succeeds. */
Test(log_memory, an_append_that_fails_leaves_the_log_as_it_was)
{
    struct log_bounds bounds = {.bytes = 1000000, .backlog_bytes = 1000000};
    size_t failures = 0;
    uint64_t serial;
    struct log log;

    log_init(&log, (struct mx_map_key){{1, 2}}, &bounds);
    for (int i = 0; i < MESSAGES; i++) {
        for (size_t nth = 1;; nth++) {
            uint64_t head = log.head;
            size_t memory = log.memory, bytes = log.retained_bytes;
            enum mcpx_err err;

            fault_alloc_arm(nth);
            err = put(&log, i);
            if (!fault_alloc_disarm()) {
                cr_assert_eq(err, MCPX_OK);
                break;
            }
            failures++;
            cr_assert_eq(err, MCPX_ENOMEM);
            cr_assert_eq(log.head, head);
            cr_assert_eq(log.retained_bytes, bytes);
            cr_assert_geq(log.memory, memory);
        }
    }
    cr_expect_gt(failures, 10);
    cr_expect_eq(log.head, MESSAGES);
    for (int i = 0; i < MESSAGES; i++) {
        char id[16];

        snprintf(id, sizeof id, "e%d", i);
        cr_expect(log_find(&log, mcpx_slice_of(id), &serial) && serial == (uint64_t)i, "%s",
                  id);
    }
    log_fini(&log);
}
