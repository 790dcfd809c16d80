/*
 * What breaks for whom: a script reads "valid" of a document that nobody could judge, or a person
 * sees in an error what a document's author wants seen instead of where the fault is.
 */
#include "tools/mcpxctl/verdict.h"

#include <criterion/criterion.h>

static const struct mcpx_schema_report valid = {.verdict = MCPX_VERDICT_VALID};

static const struct mcpx_schema_report invalid = {
    .verdict = MCPX_VERDICT_INVALID,
    .count = 2,
    .errors = {{{"", 0}, {"type", 4}, {"must be an object", 17}},
               {{"/a\n\x1b[2J\"", 8}, {"enum", 4}, {"must be \"x\"", 11}}},
};

static const struct mcpx_schema_report unknown = {
    .verdict = MCPX_VERDICT_UNKNOWN,
    .count = 1,
    .errors = {{{"/a", 2}, {"bounds", 6}, {"too much", 8}}},
};

#define ERRORS                                                                                \
    "[{\"path\":\"\",\"keyword\":\"type\",\"message\":\"must be an object\"},"                \
    "{\"path\":\"/a\\n\\u001b[2J\\\"\",\"keyword\":\"enum\",\"message\":\"must be "           \
    "\\\"x\\\"\"}]"
#define BOUND "[{\"path\":\"/a\",\"keyword\":\"bounds\",\"message\":\"too much\"}]"

Test(verdict, is_one_object_for_programs_and_sentences_for_people)
{
    static const struct {
        struct verdict verdict;
        bool valid;
        const char *json, *sentences;
    } rows[] = {
        {{0, "context", false, MCPX_CODE_INVALID_INPUT, &valid},
         true,
         "{\"valid\":true,\"contract\":\"context\",\"code\":null,\"path\":null,\"errors\":[]}"
         "\n",
         "valid\n"},
        {{7, "context", false, MCPX_CODE_INVALID_INPUT, &valid},
         true,
         "{\"line\":7,\"valid\":true,\"contract\":\"context\",\"code\":null,\"path\":null,"
         "\"errors\":[]}\n",
         "line 7: valid\n"},
        {{7, "event", false, MCPX_CODE_INVALID_OUTPUT, &invalid},
         false,
         "{\"line\":7,\"valid\":false,\"contract\":\"event\",\"code\":\"INVALID_OUTPUT\","
         "\"path\":\"\",\"errors\":" ERRORS "}\n",
         "line 7: not valid (INVALID_OUTPUT)\n  the whole text: must be an object\n"
         "  /a\\u000a\\u001b[2J\": must be \"x\"\n"},
        {{0, "event", false, MCPX_CODE_INVALID_OUTPUT, &unknown},
         false,
         "{\"valid\":false,\"contract\":\"event\",\"code\":\"INTERNAL_ERROR\",\"path\":\"/a\","
         "\"errors\":" BOUND "}\n",
         "not valid (INTERNAL_ERROR)\n  /a: too much\n"},
        {{0, "schema", true, MCPX_CODE_INVALID_INPUT, &unknown},
         false,
         "{\"valid\":null,\"contract\":\"schema\",\"code\":\"INTERNAL_ERROR\",\"path\":\"/a\","
         "\"errors\":" BOUND "}\n",
         "the schema cannot be used (INTERNAL_ERROR)\n  /a: too much\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mcpx_text out = {0};

        cr_expect_eq(verdict_is_valid(&rows[i].verdict), rows[i].valid, "row %zu", i);
        verdict_write_json(&out, &rows[i].verdict);
        cr_expect_str_eq(out.text, rows[i].json);
        mcpx_text_reset(&out);
        verdict_write(&out, &rows[i].verdict);
        cr_expect_str_eq(out.text, rows[i].sentences);
        mcpx_text_fini(&out);
    }
}
