/*
 * What breaks for whom: a header member read wrongly is a message that goes to the wrong place, in
 * the wrong name, or under a grant that does not cover it. Protocol: section 1.
 */
#include <mcpx/envelope.h>

#include "tests/support/envelope_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static void expect_slice(struct mcpx_slice found, const char *expected)
{
    cr_expect_eq(found.text != NULL, expected != NULL, "presence of '%s'",
                 expected ? expected : "(absent)");
    if (expected)
        cr_expect(mcpx_slice_equal(found, mcpx_slice_of(expected)), "'%.*s' instead of '%s'",
                  (int)found.len, found.text, expected);
}

Test(envelope, is_read_with_everything_in_it)
{
    static const char text[] =
        " {\"protocol\":\"mcpx/v0.1\" , \"id\":\"e-1\",\"ts\":\"2026-11-21T00:00:00Z\","
        "\"from\":\"alice\",\"to\":[ \"bob\" , \"carol\"],"
        "\"kind\":\"mcp/request:tools/call:read_file\",\"correlation_id\":\"c-1\","
        "\"payload\": "
        "{\"big\":12345678901234567890,\"x\":1e400,\"d\":1,\"d\":\"\\u0000\\ud800\"}"
        ",\"more\":[1]} \n";
    struct mcpx_envelope envelope;
    struct mcpx_fault fault = {"", "", 0};

    mcpx_envelope_init(&envelope);
    cr_assert_eq(mcpx_envelope_parse(mcpx_slice_of(text), 512, &envelope, &fault), MCPX_OK,
                 "%s", fault.reason);
    cr_expect_eq(envelope.text.text, text);
    expect_slice(envelope.id, "e-1");
    expect_slice(envelope.ts, "2026-11-21T00:00:00Z");
    expect_slice(envelope.from, "alice");
    expect_slice(envelope.correlation_id, "c-1");
    expect_slice(envelope.kind.text, "mcp/request:tools/call:read_file");
    expect_slice(envelope.kind.type, "mcp/request");
    expect_slice(envelope.kind.method, "tools/call");
    expect_slice(envelope.kind.context, "read_file");
    cr_expect(envelope.has_to);
    cr_assert_eq(envelope.to_count, 2);
    expect_slice(envelope.to[0], "bob");
    expect_slice(envelope.to[1], "carol");
    expect_slice(
        envelope.payload,
        "{\"big\":12345678901234567890,\"x\":1e400,\"d\":1,\"d\":\"\\u0000\\ud800\"}");
    cr_expect_eq(envelope.open_at, 1);
    cr_expect_eq(text + envelope.kind_at, strstr(text, "\"mcp/request"));
    cr_expect_eq(envelope.kind_raw_len, strlen("\"mcp/request:tools/call:read_file\""));
    cr_expect_null(envelope.scratch, "no escapes, no memory");
    mcpx_envelope_fini(&envelope);
}

Test(envelope, needs_only_four_members_in_any_order)
{
    static const struct mcpx_slice rows[] = {
        T("{" PROTOCOL ID KIND PAYLOAD "}"),
        T("{" KIND PROTOCOL ID PAYLOAD "}"),
        T("{\"payload\":{}," ID KIND "\"protocol\":\"mcpx/v0.1\"}"),
        T("\t{\n" PROTOCOL "\r\n" ID " " KIND PAYLOAD "\n}\n"),
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_envelope envelope;
        struct mcpx_fault fault = {"", "", 0};

        mcpx_envelope_init(&envelope);
        cr_expect_eq(mcpx_envelope_parse(rows[i], 0, &envelope, &fault), MCPX_OK, "%s: %s",
                     rows[i].text, fault.reason);
        expect_slice(envelope.id, "e1");
        expect_slice(envelope.ts, NULL);
        expect_slice(envelope.from, NULL);
        expect_slice(envelope.correlation_id, NULL);
        expect_slice(envelope.kind.type, "chat");
        expect_slice(envelope.kind.method, NULL);
        cr_expect_not(envelope.has_to);
        cr_expect_eq(envelope.to_count, 0);
        mcpx_envelope_fini(&envelope);
    }
}

Test(envelope, takes_what_no_rule_forbids)
{
    static const struct mcpx_slice rows[] = {
        WITH("\"ts\":\"\","),
        WITH("\"ts\":\"yesterday\","),
        WITH("\"to\":[],"),
        WITH("\"to\":[ \n ],"),
        WITH("\"to\":[\"a\",\"a\"],"),
        WITH("\"from\":\"system:gateway\","), /* whose it is, is the hub's question */
        WITH("\"to\":[\n\"J\xc3\xb6rg\" ,\t\"\xe2\x80\x8d\\u200c\"\r],"),
        WITH("\"from\":\"J\xc3\xb6rg \xf0\x9f\x98\x80\","),
        WITH("\"id2\":null,\"\":0,\"I-D\":1,\"Kinds\":2,"),
        WITH("\"x\":{\"a\":1,\"a\":2},\"y\":\"\\ud800\\u0000\x7f\","),
        WITH("\"\\ud800\":1,\"\\ud801\":1,\"\x7f\":1,"),
        T("{" PROTOCOL ID KIND "\"payload\":{\"payload\":{},\"kind\":1,\"kind\":2}}"),
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_envelope envelope;
        struct mcpx_fault fault = {"", "", 0};

        mcpx_envelope_init(&envelope);
        cr_expect_eq(mcpx_envelope_parse(rows[i], 512, &envelope, &fault), MCPX_OK, "%s: %s",
                     rows[i].text, fault.reason);
        mcpx_envelope_fini(&envelope);
    }
}

/* {"protocol":..., ..., MEMBER: [ "x"*count ]...} as text of its own. */
static struct mcpx_slice with_addressees(size_t count)
{
    char *text = malloc(count * 8 + 256);
    size_t len = (size_t)sprintf(text, "{" PROTOCOL ID KIND "\"to\":[");

    for (size_t i = 0; i < count; i++)
        len += (size_t)sprintf(text + len, "%s\"p%zu\"", i ? "," : "", i);
    len += (size_t)sprintf(text + len, "]," PAYLOAD "}");
    return (struct mcpx_slice){text, len};
}

Test(envelope, takes_256_addressees_and_no_more)
{
    static const size_t counts[] = {0, 1, 255, 256, 257, 1000};

    for (size_t i = 0; i < COUNT(counts); i++) {
        struct mcpx_slice text = with_addressees(counts[i]);
        struct mcpx_envelope envelope;
        struct mcpx_fault fault = {"", "", 0};
        enum mcpx_err err;

        mcpx_envelope_init(&envelope);
        err = mcpx_envelope_parse(text, 512, &envelope, &fault);
        cr_expect_eq(err, counts[i] <= 256 ? MCPX_OK : MCPX_EINVALID, "%zu: %s", counts[i],
                     fault.reason);
        if (err == MCPX_OK) {
            cr_expect(envelope.has_to);
            cr_expect_eq(envelope.to_count, counts[i]);
        } else {
            cr_expect_str_eq(fault.field, "to");
            cr_expect_str_eq(fault.reason, "expected at most 256 addressees");
            cr_expect_eq(fault.offset, (size_t)(strstr(text.text, "\"p256\"") - text.text));
        }
        mcpx_envelope_fini(&envelope);
        free((char *)text.text);
    }
}

Test(envelope, holds_ids_to_256_bytes_after_unescaping)
{
    static const char *const fields[] = {"id", "from", "correlation_id", "to"};
    static const struct {
        const char *unit; /* repeated to make the value */
        size_t unit_len;  /* unescaped */
        size_t count;
    } rows[] = {
        {"x", 1, 1},
        {"x", 1, 256},
        {"x", 1, 257},
        {"x", 1, 5000},
        {"\\u0078", 1, 256},
        {"\\u0078", 1, 257},
        {"\\u00e9", 2, 128},
        {"\\u00e9", 2, 129},
        {"\xc3\xa9", 2, 128},
        {"\xc3\xa9", 2, 129},
        {"\\n", 1, 257},
        {"x", 1, 0},
        {"\\ud83d\\ude00", 4, 64},
        {"\\ud83d\\ude00", 4, 65},
    };

    for (size_t i = 0; i < COUNT(rows) * COUNT(fields); i++) {
        const char *field = fields[i % COUNT(fields)];
        size_t r = i / COUNT(fields), len;
        size_t bytes = rows[r].unit_len * rows[r].count;
        bool is_to = strcmp(field, "to") == 0, fits = bytes >= 1 && bytes <= 256;
        char *text = malloc(40000);
        struct mcpx_envelope envelope;
        struct mcpx_fault fault = {"", "", 0};

        len = (size_t)sprintf(text, "{" PROTOCOL "%s" KIND "\"%s\":%s",
                              strcmp(field, "id") ? ID : "", field, is_to ? "[\"" : "\"");
        for (size_t n = 0; n < rows[r].count; n++)
            len += (size_t)sprintf(text + len, "%s", rows[r].unit);
        len += (size_t)sprintf(text + len, "\"%s," PAYLOAD "}", is_to ? "]" : "");
        mcpx_envelope_init(&envelope);
        cr_expect_eq(mcpx_envelope_parse((struct mcpx_slice){text, len}, 0, &envelope, &fault),
                     fits ? MCPX_OK : MCPX_EINVALID, "%s: %zu of %s: %s", field, rows[r].count,
                     rows[r].unit, fault.reason);
        if (!fits) {
            cr_expect_str_eq(fault.field, field);
            cr_expect_str_eq(fault.reason,
                             bytes ? "expected at most 256 bytes"
                                   : "expected 1 to 256 bytes, found an empty string");
        }
        mcpx_envelope_fini(&envelope);
        free(text);
    }
}

Test(envelope, refuses_kinds_that_do_not_fit_the_grammar)
{
    /* the offset points into the kind when it stands there as it is */
    static const struct {
        const char *kind;
        size_t offset; /* from the opening quote */
    } rows[] = {
        {"", 1},       {"mcp/request:", 13}, {"a::b", 3},        {"/chat", 1},
        {"chat/", 6},  {"a b", 2},           {"ch\xc3\xa4t", 3}, {"a:b:\x7f", 5},
        {"a/../b", 3}, {"a\\u0020b", 0},     {"a:b:\\n", 0},     {"\\u0000", 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[256];
        struct mcpx_envelope envelope;
        struct mcpx_fault fault = {"", "", 0};

        snprintf(text, sizeof text, "{" PROTOCOL ID "\"kind\":\"%s\"," PAYLOAD "}",
                 rows[i].kind);
        mcpx_envelope_init(&envelope);
        cr_expect_eq(mcpx_envelope_parse(mcpx_slice_of(text), 0, &envelope, &fault),
                     MCPX_EINVALID, "%s", rows[i].kind);
        cr_expect_str_eq(fault.field, "kind", "%s: %s", rows[i].kind, fault.field);
        cr_expect_eq(fault.offset,
                     (size_t)(strstr(text, "\"kind\":") - text) + 7 + rows[i].offset,
                     "%s: %zu, %s", rows[i].kind, fault.offset, fault.reason);
        cr_expect_neq(fault.reason[0], '\0');
        expect_slice(envelope.id, "e1");
        mcpx_envelope_fini(&envelope);
    }
}

Test(envelope, counts_itself_as_the_first_level_of_nesting)
{
    struct mcpx_envelope envelope;
    struct mcpx_fault fault = {"", "", 0};

    mcpx_envelope_init(&envelope);
    cr_expect_eq(mcpx_envelope_parse(MCPX_SLICE(ENVELOPE("")), 1, &envelope, &fault),
                 MCPX_EINVALID);
    cr_expect_str_eq(fault.reason, "nesting is deeper than the limit");
    cr_expect_eq(mcpx_envelope_parse(MCPX_SLICE(ENVELOPE("")), 2, &envelope, &fault), MCPX_OK);
    cr_expect_eq(
        mcpx_envelope_parse(MCPX_SLICE(ENVELOPE("\"x\":[[]],")), 2, &envelope, &fault),
        MCPX_EINVALID);
    cr_expect_eq(
        mcpx_envelope_parse(MCPX_SLICE(ENVELOPE("\"x\":[[]],")), 3, &envelope, &fault),
        MCPX_OK);
    mcpx_envelope_fini(&envelope);
}

Test(envelope, takes_64_members_and_no_more)
{
    static const size_t counts[] = {4, 63, 64, 65, 100};

    for (size_t i = 0; i < COUNT(counts); i++) {
        char text[2048];
        struct mcpx_envelope envelope;
        struct mcpx_fault fault = {"", "", 0};
        int len = sprintf(text, "{" PROTOCOL ID KIND PAYLOAD);

        for (size_t n = 4; n < counts[i]; n++)
            len += sprintf(text + len, ",\"m%zu\":1", n);
        sprintf(text + len, "}");
        mcpx_envelope_init(&envelope);
        cr_expect_eq(mcpx_envelope_parse(mcpx_slice_of(text), 512, &envelope, &fault),
                     counts[i] <= 64 ? MCPX_OK : MCPX_EINVALID, "%zu", counts[i]);
        if (counts[i] > 64) {
            cr_expect_str_eq(fault.reason, "expected at most 64 members");
            cr_expect_eq(fault.offset, (size_t)(strstr(text, ",\"m64\"") - text));
            expect_slice(envelope.id, NULL); /* another might follow unseen */
        }
        mcpx_envelope_fini(&envelope);
    }
}

Test(envelope, unescapes_names_and_header_strings)
{
    static const char text[] =
        "{\"\\u0070rotocol\":\"mcpx\\/v0.1\",\"\\u0069d\":\"e\\u002d1\",\"t\\u0073\":\"\\\"\","
        "\"fro\\u006d\":\"\\ud83d\\ude00\",\"\\u0074o\":[\"b\\u006fb\",\"\\\\\",\"carol\"],"
        "\"k\\u0069nd\":\"mcp\\/request:tools\\/call:a\\\"b\","
        "\"correlation_\\u0069d\":\"\\u00e9\",\"p\\u0061yload\":{\"\\u0061\":\"\\u0061\"}}";
    struct mcpx_envelope envelope;
    struct mcpx_fault fault = {"", "", 0};
    const char *scratch;

    mcpx_envelope_init(&envelope);
    cr_assert_eq(mcpx_envelope_parse(mcpx_slice_of(text), 512, &envelope, &fault), MCPX_OK,
                 "%s at %zu", fault.reason, fault.offset);
    expect_slice(envelope.id, "e-1");
    expect_slice(envelope.ts, "\"");
    expect_slice(envelope.from, "\xf0\x9f\x98\x80");
    expect_slice(envelope.correlation_id, "\xc3\xa9");
    expect_slice(envelope.kind.type, "mcp/request");
    expect_slice(envelope.kind.method, "tools/call");
    expect_slice(envelope.kind.context, "a\"b");
    cr_assert_eq(envelope.to_count, 3);
    expect_slice(envelope.to[0], "bob");
    expect_slice(envelope.to[1], "\\");
    expect_slice(envelope.to[2], "carol");
    expect_slice(envelope.payload, "{\"\\u0061\":\"\\u0061\"}");
    cr_expect_eq(envelope.kind_raw_len, strlen("\"mcp\\/request:tools\\/call:a\\\"b\""));
    scratch = envelope.scratch;
    cr_assert_eq(mcpx_envelope_parse(mcpx_slice_of(text), 512, &envelope, &fault), MCPX_OK);
    cr_expect_eq(envelope.scratch, scratch, "scratch is kept between messages");
    mcpx_envelope_fini(&envelope);
}

Test(envelope, salvages_ids_of_up_to_256_bytes)
{
    for (size_t bytes = 255; bytes <= 258; bytes++) {
        char text[512] = "{\"id\":\"";
        size_t len = strlen(text);
        struct mcpx_envelope envelope;
        struct mcpx_fault fault = {"", "", 0};

        memset(text + len, 'x', bytes);
        memcpy(text + len + bytes, "\"}", 2);
        mcpx_envelope_init(&envelope);
        cr_expect_eq(mcpx_envelope_parse(mcpx_slice_of(text), 0, &envelope, &fault),
                     MCPX_EINVALID);
        cr_expect_eq(envelope.id.len, bytes <= 256 ? bytes : 0, "%zu", envelope.id.len);
        mcpx_envelope_fini(&envelope);
    }
}

Test(envelope, leaves_nothing_of_the_message_before)
{
    struct mcpx_envelope envelope;
    struct mcpx_fault fault = {"", "", 0};

    mcpx_envelope_init(&envelope);
    cr_assert_eq(mcpx_envelope_parse(
                     MCPX_SLICE(ENVELOPE("\"ts\":\"t\",\"from\":\"f\",\"to\":[\"a\",\"b\"],"
                                         "\"correlation_id\":\"c\",")),
                     0, &envelope, &fault),
                 MCPX_OK);
    cr_assert_eq(mcpx_envelope_parse(MCPX_SLICE(ENVELOPE("")), 0, &envelope, &fault), MCPX_OK);
    expect_slice(envelope.ts, NULL);
    expect_slice(envelope.from, NULL);
    expect_slice(envelope.correlation_id, NULL);
    cr_expect_not(envelope.has_to);
    cr_expect_eq(envelope.to_count, 0);
    cr_expect_eq(mcpx_envelope_parse(MCPX_SLICE("{"), 0, &envelope, &fault), MCPX_EINVALID);
    expect_slice(envelope.id, NULL);
    mcpx_envelope_fini(&envelope);
    mcpx_envelope_fini(&envelope);
}
