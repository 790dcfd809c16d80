/*
 * What breaks for whom: a fingerprint that somebody else computes is another one, and what was
 * not changed counts as changed. The digests are those that sha256sum prints.
 */
#include <mcpx/digest.h>

#include "tests/support/count.h"
#include <criterion/criterion.h>

static void expect_digests(const char *const rows[][2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char sum[MCPX_SHA256_LEN + 1] = "";

        cr_expect_eq(mcpx_digest_json(mcpx_slice_of(rows[i][0]), sum, NULL), MCPX_OK);
        cr_expect_str_eq(sum, rows[i][1], "%s", rows[i][0]);
    }
}

Test(digest, R000_21_of_a_value)
{
    static const char *const rows[][2] = {
        {"{\"key\":\"value\",\"number\":42,\"nested\":{\"a\":1,\"b\":2}}",
         "54fb66ce0aa908012dc9c432d77d16df95a3d5033a557d1c14cfc6d82a63ae34"},
        {"null", "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"},
        {"\"text\"", "1e1d0f251d3a76fa2b1bfc81164078572623403887db02988b504b0492e9f076"},
    };

    expect_digests(rows, COUNT(rows));
}

Test(digest, R002_7_of_a_schema_whatever_the_order_of_its_members)
{
    static const char *const rows[][2] = {
        {"{\"type\":\"object\"}",
         "a2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0"},
        {" { \"\\u0074ype\" : \"object\" } ",
         "a2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0"},
        {"{\"nested\":{\"b\":2.0,\"a\":10e-1},\"number\":4.2e1,\"key\":\"valu\\u0065\"}",
         "54fb66ce0aa908012dc9c432d77d16df95a3d5033a557d1c14cfc6d82a63ae34"},
    };

    expect_digests(rows, COUNT(rows));
}

/* Values between which no double tells. */
Test(digest, of_values_that_differ_differ)
{
    static const char *const rows[][2] = {
        {"12345678901234567890", "12345678901234567891"},
        {"1e400", "1e401"},
        {"0.1", "0.1000000000000000055511151231257827"},
        {"1e-400", "0"},
        {"\"1\"", "1"},
        {"[[],[]]", "[[[]]]"},
        {"{\"a\":null}", "{}"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char a[MCPX_SHA256_LEN + 1], b[MCPX_SHA256_LEN + 1];

        cr_expect_eq(mcpx_digest_json(mcpx_slice_of(rows[i][0]), a, NULL), MCPX_OK);
        cr_expect_eq(mcpx_digest_json(mcpx_slice_of(rows[i][1]), b, NULL), MCPX_OK);
        cr_expect_str_neq(a, b, "%s, %s", rows[i][0], rows[i][1]);
    }
}

Test(digest, R000_23_of_what_is_ambiguous_there_is_none)
{
    static const char *const rows[] = {"{\"a\":1,\"a\":1}", "\"\\ud800\"", "1e1000000000",
                                       "NaN", ""};

    for (size_t i = 0; i < COUNT(rows); i++) {
        char sum[MCPX_SHA256_LEN + 1] = "untouched";
        struct mcpx_fault fault = {NULL, "", 0};

        cr_expect_eq(mcpx_digest_json(mcpx_slice_of(rows[i]), sum, &fault), MCPX_EINVALID,
                     "%s", rows[i]);
        cr_expect_str_eq(sum, "untouched", "%s", rows[i]);
        cr_expect_not_null(fault.reason, "%s", rows[i]);
    }
}

Test(digest, of_bytes_is_that_of_the_bytes)
{
    static const char *const rows[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"text", "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"},
        {"\"text\"", "1e1d0f251d3a76fa2b1bfc81164078572623403887db02988b504b0492e9f076"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char sum[MCPX_SHA256_LEN + 1];

        cr_expect_eq(mcpx_digest_bytes(mcpx_slice_of(rows[i][0]), sum), MCPX_OK);
        cr_expect_str_eq(sum, rows[i][1], "%s", rows[i][0]);
    }
}
