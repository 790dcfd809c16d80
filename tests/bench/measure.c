/*
 * measure.c - figures of a shared machine are read as ratios within one run, so a row always
 * stands beside what it is compared with, and beside the bound it is held to. Medians, because
 * a neighbour on the machine only ever makes things slower, and now and then much.
 */
#include "tests/bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15 };

static const double round_ns = 2e6;

static double read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double measure_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double measure_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double measure_median(double *samples, size_t count)
{
    if (count == 0)
        return 0;
    qsort(samples, count, sizeof *samples, compare_doubles);
    return samples[count / 2];
}

double measure_call_ns(void (*run)(void *context), void *context)
{
    double samples[ROUNDS];
    size_t done = 0;
    long calls = 1;

    while (done < ROUNDS) {
        double begin = measure_cpu_ns(), spent;

        for (long i = 0; i < calls; i++)
            run(context);
        spent = measure_cpu_ns() - begin;
        if (spent < round_ns)
            calls *= 2;
        else
            samples[done++] = spent / (double)calls;
    }
    return measure_median(samples, ROUNDS);
}

void measure_title(const char *title)
{
    printf("\n%s\n", title);
    fflush(stdout);
}

static bool is_met(const struct measure_row *row)
{
    double judged = row->against ? row->ratio : row->value;

    return row->at_least ? judged >= row->target : judged <= row->target;
}

static const char *verdict_of(const struct measure_row *row)
{
    if (row->target == 0)
        return "";
    return is_met(row) ? "met" : "MISSED";
}

static FILE *json_open(void)
{
    const char *path = getenv("BENCH_JSON");

    return path && *path ? fopen(path, "a") : NULL;
}

static void write_json(const struct measure_row *row)
{
    FILE *file = json_open();

    if (!file)
        return;
    fprintf(file, "{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"", row->name, row->value,
            row->unit);
    if (row->against)
        fprintf(file, ",\"against\":\"%s\",\"base\":%.6g,\"ratio\":%.4g", row->against,
                row->base, row->ratio);
    if (row->target != 0)
        fprintf(file, ",\"target\":\"%s %g\",\"met\":%s",
                row->at_least ? ">=" : "<=", row->target, is_met(row) ? "true" : "false");
    fprintf(file, "}\n");
    fclose(file);
}

void measure_print(const struct measure_row *row)
{
    char base[64] = "", target[32] = "";

    if (row->against)
        snprintf(base, sizeof base, "%8.2f x %s (%.4g)", row->ratio, row->against, row->base);
    if (row->target != 0)
        snprintf(target, sizeof target, "%s %g", row->at_least ? ">=" : "<=", row->target);
    printf("%-22s %9.4g %-13s %-40s %-8s %s\n", row->name, row->value, row->unit, base, target,
           verdict_of(row));
    fflush(stdout);
    write_json(row);
}

void measure_note(const char *name, double value, const char *unit)
{
    FILE *file = json_open();

    if (!file)
        return;
    fprintf(file, "{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"}\n", name, value, unit);
    fclose(file);
}
