/*
 * What breaks for whom: a client that checks answers throws every envelope away, or cannot read
 * what it is told of them.
 */
#include <mcpx/json.h>
#include <mcpx/wrap.h>

#include "tests/support/count.h"
#include <criterion/criterion.h>
#include <stdio.h>

/* Members of the contract's schema; the outline has these and no others, and requires the same. */
static void expect_outline(enum mcpx_form form, struct mcpx_slice schema)
{
    static const char entry[] = "{\"name\":\"t\",\"inputSchema\":{}}";
    struct mcpx_slice outline, properties = mcpx_json_get(schema, "properties");
    struct mcpx_text out = {0};
    size_t free_values = 0;

    mcpx_wrap_tool(&out, mcpx_slice_of(entry), form);
    outline = mcpx_json_get(mcpx_text_view(&out), "outputSchema");
    cr_expect(
        mcpx_json_same(mcpx_json_get(outline, "required"), mcpx_json_get(schema, "required")));
    cr_expect_eq(mcpx_json_length(outline), 3);
    MCPX_JSON_EACH(walk, mcpx_json_get(outline, "properties")) {
        char name[40];

        snprintf(name, sizeof name, "%.*s", (int)walk.name.len, walk.name.text);
        cr_expect_eq(mcpx_json_type(walk.value), MCPX_JSON_OBJECT);
        free_values += mcpx_json_length(walk.value) == 0;
        cr_expect(mcpx_json_get(properties, name).text ||
                      (form == MCPX_FORM_RESPONSE && strcmp(name, "data") == 0),
                  "%s", name);
    }
    cr_expect_eq(free_values, 1);
    cr_expect_eq(mcpx_json_length(mcpx_json_get(outline, "properties")),
                 mcpx_json_length(properties) + (form == MCPX_FORM_RESPONSE));
    mcpx_text_fini(&out);
}

Test(outline, clients_that_check_answers_are_shown_the_outline_of_the_contract)
{
    struct mcpx_slice schema;

    cr_assert_eq(
        mcpx_json_check(mcpx_contract_schema(MCPX_CONTRACT_ENVELOPE), 0, &schema, NULL),
        MCPX_OK);
    expect_outline(MCPX_FORM_ENVELOPE, mcpx_json_get(schema, "then"));
    cr_assert_eq(
        mcpx_json_check(mcpx_contract_schema(MCPX_CONTRACT_RESPONSE), 0, &schema, NULL),
        MCPX_OK);
    expect_outline(MCPX_FORM_RESPONSE, schema);
}

Test(outline, the_schema_of_a_tools_own_output_moves_to_its_meta)
{
    static const struct {
        const char *tool, *before, *after;
    } rows[] = {
        {"{\"name\":\"t\", \"outputSchema\" : {\"type\":\"object\"} ,\"x\":1.10}",
         "{\"name\":\"t\", \"outputSchema\" : {\"type\":\"object\",\"required\":[\"tier\",",
         " ,\"x\":1.10,\"_meta\":{\"io.mcpx/outputSchema\":{\"type\":\"object\"}}}"},
        {"{\"_meta\":{\"a\": 1},\"outputSchema\":true}",
         "{\"_meta\":{\"a\": 1,\"io.mcpx/outputSchema\":true},\"outputSchema\":{", "}"},
        {"{\"_meta\":null,\"outputSchema\":{}}",
         "{\"_meta\":{\"io.mcpx/outputSchema\":{}},\"outputSchema\":{", "}"},
        {"{\"name\":\"t\"}", "{\"name\":\"t\",\"outputSchema\":{", "\"data\":{}}}}"},
        {"7", "7", ""},
    };
    struct mcpx_text once = {0}, twice = {0};

    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t len = strlen(rows[i].after);

        mcpx_text_reset(&once);
        mcpx_text_reset(&twice);
        mcpx_wrap_tool(&once, mcpx_slice_of(rows[i].tool), MCPX_FORM_RESPONSE);
        cr_expect_eq(strstr(once.text, rows[i].before), once.text, "%s", once.text);
        cr_expect_str_eq(once.text + once.len - len, rows[i].after);
        mcpx_wrap_tool(&twice, mcpx_text_view(&once), MCPX_FORM_RESPONSE);
        cr_expect_str_eq(twice.text, once.text);
        mcpx_text_reset(&once);
        mcpx_wrap_tool(&once, mcpx_slice_of(rows[i].tool), MCPX_FORM_AS_IS);
        cr_expect_str_eq(once.text, rows[i].tool);
    }
    mcpx_text_fini(&once);
    mcpx_text_fini(&twice);
}
