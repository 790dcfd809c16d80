/*
 * What breaks for whom: a contract that cannot be found by its name, or whose schema leads outside
 * itself, is one that nobody else can check documents with.
 */
#include <mcpx/contract.h>
#include <mcpx/json.h>

#include <criterion/criterion.h>
#include <stdio.h>

Test(contract, each_is_found_by_its_name_and_by_no_other)
{
    enum mcpx_contract kept = MCPX_CONTRACT_EVENT;

    cr_expect_eq(MCPX_CONTRACT_COUNT, 13);
    for (int i = 0; i < MCPX_CONTRACT_COUNT; i++) {
        enum mcpx_contract contract = (enum mcpx_contract)i, found = MCPX_CONTRACT_COUNT;
        const char *name = mcpx_contract_name(contract);

        cr_assert_not_null(name);
        cr_expect(mcpx_contract_find(mcpx_slice_of(name), &found), "%s", name);
        cr_expect_eq(found, contract, "%s", name);
    }
    cr_expect_not(mcpx_contract_find(MCPX_SLICE("mcp.envelope.v0.2"), &kept));
    cr_expect_not(mcpx_contract_find(MCPX_SLICE("Context"), &kept));
    cr_expect_not(mcpx_contract_find((struct mcpx_slice){0}, &kept));
    cr_expect_eq(kept, MCPX_CONTRACT_EVENT);
}

Test(contract, one_that_there_is_not_has_no_name_and_no_schema)
{
    static const int outside[] = {-1, MCPX_CONTRACT_COUNT, 1000};

    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        enum mcpx_contract contract = (enum mcpx_contract)outside[i];

        cr_expect_null(mcpx_contract_name(contract));
        cr_expect_null(mcpx_contract_schema(contract).text);
        cr_expect_eq(mcpx_contract_breach(contract), MCPX_CODE_INTERNAL_ERROR);
    }
}

/* Expects that all that a schema refers to is a place in itself or has its $id under $defs. */
static void expect_complete(struct mcpx_slice schema, struct mcpx_slice part, const char *name)
{
    struct mcpx_slice parts = mcpx_json_get(schema, "$defs");
    struct mcpx_slice ref = mcpx_json_get(part, "$ref");
    struct mcpx_json_walk walk;
    bool found = !ref.text || ref.text[1] == '#';

    for (mcpx_json_walk_start(&walk, parts); mcpx_json_walk_next(&walk) && !found;) {
        struct mcpx_slice id = mcpx_json_get(walk.value, "$id");

        /* the closing quote, or the beginning of a fragment, stands where the $id ends */
        found = id.len > 2 && ref.len >= id.len &&
                memcmp(id.text, ref.text, id.len - 1) == 0 &&
                (ref.text[id.len - 1] == '"' || ref.text[id.len - 1] == '#');
    }
    cr_expect(found, "%s: %.*s is not under $defs", name, (int)ref.len, ref.text);
    mcpx_json_walk_start(&walk, part);
    while (mcpx_json_walk_next(&walk))
        expect_complete(schema, walk.value, name);
}

Test(contract, each_schema_is_complete_and_says_what_it_is)
{
    for (int i = 0; i < MCPX_CONTRACT_COUNT; i++) {
        enum mcpx_contract contract = (enum mcpx_contract)i;
        struct mcpx_slice text = mcpx_contract_schema(contract), schema = {NULL, 0};
        const char *name = mcpx_contract_name(contract);
        char id[64];

        cr_assert_gt(text.len, 0, "%s", name);
        cr_expect_eq(text.text[text.len - 1], '\n', "%s", name);
        cr_assert_eq(mcpx_json_check(text, 0, &schema, NULL), MCPX_OK, "%s", name);
        snprintf(id, sizeof id, "urn:mcpx:contract:%s", name);
        cr_expect(mcpx_json_equals(mcpx_json_get(schema, "$id"), mcpx_slice_of(id)), "%s",
                  name);
        cr_expect(mcpx_json_equals(mcpx_json_get(schema, "$schema"),
                                   MCPX_SLICE("https://json-schema.org/draft/2020-12/schema")),
                  "%s", name);
        expect_complete(schema, schema, name);
    }
}
