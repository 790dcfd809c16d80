/*
 * What breaks for whom: a document that keeps its contract is refused, and a call that would work
 * is not made; or one that breaks it passes, and a server or a model has to cope with what it is
 * not built for. The rows are in vectors/, each with the requirement it is for.
 *
 * A file of vectors/ has the name of its contract and an object on each line:
 *
 *     base     a valid document, from which the rows below are made
 *     for      the requirement that the row is for
 *     set      values to put into a copy of the base, by JSON Pointer
 *     drop     pointers to what is left out of it
 *     fill     strings to put into it: how many characters, by pointer
 *     with     the character for these; one of four bytes if it is missing
 *     text     a whole text instead
 *     error    path and keyword of the first error; a row without it is valid
 *     errors   how many there are
 *
 * jansson makes documents of rows, and cannot hold every number: a row with such a number has the
 * whole text.
 */
#include "lib/base/scoped.h"
#include "tests/support/fault_alloc.h"
#include "tests/unit/contract/schema_stage.h"

#include <mcpx/contract.h>
#include <mcpx/json.h>

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(contracts, .init = stage_set_up, .fini = stage_tear_down);

/* A file that is read. */
struct vectors {
    FILE *file;
    char *line;
    size_t size;
    json_t *base;
    json_t *row;
    size_t number;
};

/*
 * A row's document and what is expected of it; all is lent until the next row.
 *
 * path, keyword   NULL when the document is valid
 * errors          0 when their number does not matter
 */
struct vector {
    size_t number;
    const char *requirement;
    char *text;
    const char *path;
    const char *keyword;
    size_t errors;
};

enum { PART_MAX = 128 };

/* Opens the vectors of a contract. Fails the test when there are none. */
static void vectors_open(struct vectors *vectors, const char *contract)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/tests/unit/contract/vectors/%s.jsonl",
             getenv("MCPX_SOURCE_DIR"), contract);
    *vectors = (struct vectors){.file = fopen(path, "r")};
    cr_assert_not_null(vectors->file, "no vectors: %s", path);
}

/* The container that a pointer's last part is in; makes objects on the way. */
static json_t *find_place(json_t *document, const char *pointer, char last[PART_MAX])
{
    while (*pointer == '/') {
        size_t len = strcspn(pointer + 1, "/");
        json_t *next;

        cr_assert_lt(len, PART_MAX);
        memcpy(last, pointer + 1, len);
        last[len] = '\0';
        pointer += 1 + len;
        if (*pointer == '\0')
            break;
        next = json_is_array(document) ? json_array_get(document, strtoul(last, NULL, 10))
                                       : json_object_get(document, last);
        if (!next)
            json_object_set_new(document, last, next = json_object());
        document = next;
    }
    return document;
}

static void set(json_t *document, const char *pointer, json_t *value)
{
    char last[PART_MAX];
    json_t *place = find_place(document, pointer, last);
    int failed = json_is_array(place)
                     ? json_array_set_new(place, strtoul(last, NULL, 10), value)
                     : json_object_set_new(place, last, value);

    cr_assert_eq(failed, 0, "cannot set %s", pointer);
}

static json_t *repeated(const char *character, json_int_t count)
{
    size_t len = strlen(character), total = len * (size_t)count;
    char *text = malloc(total + 1);
    json_t *value;

    for (size_t at = 0; at < total; at += len)
        memcpy(text + at, character, len);
    value = json_stringn(text, total);
    free(text);
    return value;
}

static json_t *make(const struct vectors *vectors)
{
    const char *with = json_string_value(json_object_get(vectors->row, "with"));
    json_t *document = json_deep_copy(vectors->base), *value;
    const char *pointer;
    size_t i;

    json_object_foreach(json_object_get(vectors->row, "set"), pointer, value)
        set(document, pointer, json_deep_copy(value));
    json_array_foreach(json_object_get(vectors->row, "drop"), i, value)
    {
        char last[PART_MAX];
        json_t *place = find_place(document, json_string_value(value), last);

        cr_assert_eq(json_object_del(place, last), 0, "nothing to drop at %s",
                     json_string_value(value));
    }
    json_object_foreach(json_object_get(vectors->row, "fill"), pointer, value)
        set(document, pointer,
            repeated(with ? with : "\U0001f600", json_integer_value(value)));
    return document;
}

/* Frees what is of one row alone. */
static void forget_row(struct vectors *vectors, struct vector *row)
{
    free(row->text);
    json_decref(vectors->row);
    vectors->row = NULL;
    *row = (struct vector){.number = 0};
}

/* Reads the next row. Returns false at the end, and closes the file. */
static bool vectors_next(struct vectors *vectors, struct vector *out)
{
    json_t *error, *base, *document;

    forget_row(vectors, out);
    if (getline(&vectors->line, &vectors->size, vectors->file) < 0) {
        fclose(vectors->file);
        free(vectors->line);
        json_decref(vectors->base);
        return false;
    }
    vectors->row = json_loads(vectors->line, 0, NULL);
    cr_assert_not_null(vectors->row, "no JSON: %s", vectors->line);
    base = json_object_get(vectors->row, "base");
    if (base) {
        json_decref(vectors->base);
        vectors->base = json_incref(base);
    }
    document = make(vectors);
    error = json_object_get(vectors->row, "error");
    *out = (struct vector){
        .number = ++vectors->number,
        .requirement = json_string_value(json_object_get(vectors->row, "for")),
        .path = json_string_value(json_array_get(error, 0)),
        .keyword = json_string_value(json_array_get(error, 1)),
        .errors = (size_t)json_integer_value(json_object_get(vectors->row, "errors")),
    };
    if (json_object_get(vectors->row, "text"))
        out->text = strdup(json_string_value(json_object_get(vectors->row, "text")));
    else
        out->text = json_dumps(document, JSON_ENCODE_ANY);
    json_decref(document);
    return true;
}

static bool is(struct mcpx_slice text, const char *expected)
{
    return mcpx_slice_equal(text, mcpx_slice_of(expected));
}

/* What was found, on one line. */
static const char *found(void)
{
    static char text[2048];
    struct mcpx_text list = {0};

    mcpx_schema_errors_add(&list, &report);
    snprintf(text, sizeof text, "%s", list.text);
    mcpx_text_fini(&list);
    return text;
}

static void expect_row(const char *name, enum mcpx_contract contract, const struct vector *row)
{
    struct mcpx_slice text = mcpx_slice_of(row->text);
    enum mcpx_err err = mcpx_contracts_validate(contracts, contract, text, &report);
    bool as_expected = row->path ? err == MCPX_EINVALID && report.count > 0 &&
                                       is(report.errors[0].path, row->path) &&
                                       is(report.errors[0].keyword, row->keyword)
                                 : err == MCPX_OK && report.count == 0;

    cr_expect(as_expected, "%s, line %zu (%s): expected %s %s, found %s in %s", name,
              row->number, row->requirement ? row->requirement : "the base",
              row->path ? row->keyword : "nothing", row->path ? row->path : "", found(),
              row->text);
    cr_expect_eq(report.verdict, row->path ? MCPX_VERDICT_INVALID : MCPX_VERDICT_VALID);
    if (row->errors > 0)
        cr_expect_eq(report.count, row->errors, "%s, line %zu: %zu errors expected, found %s",
                     name, row->number, row->errors, found());
}

/* All contracts in one test: what one leaves behind does not change the next. */
Test(contracts, each_accepts_and_refuses_what_its_vectors_say)
{
    for (int i = 0; i < MCPX_CONTRACT_COUNT; i++) {
        enum mcpx_contract contract = (enum mcpx_contract)i;
        const char *name = mcpx_contract_name(contract);
        struct vector row = {.number = 0};
        struct vectors vectors;

        vectors_open(&vectors, name);
        while (vectors_next(&vectors, &row))
            expect_row(name, contract, &row);
        cr_expect_gt(vectors.number, 10, "%s has %zu vectors", name, vectors.number);
    }
}

Test(contracts, a_breach_has_the_code_of_who_wrote_the_document)
{
    for (int i = 0; i < MCPX_CONTRACT_COUNT; i++) {
        enum mcpx_code code = mcpx_contract_breach((enum mcpx_contract)i);

        cr_expect(code == MCPX_CODE_INVALID_INPUT || code == MCPX_CODE_INVALID_OUTPUT);
    }
}

/* R001-10, R004-16: words that stand in a table and in a schema are the same ones. */
Test(contracts, codes_of_the_tables_are_those_that_the_schemas_know)
{
    mx_scoped_text text = {0};

    for (int i = 0; i < MCPX_CAUSE_COUNT; i++) {
        const char *word = mcpx_cause_in_response((enum mcpx_cause)i);

        if (!word)
            continue;
        mcpx_text_reset(&text);
        mcpx_text_puts(&text, "{\"tier\":\"community\",\"tool_version\":\"1.0.0\","
                              "\"tool_id\":\"t\",\"request_id\":\"r\",\"capabilities\":[],"
                              "\"upgrade_hints\":[],\"data\":null,"
                              "\"error\":{\"error\":\"e\",\"error_details\":null");
        mcpx_json_add_member(&text, "error_code", mcpx_slice_of(word));
        mcpx_text_puts(&text, "}}");
        cr_expect_eq(mcpx_contracts_validate(contracts, MCPX_CONTRACT_RESPONSE,
                                             mcpx_text_view(&text), &report),
                     MCPX_OK, "%s: %s", word, found());
    }
    for (int i = 0; i < MCPX_CODE_COUNT; i++) {
        const char *word = mcpx_code_name((enum mcpx_code)i);

        mcpx_text_reset(&text);
        mcpx_text_puts(&text,
                       "{\"eventName\":\"mcp.tool.result\",\"ts\":\"2026-11-22T05:54:52Z\","
                       "\"requestId\":\"r\",\"traceId\":\"t\",\"toolName\":\"n\","
                       "\"status\":\"error\",\"durationMs\":1,"
                       "\"outputSchemaVersion\":\"none\"");
        mcpx_json_add_member(&text, "errorCategory", mcpx_slice_of(word));
        mcpx_text_puts(&text, "}");
        cr_expect_eq(mcpx_contracts_validate(contracts, MCPX_CONTRACT_EVENT,
                                             mcpx_text_view(&text), &report),
                     MCPX_OK, "%s: %s", word, found());
    }
}

Test(contracts, R002_21_a_tool_is_one_only_with_schemas_that_can_be_used)
{
    static const struct {
        const char *text, *path;
    } rows[] = {
        {"{\"name\":\"t\",\"inputSchema\":{\"minLength\":-1}}", "/inputSchema/minLength"},
        {"{\"name\":\"t\",\"inputSchema\":{\"$ref\":\"other.json\"}}", "/inputSchema/$ref"},
        {"{\"name\":\"t\",\"inputSchema\":{},\"outputSchema\":{\"properties\":{\"a\":"
         "{\"pattern\":\"(\"}}}}",
         "/outputSchema/properties/a/pattern"},
        {"{\"name\":\"t\",\"inputSchema\":{\"type\":7},\"outputSchema\":{\"type\":7}}",
         "/inputSchema/type"},
        {"{\"name\":\"t\",\"inputSchema\":{\"$schema\":\"http://json-schema.org/schema#\"}}",
         "/inputSchema/$schema"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_expect_eq(mcpx_contracts_validate(contracts, MCPX_CONTRACT_TOOL,
                                             mcpx_slice_of(rows[i].text), &report),
                     MCPX_EINVALID, "%s", rows[i].text);
        cr_expect_eq(report.verdict, MCPX_VERDICT_INVALID);
        cr_assert_gt(report.count, 0, "%s", rows[i].text);
        cr_expect(is(report.errors[0].path, rows[i].path), "%s: %s", rows[i].text, found());
    }
    cr_expect_eq(
        mcpx_contracts_validate(contracts, MCPX_CONTRACT_COUNT, mcpx_slice_of("{}"), &report),
        MCPX_EINVALID);
}

/* A verdict that memory made, or a shortage that is remembered, is a fault. */
Test(contracts, without_memory_there_is_no_verdict_and_afterwards_the_right_one)
{
    static const struct {
        enum mcpx_contract contract;
        const char *text;
        enum mcpx_err err;
    } rows[] = {
        {MCPX_CONTRACT_TERMS, "{\"tier\":\"pro\"}", MCPX_OK},
        {MCPX_CONTRACT_TERMS, "{\"tier\":\"gold\"}", MCPX_EINVALID},
        {MCPX_CONTRACT_TOOL, "{\"name\":\"t\",\"inputSchema\":{\"type\":\"null\"}}", MCPX_OK},
        {MCPX_CONTRACT_TOOL, "{\"name\":\"t\",\"inputSchema\":{\"type\":7}}", MCPX_EINVALID},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_slice text = mcpx_slice_of(rows[i].text);
        size_t nth = 0, short_of = 0;
        bool failed;

        do {
            enum mcpx_err err;

            stage_tear_down();
            stage_set_up();
            fault_alloc_arm(++nth);
            err = mcpx_contracts_validate(contracts, rows[i].contract, text, &report);
            failed = fault_alloc_disarm();
            short_of += err == MCPX_ENOMEM;
            cr_expect(err == MCPX_ENOMEM || err == rows[i].err, "row %zu, allocation %zu: %s",
                      i, nth, mcpx_strerror(err));
            err = mcpx_contracts_validate(contracts, rows[i].contract, text, &report);
            cr_expect_eq(err, rows[i].err, "row %zu, after allocation %zu: %s", i, nth,
                         found());
        } while (failed);
        cr_expect_gt(short_of, 0, "row %zu", i);
    }
}
