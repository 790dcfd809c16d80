/*
 * bench_scan.c - what one message costs to scan, and to read as an envelope, next to what jansson
 * takes for the same text in the same run. Prints nanoseconds per message, the best of several
 * rounds, for texts it composes itself. Run it on a release build; ctest does not.
 * Includes scan.h and jansson only.
 */
#include "lib/core/scan.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { rounds = 7 };

static struct mx_scan scan;
static struct mcpx_envelope envelope;
static struct mcpx_fault fault;

static bool run_scan(struct mcpx_slice text)
{
    return mx_scan(text, 512, &scan, &fault) == MCPX_OK;
}

static bool run_envelope(struct mcpx_slice text)
{
    return mcpx_envelope_parse(text, 512, &envelope, &fault) == MCPX_OK;
}

static bool run_jansson(struct mcpx_slice text)
{
    json_t *value = json_loadb(text.text, text.len, JSON_ALLOW_NUL, NULL);

    json_decref(value);
    return value != NULL;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Nanoseconds per call: the best round of about 20 ms each. */
static double measure(bool (*run)(struct mcpx_slice), struct mcpx_slice text)
{
    double best = 1e9;
    long times = 1;

    for (int round = 0; round < rounds;) {
        double begin = seconds(), spent;

        for (long i = 0; i < times; i++)
            if (!run(text))
                abort();
        spent = seconds() - begin;
        if (spent < 0.02) {
            times *= 2;
            continue;
        }
        if (spent / (double)times < best)
            best = spent / (double)times;
        round++;
    }
    return best * 1e9;
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

static void report(const char *name, struct mcpx_slice text)
{
    double scanned = measure(run_scan, text);
    double parsed = measure(run_envelope, text);
    double loaded = measure(run_jansson, text);

    printf("%-16s %7zu %10.0f %10.0f %12.0f %7.1f\n", name, text.len, scanned, parsed, loaded,
           loaded / scanned);
}

int main(void)
{
    mcpx_envelope_init(&envelope);
    printf("%-16s %7s %10s %10s %12s %7s\n", "message", "bytes", "scan ns", "parse ns",
           "jansson ns", "ratio");
    report("small, 241 B", small());
    report("4 KiB nested", nested(4096 - 256));
    report("64 KiB nested", nested(65536 - 256));
    report("4 KiB base64", base64(4096 - 256));
    report("64 KiB base64", base64(65536 - 256));
    mcpx_envelope_fini(&envelope);
    return EXIT_SUCCESS;
}
