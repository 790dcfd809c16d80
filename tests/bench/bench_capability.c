/*
 * bench_capability.c - what a decision and a grant set cost, on this machine: for a kind that the
 * last grant covers, one that none covers (both asked again and again, so that their verdicts are
 * remembered), kinds that none covers and that were never asked, an explanation, and the making.
 * The kinds are of ordinary length; the sets differ in every pattern, so that nothing but PCRE2's
 * own optimisations can help.
 */
#include <mcpx/capability.h>

#include "tests/bench/measure.h"

#include <stdio.h>
#include <stdlib.h>

enum { PATTERN_LEN = 64, FRESH = 4096, WORST = 64 };

/* More kinds than any set remembers verdicts of. */
static char fresh_texts[FRESH][PATTERN_LEN];
static struct mcpx_kind fresh[FRESH];

/* What is timed: one question to one set, or the making of a set. */
struct trial {
    const struct mcpx_grant *grants;
    size_t count;
    struct mcpx_capset *set;
    struct mcpx_question question;
    bool expected;
};

static struct mcpx_kind kind_of(const char *text)
{
    struct mcpx_kind kind = {.text = {NULL, 0}};

    if (mcpx_kind_parse(mcpx_slice_of(text), &kind, NULL))
        abort();
    return kind;
}

static void decide(void *context)
{
    struct trial *trial = context;

    if (mcpx_capset_allows(trial->set, &trial->question) != trial->expected)
        abort();
}

static void decide_fresh(void *context)
{
    static size_t next;
    struct trial *trial = context;

    trial->question.kind = &fresh[next++ % FRESH];
    decide(trial);
}

static void explain(void *context)
{
    struct trial *trial = context;
    struct mcpx_decision decision;

    mcpx_capset_explain(trial->set, &trial->question, &decision);
}

static void make(void *context)
{
    const struct trial *trial = context;
    struct mcpx_capset *set = NULL;

    if (mcpx_capset_new(trial->grants, trial->count, NULL, 0, NULL, NULL, &set))
        abort();
    mcpx_capset_unref(set);
}

static void row(const char *what, const char *name, void (*run)(void *), struct trial *trial,
                double target)
{
    char title[64];
    struct measure_row row = {.name = title, .unit = "ns", .target = target};

    snprintf(title, sizeof title, "%s-%s", what, name);
    row.value = measure_call_ns(run, trial);
    measure_print(&row);
}

static struct mcpx_grant *grants_new(size_t count, const char *tail)
{
    struct mcpx_grant *grants = calloc(count, sizeof *grants + PATTERN_LEN);
    char *room = (char *)(grants + count);

    if (!grants)
        abort();
    for (size_t i = 0; i < count; i++) {
        snprintf(room + i * PATTERN_LEN, PATTERN_LEN, "mcp/request:tools/call:tool_%zu_%s",
                 count - 1 - i, tail);
        grants[i].pattern = mcpx_slice_of(room + i * PATTERN_LEN);
    }
    return grants;
}

/* Rows of a set of `count` patterns with this tail. */
static void measure(size_t count, const char *tail, double target)
{
    struct mcpx_kind miss = kind_of("mcp/request:tools/call:delete_everything");
    struct mcpx_kind hit = kind_of("mcp/request:tools/call:tool_0_read");
    struct mcpx_grant *grants = grants_new(count, tail);
    struct trial trial = {grants, count, NULL, {.kind = &hit}, true};
    char name[32];

    if (mcpx_capset_new(grants, count, NULL, 0, NULL, NULL, &trial.set))
        abort();
    snprintf(name, sizeof name, "%zu%s", count, *tail == '*' ? "-star" : "");
    row("allowed", name, decide, &trial, target);
    trial.question.kind = &miss;
    trial.expected = false;
    row("refused", name, decide, &trial, target);
    row("fresh", name, decide_fresh, &trial, 0);
    trial.question.kind = &miss;
    row("explained", name, explain, &trial, 0);
    row("made", name, make, &trial, 0);
    mcpx_capset_unref(trial.set);
    free(grants);
}

/* A long kind against many stars. */
static void measure_long(const char *name, const char *pattern, const char *prefix)
{
    struct mcpx_grant grant = {.pattern = mcpx_slice_of(pattern)};
    struct mcpx_kind kind;
    struct trial trial = {&grant, 1, NULL, {.kind = &kind}, false};
    char text[MCPX_KIND_MAX + 1];

    memset(text, 'a', MCPX_KIND_MAX);
    text[MCPX_KIND_MAX] = '\0';
    memcpy(text, prefix, strlen(prefix));
    kind = kind_of(text);
    if (mcpx_capset_new(&grant, 1, NULL, 0, NULL, NULL, &trial.set))
        abort();
    row("refused", name, decide, &trial, 0);
    row("explained", name, explain, &trial, 0);
    mcpx_capset_unref(trial.set);
}

/* The worst a sender can do: "x:y:aa...", against many patterns that end in nothing it has. */
static void measure_worst(const char *name, const char *before, const char *after)
{
    struct mcpx_grant grants[WORST] = {{.to_count = 0}};
    char patterns[WORST][PATTERN_LEN * 2];
    struct mcpx_kind kind;
    struct trial trial = {grants, WORST, NULL, {.kind = &kind}, false};
    char text[MCPX_KIND_MAX + 1];

    for (int i = 0; i < WORST; i++) {
        snprintf(patterns[i], sizeof patterns[i], "x:y:*%s%02d%s", before, i, after);
        grants[i].pattern = mcpx_slice_of(patterns[i]);
    }
    memset(text, 'a', MCPX_KIND_MAX);
    text[MCPX_KIND_MAX] = '\0';
    memcpy(text, "x:y:", 4);
    kind = kind_of(text);
    if (mcpx_capset_new(grants, WORST, NULL, 0, NULL, NULL, &trial.set))
        abort();
    row("refused", name, decide, &trial, 0);
    row("explained", name, explain, &trial, 0);
    mcpx_capset_unref(trial.set);
}

int main(void)
{
    static const size_t counts[] = {8, 64, 512};
    static const double targets[] = {150, 300, 1000};

    for (int i = 0; i < FRESH; i++) {
        snprintf(fresh_texts[i], PATTERN_LEN, "mcp/request:tools/call:delete_%d_files", i);
        fresh[i] = kind_of(fresh_texts[i]);
    }
    measure_title("capability: one decision, by number of patterns");
    for (size_t i = 0; i < 3; i++) {
        measure(counts[i], "read", targets[i]);
        measure(counts[i], "*", targets[i]);
    }
    measure_long("2k-type", "a*a*a*a*a*a*a*a*a*b", "a");
    measure_long("2k-context", "x:y:*a*a*a*a*a*a*a*a*a*b", "x:y:");
    measure_worst("2k-64-end", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "");
    measure_worst("2k-64-sought",
                  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "*");
    measure_worst("2k-64-walked", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa*");
    return 0;
}
