/*
 * bench_scan.c - what one message costs to scan, and to read as an envelope, next to what jansson
 * takes for the same text in the same run, for texts it composes itself. Run it on a release
 * build; ctest does not.
 */
#include "lib/json/scan.h"
#include "tests/bench/measure.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static struct mx_scan scan;
static struct mcpx_envelope envelope;
static struct mcpx_fault fault;

static void run_scan(void *context)
{
    const struct mcpx_slice *text = context;

    if (mx_scan(*text, 512, &scan, &fault))
        abort();
}

static void run_envelope(void *context)
{
    const struct mcpx_slice *text = context;

    if (mcpx_envelope_parse(*text, 512, &envelope, &fault))
        abort();
}

static void run_jansson(void *context)
{
    const struct mcpx_slice *text = context;
    json_auto_t *value = json_loadb(text->text, text->len, JSON_ALLOW_NUL, NULL);

    if (!value)
        abort();
}

/* An envelope around `payload`, in memory of its own. */
static struct mcpx_slice wrap(const char *payload, size_t len)
{
    static const char head[] =
        "{\"protocol\":\"mcpx/"
        "v0.1\",\"id\":\"7f3c1a52-9d40-4b1e\",\"ts\":\"2026-11-21T23:18:00Z\","
        "\"from\":\"planner\",\"to\":[\"worker\"],\"kind\":\"mcp/request:tools/"
        "call:read_file\","
        "\"payload\":";
    char *text = malloc(sizeof head + len + 1);

    if (!text)
        abort();
    memcpy(text, head, sizeof head - 1);
    memcpy(text + sizeof head - 1, payload, len);
    text[sizeof head - 1 + len] = '}';
    return (struct mcpx_slice){text, sizeof head + len};
}

static struct mcpx_slice small(void)
{
    static const char payload[] =
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"read_file\","
        "\"arguments\":{\"a\":\"b.c\"}}}";

    return wrap(payload, sizeof payload - 1);
}

/* Records of every JSON type, three levels below the payload. */
static struct mcpx_slice nested(size_t size)
{
    char *payload = malloc(size + 256);
    size_t len;

    if (!payload)
        abort();
    len = (size_t)sprintf(payload, "{\"items\":[");
    for (unsigned i = 0; len < size; i++)
        len += (size_t)sprintf(
            payload + len,
            "%s{\"id\":%u,\"name\":\"item %u\",\"ok\":%s,\"at\":[%u.5,-1e3,null],"
            "\"tags\":[\"a\",\"bc\",\"d\\u00e9f\"],\"in\":{\"x\":{\"y\":[{}]}}}",
            i ? "," : "", i, i * 7919, i % 2 ? "true" : "false", i);
    len += (size_t)sprintf(payload + len, "]}");
    return wrap(payload, len);
}

static struct mcpx_slice base64(size_t size)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *payload = malloc(size + 64);
    size_t len;

    if (!payload)
        abort();
    len = (size_t)sprintf(payload, "{\"blob\":\"");
    for (unsigned state = 1; len < size; state = state * 1103515245 + 12345)
        payload[len++] = digits[state >> 24 & 63];
    len += (size_t)sprintf(payload + len, "\"}");
    return wrap(payload, len);
}

/*
 * Rows of one text: the scan in its own unit with its target, against jansson, and the reading as
 * an envelope, which contains the scan.
 */
static void report(const char *name, struct mcpx_slice text, struct measure_row row)
{
    double ns = measure_call_ns(run_scan, &text);

    row.name = name;
    row.value = row.at_least ? (double)text.len / ns : ns / 1e3;
    row.unit = row.at_least ? "GB/s" : "us/message";
    measure_print(&row);
    row = (struct measure_row){.name = name,
                               .value = ns / 1e3,
                               .unit = "us/message",
                               .against = "jansson",
                               .base = measure_call_ns(run_jansson, &text) / 1e3,
                               .target = 0.05};
    row.ratio = row.value / row.base;
    measure_print(&row);
    row = (struct measure_row){.name = name,
                               .value = measure_call_ns(run_envelope, &text) / 1e3,
                               .unit = "us/envelope"};
    measure_print(&row);
    free((char *)text.text);
}

int main(void)
{
    static const struct measure_row small_row = {.target = 0.2},
                                    large_row = {.target = 0.8, .at_least = true},
                                    plain = {.target = 0};

    mcpx_envelope_init(&envelope);
    measure_title("scan: one message validated, its members found");
    report("scan-241", small(), small_row);
    report("scan-4k-nested", nested(4096 - 256), plain);
    report("scan-64k-nested", nested(65536 - 256), large_row);
    report("scan-4k-base64", base64(4096 - 256), plain);
    report("scan-64k-base64", base64(65536 - 256), plain);
    mcpx_envelope_fini(&envelope);
    return EXIT_SUCCESS;
}
