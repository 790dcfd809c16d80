/*
 * What breaks for whom: somebody who may call a tool, or register one, stops everybody else's calls
 * with a small document. Each of these takes 250 ms of processor time at most, and none is valid
 * because judging it was given up.
 */
#include <mcpx/schema.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

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

static void repeat(struct mcpx_text *out, const char *text, int count)
{
    for (int i = 0; i < count; i++)
        mcpx_text_puts(out, text);
}

/* Writes `count` pieces with a number each, commas between them. */
static void number(struct mcpx_text *out, const char *before, const char *after, int count)
{
    for (int i = 0; i < count; i++) {
        mcpx_text_puts(out, i ? "," : "");
        mcpx_text_puts(out, before);
        mcpx_text_number(out, i);
        mcpx_text_puts(out, after);
    }
}

/* A text in parts: `before`, then `part` that many times, then `after`. */
struct written {
    const char *before;
    const char *part;
    int count;
    const char *after;
    void (*write)(struct mcpx_text *out); /* instead */
};

#define TEXT(text)                                                                            \
    {                                                                                         \
        text, "", 0, "", NULL                                                                 \
    }
#define PARTS(before, part, count, after)                                                     \
    {                                                                                         \
        before, part, count, after, NULL                                                      \
    }
#define BY(function)                                                                          \
    {                                                                                         \
        "", "", 0, "", function                                                               \
    }

/* $defs d0 ... d39, each twice the one before it. */
static void doubling(struct mcpx_text *out, const char *keyword)
{
    mcpx_text_puts(out, "{\"$ref\":\"#/$defs/d39\",\"$defs\":{\"d0\":{\"type\":\"string\"}");
    for (int i = 1; i < 40; i++) {
        mcpx_text_puts(out, ",\"d");
        mcpx_text_number(out, i);
        mcpx_text_puts(out, "\":{\"");
        mcpx_text_puts(out, keyword);
        mcpx_text_puts(out, "\":[{\"$ref\":\"#/$defs/d");
        mcpx_text_number(out, i - 1);
        mcpx_text_puts(out, "\"},{\"$ref\":\"#/$defs/d");
        mcpx_text_number(out, i - 1);
        mcpx_text_puts(out, "\"}]}");
    }
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

static void short_strings(struct mcpx_text *out)
{
    mcpx_text_puts(out, "[");
    number(out, "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "!\"", 20000);
    mcpx_text_puts(out, "]");
}

static void many_patterns(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"patternProperties\":{");
    number(out, "\"^[a-z]+.*x", "$\":{\"type\":\"string\"}", 200);
    mcpx_text_puts(out, "}}");
}

static void long_patterns(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"allOf\":[");
    for (int i = 0; i < 12; i++) {
        mcpx_text_puts(out, i ? ",{\"not\":{\"pattern\":\"" : "{\"not\":{\"pattern\":\"");
        repeat(out, "aaaaaaaaaa", 400);
        mcpx_text_puts(out, "b");
        mcpx_text_number(out, i);
        mcpx_text_puts(out, "\"}}");
    }
    mcpx_text_puts(out, "]}");
}

static void many_names(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{");
    number(out, "\"name", "\":1", 20000);
    mcpx_text_puts(out, "}");
}

static void alike_items(struct mcpx_text *out)
{
    mcpx_text_puts(out, "[");
    number(out, "\"a common beginning of items, ", "\"", 30000);
    mcpx_text_puts(out, "]");
}

static void short_items(struct mcpx_text *out)
{
    mcpx_text_puts(out, "[");
    number(out, "", "", 100000);
    mcpx_text_puts(out, "]");
}

static void alike_objects(struct mcpx_text *out)
{
    mcpx_text_puts(out, "[");
    number(out, "{\"a\":1,\"b\":[1,2,3],\"n\":", "}", 30000);
    mcpx_text_puts(out, "]");
}

static void many_required(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"required\":[");
    number(out, "\"r", "\"", 20000);
    mcpx_text_puts(out, "]}");
}

static void many_enums(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"items\":{\"enum\":[");
    number(out, "1", ".5", 20000);
    mcpx_text_puts(out, "]}}");
}

static void many_branches(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"items\":{\"anyOf\":[");
    number(out, "{\"const\":-", "}", 9000);
    mcpx_text_puts(out, "]}}");
}

static void too_many_branches(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"anyOf\":[");
    repeat(out, "{},", 60000);
    mcpx_text_puts(out, "{}]}");
}

static void many_dependents(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"dependentRequired\":{");
    number(out, "\"name", "\":[\"zz\"]", 10000);
    mcpx_text_puts(out, "}}");
}

static void many_lengths(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"allOf\":[");
    number(out, "{\"maxLength\":90", "}", 9000);
    mcpx_text_puts(out, "]}");
}

static void many_unevaluated(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"unevaluatedProperties\":false,\"anyOf\":[");
    number(out, "{\"properties\":{\"name", "\":true}}", 4500);
    mcpx_text_puts(out, "]}");
}

static void deep_unevaluated(struct mcpx_text *out)
{
    repeat(out, "{\"unevaluatedItems\":false,\"anyOf\":[", 30);
    mcpx_text_puts(out, "true");
    repeat(out, "]}", 30);
}

static void many_multiples(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"allOf\":[");
    number(out, "{\"multipleOf\":0.000000000000000000000000000000000000000000000000001", "3}",
           2500);
    mcpx_text_puts(out, "]}");
}

static void dynamic_ids(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"$id\":\"x:r\",\"$defs\":{");
    for (int i = 0; i < 2500; i++) {
        mcpx_text_puts(out, i ? ",\"" : "\"");
        mcpx_text_number(out, i);
        mcpx_text_puts(out, "\":{\"$id\":\"x:");
        mcpx_text_number(out, i);
        mcpx_text_puts(out, "\",\"$dynamicAnchor\":\"m\",\"not\":{\"$dynamicRef\":\"#m\"}}");
    }
    mcpx_text_puts(out, "},\"$ref\":\"x:1\"}");
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
    {"^(a+)+$, many", TEXT("{\"items\":{\"pattern\":\"^(a+)+$\"}}"), BY(short_strings), LIMIT},
    {"(a|aa)+$, many", TEXT("{\"items\":{\"pattern\":\"(a|aa)+$\"}}"), BY(short_strings),
     LIMIT},
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
    {"60,000 branches", BY(too_many_branches), TEXT("1"), UNUSABLE},
    {"300 KB of schema", PARTS("{\"title\":\"", "x", 300000, "\"}"), TEXT("1"), UNUSABLE},
    {"instance 2,000 deep", TEXT("{}"), PARTS("", "[", 2000, ""), INVALID},
    {"unique items that begin alike", TEXT("{\"uniqueItems\":true}"), BY(alike_items), VALID},
    {"100,000 unique items", TEXT("{\"uniqueItems\":true}"), BY(short_items), VALID},
    {"unique objects", TEXT("{\"uniqueItems\":true}"), BY(alike_objects), VALID},
    {"200 patterns, 20,000 names", BY(many_patterns), BY(many_names), LIMIT},
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
    {"20,000 required, 20,000 names", BY(many_required), BY(many_names), INVALID},
    {"enum of 20,000 numbers", BY(many_enums), BY(short_items), LIMIT | INVALID},
    {"9,000 branches for each item", BY(many_branches), BY(short_items), LIMIT | INVALID},
    {"10,000 dependents", BY(many_dependents), BY(many_names), LIMIT | INVALID},
    {"9,000 lengths of one string", BY(many_lengths), PARTS("\"", "\\u00e9", 100000, "\""),
     LIMIT | INVALID},
    {"unevaluated after 4,500 branches", BY(many_unevaluated), BY(many_names),
     LIMIT | INVALID},
    {"unevaluated in unevaluated", BY(deep_unevaluated), BY(short_items), LIMIT | INVALID},
    {"2,500 factors", BY(many_multiples), PARTS("123456789", "0123456789", 1000, ""),
     LIMIT | INVALID},
    {"2,500 dynamic anchors", BY(dynamic_ids), TEXT("1"), LIMIT},
    {"100,000 errors", TEXT("{\"items\":{\"type\":\"string\"}}"), BY(short_items), INVALID},
};

static struct mcpx_slice write(const struct written *written, struct mcpx_text *out)
{
    mcpx_text_reset(out);
    if (written->write) {
        written->write(out);
    } else {
        mcpx_text_puts(out, written->before);
        repeat(out, written->part, written->count);
        mcpx_text_puts(out, written->after);
    }
    cr_assert(!out->failed);
    return mcpx_text_view(out);
}

static double processor_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int outcome(struct mcpx_shelf *shelf, struct mcpx_slice schema_text,
                   struct mcpx_slice instance, struct mcpx_schema_report *report)
{
    struct mcpx_schema *schema;
    enum mcpx_err err = mcpx_schema_compile(shelf, schema_text, NULL, report, &schema);

    cr_assert(err == MCPX_OK || err == MCPX_EINVALID);
    if (err)
        return UNUSABLE;
    err = mcpx_schema_validate(schema, instance, report);
    mcpx_schema_unref(schema);
    return err == MCPX_OK ? VALID : err == MCPX_ELIMIT ? LIMIT : INVALID;
}

/*
 * What becomes of a row, and the milliseconds of processor that it took: the least of three tries
 * where the first took too long, because a neighbour in the caches makes all of them slower.
 */
static int measure(struct mcpx_shelf *shelf, struct mcpx_slice schema, struct mcpx_slice text,
                   struct mcpx_schema_report *report, double *took)
{
    int became = 0;

    *took = TIME_MAX_MS + 1;
    for (int tries = 0; tries < 3 && *took > TIME_MAX_MS; tries++) {
        double begin = processor_ms(), again;

        mcpx_schema_report_fini(report);
        *report = (struct mcpx_schema_report){0};
        became = outcome(shelf, schema, text, report);
        again = processor_ms() - begin;
        *took = again < *took || tries == 0 ? again : *took;
    }
    return became;
}

Test(schema_hostile, nothing_takes_long)
{
    struct mcpx_shelf *shelf = mcpx_shelf_new();
    struct mcpx_text schema = {0}, instance = {0};

    cr_assert_not_null(shelf);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_schema_report report = {0};
        struct mcpx_slice schema_text = write(&rows[i].schema, &schema);
        struct mcpx_slice text = write(&rows[i].instance, &instance);
        double took;
        int became = measure(shelf, schema_text, text, &report, &took);

        if (getenv("MCPX_PRINT"))
            printf("| %s | %s | %.1f |\n", rows[i].name,
                   became == VALID     ? "valid"
                   : became == LIMIT   ? "bounds"
                   : became == INVALID ? "not valid"
                                       : "unusable",
                   took);
        cr_expect(became & rows[i].allowed, "%s: %d", rows[i].name, became);
        cr_expect(took <= TIME_MAX_MS, "%s: %.1f ms", rows[i].name, took);
        cr_expect(became == VALID || report.count > 0, "%s", rows[i].name);
        mcpx_schema_report_fini(&report);
    }
    mcpx_text_fini(&schema);
    mcpx_text_fini(&instance);
    mcpx_shelf_free(shelf);
}
