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

/* Times are microseconds here. */
enum { US = 1000000 };

/* Upper bounds are microseconds, shown as seconds; or sizes, shown as they are. */
struct histogram {
    const char *name, *help;
    const struct figure *figure;
    const unsigned *bounds;
    size_t count;
    bool of_times;
};

static void write_bucket(const struct histogram *histogram, unsigned bound, uint64_t sum,
                         struct mcpx_text *out)
{
    mx_format(out, "%s_bucket{le=\"", histogram->name);
    if (histogram->of_times)
        metric_seconds("", bound, US, "\"} ", out);
    else
        mx_format(out, "%s\"} ", (uint64_t)bound);
    mx_format(out, "%s\n", sum);
}

static void write_histogram(const struct histogram *histogram, struct mcpx_text *out)
{
    const struct figure *figure = histogram->figure;
    uint64_t sum = 0;

    metric_header(histogram->name, "histogram", histogram->help, out);
    for (size_t i = 0; i < histogram->count; i++) {
        sum += figure->counts[i];
        write_bucket(histogram, histogram->bounds[i], sum, out);
    }
    sum += figure->counts[histogram->count];
    mx_format(out, "%s_bucket{le=\"+Inf\"} %s\n%s_sum ", histogram->name, sum,
              histogram->name);
    if (histogram->of_times)
        metric_seconds("", figure->sum, US, "\n", out);
    else
        mx_format(out, "%s\n", figure->sum);
    mx_format(out, "%s_count %s\n", histogram->name, sum);
}

void metric_times(const char *name, const char *help, const struct figure *figure,
                  struct mcpx_text *out)
{
    struct histogram histogram = {name, help, figure, figure_times_us, FIGURE_TIMES, true};

    write_histogram(&histogram, out);
}

void metric_sizes(const char *name, const char *help, const struct figure *figure,
                  struct mcpx_text *out)
{
    struct histogram histogram = {name, help, figure, figure_sizes, FIGURE_SIZES, false};

    write_histogram(&histogram, out);
}
