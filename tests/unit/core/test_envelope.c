/*
 * What breaks for whom: an envelope that is let in though a rule forbids it reaches everybody; one
 * that is refused with the wrong reason sends its author looking in the wrong place.
 * Protocol: section 1, every row of its table and the order of its checks.
 */
#include <mcpx/envelope.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define T(literal)                                                                            \
    {                                                                                         \
        literal, sizeof(literal) - 1                                                          \
    }
#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* Members every envelope needs; rows add to them or replace one. */
#define PROTOCOL "\"protocol\":\"mcpx/v0.1\","
#define ID "\"id\":\"e1\","
#define KIND "\"kind\":\"chat\","
#define PAYLOAD "\"payload\":{}"
#define WITH(members) T(ENVELOPE(members))
#define ENVELOPE(members) "{" PROTOCOL ID KIND members PAYLOAD "}"

struct row {
    struct mcpx_slice text;
    const char *field;
    const char *where; /* what stands at the fault's offset; NULL = the opening brace */
    const char *reason;
    const char *id; /* readable all the same; NULL = not */
};

static void expect_refused(const struct row *row)
{
    struct mcpx_envelope envelope;
    struct mcpx_fault fault = {"", "", 0};
    size_t where = 0;
    enum mcpx_err err;

    mcpx_envelope_init(&envelope);
    err = mcpx_envelope_parse(row->text, 512, &envelope, &fault);
    cr_expect_eq(err, MCPX_EINVALID, "%s gave %d", row->text.text, (int)err);
    cr_expect_str_eq(fault.field, row->field, "%s: field %s", row->text.text, fault.field);
    if (row->reason)
        cr_expect_str_eq(fault.reason, row->reason, "%s: %s", row->text.text, fault.reason);
    if (row->where)
        where = (size_t)(strstr(row->text.text, row->where) - row->text.text);
    cr_expect_eq(fault.offset, where, "%s: offset %zu", row->text.text, fault.offset);
    cr_expect_eq(envelope.id.text != NULL, row->id != NULL, "%s: id", row->text.text);
    if (row->id)
        cr_expect(mcpx_slice_equal(envelope.id, mcpx_slice_of(row->id)), "%s: id '%.*s'",
                  row->text.text, (int)envelope.id.len, envelope.id.text);
    mcpx_envelope_fini(&envelope);
}

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
        WITH("\"from\":\"J\xc3\xb6rg \xf0\x9f\x98\x80\","),
        WITH("\"id2\":null,\"\":0,\"ID\":1,\"Kind\":2,"),
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

Test(envelope, refuses_what_is_no_object)
{
    static const struct row rows[] = {
        {T(""), "", NULL, "text ends where a value was expected", NULL},
        {T("hello"), "", NULL, "expected a value", NULL},
        {T("[]"), "", NULL, "expected an object", NULL},
        {T("\"{}\""), "", NULL, "expected an object", NULL},
        {T(" null"), "", "null", "expected an object", NULL},
        {T("{" ID "}"), "", "}", "expected a member name between ',' and '}'", NULL},
        {T("{" PROTOCOL ID KIND PAYLOAD "};"), "", ";",
         "expected nothing after the JSON value", NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refused(&rows[i]);
}

Test(envelope, refuses_a_member_twice_under_any_spelling)
{
    static const char reason[] = "expected each member once, found this name again";
    static const struct row rows[] = {
        {WITH("\"kind\":\"x\","), "kind", "\"kind\":\"x\"", reason, "e1"},
        {WITH("\"k\\u0069nd\":\"x\","), "kind", "\"k\\u0069nd\"", reason, "e1"},
        {T("{\"k\\u0069nd\":\"x\"," PROTOCOL ID KIND PAYLOAD "}"), "kind", "\"kind\"", reason,
         "e1"},
        {WITH("\"id\":\"e2\","), "id", "\"id\":\"e2\"", reason, NULL},
        {WITH("\"\\u0069d\":\"e1\","), "id", "\"\\u0069d\"", reason, NULL},
        {WITH("\"\\u0070ayload\":{},"), "payload", "\"payload\"", reason, "e1"},
        {WITH("\"x\":1,\"y\":2,\"x\":3,"), "", "\"x\":3", reason, "e1"},
        /* also before wrong types, and with the id doubled after another double */
        {WITH("\"ts\":1,\"ts\":1,"), "ts", "\"ts\":1,\"p", reason, "e1"},
        {WITH("\"x\":1,\"x\":3,\"id\":\"e1\","), "", "\"x\":3", reason, NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refused(&rows[i]);
}

Test(envelope, refuses_missing_members)
{
    static const struct row rows[] = {
        {T("{}"), "protocol", NULL, "expected a member 'protocol' that says \"mcpx/v0.1\"",
         NULL},
        {T("{" ID KIND PAYLOAD "}"), "protocol", NULL,
         "expected a member 'protocol' that says \"mcpx/v0.1\"", "e1"},
        {T("{" PROTOCOL KIND PAYLOAD "}"), "id", NULL,
         "expected a member 'id' that names this envelope", NULL},
        {T("{" PROTOCOL ID PAYLOAD "}"), "kind", NULL,
         "expected a member 'kind' that says what this is", "e1"},
        {T("{" PROTOCOL ID "\"kind\":\"chat\"}"), "payload", NULL,
         "expected a member 'payload', {} if there is nothing to say", "e1"},
        {T("{" PROTOCOL ID KIND "\"Payload\":{}}"), "payload", NULL,
         "expected a member 'payload', {} if there is nothing to say", "e1"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refused(&rows[i]);
}

Test(envelope, refuses_values_of_the_wrong_type)
{
    static const struct {
        const char *field;
        const char *reason;
        bool is_string, is_object, is_array;
    } rules[] = {
        {"protocol", "expected the string \"mcpx/v0.1\"", true, false, false},
        {"id", "expected a string that names this envelope", true, false, false},
        {"ts", "expected a string, or the member left out", true, false, false},
        {"from", "expected a string, or the member left out", true, false, false},
        {"to", "expected an array of strings, or the member left out", false, false, true},
        {"kind", "expected a string like \"chat\" or \"mcp/request:tools/call:NAME\"", true,
         false, false},
        {"correlation_id", "expected a string, or the member left out", true, false, false},
        {"payload", "expected an object", false, true, false},
    };
    static const char *const values[] = {"null", "true", "1",    "\"s\"",
                                         "{}",   "[]",   "-1.5", "\"\""};

    for (size_t r = 0; r < COUNT(rules); r++)
        for (size_t v = 0; v < COUNT(values); v++) {
            char text[512];
            int len = 1;
            struct row row = {{text, 0}, rules[r].field, "@", rules[r].reason, "e1"};

            if ((values[v][0] == '"' && rules[r].is_string) ||
                (values[v][0] == '{' && rules[r].is_object) ||
                (values[v][0] == '[' && rules[r].is_array))
                continue;
            text[0] = '{';
            for (size_t f = 0; f < COUNT(rules); f++) {
                const char *value = rules[f].is_object  ? "{}"
                                    : rules[f].is_array ? "[]"
                                    : f == 0            ? "\"mcpx/v0.1\""
                                                        : "\"e1\"";

                len += snprintf(text + len, sizeof text - (size_t)len, "%s\"%s\":%s",
                                f ? "," : "", rules[f].field, f == r ? values[v] : value);
            }
            snprintf(text + len, sizeof text - (size_t)len, "}");
            row.text = mcpx_slice_of(text);
            if (r == 1)
                row.id = NULL;
            {
                char where[64];

                snprintf(where, sizeof where, "\"%s\":", rules[r].field);
                row.where = strstr(text, where) + strlen(where);
                expect_refused(&row);
            }
        }
}

Test(envelope, refuses_addressees_that_are_no_ids)
{
    static const char strings[] = "expected only strings in this array";
    static const struct row rows[] = {
        {WITH("\"to\":[1],"), "to", "1]", strings, "e1"},
        {WITH("\"to\":[\"a\",null],"), "to", "null", strings, "e1"},
        {WITH("\"to\":[\"a\", [\"b\"]],"), "to", "[\"b\"", strings, "e1"},
        {WITH("\"to\":[{\"a\":\"b\"},\"c\"],"), "to", "{\"a\"", strings, "e1"},
        {WITH("\"to\":[\"a\",\"\"],"), "to", "\"\"]",
         "expected 1 to 256 bytes, found an empty string", "e1"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refused(&rows[i]);
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

Test(envelope, refuses_header_strings_nobody_could_print)
{
    static const char control[] = "control character in a header string";
    static const char half[] = "half a surrogate pair in a header string";
    static const struct row rows[] = {
        {T("{" PROTOCOL "\"id\":\"a\\nb\"," KIND PAYLOAD "}"), "id", "\\n", control, NULL},
        {T("{" PROTOCOL "\"id\":\"a\x7f\"," KIND PAYLOAD "}"), "id", "\x7f", control, NULL},
        {T("{" PROTOCOL "\"id\":\"a\\ud800\"," KIND PAYLOAD "}"), "id", "\\ud800", half, NULL},
        {WITH("\"ts\":\"\\u0000\","), "ts", "\\u0000", control, "e1"},
        {WITH("\"ts\":\"2026\\t\","), "ts", "\\t", control, "e1"},
        {WITH("\"from\":\"a\\u0000b\","), "from", "\\u0000", control, "e1"},
        {WITH("\"from\":\"a\\u001Fb\","), "from", "\\u001F", control, "e1"},
        {WITH("\"from\":\"\\\\\\u007f\","), "from", "\\u007f", control, "e1"},
        {WITH("\"from\":\"123456789\\b\","), "from", "\\b", control, "e1"},
        {WITH("\"to\":[\"a\",\"b\\r\"],"), "to", "\\r", control, "e1"},
        {WITH("\"to\":[\"\\udc00\",\"b\"],"), "to", "\\udc00", half, "e1"},
        {WITH("\"to\":[\"\\ud83d\\ude00\",\"\\ude00\\ud83d\"],"), "to", "\\ude00\\ud83d", half,
         "e1"},
        {WITH("\"correlation_id\":\"\\f\","), "correlation_id", "\\f", control, "e1"},
        {T("{\"protocol\":\"mcpx\\u0000\"," ID KIND PAYLOAD "}"), "protocol", "\\u0000",
         control, "e1"},
        {T("{" PROTOCOL ID "\"kind\":\"a:b:\\ud800\"," PAYLOAD "}"), "kind", "\\ud800", half,
         "e1"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refused(&rows[i]);
}

Test(envelope, refuses_every_other_protocol)
{
    static const char *const rows[] = {"mcpx/v0.2", "mcpx/v0.1 ", "MCPX/v0.1", "mcpx/v0.10",
                                       "mcpx/v0",   "",           "mcp/v0.1",  "mcpx/v0.1\\/"};

    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        struct row row = {
            {text, 0}, "protocol", NULL, "expected the string \"mcpx/v0.1\"", "e1"};

        snprintf(text, sizeof text, "{\"protocol\":\"%s\"," ID KIND PAYLOAD "}", rows[i]);
        row.text = mcpx_slice_of(text);
        row.where = strstr(text, ":\"") + 1;
        expect_refused(&row);
    }
}

Test(envelope, answers_the_first_fault_in_the_order_of_checks)
{
    /* each text has every fault from its own row downwards */
    static const struct {
        struct mcpx_slice text;
        enum mcpx_err err;
        const char *field;
        const char *reason; /* NULL: the kind's own */
    } rows[] = {
        {T("{\"protocol\":\"x\",\"id\":\"\\n\",\"kind\":5,\"kind\":5,} \xff"), MCPX_EUTF8, "",
         "expected UTF-8, found bytes that are none"},
        {T("{\"protocol\":\"x\",\"id\":\"\\n\",\"kind\":5,\"kind\":5,}"), MCPX_EINVALID, "",
         "expected a member name between ',' and '}'"},
        {T("{\"protocol\":\"x\",\"id\":\"\\n\",\"kind\":5,\"kind\":5,\"payload\":[[[[]]]]}"),
         MCPX_EINVALID, "", "nesting is deeper than the limit"},
        {T("{\"protocol\":\"x\",\"id\":\"\\n\",\"kind\":5,\"kind\":5,\"payload\":{}}"),
         MCPX_EINVALID, "kind", "expected each member once, found this name again"},
        {T("{\"protocol\":\"x\",\"id\":\"\\n\",\"kind\":5,\"payload\":{}}"), MCPX_EINVALID,
         "kind", "expected a string like \"chat\" or \"mcp/request:tools/call:NAME\""},
        {T("{\"protocol\":\"x\",\"id\":\"\\n\",\"kind\":\"chat\",\"payload\":[]}"),
         MCPX_EINVALID, "payload", "expected an object"},
        {T("{\"protocol\":\"x\",\"id\":\"\\n\",\"kind\":\"c\",\"from\":\"\",\"payload\":{}}"),
         MCPX_EINVALID, "from", "expected 1 to 256 bytes, found an empty string"},
        {T("{\"protocol\":\"x\",\"id\":\"\\n\",\"kind\":\"/chat\",\"payload\":{}}"),
         MCPX_EINVALID, "kind", NULL},
        {T("{\"protocol\":\"x\",\"id\":\"\\n\",\"kind\":\"chat\",\"payload\":{}}"),
         MCPX_EINVALID, "id", "control character in a header string"},
        {T("{\"protocol\":\"x\",\"id\":\"n\",\"kind\":\"chat\",\"payload\":{}}"),
         MCPX_EINVALID, "protocol", "expected the string \"mcpx/v0.1\""},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_envelope envelope;
        struct mcpx_fault fault = {"", "", 0};

        mcpx_envelope_init(&envelope);
        cr_expect_eq(mcpx_envelope_parse(rows[i].text, 4, &envelope, &fault), rows[i].err,
                     "%s", rows[i].text.text);
        cr_expect_str_eq(fault.field, rows[i].field, "%s: %s", rows[i].text.text, fault.field);
        if (rows[i].reason)
            cr_expect_str_eq(fault.reason, rows[i].reason, "%s: %s", rows[i].text.text,
                             fault.reason);
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

Test(envelope, salvages_an_escaped_id)
{
    static const struct row rows[] = {
        {T("{\"\\u0069d\":\"e\\u00e91\",\"kind\":1}"), "protocol", NULL, NULL,
         "e\xc3\xa9"
         "1"},
        {T("{\"id\":\"\\u0000\",\"kind\":1}"), "protocol", NULL, NULL, NULL},
        {T("{\"id\":\"\",\"kind\":1}"), "protocol", NULL, NULL, NULL},
        {T("{\"id\":[\"e1\"],\"kind\":1}"), "protocol", NULL, NULL, NULL},
        {T("{\"id\":\"\\ud800\",\"kind\":1}"), "protocol", NULL, NULL, NULL},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refused(&rows[i]);
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
