/*
 * What breaks for whom: a model is told the wrong thing about its arguments, or two transports tell
 * it different things; a schema that cannot be used lets everything pass.
 */
#include "tests/unit/contract/schema_stage.h"

#include <criterion/criterion.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A schema, a document, what is said of it; "" for a valid one. */
struct row {
    const char *schema;
    const char *document;
    const char *errors;
};

TestSuite(schema, .init = stage_set_up, .fini = stage_tear_down);

static void judge(const struct row *rows, size_t count, enum mcpx_dialect dialect)
{
    struct mcpx_schema_options options = {.dialect = dialect};

    for (const struct row *row = rows; row < rows + count; row++) {
        struct mcpx_schema *schema;

        if (stage_compile(mcpx_slice_of(row->schema), &options, &schema)) {
            cr_expect(false, "%s: %s", row->schema, stage_errors());
            continue;
        }
        cr_expect_eq(mcpx_schema_validate(schema, mcpx_slice_of(row->document), &report) ==
                         MCPX_OK,
                     row->errors[0] == 0);
        cr_expect_eq(report.verdict == MCPX_VERDICT_VALID, row->errors[0] == 0);
        cr_expect_str_eq(stage_errors(), row->errors, "%s on %s", row->schema, row->document);
        mcpx_schema_unref(schema);
    }
}

Test(schema, says_where_and_what_is_expected)
{
    static const struct row rows[] = {
        /* what is no document */
        {"true", "", " json text ends where a value was expected"},
        {"true", "{\"a\":1", " json text ends inside an object"},
        {"true", "{\"a\":{\"x\":1,\"x\":2}}",
         "/a/x ambiguous must not be readable in two ways"},
        {"true", "[1,\"\\ud800\"]", "/1 ambiguous must not be readable in two ways"},
        {"true", "{\"n\":1e1234567890}", "/n ambiguous must not be readable in two ways"},
        /* members that are missing have the path that they would have */
        {"{\"required\":[\"b/c\",\"a\"]}", "{}",
         "/a required is missing; /b~1c required is missing"},
        {"{\"properties\":{\"p\":{\"required\":[\"q\"]}}}", "{\"p\":{}}",
         "/p/q required is missing"},
        {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
         "/b dependentRequired is missing"},
        /* false is named by the keyword that leads to it */
        {"false", "1", " false is not allowed"},
        {"{\"properties\":{\"a\":false}}", "{\"a\":1}", "/a properties is not allowed"},
        {"{\"additionalProperties\":false}", "{\"a\":1}",
         "/a additionalProperties is not allowed"},
        {"{\"patternProperties\":{\"^x\":false}}", "{\"xy\":1}",
         "/xy patternProperties is not allowed"},
        {"{\"unevaluatedProperties\":false}", "{\"a\":1}",
         "/a unevaluatedProperties is not allowed"},
        {"{\"prefixItems\":[true],\"items\":false}", "[1,2]", "/1 items is not allowed"},
        {"{\"prefixItems\":[false]}", "[1]", "/0 prefixItems is not allowed"},
        {"{\"prefixItems\":[true],\"unevaluatedItems\":false}", "[1,2]",
         "/1 unevaluatedItems is not allowed"},
        {"{\"dependentSchemas\":{\"a\":false}}", "{\"a\":1}",
         " dependentSchemas is not allowed"},
        {"{\"allOf\":[false]}", "1", " allOf is not allowed"},
        {"{\"$ref\":\"#/$defs/no\",\"$defs\":{\"no\":false}}", "1", " $ref is not allowed"},
        {"{\"if\":true,\"then\":false}", "1", " then is not allowed"},
        {"{\"if\":false,\"else\":false}", "1", " else is not allowed"},
        /* a name */
        {"{\"propertyNames\":{\"maxLength\":1}}", "{\"a\":1,\"bc\":2}",
         "/bc propertyNames must have a name that the schema allows"},
        /* branches: what they find is not listed */
        {"{\"anyOf\":[{\"minimum\":5},{\"type\":\"string\"}]}", "1",
         " anyOf must be valid in at least one of 2 ways"},
        {"{\"oneOf\":[{\"minimum\":0},{\"maximum\":5}]}", "1",
         " oneOf must be valid in exactly one of 2 ways"},
        {"{\"not\":{\"type\":\"number\"}}", "1", " not must not be what the schema excludes"},
        {"{\"contains\":{\"const\":1}}", "[2]",
         " contains must hold at least 1 item of the kind that the schema asks for"},
        {"{\"contains\":{\"const\":1},\"minContains\":2}", "[1]",
         " minContains must hold at least 2 items of the kind that the schema asks for"},
        {"{\"contains\":{\"const\":1},\"maxContains\":1}", "[1,1]",
         " maxContains must hold at most 1 item of the kind that the schema asks for"},
        /* found where it is */
        {"{\"allOf\":[{\"properties\":{\"a\":{\"minimum\":5}}}]}", "{\"a\":1}",
         "/a minimum must be at least 5"},
        {"{\"$ref\":\"#/$defs/d\",\"$defs\":{\"d\":{\"items\":{\"$dynamicRef\":\"#m\"}},"
         "\"m\":{\"$dynamicAnchor\":\"m\",\"type\":\"null\"}}}",
         "[1]", "/0 type must be null"},
        {"{\"if\":{\"type\":\"number\"},\"then\":{\"minimum\":5}}", "1",
         " minimum must be at least 5"},
        {"{\"dependentSchemas\":{\"a\":{\"required\":[\"b\"]}}}", "{\"a\":1}",
         "/b required is missing"},
        /* all others */
        {"{\"type\":\"string\"}", "1", " type must be a string"},
        {"{\"type\":[\"object\",\"null\",\"integer\"]}", "1.5",
         " type must be an integer or an object or null"},
        {"{\"type\":\"boolean\"}", "null", " type must be a boolean"},
        {"{\"enum\":[\"quick\",2,null]}", "\"slow\"",
         " enum must be one of \"quick\", 2, null"},
        {"{\"const\":{\"a\":[1]}}", "{\"a\":[2]}", " const must be {\"a\":[1]}"},
        {"{\"minLength\":1}", "\"\"", " minLength must have at least 1 character"},
        {"{\"maxLength\":2}", "\"abc\"", " maxLength must have at most 2 characters"},
        {"{\"pattern\":\"^a+$\"}", "\"b\"", " pattern must match ^a+$"},
        {"{\"minimum\":1.50}", "1.4", " minimum must be at least 1.50"},
        {"{\"maximum\":10}", "11", " maximum must be at most 10"},
        {"{\"exclusiveMinimum\":0}", "0", " exclusiveMinimum must be more than 0"},
        {"{\"exclusiveMaximum\":0}", "-0", " exclusiveMaximum must be less than 0"},
        {"{\"multipleOf\":0.01}", "0.015", " multipleOf must be a multiple of 0.01"},
        {"{\"minItems\":1}", "[]", " minItems must have at least 1 item"},
        {"{\"maxItems\":1}", "[1,2]", " maxItems must have at most 1 item"},
        {"{\"uniqueItems\":true}", "[1,{\"a\":1,\"b\":2},{\"b\":2.0,\"a\":10e-1}]",
         " uniqueItems must not hold an item twice"},
        {"{\"minItems\":5000000000}", "[]", " minItems must have at least 5000000000 items"},
        {"{\"minLength\":4294967296.0}", "\"\"",
         " minLength must have at least 4294967296.0 characters"},
        {"{\"enum\":[]}", "1", " enum must not be here: `enum` is empty"},
        {"{\"minProperties\":2}", "{\"a\":1}", " minProperties must have at least 2 members"},
        {"{\"maxProperties\":0}", "{\"a\":1}", " maxProperties must have at most 0 members"},
        /* bounds */
        {"{\"properties\":{\"a\":{\"$ref\":\"#/properties/a\"}}}", "{\"a\":1}",
         "/a bounds could not be judged within the bounds of an evaluation"},
        /* R002-8: the first ten by path, then keyword, byte by byte; each once */
        {"{\"items\":{\"type\":\"string\"}}", "[0,1,2,3,4,5,6,7,8,9,10,11]",
         "/0 type must be a string; /1 type must be a string; /10 type must be a string; "
         "/11 type must be a string; /2 type must be a string; /3 type must be a string; "
         "/4 type must be a string; /5 type must be a string; /6 type must be a string; "
         "/7 type must be a string"},
        {"{\"allOf\":[{\"minimum\":5},{\"minimum\":5},{\"minimum\":4},{\"const\":5}]}", "1",
         " const must be 5; "
         " minimum must be at least 4;  minimum must be at least 5"},
        {"{\"properties\":{\"a\":{\"type\":\"string\"},\"~/\":{\"type\":\"string\"}}}",
         "{\"~/\":1,\"\\u0061\":1}", "/a type must be a string; /~0~1 type must be a string"},
    };

    judge(rows, COUNT(rows), MCPX_DIALECT_2020_12);
}

Test(schema, says_it_of_draft_07_too)
{
    static const struct row rows[] = {
        {"{\"dependencies\":{\"a\":[\"b\"]}}", "{\"a\":1}", "/b dependencies is missing"},
        {"{\"dependencies\":{\"a\":{\"minProperties\":2}}}", "{\"a\":1}",
         " minProperties must have at least 2 members"},
        {"{\"items\":[true],\"additionalItems\":false}", "[1,2]",
         "/1 additionalItems is not allowed"},
        {"{\"items\":[false]}", "[1]", "/0 items is not allowed"},
        /* beside $ref nothing means anything */
        {"{\"definitions\":{\"d\":{\"type\":\"string\"}},\"$ref\":\"#/definitions/"
         "d\",\"minLength\":9}",
         "\"x\"", ""},
        /* keywords of 2020-12 are none */
        {"{\"prefixItems\":[false],\"unevaluatedItems\":false,\"dependentRequired\":{\"a\":["
         "\"b\"]}}",
         "[1]", ""},
        {"{\"$schema\":\"https://json-schema.org/draft/2020-12/"
         "schema\",\"prefixItems\":[false]}",
         "[1]", "/0 prefixItems is not allowed"},
    };

    judge(rows, COUNT(rows), MCPX_DIALECT_DRAFT_07);
}

Test(schema, judges_numbers_as_they_are_written)
{
    static const struct row rows[] = {
        {"{\"const\":1}", "1.0", ""},
        {"{\"const\":1}", "10e-1", ""},
        {"{\"const\":12345678901234567890}", "12345678901234567891",
         " const must be 12345678901234567890"},
        {"{\"type\":\"integer\"}", "1e400", ""},
        {"{\"type\":\"integer\"}", "1.0", ""},
        {"{\"type\":\"integer\"}", "1e-1", " type must be an integer"},
        {"{\"maximum\":12345678901234567890}", "12345678901234567891",
         " maximum must be at most 12345678901234567890"},
        {"{\"multipleOf\":0.1}", "0.3", ""},
        {"{\"uniqueItems\":true}", "[12345678901234567890,12345678901234567891]", ""},
        {"{\"maxLength\":1.0}", "\"ab\"", " maxLength must have at most 1 character"},
        {"{\"maxItems\":1e0}", "[1,2]", " maxItems must have at most 1 item"},
        {"{\"enum\":[1,2,3,4,5,6,7,8,9,10.0]}", "1e1", ""},
        {"{\"enum\":[1,2,3,4,5,6,7,8,9,{\"a\":[1,\"\\u0041\"]}]}", "{\"a\":[1.0,\"A\"]}", ""},
        {"{\"minLength\":2}", "\"\\ud83d\\ude00\"",
         " minLength must have at least 2 characters"},
        {"{\"maxLength\":1}", "\"\xf0\x9f\x98\x80\"", ""},
        {"{\"enum\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\",\"j\"]}",
         "\"\\u006a\"", ""},
    };

    judge(rows, COUNT(rows), MCPX_DIALECT_2020_12);
}

Test(schema, reads_patterns_as_ECMA_262_does)
{
    static const struct row rows[] = {
        {"{\"pattern\":\"b\"}", "\"abc\"", ""},
        {"{\"pattern\":\"^a$\"}", "\"a\\n\"", " pattern must match ^a$"},
        {"{\"pattern\":\"^\\\\d$\"}", "\"\xd9\xa3\"", " pattern must match ^\\d$"},
        {"{\"pattern\":\"^\\\\w$\"}", "\"\xc3\xa9\"", " pattern must match ^\\w$"},
        {"{\"pattern\":\"^\\\\s$\"}", "\"\\u00a0\"", ""},
        {"{\"pattern\":\"^\\\\S$\"}", "\"\\ufeff\"", " pattern must match ^\\S$"},
        {"{\"pattern\":\"^[\\\\S]$\"}", "\"\\u00e9\"", ""},
        {"{\"pattern\":\"^\\\\p{Letter}\\\\p{L}$\"}", "\"\xc3\xa9\xc3\xa9\"", ""},
        {"{\"pattern\":\"^\\\\p{Script=Greek}$\"}", "\"\\u03b1\"", ""},
        {"{\"pattern\":\"^\\\\p{Script=Han}$\"}", "\"\\u3001\"",
         " pattern must match ^\\p{Script=Han}$"},
        {"{\"pattern\":\"^[\\\\p{scx=Han}\\\\P{sc=Han}]\\\\P{Assigned}?$\"}", "\"\\u3001\"",
         ""},
        {"{\"pattern\":\"^[\\\\w-.][a-\\\\d]\\\\_$\"}", "\"--_\"", ""},
        {"{\"pattern\":\"^[^\\\\p{Lu}\\\\D]$\"}", "\"\\u03b1\"",
         " pattern must match ^[^\\p{Lu}\\D]$"},
        {"{\"pattern\":\"(?=ab)\\\\D?a\"}", "\"ab\"", ""},
        {"{\"pattern\":\"^\\\\P{sc=Zyyy}?\\\\P{sc=Hira}/$\"}", "\"b/\"", ""},
        {"{\"pattern\":\"^(?:([\\u0022'])a\\\\1,?)+$\"}", "\"'a','a'\"", ""},
        {"{\"pattern\":\"^(?:(b)|\\\\1{2}a)$\"}", "\"a\"", ""},
        {"{\"pattern\":\"^[]?[^]?$\"}", "\"a\"", ""},
        {"{\"pattern\":\"^.$\"}", "\"\\u2028\"", " pattern must match ^.$"},
        {"{\"pattern\":\"^.$\"}", "\"\xf0\x9f\x98\x80\"", ""},
        {"{\"pattern\":\"^\\\\u00e9\\\\x41\\\\u{1f600}$\"}",
         "\"\xc3\xa9"
         "A\xf0\x9f\x98\x80\"",
         ""},
        {"{\"pattern\":\"^\\\\ud83d\\\\ude00$\"}", "\"\xf0\x9f\x98\x80\"", ""},
        {"{\"pattern\":\"^[[:a]$\"}", "\":\"", ""},
        {"{\"pattern\":\"^a\\\\{,2\\\\}$\"}", "\"a{,2}\"", ""},
        {"{\"pattern\":\"^(a)\\\\1$\"}", "\"aa\"", ""},
        {"{\"pattern\":\"^(?<n>a)\\\\k<n>$\"}", "\"aa\"", ""},
        {"{\"pattern\":\"(?<!a)b\"}", "\"ab\"", " pattern must match (?<!a)b"},
        {"{\"pattern\":\"^[^]$\"}", "\"\\n\"", ""},
        {"{\"pattern\":\"[]\"}", "\"a\"", " pattern must match []"},
        {"{\"pattern\":\"a\\\\.b\\\\/\\\\-\"}", "\"a.b/-\"", ""},
        {"{\"patternProperties\":{\"\\\\u0061\":{\"type\":\"null\"}}}", "{\"a\":1}",
         "/a type must be null"},
    };

    judge(rows, COUNT(rows), MCPX_DIALECT_2020_12);
}
