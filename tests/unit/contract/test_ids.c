/*
 * What breaks for whom: an answer cannot be found by the id that its caller gave it; two runs that
 * did the same cannot be compared line by line; two calls share an id.
 * The deterministic ids are those that Python's uuid5 computes.
 */
#include "tests/support/count.h"
#include "tests/support/fault_alloc.h"
#include <mcpx/digest.h>

#include <criterion/criterion.h>
#include <stdio.h>

struct ask {
    enum mcpx_id_purpose purpose;
    const char *tool;
    const char *arguments;
    const char *id;
};

/* What one process is asked, in this order. */
static const struct ask asks[] = {
    {MCPX_ID_REQUEST, "get-sum", "{\"a\":2,\"b\":40}", "11857fb0652354fea03e5da65620c9b4"},
    {MCPX_ID_SPAN, "get-sum", "{\"a\":2,\"b\":40}", "ecd2bcf8c02d592a8dfd3f2c3a467e1d"},
    {MCPX_ID_RUN, "get-sum", "{\"a\":2,\"b\":40}", "ccc5e08764eb5eb9aa1a3e2048282be2"},
    {MCPX_ID_REQUEST, "get-sum", " { \"b\":4e1, \"\\u0061\":2.0 } ",
     "ac7e8b69199a5dffbf4c686f11fa935f"},
    {MCPX_ID_REQUEST, "get-sum", NULL, "9892169dfd3e5e509742825e706c4d92"},
    {MCPX_ID_REQUEST, "get-sum", "{\"a\":2,\"b\":40}", "b8955d7bbde354a89bb04f5ccc24f51c"},
    {MCPX_ID_SPAN, "get-sum", "{\"a\":2,\"b\":40}", "312b3217de7e591ba0f974a7e05868ec"},
    {MCPX_ID_RUN, "get-sum", "{\"a\":2,\"b\":40}", "095cf9a8cc5b5554a0ff619b70651a9e"},
    {MCPX_ID_REQUEST, "get-sum", "{\"a\":1,\"a\":2}", "8b3d6ebe7ec0502f8c3c4275cbc08686"},
    {MCPX_ID_REQUEST, "get-sum", "{\"a\":", "edcfb2f7d24152cbb918dcd8c6c14c23"},
    {MCPX_ID_REQUEST, "a\"b\x1f\xe2\x82\xac", "{}", "cc24211af08154ada8c2c6235c23d781"},
};

Test(ids, R002_18_are_the_same_in_every_process)
{
    for (int process = 0; process < 2; process++) {
        struct mcpx_ids *ids = mcpx_ids_new();

        cr_assert_not_null(ids);
        for (size_t i = 0; i < COUNT(asks); i++) {
            char id[MCPX_ID_LEN + 1];

            cr_expect_eq(mcpx_ids_next(ids, asks[i].purpose, mcpx_slice_of(asks[i].tool),
                                       mcpx_slice_of(asks[i].arguments), id),
                         MCPX_OK);
            cr_expect_str_eq(id, asks[i].id, "process %d, row %zu: %s", process, i, id);
            cr_expect_eq(id[12], '5', "row %zu", i);
            cr_expect(strchr("89ab", id[16]), "row %zu", i);
        }
        mcpx_ids_free(ids);
    }
}

Test(ids, R002_18_without_determinism_are_random)
{
    static const unsigned char zeros[16] = {0};
    static const unsigned char ones[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                           0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    char id[MCPX_ID_LEN + 1];

    mcpx_id_random(zeros, id);
    cr_expect_str_eq(id, "00000000000040008000000000000000");
    mcpx_id_random(ones, id);
    cr_expect_str_eq(id, "ffffffffffff4fffbfffffffffffffff");
}

Test(ids, R001_6_are_32_hexadecimal_digits)
{
    static const unsigned char bytes[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                            0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    char id[MCPX_ID_LEN + 1];

    mcpx_id_random(bytes, id);
    cr_expect_str_eq(id, "0123456789ab4def8123456789abcdef");
}

Test(ids, many_names_are_told_apart)
{
    struct mcpx_ids *ids = mcpx_ids_new();
    char first[MCPX_ID_LEN + 1] = "", id[MCPX_ID_LEN + 1], arguments[32];

    cr_assert_not_null(ids);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 10000; i++) {
            snprintf(arguments, sizeof arguments, "{\"n\":%d}", i);
            cr_assert_eq(mcpx_ids_next(ids, MCPX_ID_SPAN, MCPX_SLICE("t"),
                                       mcpx_slice_of(arguments), id),
                         MCPX_OK);
            cr_assert_str_neq(id, first, "round %d, call %d", round, i);
            if (i == 0)
                memcpy(first, id, sizeof first);
        }
    mcpx_ids_free(ids);
}

Test(ids, an_id_is_not_used_up_when_memory_runs_out)
{
    size_t nth = 0;
    bool failed;

    do {
        struct mcpx_ids *ids = mcpx_ids_new();
        char id[MCPX_ID_LEN + 1] = "untouched";
        struct mcpx_slice arguments = mcpx_slice_of(asks[0].arguments);
        enum mcpx_err err;

        cr_assert_not_null(ids);
        fault_alloc_arm(++nth);
        err = mcpx_ids_next(ids, MCPX_ID_REQUEST, MCPX_SLICE("get-sum"), arguments, id);
        failed = fault_alloc_disarm();
        cr_expect_eq(err, failed ? MCPX_ENOMEM : MCPX_OK, "allocation %zu", nth);
        cr_expect_str_eq(id, failed ? "untouched" : asks[0].id);
        if (failed)
            cr_expect_eq(
                mcpx_ids_next(ids, MCPX_ID_REQUEST, MCPX_SLICE("get-sum"), arguments, id),
                MCPX_OK);
        cr_expect_str_eq(id, asks[0].id, "allocation %zu", nth);
        mcpx_ids_free(ids);
    } while (failed);
    cr_expect_gt(nth, 2);
    mcpx_ids_free(NULL);
}

static struct mcpx_id_sources sources_of(const char *context, const char *meta,
                                         const char *envelope_id)
{
    return (struct mcpx_id_sources){mcpx_slice_of(context), mcpx_slice_of(meta),
                                    mcpx_slice_of(envelope_id)};
}

Test(ids, R001_5_a_call_goes_by_the_id_it_brings)
{
    static const struct {
        const char *context, *meta, *envelope_id;
        const char *id; /* NULL: one has to be made */
    } rows[] = {
        {"{\"requestId\":\"ctx\"}", "{\"request_id\":\"meta\"}", "env", "ctx"},
        {"{\"requestId\":\" ctx \"}", NULL, NULL, "ctx"},
        {"{\"requestId\":\"\"}", "{\"request_id\":\"meta\"}", "env", "meta"},
        {"{\"requestId\":7}", "{\"request_id\":\"meta\"}", "env", "meta"},
        {"null", "{\"request_id\":\"  abc \"}", "env", "abc"},
        {NULL, "{\"request_id\":\"\\t\\r\\n x y \\u0020\"}", "env", "x y"},
        {NULL,
         "{\"correlationId\":\"4\",\"correlation_id\":\"3\",\"requestId\":\"2\","
         "\"request_id\":\"1\"}",
         "env", "1"},
        {NULL,
         "{\"correlationId\":\"4\",\"correlation_id\":\"3\",\"requestId\":\"2\","
         "\"request_id\":\"\"}",
         "env", "2"},
        {NULL,
         "{\"correlationId\":\"4\",\"correlation_id\":\"3\",\"requestId\":null,"
         "\"request_id\":\" \"}",
         "env", "3"},
        {NULL, "{\"correlationId\":\"4\",\"correlation_id\":[\"3\"]}", "env", "4"},
        {NULL, "{\"request_id\":\"\\ud800\",\"requestId\":\"\\ud83d\\ude00\"}", "env",
         "\xf0\x9f\x98\x80"},
        {"{}", "{}", "env", "env"},
        {"[]", "\"request_id\"", "env", "env"},
        {NULL, NULL, "env", "env"},
        {NULL, "{\"request_id\":\" \"}", NULL, NULL},
        {NULL, NULL, "", NULL},
        {NULL, NULL, NULL, NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_id_sources from =
            sources_of(rows[i].context, rows[i].meta, rows[i].envelope_id);
        struct mcpx_text id = {0};

        cr_expect_eq(mcpx_request_id_add(&id, &from), rows[i].id != NULL, "row %zu", i);
        cr_expect(mcpx_slice_equal(mcpx_text_view(&id), mcpx_slice_of(rows[i].id)),
                  "row %zu: %s", i, id.text);
        mcpx_text_fini(&id);
    }
}

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

Test(ids, a_call_belongs_to_the_trace_it_names)
{
    static const struct {
        const char *context, *meta;
        const char *id;
    } rows[] = {
        {"{\"traceId\":\"ctx\"}", "{\"traceparent\":\"00-" TRACE "-" PARENT "-01\"}", "ctx"},
        {"{\"traceId\":\" \"}", "{\"traceparent\":\"00-" TRACE "-" PARENT "-01\"}", TRACE},
        {NULL, "{\"traceparent\":\"00-" TRACE "-" PARENT "-00\"}", TRACE},
        {NULL, "{\"traceparent\":\"cc-" TRACE "-" PARENT "-00\"}", TRACE},
        {NULL, "{\"traceparent\":\"cc-" TRACE "-" PARENT "-00-more\"}", TRACE},
        {NULL, "{\"traceparent\":\"00-" TRACE "-" PARENT "-00-more\"}", "req"},
        {NULL, "{\"traceparent\":\"cc-" TRACE "-" PARENT "-00more\"}", "req"},
        {NULL, "{\"traceparent\":\"ff-" TRACE "-" PARENT "-00\"}", "req"},
        {NULL, "{\"traceparent\":\"00-" TRACE "-" PARENT "-0\"}", "req"},
        {NULL, "{\"traceparent\":\"00-" TRACE "_" PARENT "-00\"}", "req"},
        {NULL, "{\"traceparent\":\"00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-00\"}",
         "req"},
        {NULL, "{\"traceparent\":\"00-00000000000000000000000000000000-" PARENT "-00\"}",
         "req"},
        {NULL, "{\"traceparent\":\"00-" TRACE "-0000000000000000-00\"}", "req"},
        {NULL, "{\"traceparent\":7}", "req"},
        {NULL, "{\"traceparent\":\"\"}", "req"},
        {"{\"requestId\":\"other\"}", "{}", "req"},
        {NULL, NULL, "req"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_id_sources from = sources_of(rows[i].context, rows[i].meta, "env");
        struct mcpx_text id = {0};

        mcpx_trace_id_add(&id, &from, MCPX_SLICE("req"));
        cr_expect_str_eq(id.text, rows[i].id, "row %zu", i);
        mcpx_text_fini(&id);
    }
}

Test(ids, that_a_call_brings_are_not_lost_silently_when_memory_runs_out)
{
    struct mcpx_id_sources from =
        sources_of("{\"requestId\":\"a\",\"traceId\":\"b\"}", NULL, NULL);
    struct mcpx_text id = {0};

    fault_alloc_arm(1);
    mcpx_request_id_add(&id, &from);
    cr_expect(fault_alloc_disarm());
    cr_expect(id.failed);
    mcpx_text_fini(&id);
    fault_alloc_arm(1);
    mcpx_trace_id_add(&id, &from, MCPX_SLICE("req"));
    cr_expect(fault_alloc_disarm());
    cr_expect(id.failed);
    mcpx_text_fini(&id);
}
