/*
 * What breaks for whom: an envelope that is let in though a rule forbids it reaches everybody; one
 * that is refused with the wrong reason sends its author looking in the wrong place.
 * Protocol: section 1, every row of its table and the order of its checks.
 */
#include <mcpx/envelope.h>

#include "tests/support/envelope_text.h"

#include <criterion/criterion.h>
#include <stdio.h>

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

Test(envelope_refusals, refuses_what_is_no_object)
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

Test(envelope_refusals, refuses_a_member_twice_under_any_spelling)
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

/* Some receivers ignore letter case and keep the last: they would read another envelope. */
Test(envelope_refusals, refuses_a_member_named_like_one_of_the_header)
{
    static const char reason[] =
        "named like this member but for letter case: some readers would take it for this one";
    static const struct row rows[] = {
        {WITH("\"FROM\":\"system:gateway\","), "from", "\"FROM\"", reason, "e1"},
        {WITH("\"Kind\":\"system/welcome\","), "kind", "\"Kind\"", reason, "e1"},
        {WITH("\"\xe2\x84\xaa"
              "ind\":1,"),
         "kind", "\"\xe2", reason, "e1"},
        {WITH("\"\\u212aind\":1,"), "kind", "\"\\u212a", reason, "e1"},
        {WITH("\"T\\u017F\":1,"), "ts", "\"T\\u", reason, "e1"},
        {WITH("\"To\":[],"), "to", "\"To\"", reason, "e1"},
        {WITH("\"Protocol\":1,"), "protocol", "\"Protocol\"", reason, "e1"},
        {WITH("\"correlation_ID\":1,"), "correlation_id", "\"correlation_ID\"", reason, "e1"},
        {WITH("\"kind\\u0000\":1,"), "kind", "\"kind\\u", reason, "e1"},
        {T("{" PROTOCOL ID KIND "\"Payload\":{}}"), "payload", "\"Payload\"", reason, "e1"},
        {T("{" PROTOCOL "\"ID\":\"e1\"," KIND PAYLOAD "}"), "id", "\"ID\"", reason, NULL},
        {WITH("\"Id\":\"e2\","), "id", "\"Id\"", reason, NULL},
        {WITH("\"\xc4\xb1"
              "d\":\"e2\","),
         "id", "\"\xc4", reason, NULL},
        /* after doubles, before wrong types */
        {WITH("\"Kind\":1,\"ts\":1,"), "kind", "\"Kind\"", reason, "e1"},
        {WITH("\"Kind\":1,\"x\":1,\"x\":2,"), "", "\"x\":2",
         "expected each member once, found this name again", "e1"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refused(&rows[i]);
}

Test(envelope_refusals, refuses_missing_members)
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
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refused(&rows[i]);
}

Test(envelope_refusals, refuses_values_of_the_wrong_type)
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

Test(envelope_refusals, refuses_addressees_that_are_no_ids)
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

Test(envelope_refusals, refuses_header_strings_nobody_could_print)
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
        {T("{" PROTOCOL "\"id\":\"a\xc2\x9b\"," KIND PAYLOAD "}"), "id", "\xc2\x9b", control,
         NULL},
        {T("{" PROTOCOL "\"id\":\"\\u202e\"," KIND PAYLOAD "}"), "id", "\\u202e", control,
         NULL},
        {WITH("\"ts\":\"J\xc3\xb6rg\xe2\x80\xa8\","), "ts", "\xe2\x80\xa8", control, "e1"},
        {WITH("\"from\":\"\\u00e9\\u200B\xe2\x80\x8b\","), "from", "\\u200B", control, "e1"},
        {WITH("\"from\":\"\xe2\x80\x8b\\ud800\","), "from", "\xe2", control, "e1"},
        {WITH("\"to\":[ \"a\",\n\t\"\xe2\x81\xa6\" ],"), "to", "\xe2", control, "e1"},
        {WITH("\"to\":[\n\"a\\uFEFF\" ],"), "to", "\\uFEFF", control, "e1"},
        {T("{\"protocol\":\"mcpx\\u0000\"," ID KIND PAYLOAD "}"), "protocol", "\\u0000",
         control, "e1"},
        {T("{" PROTOCOL ID "\"kind\":\"a:b:\\ud800\"," PAYLOAD "}"), "kind", "\\ud800", half,
         "e1"},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        expect_refused(&rows[i]);
}

Test(envelope_refusals, refuses_every_other_protocol)
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

Test(envelope_refusals, answers_the_first_fault_in_the_order_of_checks)
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

Test(envelope_refusals, salvages_an_escaped_id)
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
