/*
 * metric_text.c - the lines that every metric has.
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
