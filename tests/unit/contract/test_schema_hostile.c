/*
 * What breaks for whom: somebody who may call a tool, or register one, stops everybody else's calls
 * with a small document. Each of these takes 250 ms of processor time at most, and none is valid
 * because judging it was given up.
 */
#include "tests/unit/contract/schema_stage.h"

#include "lib/json/json_write.h"
#include "tests/support/count.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* The slowest row takes 200 ms in a quiet release; without a bound on work it takes seconds. */
#if defined(__SANITIZE_ADDRESS__)
#define TIME_MAX_MS 10000.0
#elif defined(__OPTIMIZE__)
#define TIME_MAX_MS 500.0
#else
#define TIME_MAX_MS 1000.0
#endif

/* What may become of a case. */
enum { VALID = 1, INVALID = 2, LIMIT = 4, UNUSABLE = 8 };

/* Documents of several rows. */
#define SHORT_STRINGS PARTS("[", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%!\"", 20000, "]")
#define MANY_NAMES PARTS("{", "\"name%\":1", 20000, "}")
#define SHORT_ITEMS PARTS("[", "%", 100000, "]")

/* $defs d0 ... d39, each twice the one before it. */
static void doubling(struct mcpx_text *out, const char *keyword)
{
    mcpx_text_puts(out, "{\"$ref\":\"#/$defs/d39\",\"$defs\":{\"d0\":{\"type\":\"string\"}");
    for (int i = 1; i < 40; i++)
        mx_format(out,
                  ",\"d%s\":{\"%s\":[{\"$ref\":\"#/$defs/d%s\"},{\"$ref\":\"#/$defs/d%s\"}]}",
                  i, keyword, i - 1, i - 1);
    mcpx_text_puts(out, "}}");
}

static void doubling_all(struct mcpx_text *out)
{
    doubling(out, "allOf");
}

static void doubling_any(struct mcpx_text *out)
{
    doubling(out, "anyOf");
}

static void doubling_one(struct mcpx_text *out)
{
    doubling(out, "oneOf");
}

static void long_patterns(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"allOf\":[");
    for (int i = 0; i < 12; i++) {
        mcpx_text_puts(out, i ? ",{\"not\":{\"pattern\":\"" : "{\"not\":{\"pattern\":\"");
        repeat(out, "aaaaaaaaaa", 400);
        mx_format(out, "b%s\"}}", i);
    }
    mcpx_text_puts(out, "]}");
}

static void deep_unevaluated(struct mcpx_text *out)
{
    repeat(out, "{\"unevaluatedItems\":false,\"anyOf\":[", 30);
    mcpx_text_puts(out, "true");
    repeat(out, "]}", 30);
}

static const struct {
    const char *name;
    struct written schema;
    struct written instance;
    int allowed;
} rows[] = {
    {"$ref to itself", TEXT("{\"$ref\":\"#\"}"), TEXT("1"), LIMIT},
    {"circle",
     TEXT("{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},"
          "\"b\":{\"$ref\":\"#/$defs/a\"}}}"),
     TEXT("1"), LIMIT},
    {"circle through allOf", TEXT("{\"allOf\":[{\"$ref\":\"#\"}]}"), TEXT("1"), LIMIT},
    {"circle through two of allOf", TEXT("{\"allOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}"),
     TEXT("1"), LIMIT},
    {"circle through not", TEXT("{\"not\":{\"$ref\":\"#\"}}"), TEXT("1"), LIMIT},
    {"circle through if", TEXT("{\"if\":{\"$ref\":\"#\"},\"then\":{\"$ref\":\"#\"}}"),
     TEXT("1"), LIMIT},
    {"circle through $dynamicRef",
     TEXT("{\"$dynamicAnchor\":\"m\",\"anyOf\":[{\"$dynamicRef\":\"#m\"}]}"), TEXT("1"),
     LIMIT},
    {"circle through dependentSchemas",
     TEXT("{\"dependentSchemas\":{\"a\":{\"$ref\":\"#\"}}}"), TEXT("{\"a\":1}"), LIMIT},
    {"2^40 paths through allOf", BY(doubling_all), TEXT("\"x\""), LIMIT},
    {"2^40 paths through anyOf", BY(doubling_any), TEXT("1"), LIMIT},
    {"2^40 paths through oneOf", BY(doubling_one), TEXT("\"x\""), LIMIT | INVALID},
    {"^(a+)+$, long", TEXT("{\"pattern\":\"^(a+)+$\"}"), PARTS("\"", "a", 100000, "!\""),
     LIMIT},
    {"^(a+)+$, many", TEXT("{\"items\":{\"pattern\":\"^(a+)+$\"}}"), SHORT_STRINGS, LIMIT},
    {"(a|aa)+$, many", TEXT("{\"items\":{\"pattern\":\"(a|aa)+$\"}}"), SHORT_STRINGS, LIMIT},
    {"three stars", TEXT("{\"pattern\":\"^[a-z]*[a-z]*[a-z]*[0-9]\"}"),
     PARTS("\"", "a", 3000, "\""), LIMIT},
    {"star, no anchor", TEXT("{\"pattern\":\"[a-z]*[0-9][A-Z]\"}"),
     PARTS("\"", "a", 500000, "1\""), LIMIT},
    {"back-reference", TEXT("{\"pattern\":\"^(a*)\\\\1*b\"}"), PARTS("\"", "a", 5000, "\""),
     LIMIT | INVALID},
    {"lookahead", TEXT("{\"pattern\":\"^(?=(a+)+b)a\"}"), PARTS("\"", "a", 5000, "\""),
     LIMIT | INVALID},
    {"nested repetition", TEXT("{\"pattern\":\"^((a{1,100}){1,100}){1,100}$\"}"), TEXT("\"\""),
     UNUSABLE},
    {"100 KB of pattern", PARTS("{\"pattern\":\"", "ab", 50000, "\"}"), TEXT("\"\""),
     UNUSABLE},
    {"4 KiB of brackets", PARTS("{\"pattern\":\"", "(a", 2000, "\"}"), TEXT("\"\""), UNUSABLE},
    {"4 KiB of open brackets", PARTS("{\"pattern\":\"", "(", 4000, "\"}"), TEXT("\"\""),
     UNUSABLE},
    {"4 KiB of alternatives", PARTS("{\"pattern\":\"^(", "a|", 2000, "b)+$\"}"),
     PARTS("\"", "a", 1000, "!\""), LIMIT | INVALID},
    {"12 times 4 KiB of letters", BY(long_patterns),
     PARTS("\"", "a", 300000, "b 0123456789\""), LIMIT},
    {"schemas 2,000 deep", PARTS("", "{\"not\":", 2000, ""), TEXT("1"), UNUSABLE},
    {"60,000 branches", PARTS("{\"anyOf\":[", "{},", 60000, "{}]}"), TEXT("1"), UNUSABLE},
    {"300 KB of schema", PARTS("{\"title\":\"", "x", 300000, "\"}"), TEXT("1"), UNUSABLE},
    {"instance 2,000 deep", TEXT("{}"), PARTS("", "[", 2000, ""), INVALID},
    {"unique items that begin alike", TEXT("{\"uniqueItems\":true}"),
     PARTS("[", "\"a common beginning of items, %\"", 30000, "]"), VALID},
    {"100,000 unique items", TEXT("{\"uniqueItems\":true}"), SHORT_ITEMS, VALID},
    {"unique objects", TEXT("{\"uniqueItems\":true}"),
     PARTS("[", "{\"a\":1,\"b\":[1,2,3],\"n\":%}", 30000, "]"), VALID},
    {"200 patterns, 20,000 names",
     PARTS("{\"patternProperties\":{", "\"^[a-z]+.*x%$\":{\"type\":\"string\"}", 200, "}}"),
     MANY_NAMES, LIMIT},
    {"number of 100,000 digits, maximum", TEXT("{\"maximum\":1}"), PARTS("", "9", 100000, ""),
     INVALID},
    {"number of 100,000 digits, multipleOf", PARTS("{\"multipleOf\":0.", "7", 50000, "}"),
     PARTS("", "9", 100000, ""), LIMIT | INVALID},
    {"exponent of nine digits, multipleOf", TEXT("{\"multipleOf\":3}"), TEXT("1e999999999"),
     INVALID},
    {"small exponent, multipleOf", TEXT("{\"multipleOf\":1e-999999999}"), TEXT("1e999999999"),
     VALID},
    {"numbers in a list", TEXT("{\"items\":{\"multipleOf\":7e-30}}"),
     PARTS("[1", ",123456789e20", 50000, "]"), LIMIT | INVALID},
    {"20,000 required, 20,000 names", PARTS("{\"required\":[", "\"r%\"", 20000, "]}"),
     MANY_NAMES, INVALID},
    {"enum of 20,000 numbers", PARTS("{\"items\":{\"enum\":[", "1%.5", 20000, "]}}"),
     SHORT_ITEMS, LIMIT | INVALID},
    {"9,000 branches for each item",
     PARTS("{\"items\":{\"anyOf\":[", "{\"const\":-%}", 9000, "]}}"), SHORT_ITEMS,
     LIMIT | INVALID},
    {"10,000 dependents", PARTS("{\"dependentRequired\":{", "\"name%\":[\"zz\"]", 10000, "}}"),
     MANY_NAMES, LIMIT | INVALID},
    {"9,000 lengths of one string", PARTS("{\"allOf\":[", "{\"maxLength\":90%}", 9000, "]}"),
     PARTS("\"", "\\u00e9", 100000, "\""), LIMIT | INVALID},
    {"unevaluated after 4,500 branches",
     PARTS("{\"unevaluatedProperties\":false,\"anyOf\":[", "{\"properties\":{\"name%\":true}}",
           4500, "]}"),
     MANY_NAMES, LIMIT | INVALID},
    {"unevaluated in unevaluated", BY(deep_unevaluated), SHORT_ITEMS, LIMIT | INVALID},
    {"2,500 factors",
     PARTS("{\"allOf\":[",
           "{\"multipleOf\":0.000000000000000000000000000000000000000000000000001%3}", 2500,
           "]}"),
     PARTS("123456789", "0123456789", 1000, ""), LIMIT | INVALID},
    {"2,500 dynamic anchors",
     PARTS("{\"$id\":\"x:r\",\"$defs\":{",
           "\"%\":{\"$id\":\"x:%\",\"$dynamicAnchor\":\"m\",\"not\":{\"$dynamicRef\":\"#m\"}}",
           2500, "},\"$ref\":\"x:1\"}"),
     TEXT("1"), LIMIT},
    {"100,000 errors", TEXT("{\"items\":{\"type\":\"string\"}}"), SHORT_ITEMS, INVALID},
};

static int outcome(struct mcpx_slice schema_text, struct mcpx_slice instance)
{
    struct mcpx_schema *schema;
    enum mcpx_err err = stage_compile(schema_text, NULL, &schema);

    cr_assert(err == MCPX_OK || err == MCPX_EINVALID);
    if (err)
        return UNUSABLE;
    err = mcpx_schema_validate(schema, instance, &report);
    mcpx_schema_unref(schema);
    return err == MCPX_OK ? VALID : err == MCPX_ELIMIT ? LIMIT : INVALID;
}

/*
 * What becomes of a row, and the milliseconds of processor that it took: the least of three tries
 * where the first took too long, because a neighbour in the caches makes all of them slower.
 */
static int measure(struct mcpx_slice schema, struct mcpx_slice instance, double *took)
{
    int became = 0;

    *took = TIME_MAX_MS + 1;
    for (int tries = 0; tries < 3 && *took > TIME_MAX_MS; tries++) {
        double begin = processor_ms(), again;

        mcpx_schema_report_fini(&report);
        became = outcome(schema, instance);
        again = processor_ms() - begin;
        *took = again < *took || tries == 0 ? again : *took;
    }
    return became;
}

Test(schema_hostile, nothing_takes_long, .init = stage_set_up, .fini = stage_tear_down)
{
    static const char *const names[] = {[VALID] = "valid",
                                        [INVALID] = "not valid",
                                        [LIMIT] = "bounds",
                                        [UNUSABLE] = "unusable"};
    mx_scoped_text instance = {0};

    for (size_t i = 0; i < COUNT(rows); i++) {
        double took;
        int became = measure(write_parts(&rows[i].schema, &draft),
                             write_parts(&rows[i].instance, &instance), &took);

        if (getenv("MCPX_PRINT"))
            printf("| %s | %s | %.1f |\n", rows[i].name, names[became], took);
        cr_expect(became & rows[i].allowed, "%s: %d", rows[i].name, became);
        cr_expect(took <= TIME_MAX_MS, "%s: %.1f ms", rows[i].name, took);
        cr_expect(became == VALID || report.count > 0, "%s", rows[i].name);
    }
}
