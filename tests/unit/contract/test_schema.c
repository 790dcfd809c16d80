/*
 * What breaks for whom: a model is told the wrong thing about its arguments, or two transports tell
 * it different things; what cannot be used lets everything pass. The rows hold R002-8 too.
 */
#include "tests/support/rows.h"
#include "tests/unit/contract/schema_stage.h"

#include <criterion/criterion.h>

TestSuite(schema, .init = stage_set_up, .fini = stage_tear_down);

static struct mcpx_schema_options options;

/* A schema, a document, what is said of it; nothing of a valid one. */
static void judge(char *const row[])
{
    const char *errors = row[2] ? row[2] : "";
    struct mcpx_schema *schema;
    enum mcpx_err err = stage_compile(mcpx_slice_of(row[0]), &options, &schema);

    cr_assert_eq(err, MCPX_OK, "%s: %s", row[0], stage_errors());
    err = mcpx_schema_validate(schema, mcpx_slice_of(row[1]), &report);
    cr_expect_eq(err == MCPX_OK, *errors == 0);
    cr_expect_eq(report.verdict == MCPX_VERDICT_VALID, *errors == 0);
    cr_expect_str_eq(stage_errors(), errors, "%s on %s", row[0], row[1]);
    mcpx_schema_unref(schema);
}

Test(schema, says_where_and_what_is_expected)
{
    rows_each("contract/rows/schema", "what is expected", judge);
}

Test(schema, says_it_of_draft_07_too)
{
    options.dialect = MCPX_DIALECT_DRAFT_07;
    rows_each("contract/rows/schema", "draft-07", judge);
}

Test(schema, judges_numbers_as_they_are_written)
{
    rows_each("contract/rows/schema", "numbers", judge);
}

Test(schema, reads_patterns_as_ECMA_262_does)
{
    rows_each("contract/rows/schema", "patterns", judge);
}
