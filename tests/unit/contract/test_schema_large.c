/*
 * What breaks for whom: a server lists a tool of 250 KB, and everybody in the room waits for two
 * seconds at each of its calls, or for a minute, while half a gigabyte is filled with what it was
 * compiled to. Each of these takes 100 ms of processor time at most and 64 MiB.
 */
#include "tests/unit/contract/schema_stage.h"

#include "lib/json/json_write.h"
#include "tests/support/count.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Sanitizers make everything slower; the bound is that of a release. */
#if defined(__SANITIZE_ADDRESS__)
#define TIME_MAX_MS 4000.0
#define ROOM_MAX_KIB (1024 * 1024)
#elif defined(__OPTIMIZE__)
#define TIME_MAX_MS 100.0
#else
#define TIME_MAX_MS 400.0
#endif
#if !defined(ROOM_MAX_KIB)
#define ROOM_MAX_KIB (64 * 1024)
#endif

static void nested_patterns(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"patternProperties\":{");
    for (int i = 0; i < 500; i++) {
        mx_format(out, "%s\"%s", i ? "," : "", i);
        repeat(out, "(", 200);
        mcpx_text_puts(out, "a");
        repeat(out, "{1,2})", 12);
        repeat(out, ")", 188);
        mcpx_text_puts(out, "\":true");
    }
    mcpx_text_puts(out, "}}");
}

/* One base of 100 KB, and 5,000 names that are resolved against it. */
static void long_names(struct mcpx_text *out)
{
    mcpx_text_puts(out, "{\"$id\":\"x:/");
    repeat(out, "aaaaaaaaaa", 10000);
    mcpx_text_puts(out, "/\",\"$defs\":{");
    repeat(out, "\"%\":{\"$id\":\"b%\"}", 5000);
    mcpx_text_puts(out, "}}");
}

static const char patterns_bound[] = "must not have patterns that come to more than 128 KiB";
static const char steps_bound[] = "must not need more than 4000000 steps to be compiled";

#define DEFS(part, count) PARTS("{\"$defs\":{", part, count, "}}")
#define NAMES(part) PARTS("{\"patternProperties\":{", part, 9000, "}}")
#define ALL_OF(part) PARTS("{\"allOf\":[", part, 9000, "]}")

/* A schema that is small enough to be read, and the bound that its compiled form meets. */
static const struct {
    const char *name;
    struct written schema;
    const char *bound; /* NULL: none */
} large[] = {
    {"9,000 patterns, repeated", NAMES("\"a%(?:b{1,90}){1,90}\":{}"), patterns_bound},
    {"9,000 small patterns", NAMES("\"a%\":true"), patterns_bound},
    {"9,000 patterns below allOf", ALL_OF("{\"pattern\":\"[^x]{%}\"}"), patterns_bound},
    {"500 patterns, nested", BY(nested_patterns), patterns_bound},
    {"3,500 dynamic names",
     DEFS("\"%\":{\"$id\":\"a%\",\"$dynamicAnchor\":\"b%\",\"$dynamicRef\":\"#b%\"}", 3500),
     steps_bound},
    {"5,000 names with a long base", BY(long_names), steps_bound},
    {"5,000 references past 5,000 names", DEFS("\"x%\":{\"$ref\":\"#/$defs/x4999\"}", 5000),
     steps_bound},
    {"3,300 schemas in another dialect",
     DEFS("\"%\":{\"$id\":\"a%\",\"$schema\":\"http://json-schema.org/draft-07/schema#\"}",
          3300),
     steps_bound},
    {"26,000 words", PARTS("{\"enum\":[", "\"v%\"", 26000, "]}"), NULL},
    {"9,000 properties",
     PARTS("{\"properties\":{", "\"p%\":{\"type\":\"string\"}", 9000, "}}"), NULL},
    {"9,000 formats", ALL_OF("{\"format\":\"f%\"}"), NULL},
    {"9,000 lists of unique items", ALL_OF("{\"uniqueItems\":true,\"\":%}"), NULL},
};

static long peak_kib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

Test(schema_large, is_compiled_in_little_time_and_room_or_refused, .fini = stage_tear_down)
{
    for (size_t i = 0; i < COUNT(large); i++) {
        double least = 1e9;
        long before = peak_kib();

        write_parts(&large[i].schema, &draft);
        cr_assert_leq(draft.len, MCPX_SCHEMA_BYTES_MAX, "%s", large[i].name);
        for (int tries = 0; tries < 3; tries++) {
            struct mcpx_shelf *fresh = mcpx_shelf_new();
            double begin = processor_ms(), took;
            struct mcpx_schema *schema = NULL;
            enum mcpx_err err =
                mcpx_schema_compile(fresh, mcpx_text_view(&draft), NULL, &report, &schema);

            took = processor_ms() - begin;
            least = took < least ? took : least;
            cr_expect_eq(err, large[i].bound ? MCPX_EINVALID : MCPX_OK, "%s", large[i].name);
            if (err)
                cr_expect(
                    mcpx_slice_equal(report.errors[0].message, mcpx_slice_of(large[i].bound)),
                    "%s: %.*s", large[i].name, (int)report.errors[0].message.len,
                    report.errors[0].message.text);
            mcpx_schema_unref(schema);
            mcpx_shelf_free(fresh);
        }
        if (getenv("MCPX_PRINT"))
            printf("| %s | %.1f | %ld |\n", large[i].name, least, peak_kib() - before);
        cr_expect_leq(least, TIME_MAX_MS, "%s: %.1f ms", large[i].name, least);
        cr_expect_leq(peak_kib() - before, ROOM_MAX_KIB, "%s", large[i].name);
    }
}
