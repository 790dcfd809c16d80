/*
 * fuzz_validate.c - the bytes before the first line break as a schema, those behind it as a
 * document. What the schema takes, `not` refuses, and the other way round; allOf, anyOf, oneOf and
 * a reference with that one schema judge as it does. Errors are in order, and the same the second
 * time.
 */
#include "tests/fuzz/fuzz.h"

#include <mcpx/schema.h>

/* Compiles and judges; MCPX_ERR_COUNT when the schema is unusable. */
static enum mcpx_err judge(struct mcpx_shelf *shelf, struct mcpx_slice schema_text,
                           struct mcpx_slice document, struct mcpx_schema_report *report)
{
    struct mcpx_schema *schema = NULL;
    enum mcpx_err err = mcpx_schema_compile(shelf, schema_text, NULL, report, &schema);

    if (err)
        return MCPX_ERR_COUNT;
    err = mcpx_schema_validate(schema, document, report);
    mcpx_schema_unref(schema);
    return err;
}

/* Errors as one text. */
static void add_errors(const struct mcpx_schema_report *report, struct mcpx_text *out)
{
    for (size_t i = 0; i < report->count; i++) {
        mcpx_text_slice(out, report->errors[i].path);
        mcpx_text_add(out, "\n", 1);
        mcpx_text_slice(out, report->errors[i].keyword);
        mcpx_text_add(out, "\n", 1);
        mcpx_text_slice(out, report->errors[i].message);
        mcpx_text_add(out, "\n", 1);
        must(i == 0 ||
             mcpx_slice_compare(report->errors[i - 1].path, report->errors[i].path) <= 0);
    }
}

/* Judges with the schema between two pieces of text. */
static enum mcpx_err judge_within(struct mcpx_shelf *shelf, const char *before,
                                  struct mcpx_slice schema, const char *after,
                                  struct mcpx_slice document)
{
    struct mcpx_schema_report report = {MCPX_VERDICT_VALID, 0, {{{0}, {0}, {0}}}, NULL};
    struct mcpx_text text = {0};
    enum mcpx_err err;

    mcpx_text_puts(&text, before);
    mcpx_text_slice(&text, schema);
    mcpx_text_puts(&text, after);
    must(!text.failed);
    err = judge(shelf, mcpx_text_view(&text), document, &report);
    mcpx_text_fini(&text);
    mcpx_schema_report_fini(&report);
    return err;
}

static bool holds_text(struct mcpx_slice text, const char *part)
{
    size_t len = strlen(part);

    for (size_t i = 0; i + len <= text.len; i++) {
        if (memcmp(text.text + i, part, len) == 0)
            return true;
    }
    return false;
}

/* The same schema in other words. Bounds may be met by one and not by the other. */
static void check_words(struct mcpx_shelf *shelf, struct mcpx_slice schema,
                        struct mcpx_slice document, enum mcpx_err expected)
{
    static const struct {
        const char *before;
        const char *after;
        bool is_opposite;
    } words[] = {
        {"{\"not\":", "}", true},
        {"{\"not\":{\"not\":", "}}", false},
        {"{\"allOf\":[", "]}", false},
        {"{\"anyOf\":[false,", "]}", false},
        {"{\"oneOf\":[", ",false]}", false},
        {"{\"$ref\":\"#/$defs/s\",\"$defs\":{\"s\":", "}}", false},
        {"{\"if\":", ",\"else\":false}", false},
    };
    static const char *const names[] = {"$ref", "$dynamicRef", "$id", "$schema", "\\u"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (holds_text(schema, names[i])) /* what they say depends on what is around */
            return;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        enum mcpx_err err =
            judge_within(shelf, words[i].before, schema, words[i].after, document);

        if (err == MCPX_OK || err == MCPX_EINVALID)
            must((err == expected) != words[i].is_opposite);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_schema_report report = {MCPX_VERDICT_VALID, 0, {{{0}, {0}, {0}}}, NULL};
    const uint8_t *line = size ? memchr(data, '\n', size) : NULL;
    struct mcpx_shelf *shelf = mcpx_shelf_new();
    struct mcpx_text first = {0}, second = {0};
    struct mcpx_slice schema, document;
    enum mcpx_err err;

    must(shelf);
    schema = (struct mcpx_slice){(const char *)data, line ? (size_t)(line - data) : size};
    document = (struct mcpx_slice){(const char *)data + schema.len, size - schema.len};
    err = judge(shelf, schema, document, &report);
    if (err != MCPX_ERR_COUNT) {
        must((err == MCPX_OK) == (report.verdict == MCPX_VERDICT_VALID));
        must((err == MCPX_OK) == (report.count == 0));
        add_errors(&report, &first);
        must(judge(shelf, schema, document, &report) == err);
        add_errors(&report, &second);
        must(mcpx_slice_equal(mcpx_text_view(&first), mcpx_text_view(&second)));
    }
    if (err == MCPX_OK ||
        (err == MCPX_EINVALID && !holds_text(mcpx_text_view(&first), "\njson\n") &&
         !holds_text(mcpx_text_view(&first), "\nambiguous\n")))
        check_words(shelf, schema, document, err);
    mcpx_text_fini(&first);
    mcpx_text_fini(&second);
    mcpx_schema_report_fini(&report);
    mcpx_shelf_free(shelf);
    return 0;
}
