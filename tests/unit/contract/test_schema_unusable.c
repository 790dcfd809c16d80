/*
 * What breaks for whom: a schema that cannot be used lets everything pass, or takes down the tools
 * beside it; a file or an address that somebody names in a schema is opened.
 */
#include "tests/unit/contract/schema_stage.h"

#include "lib/json/json_write.h"

#include <criterion/criterion.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

TestSuite(schema, .init = stage_set_up, .fini = stage_tear_down);
TestSuite(shelf, .init = stage_set_up, .fini = stage_tear_down);

/* A schema that cannot be used, and why. */
static const struct {
    const char *schema;
    const char *errors;
} unusable[] = {
    {"", " json text ends where a value was expected"},
    {"{\"type\":", " json text ends where a value was expected"},
    {"{\"type\":\"object\",\"type\":\"array\"}",
     "/type ambiguous must not be readable in two ways"},
    {"5", " type must be an object or a boolean"},
    {"{\"minLength\":-1}", "/minLength minimum must be at least 0"},
    {"{\"minLength\":1.5}", "/minLength type must be an integer"},
    {"{\"properties\":{\"a\":{\"type\":\"text\"}}}",
     "/properties/a/type anyOf must be valid in at least one of 2 ways"},
    {"{\"$defs\":{\"unused\":{\"required\":[1]}}}",
     "/$defs/unused/required/0 type must be a string"},
    {"{\"required\":[\"a\",\"a\"]}", "/required uniqueItems must not hold an item twice"},
    {"{\"multipleOf\":0}", "/multipleOf exclusiveMinimum must be more than 0"},
    {"{\"allOf\":[]}", "/allOf minItems must have at least 1 item"},
    {"{\"$id\":\"#a\"}", "/$id pattern must match ^[^#]*#?$"},
    {"{\"properties\":{\"a\":5}}", "/properties/a type must be an object or a boolean"},
    {"{\"properties\":{\"a\":{\"pattern\":\"(\"}}}",
     "/properties/a/pattern pattern must be a regular expression that PCRE2 can match: "
     "missing "
     "closing parenthesis"},
    {"{\"patternProperties\":{\"(?i)a\":true}}",
     "/patternProperties/(?i)a pattern must not have a group that ECMA-262 does not have"},
    {"{\"pattern\":\"a\\\\Z\"}",
     "/pattern pattern must not have an escape that ECMA-262 does not have"},
    {"{\"pattern\":\"a++\"}",
     "/pattern pattern must not repeat what is not there, an assertion or a repetition"},
    {"{\"$defs\":{\"u\":{\"pattern\":\"[\"}}}",
     "/$defs/u/pattern pattern must be a regular expression that PCRE2 can match: missing "
     "terminating ] for character class"},
    {"{\"items\":{\"$ref\":\"#/nowhere\"}}",
     "/items/$ref $ref must lead to a schema that is known here"},
    {"{\"$ref\":\"#anchor\"}", "/$ref $ref must lead to a schema that is known here"},
    {"{\"$ref\":\"file:///etc/passwd\"}",
     "/$ref $ref must lead to a schema that is known here"},
    {"{\"$ref\":\"https://example.com/s\"}",
     "/$ref $ref must lead to a schema that is known here"},
    {"{\"$ref\":\"#/title\",\"title\":\"x\"}",
     "/$ref $ref must lead to a schema that is known here"},
    {"{\"$ref\":\"#/x-parts/a\",\"x-parts\":{\"a\":{\"type\":\"text\"}}}",
     "/x-parts/a/type anyOf must be valid in at least one of 2 ways"},
    {"{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}",
     "/$schema $schema must be a dialect that is known here: 2020-12 or draft-07"},
    {"{\"$defs\":{\"a\":{\"$id\":\"x:a\"},\"b\":{\"$id\":\"x:a\"}}}",
     "/$defs/b $id must not be the name of another schema too"},
    {"{\"$defs\":{\"a\":{\"$anchor\":\"x\"},\"b\":{\"$anchor\":\"x\"}}}",
     "/$defs/b/$anchor $anchor must not be the name of another schema too"},
    {"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"items\":[]}",
     "/items anyOf must be valid in at least one of 2 ways"},
};

Test(schema, is_refused_when_it_cannot_be_used)
{
    for (size_t i = 0; i < COUNT(unusable); i++) {
        struct mcpx_schema *schema;
        enum mcpx_err err = stage_compile(mcpx_slice_of(unusable[i].schema), NULL, &schema);

        cr_expect_eq(err, MCPX_EINVALID, "%s", unusable[i].schema);
        cr_expect_null(schema, "%s", unusable[i].schema);
        cr_expect_str_eq(stage_errors(), unusable[i].errors, "%s", unusable[i].schema);
        mcpx_schema_unref(schema);
    }
    cr_expect_eq(mcpx_shelf_count(shelf), 0);
}

/* What PCRE2 would take, or read in its own way. */
static const char no_property[] = "/pattern pattern must have in \\p{} a property of "
                                  "ECMA-262, spelt as there, that PCRE2 has too";
static const char no_repetition[] =
    "/pattern pattern must not repeat what is not there, an assertion or a repetition";
static const char no_reference[] =
    "/pattern pattern must not refer to a group that is repeated or looks around: PCRE2 reads "
    "that otherwise than ECMA-262";
static const char no_group[] = "/pattern pattern must refer to a group that is there";
static const char no_octal[] = "/pattern pattern must not have a digit after \\0";
static const char no_brace[] =
    "/pattern pattern must have a backslash before ], { or } that stands for itself";
static const char no_half[] =
    "/pattern pattern must not have half a surrogate pair: no text that is judged has one";
static const char no_character[] = "/pattern pattern must not have a character above 10ffff";

Test(schema, with_a_pattern_that_only_PCRE2_understands_is_refused)
{
    static const struct {
        const char *pattern;
        const char *errors;
    } rows[] = {
        {"\\\\p{Han}", no_property},
        {"\\\\p{L&}", no_property},
        {"\\\\P{^Lu}", no_property},
        {"\\\\p{script=Han}", no_property},
        {"\\\\p{Script=han}", no_property},
        {"\\\\pL", no_property},
        {"\\\\p{Bidi_M}", no_property},
        {"(?<=a)*", no_repetition},
        {"(?=a)+", no_repetition},
        {"^*", no_repetition},
        {"a|?", no_repetition},
        {"^(?:(a)|b)*\\\\1$", no_reference},
        {"^(a*)*\\\\1$", no_reference},
        {"(?<=(a)\\\\1)", no_reference},
        {"(?:\\\\1(a))*", no_reference},
        {"(?=(a|ab))\\\\1", no_reference},
        {"(a)\\\\2", no_group},
        {"(a)\\\\10", no_group},
        {"\\\\k<a>", no_group},
        {"\\\\07", no_octal},
        {"[\\\\07]", no_octal},
        {"a{,2}", no_brace},
        {"a{1,2,3}", no_brace},
        {"]", no_brace},
        {"\\\\ud83d", no_half},
        {"[\\\\udc00-\\\\udfff]", no_half},
        {"\\\\u{110000}", no_character},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_schema *schema;

        mcpx_text_reset(&draft);
        mx_format(&draft, "{\"pattern\":\"%s\"}", rows[i].pattern);
        cr_expect_eq(stage_compile(mcpx_text_view(&draft), NULL, &schema), MCPX_EINVALID, "%s",
                     rows[i].pattern);
        cr_expect_str_eq(stage_errors(), rows[i].errors, "%s", rows[i].pattern);
        mcpx_schema_unref(schema);
    }
}

/* Bounds of a schema: as much as is allowed, and one more. */
static void write_nested(int count)
{
    repeat(&draft, "{\"not\":", count - 1);
    mcpx_text_puts(&draft, "{}");
    repeat(&draft, "}", count - 1);
}

Test(schema, has_bounds)
{
    static const struct {
        const char *before, *part, *after; /* no part: nested */
        int given, most;                   /* `given` of them are there anyway */
        const char *message;
    } bounds[] = {
        {"", NULL, "", 0, MCPX_SCHEMA_DEPTH_MAX, "must not be nested deeper than 64 schemas"},
        {"{\"anyOf\":[{}", ",{}", "]}", 2, MCPX_SCHEMA_COUNT_MAX,
         "must not have more than 10000 schemas"},
        {"{\"pattern\":\"", "a", "\"}", 0, MCPX_SCHEMA_PATTERN_MAX,
         "must not be a pattern longer than 4096 bytes"},
        {"{}", " ", "", 2, MCPX_SCHEMA_BYTES_MAX, "must not be longer than 256 KiB"},
    };

    for (size_t i = 0; i < 2 * COUNT(bounds); i++) {
        struct mcpx_slice message = mcpx_slice_of(bounds[i / 2].message);
        int more = i % 2, count = bounds[i / 2].most + more - bounds[i / 2].given;
        struct written written =
            PARTS(bounds[i / 2].before, bounds[i / 2].part, count, bounds[i / 2].after);
        struct mcpx_schema *schema;

        mcpx_text_reset(&draft);
        if (written.part)
            write_parts(&written, &draft);
        else
            write_nested(count);
        cr_assert_eq(stage_compile(mcpx_text_view(&draft), NULL, &schema),
                     more ? MCPX_EINVALID : MCPX_OK, "%s", message.text);
        cr_expect(!more || mcpx_slice_equal(report.errors[0].message, message));
        cr_expect(!more || mcpx_slice_equal(report.errors[0].keyword, MCPX_SLICE("bounds")));
        mcpx_schema_unref(schema);
    }
}

/* Documents that the caller has. */
static bool find(void *context, struct mcpx_slice uri, struct mcpx_slice *text)
{
    static const struct {
        const char *uri;
        const char *text;
    } known[] = {
        {"x:whole",
         "{\"type\":\"integer\",\"$defs\":{\"p\":{\"$anchor\":\"q\",\"minimum\":5}}}"},
        {"x:broken", "{\"type\":\"integer\",\"minimum\":\"5\"}"},
        {"x:meta",
         "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":\"x:meta\","
         "\"$vocabulary\":{\"https://json-schema.org/draft/2020-12/vocab/core\":true,"
         "\"https://json-schema.org/draft/2020-12/vocab/validation\":true,\"x:v\":false},"
         "\"properties\":{\"title\":{\"const\":\"t\"}}}"},
        {"x:lacking", "{\"$vocabulary\":{\"x:v\":true}}"},
        {"x:circle", "{\"$schema\":\"x:circle\"}"},
    };

    *(int *)context += 1;
    for (size_t i = 0; i < COUNT(known); i++) {
        if (mcpx_slice_equal(uri, mcpx_slice_of(known[i].uri))) {
            *text = mcpx_slice_of(known[i].text);
            return true;
        }
    }
    return false;
}

Test(schema, refers_to_what_the_caller_has)
{
    static const struct {
        const char *schema;
        const char *document; /* NULL: the schema is unusable */
        const char *errors;
    } rows[] = {
        {"{\"$ref\":\"x:whole\"}", "1.5", " type must be an integer"},
        {"{\"$ref\":\"x:whole#q\"}", "1", " minimum must be at least 5"},
        {"{\"$ref\":\"x:whole#/$defs/p\"}", "1", " minimum must be at least 5"},
        {"{\"$ref\":\"x:broken\"}", NULL, "x:broken#/minimum type must be a number"},
        {"{\"$ref\":\"x:absent\"}", NULL,
         "/$ref $ref must lead to a schema that is known here"},
        {"{\"$schema\":\"x:meta\",\"title\":\"t\",\"minimum\":5,\"properties\":{\"a\":false}}",
         "{\"a\":1}", ""},
        {"{\"$schema\":\"x:meta\",\"title\":\"t\",\"minimum\":5}", "1",
         " minimum must be at least 5"},
        {"{\"$schema\":\"x:meta\",\"title\":\"u\"}", NULL, "/title const must be \"t\""},
        {"{\"$schema\":\"x:lacking\"}", NULL,
         "/$schema $schema must not require a vocabulary that is not known here"},
        {"{\"$schema\":\"x:circle\"}", NULL,
         "/$schema $schema must be a dialect that is known here: 2020-12 or draft-07"},
        {"{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}", "{\"minLength\":-1}",
         "/minLength minimum must be at least 0"},
        {"{\"$ref\":\"http://json-schema.org/draft-07/schema#/definitions/"
         "nonNegativeInteger\"}",
         "-1", " minimum must be at least 0"},
    };
    int asked = 0;
    struct mcpx_schema_options options = {.find = find, .context = &asked};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_schema *schema;
        enum mcpx_err err = stage_compile(mcpx_slice_of(rows[i].schema), &options, &schema);

        cr_expect_eq(err == MCPX_OK, rows[i].document != NULL, "%s: %s", rows[i].schema,
                     stage_errors());
        if (!err)
            mcpx_schema_validate(schema, mcpx_slice_of(rows[i].document), &report);
        cr_expect_str_eq(stage_errors(), rows[i].errors, "%s", rows[i].schema);
        mcpx_schema_unref(schema);
    }
    cr_expect_gt(asked, 0);
    cr_expect_eq(mcpx_shelf_count(shelf), 0, "what others may change is compiled each time");
}

Test(schema, may_be_a_part_of_a_text)
{
    struct mcpx_slice tool =
        MCPX_SLICE("{\"name\":\"t\",\"inputSchema\":{\"$defs\":{\"n\":{\"minimum\":5}},"
                   "\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}}}}");
    struct mcpx_schema_options options = {.pointer = MCPX_SLICE("/inputSchema")};
    struct mcpx_schema *schema;

    cr_assert_eq(stage_compile(tool, &options, &schema), MCPX_OK, "%s", stage_errors());
    mcpx_schema_validate(schema, MCPX_SLICE("{\"a\":1}"), &report);
    cr_expect_str_eq(stage_errors(), "/a minimum must be at least 5");
    mcpx_schema_unref(schema);
}

/* A list of tools is used as it came: its icons are large, its descriptions cut in the middle of a
 * character, its `_meta` odd. One of that, and no tool of it could be called. */
Test(schema, is_judged_without_what_stands_around)
{
#define PART "\"s\":{\"minimum\":5}"
    static const struct {
        const char *text; /* a # stands for 300 KB */
        const char *pointer;
        const char *errors;
    } rows[] = {
        {"{" PART ",\"icon\":\"#\"}", "/s", NULL},
        {"{\"s\":{\"title\":\"#\"}}", "/s", " bounds must not be longer than 256 KiB"},
        {"{" PART ",\"title\":\"cut \\ud83d\"}", "/s", NULL},
        {"{" PART ",\"cut \\ud83d\":1}", "/s", NULL},
        {"{" PART ",\"_meta\":{\"a\":1,\"a\":2}}", "/s", NULL},
        {"{\"_meta\":1e9999999999,\"_meta\":2," PART "}", "/s", NULL},
        {"[{\"a\":1,\"a\":2},{" PART "}]", "/1/s", NULL},
        {"{\"s\":{}," PART "}", "/s", " json must have one value at the pointer"},
        {"{\"s\":{}," PART "}", "", "/s ambiguous must not be readable in two ways"},
        {"{\"a\":{" PART "},\"\\u0061\":{" PART "}}", "/a/s",
         " json must have one value at the pointer"},
        {"{" PART "}", "/t", " json must have one value at the pointer"},
        {"{" PART, "/s", " json text ends inside an object"},
        {"{\"s\":{\"title\":\"cut \\ud83d\"}}", "/s",
         "/title ambiguous must not be readable in two ways"},
        {"{\"s\":{\"$ref\":\"#/t\"},\"t\":true}", "/s",
         "/$ref $ref must lead to a schema that is known here"},
        {"{\"s\":{\"not\":{\"type\":7}}}", "/s",
         "/not/type anyOf must be valid in at least one of 2 ways"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_schema_options options = {.pointer = mcpx_slice_of(rows[i].pointer)};
        const char *icon = strchr(rows[i].text, '#');
        struct mcpx_schema *schema;
        enum mcpx_err err;

        mcpx_text_reset(&draft);
        icon = icon && icon[1] == '"' ? icon : rows[i].text;
        mcpx_text_add(&draft, rows[i].text, (size_t)(icon - rows[i].text));
        repeat(&draft, "0123456789", icon > rows[i].text ? 30000 : 0);
        mcpx_text_puts(&draft, icon > rows[i].text ? icon + 1 : icon);
        err = stage_compile(mcpx_text_view(&draft), &options, &schema);
        cr_expect_eq(err, rows[i].errors ? MCPX_EINVALID : MCPX_OK, "%s", rows[i].text);
        if (err)
            cr_expect_str_eq(stage_errors(), rows[i].errors, "%s", rows[i].text);
        mcpx_schema_unref(schema);
    }
    cr_expect_eq(mcpx_shelf_count(shelf), 1, "they are one schema");
}

/* Servers name their dialect as they like; one wrong letter, and none of their tools works. */
Test(schema, names_its_dialect_with_http_or_https)
{
    static const struct {
        const char *uri;
        bool is_07;
    } rows[] = {
        {"http://json-schema.org/draft-07/schema#", true},
        {"https://json-schema.org/draft-07/schema#", true},
        {"https://json-schema.org/draft-07/schema", true},
        {"http://json-schema.org/draft-06/schema#", true},
        {"https://json-schema.org/draft-06/schema", true},
        {"http://json-schema.org/draft/2020-12/schema", false},
        {"https://json-schema.org/draft/2020-12/schema#", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_schema *schema;

        mcpx_text_reset(&draft);
        mx_format(&draft, "{\"$schema\":\"%s\",\"dependencies\":{\"a\":[\"b\"]}}",
                  rows[i].uri);
        cr_assert_eq(stage_compile(mcpx_text_view(&draft), NULL, &schema), MCPX_OK, "%s",
                     rows[i].uri);
        cr_expect_eq(mcpx_schema_validate(schema, MCPX_SLICE("{\"a\":1}"), &report),
                     rows[i].is_07 ? MCPX_EINVALID : MCPX_OK, "%s", rows[i].uri);
        mcpx_schema_unref(schema);
    }
}

Test(schema, is_compiled_once)
{
    static const char *const same[] = {
        "{\"type\":\"object\",\"minProperties\":1}",
        " { \"minProperties\" : 1.0, \"type\" : \"\\u006fbject\" }"};
    struct mcpx_schema_options draft_07 = {.dialect = MCPX_DIALECT_DRAFT_07};
    struct mcpx_schema *a = NULL, *b = NULL, *c = NULL, *d = NULL;

    mcpx_schema_compile(shelf, mcpx_slice_of(same[0]), NULL, NULL, &a);
    mcpx_schema_compile(shelf, mcpx_slice_of(same[1]), NULL, NULL, &b);
    mcpx_schema_compile(shelf, mcpx_slice_of(same[0]), &draft_07, NULL, &c);
    mcpx_schema_compile(shelf, MCPX_SLICE("{\"type\":\"object\"}"), NULL, NULL, &d);
    cr_expect_eq(a, b);
    cr_expect_neq(a, c);
    cr_expect_neq(a, d);
    cr_expect_eq(mcpx_shelf_count(shelf), 3);
    cr_expect(mcpx_slice_equal(
        mcpx_schema_fingerprint(d),
        MCPX_SLICE("a2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0")));
    cr_expect(mcpx_slice_equal(mcpx_schema_fingerprint(a), mcpx_schema_fingerprint(c)),
              "schemas that others hold live on");
    mcpx_schema_unref(a);
    mcpx_schema_unref(b);
    mcpx_schema_unref(c);
    mcpx_schema_unref(d);
}

Test(shelf, holds_64_MiB)
{
    struct mcpx_schema *first = NULL, *schema = NULL;
    size_t before = 0;

    for (int i = 0; i < 100 && mcpx_shelf_count(shelf) >= before; i++) {
        before = mcpx_shelf_count(shelf);
        mcpx_text_reset(&draft);
        mx_format(&draft, "{\"$comment\":\"%s\",\"anyOf\":[{}", i);
        repeat(&draft, ",{\"maximum\":1234567}", 9000);
        mcpx_text_puts(&draft, "]}");
        cr_assert_eq(mcpx_schema_compile(shelf, mcpx_text_view(&draft), NULL, NULL, &schema),
                     MCPX_OK);
        if (i == 0)
            first = mcpx_schema_ref(schema);
        mcpx_schema_unref(schema);
        cr_expect_leq(mcpx_shelf_bytes(shelf), 64 * 1024 * 1024);
    }
    cr_expect_lt(mcpx_shelf_count(shelf), 100, "nothing had to go");
    cr_expect_gt(mcpx_shelf_bytes(shelf), 32 * 1024 * 1024);
    mcpx_schema_unref(first);
}
