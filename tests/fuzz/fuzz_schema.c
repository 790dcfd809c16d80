/*
 * fuzz_schema.c - any bytes as a schema: it is compiled, or refused with at least one error that
 * has a keyword and a message. What was compiled is found again under its fingerprint, and judges
 * documents without reading beyond them.
 */
#include "tests/fuzz/fuzz.h"

#include <mcpx/schema.h>

static void check_errors(const struct mcpx_schema_report *report)
{
    must(report->count > 0 && report->count <= MCPX_SCHEMA_ERRORS_MAX);
    for (size_t i = 0; i < report->count; i++) {
        must(report->errors[i].keyword.len > 0);
        must(i == 0 ||
             mcpx_slice_compare(report->errors[i - 1].path, report->errors[i].path) <= 0);
    }
}

static void judge(const struct mcpx_schema *schema, const char *document,
                  struct mcpx_schema_report *report)
{
    enum mcpx_err err = mcpx_schema_validate(schema, mcpx_slice_of(document), report);

    if (err != MCPX_OK)
        check_errors(report);
}

/* Half of all inputs are read as draft-07, going by their length. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const documents[] = {
        "null", "\"a\"", "-1.5e3", "[1,[],{}]", "{\"a\":{\"b\":[true]},\"c\":\"\\u0000\"}",
    };
    struct mcpx_schema_options options = {.dialect = (enum mcpx_dialect)(size % 2)};
    struct mcpx_slice text = {(const char *)data, size};
    struct mcpx_shelf *shelf = mcpx_shelf_new();
    struct mcpx_schema_report report = {MCPX_VERDICT_VALID, 0, {{{0}, {0}, {0}}}, NULL};
    struct mcpx_schema *schema = NULL, *again = NULL;
    enum mcpx_err err;

    must(shelf);
    err = mcpx_schema_compile(shelf, text, &options, &report, &schema);
    must(err == MCPX_OK || err == MCPX_EINVALID);
    if (err) {
        check_errors(&report);
    } else {
        must(mcpx_schema_compile(shelf, text, &options, &report, &again) == MCPX_OK);
        must(again == schema || mcpx_shelf_bytes(shelf) == 0);
        for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
            judge(schema, documents[i], &report);
    }
    mcpx_schema_unref(again);
    mcpx_schema_unref(schema);
    mcpx_schema_report_fini(&report);
    mcpx_shelf_free(shelf);
    return 0;
}
