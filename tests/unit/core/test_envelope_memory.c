/*
 * What breaks for whom: a router that is short of memory must refuse one message and go on, not
 * crash or leak with every topic in it. Protocol: section 1.
 */
#include <mcpx/envelope.h>

#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>

static const char plain[] = "{\"protocol\":\"mcpx/v0.1\",\"id\":\"e1\",\"kind\":\"chat\","
                            "\"payload\":{\"text\":\"\\u00e9\"}}";
static const char escaped[] =
    "{\"protocol\":\"mcpx\\/v0.1\",\"id\":\"e1\",\"kind\":\"ch\\u0061t\","
    "\"to\":[\"\\u0062ob\"],\"payload\":{}}";

Test(envelope_memory, none_is_asked_for_without_escapes_in_the_header)
{
    struct mcpx_envelope envelope;
    struct mcpx_fault fault;

    fault_alloc_arm(0);
    mcpx_envelope_init(&envelope);
    cr_expect_eq(mcpx_envelope_parse(mcpx_slice_of(plain), 512, &envelope, &fault), MCPX_OK);
    cr_expect_eq(fault_alloc_count(), 0);
    mcpx_envelope_fini(&envelope);
}

Test(envelope_memory, is_asked_for_once_and_kept)
{
    struct mcpx_envelope envelope;
    struct mcpx_fault fault;

    fault_alloc_arm(0);
    mcpx_envelope_init(&envelope);
    for (int i = 0; i < 10; i++)
        cr_expect_eq(mcpx_envelope_parse(mcpx_slice_of(escaped), 512, &envelope, &fault),
                     MCPX_OK);
    cr_expect_eq(fault_alloc_count(), 1);
    mcpx_envelope_fini(&envelope);
}

Test(envelope_memory, shortage_is_an_error_and_not_the_end)
{
    struct mcpx_envelope envelope;
    struct mcpx_fault fault = {"", "", 0};
    enum mcpx_err err;
    bool failed;

    FAULT_ALLOC_EACH(nth, 1) {
        mcpx_envelope_init(&envelope);
        err = mcpx_envelope_parse(mcpx_slice_of(escaped), 512, &envelope, &fault);
        failed = fault_alloc_disarm();
        cr_expect_eq(err, failed ? MCPX_ENOMEM : MCPX_OK, "allocation %zu", nth);
        if (failed) {
            cr_expect_str_eq(fault.reason, mcpx_strerror(MCPX_ENOMEM));
            cr_expect_str_eq(fault.field, "");
            cr_expect(mcpx_slice_equal(envelope.id, MCPX_SLICE("e1")), "its id needs none");
        }
        /* the same envelope goes on as if nothing had been */
        cr_expect_eq(mcpx_envelope_parse(mcpx_slice_of(escaped), 512, &envelope, &fault),
                     MCPX_OK);
        mcpx_envelope_fini(&envelope);
        cr_expect_leq(nth, 2, "one allocation, then none: %zu", nth);
    }
}

Test(envelope_memory, shortage_while_refusing_leaves_the_id_out)
{
    static const char refused[] = "{\"id\":\"\\u0065\\u0031\"}";
    struct mcpx_envelope envelope;
    struct mcpx_fault fault = {"", "", 0};

    mcpx_envelope_init(&envelope);
    fault_alloc_arm(1);
    cr_expect_eq(mcpx_envelope_parse(mcpx_slice_of(refused), 512, &envelope, &fault),
                 MCPX_EINVALID);
    cr_expect(fault_alloc_disarm());
    cr_expect_null(envelope.id.text);
    cr_expect_str_eq(fault.field, "protocol");
    mcpx_envelope_fini(&envelope);
}
