/*
 * bench_schema.c - what it costs to judge a document, from its text to the verdict, and to compile
 * a schema. Run it on a release build; ctest does not.
 *
 *     bench_schema [DIRECTORY]
 *
 * With a directory it also writes NAME.schema.json and NAME.json there, so that other validators
 * can be measured with the same (tests/bench/schema.mjs, tests/bench/schema.py).
 */
#include "tests/bench/measure.h"

#include <mcpx/contract.h>

#include <stdio.h>
#include <stdlib.h>

#define HITS 200

struct row {
    const char *name;
    struct mcpx_slice schema;
    struct mcpx_slice document;
    double target_us; /* what ajv 8.20, compiled, takes at best */
};

static const char arguments_schema[] =
    "{\"$schema\":\"http://json-schema.org/draft-07/"
    "schema#\",\"type\":\"object\",\"properties\":{"
    "\"query\":{\"type\":\"string\",\"minLength\":1},"
    "\"topK\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10}},"
    "\"required\":[\"query\"],\"additionalProperties\":false}";
static const char arguments[] = "{\"query\":\"where is the key to the door\",\"topK\":7}";

static const char response[] =
    "{\"tier\":\"pro\",\"tool_version\":\"3.2.8\",\"tool_id\":\"security_scan\",\"request_"
    "id\":"
    "\"8b3e0c1a5d2f4b6e9a7c1d3f5b7e9a1c\",\"capabilities\":[\"envelope-v1\",\"sarif\"],"
    "\"duration_ms\":27.5,\"error\":null,\"upgrade_hints\":[{\"feature\":\"deep\",\"tier\":"
    "\"enterprise\",\"reason\":\"more than one repository\"}],\"data\":{\"risk\":\"high\"}}";

static const char envelope[] =
    "{\"schema_version\":\"mcp.envelope.v0.1\",\"result\":{\"ok\":true,\"count\":3},"
    "\"warnings\":[{\"code\":\"ADAPTER.OUTPUT.OVER_SOFT_LIMIT\",\"message\":\"result is "
    "long\","
    "\"details\":{\"bytes\":4096,\"limit\":1024}}],\"provenance\":{\"schema_version\":"
    "\"prov.record.v0.1\",\"run_id\":\"5e0c1a5d-2f4b-4e9a-9c1d-3f5b7e9a1c00\",\"tool\":{"
    "\"name\":"
    "\"search\",\"version\":\"1.0.0\",\"adapter\":\"mcp\"},\"inputs\":[{\"schema_version\":"
    "\"artifact.v0.1\",\"artifact_id\":\"arguments\",\"media_type\":\"application/json\","
    "\"digest\":{\"alg\":\"sha256\",\"value\":"
    "\"a2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0\"}}],\"outputs\":[{"
    "\"schema_version\":\"artifact.v0.1\",\"artifact_id\":\"result\",\"media_type\":"
    "\"application/json\",\"size_bytes\":23,\"digest\":{\"alg\":\"sha256\",\"value\":"
    "\"b2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0\"}}],\"methods\":["
    "\"adapter.wrap.envelope_v0_1\",\"adapter.provenance.attach_record_v0_1\","
    "\"engine.prov.record_v0_1.build\"],\"evidence\":[],\"parents\":[]}}";

static const char hits_schema[] =
    "{\"type\":\"object\",\"properties\":{\"total\":{\"type\":\"integer\",\"minimum\":0},"
    "\"hits\":{"
    "\"type\":\"array\",\"maxItems\":1000,\"items\":{\"type\":\"object\",\"properties\":{"
    "\"rank\":{\"type\":\"integer\",\"minimum\":1},"
    "\"id\":{\"type\":\"string\",\"pattern\":\"^[a-z0-9]+([._-][a-z0-9]+)*$\"},"
    "\"score\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},"
    "\"title\":{\"type\":\"string\",\"minLength\":1},\"path\":{\"type\":\"string\","
    "\"minLength\":1},"
    "\"snippet\":{\"type\":\"string\",\"maxLength\":400}},"
    "\"required\":[\"rank\",\"id\",\"score\",\"title\"],\"additionalProperties\":false}}},"
    "\"required\":[\"total\",\"hits\"],\"additionalProperties\":false,"
    "\"$schema\":\"https://json-schema.org/draft/2020-12/schema\"}";

static struct mcpx_slice hits(void)
{
    char *text = malloc(HITS * 320);
    size_t len = (size_t)sprintf(text, "{\"total\":%d,\"hits\":[", HITS);

    for (int i = 0; i < HITS; i++)
        len += (size_t)sprintf(
            text + len,
            "%s{\"rank\":%d,\"id\":\"doc-%06d\",\"score\":0.%04d,\"title\":\"A title of "
            "result number "
            "%d about "
            "something\",\"path\":\"/srv/data/collection/part-%02d/file_%d.md\",\"snippet\":"
            "\"lorem ipsum dolor sit amet consectetur adipiscing elit sed do lorem ipsum "
            "dolor sit "
            "amet consectetur adipi\"}",
            i ? "," : "", i + 1, i * 37, 9990 - i * 37, i, i % 17, i);
    len += (size_t)sprintf(text + len, "]}");
    return (struct mcpx_slice){text, len};
}

static struct mcpx_schema_report report;
static struct mcpx_schema *schema;
static struct mcpx_slice current;

static void judge(void *context)
{
    (void)context;
    if (mcpx_schema_validate(schema, current, &report))
        abort();
}

/* A shelf each time: nothing is found on it. The meta-schemas it is made with are not measured. */
static void compile(void *context)
{
    const struct row *row = context;
    struct mcpx_schema_options options = {.dialect = MCPX_DIALECT_2020_12,
                                          .uri = MCPX_SLICE("x:bench")};
    static struct mcpx_shelf *shelf;
    struct mcpx_schema *made;

    if (!shelf)
        shelf = mcpx_shelf_new();
    if (mcpx_schema_compile(shelf, row->schema, &options, &report, &made))
        abort();
    mcpx_schema_unref(made);
}

static void write_file(const char *folder, const char *name, const char *end,
                       struct mcpx_slice text)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s%s", folder, name, end);
    file = fopen(path, "w");
    if (!file || fwrite(text.text, 1, text.len, file) != text.len || fclose(file))
        abort();
}

static void measure(struct row *row, const char *folder)
{
    struct mcpx_shelf *shelf = mcpx_shelf_new();
    char name[64];

    if (folder) {
        write_file(folder, row->name, ".schema.json", row->schema);
        write_file(folder, row->name, ".json", row->document);
    }
    if (mcpx_schema_compile(shelf, row->schema, NULL, &report, &schema))
        abort();
    current = row->document;
    snprintf(name, sizeof name, "%s, %zu B", row->name, row->document.len);
    measure_print(&(struct measure_row){.name = name,
                                        .value = measure_call_ns(judge, NULL) / 1e3,
                                        .unit = "us",
                                        .target = row->target_us});
    snprintf(name, sizeof name, "%s, compile", row->name);
    measure_print(&(struct measure_row){.name = name,
                                        .value = measure_call_ns(compile, row) / 1e3,
                                        .unit = "us",
                                        .target = 200});
    mcpx_schema_unref(schema);
    mcpx_shelf_free(shelf);
}

int main(int argc, char **argv)
{
    struct row rows[] = {
        {"arguments", MCPX_SLICE(arguments_schema), MCPX_SLICE(arguments), 0.38},
        {"response", mcpx_contract_schema(MCPX_CONTRACT_RESPONSE), MCPX_SLICE(response), 1.3},
        {"envelope", mcpx_contract_schema(MCPX_CONTRACT_ENVELOPE), MCPX_SLICE(envelope), 5.6},
        {"hits", MCPX_SLICE(hits_schema), hits(), 265},
    };

    measure_title("judging a document, from text to verdict; compiling its schema");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        measure(&rows[i], argc > 1 ? argv[1] : NULL);
    mcpx_schema_report_fini(&report);
    free((char *)(uintptr_t)rows[3].document.text);
    return 0;
}
