/*
 * bench_capability.c - what a decision and a grant set cost, in nanoseconds, on this machine.
 * Includes capability.h only. Prints one line per size of set: the median of rounds for a kind
 * that the last grant covers, one that none covers (both asked again and again, so that their
 * verdicts are remembered), kinds that none covers and that are new each time, one that is
 * explained, and the making of the set. The kinds are of ordinary length; the sets differ in every pattern, so that nothing
 * but PCRE2's own optimisations can help.
 */
#include <mcpx/capability.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 31, CALLS = 2000, PATTERN_LEN = 64 };

static char fresh_texts[CALLS][PATTERN_LEN];
static struct mcpx_kind fresh[CALLS];

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *samples)
{
    qsort(samples, ROUNDS, sizeof *samples, compare_doubles);
    return samples[ROUNDS / 2];
}

static struct mcpx_kind kind_of(const char *text)
{
    struct mcpx_kind kind = {.text = {NULL, 0}};

    if (mcpx_kind_parse(mcpx_slice_of(text), &kind, NULL))
        abort();
    return kind;
}

/* Median nanoseconds of one decision. */
static double time_decision(struct mcpx_capset *set, const struct mcpx_kind *kind,
                            bool expected)
{
    struct mcpx_question question = {.kind = kind};
    double samples[ROUNDS];

    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ns();

        for (int i = 0; i < CALLS; i++)
            if (mcpx_capset_allows(set, &question) != expected)
                abort();
        samples[round] = (now_ns() - begin) / CALLS;
    }
    return median(samples);
}

/* The same for as many kinds as there are calls: more than are remembered. */
static double time_fresh(struct mcpx_capset *set)
{
    double samples[ROUNDS];

    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ns();

        for (int i = 0; i < CALLS; i++)
            if (mcpx_capset_allows(set, &(struct mcpx_question){.kind = &fresh[i]}))
                abort();
        samples[round] = (now_ns() - begin) / CALLS;
    }
    return median(samples);
}

static double time_explanation(struct mcpx_capset *set, const struct mcpx_kind *kind)
{
    struct mcpx_question question = {.kind = kind};
    struct mcpx_decision decision;
    double samples[ROUNDS];

    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ns();

        for (int i = 0; i < CALLS / 10; i++)
            mcpx_capset_explain(set, &question, &decision);
        samples[round] = (now_ns() - begin) / (CALLS / 10);
    }
    return median(samples);
}

static double time_making(const struct mcpx_grant *grants, size_t count)
{
    double samples[ROUNDS];

    for (int round = 0; round < ROUNDS; round++) {
        struct mcpx_capset *set = NULL;
        double begin = now_ns();

        if (mcpx_capset_new(grants, count, NULL, 0, NULL, NULL, &set))
            abort();
        samples[round] = now_ns() - begin;
        mcpx_capset_unref(set);
    }
    return median(samples);
}

static void measure(size_t count, const char *tail)
{
    struct mcpx_grant *grants = calloc(count, sizeof *grants);
    char *room = calloc(count, PATTERN_LEN);
    struct mcpx_kind miss = kind_of("mcp/request:tools/call:delete_everything");
    struct mcpx_kind hit = kind_of("mcp/request:tools/call:tool_0_read");
    struct mcpx_capset *set = NULL;

    if (!grants || !room)
        abort();
    for (size_t i = 0; i < count; i++) {
        snprintf(room + i * PATTERN_LEN, PATTERN_LEN, "mcp/request:tools/call:tool_%zu_%s",
                 count - 1 - i, tail);
        grants[i].pattern = mcpx_slice_of(room + i * PATTERN_LEN);
    }
    if (mcpx_capset_new(grants, count, NULL, 0, NULL, NULL, &set))
        abort();
    printf("%5zu  mcp/request:tools/call:tool_0_%-8s %8.0f %8.0f %8.0f %10.0f %10.0f\n", count,
           tail, time_decision(set, &hit, true), time_decision(set, &miss, false),
           time_fresh(set), time_explanation(set, &miss), time_making(grants, count));
    mcpx_capset_unref(set);
    free(room);
    free(grants);
}

/* The worst a sender can do: a long kind against many stars. */
static void measure_long(const char *pattern, const char *prefix)
{
    struct mcpx_grant grant = {.pattern = mcpx_slice_of(pattern)};
    struct mcpx_capset *set = NULL;
    char text[MCPX_KIND_MAX + 1];
    struct mcpx_kind kind;

    memset(text, 'a', MCPX_KIND_MAX);
    text[MCPX_KIND_MAX] = '\0';
    memcpy(text, prefix, strlen(prefix));
    kind = kind_of(text);
    if (mcpx_capset_new(&grant, 1, NULL, 0, NULL, NULL, &set))
        abort();
    printf("    1  %-38s %8s %8.0f %8s %10.0f   (2048 bytes)\n", pattern, "",
           time_decision(set, &kind, false), "", time_explanation(set, &kind));
    mcpx_capset_unref(set);
}

int main(void)
{
    static const size_t counts[] = {1, 8, 64, 512};
    static const char *const tails[] = {"read", "*"};

    for (int i = 0; i < CALLS; i++) {
        snprintf(fresh_texts[i], PATTERN_LEN, "mcp/request:tools/call:delete_%d_files", i);
        fresh[i] = kind_of(fresh_texts[i]);
    }
    printf(
        "count  pattern                                allowed  refused    fresh    explain  "
        "make (ns)\n");
    for (size_t f = 0; f < 2; f++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            measure(counts[i], tails[f]);
    measure_long("a*a*a*a*a*a*a*a*a*b", "a");
    measure_long("x:y:*a*a*a*a*a*a*a*a*a*b", "x:y:");
    measure_long("x:y:*aaaaaaaaaaaaaaaab*", "x:y:");
    return 0;
}
