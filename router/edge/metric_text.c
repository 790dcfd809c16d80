/*
 * metric_text.c - the lines that every metric has, and those of histograms.
 */
#include "router/edge/metric_text.h"

#include "lib/core/format.h"

void metric_header(const char *name, const char *type, const char *help, struct mcpx_text *out)
{
    mx_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metric_value(const char *name, const char *type, const char *help, uint64_t value,
                  struct mcpx_text *out)
{
    metric_header(name, type, help, out);
    mx_format(out, "%s %s\n", name, value);
}

void metric_seconds(const char *before, uint64_t time, uint64_t of_second, const char *after,
                    struct mcpx_text *out)
{
    mx_format(out, "%s%s.", before, time / of_second);
    for (uint64_t unit = of_second / 10; unit > 0; unit /= 10)
        mx_format(out, "%s", time / unit % 10);
    mcpx_text_puts(out, after);
}

/* ---- histograms ---- */

static void write_bound(const struct metric_classes *classes, unsigned bound,
                        struct mcpx_text *out)
{
    if (classes->of_second)
        metric_seconds("", bound, classes->of_second, "", out);
    else
        mx_format(out, "%s", (uint64_t)bound);
}

void metric_histogram(const char *name, const char *help, const struct metric_classes *classes,
                      struct mcpx_text *out)
{
    uint64_t sum = 0;

    metric_header(name, "histogram", help, out);
    for (size_t i = 0; i < classes->count; i++) {
        sum += classes->counts[i];
        mx_format(out, "%s_bucket{le=\"", name);
        write_bound(classes, classes->bounds[i], out);
        mx_format(out, "\"} %s\n", sum);
    }
    sum += classes->counts[classes->count];
    mx_format(out, "%s_bucket{le=\"+Inf\"} %s\n%s_sum ", name, sum, name);
    if (classes->of_second)
        metric_seconds("", classes->sum, classes->of_second, "", out);
    else
        mx_format(out, "%s", classes->sum);
    mx_format(out, "\n%s_count %s\n", name, sum);
}

void metric_times(const char *name, const char *help, const struct figure *figure,
                  struct mcpx_text *out)
{
    struct metric_classes classes = {figure->counts, figure->sum, figure_times_us,
                                     FIGURE_TIMES, 1000000};

    metric_histogram(name, help, &classes, out);
}

void metric_sizes(const char *name, const char *help, const struct figure *figure,
                  struct mcpx_text *out)
{
    struct metric_classes classes = {figure->counts, figure->sum, figure_sizes, FIGURE_SIZES,
                                     0};

    metric_histogram(name, help, &classes, out);
}
