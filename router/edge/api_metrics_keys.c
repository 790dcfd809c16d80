/*
 * api_metrics_keys.c - how fresh the public keys in files are, as Prometheus text. A file is named
 * by its setting, not by its path, which is nobody's business. Without such a file there are no
 * lines.
 */
#include "lib/core/format.h"
#include "router/edge/api.h"
#include "router/edge/metric_text.h"
#include "router/policy/key_file.h"

static uint64_t count_keys(const struct key_file *file, int64_t wall_ms)
{
    (void)wall_ms;
    return file->keys.count;
}

static uint64_t age_s(const struct key_file *file, int64_t wall_ms)
{
    return (uint64_t)key_file_age_ms(file, wall_ms) / 1000;
}

static uint64_t is_faulty(const struct key_file *file, int64_t wall_ms)
{
    (void)wall_ms;
    return file->is_faulty;
}

static uint64_t reads(const struct key_file *file, int64_t wall_ms)
{
    (void)wall_ms;
    return file->reads;
}

static uint64_t failures(const struct key_file *file, int64_t wall_ms)
{
    (void)wall_ms;
    return file->failures;
}

void api_metrics_keys(const struct api_call *call, struct mcpx_text *out)
{
    static const struct {
        const char *name, *type, *help;
        uint64_t (*ask)(const struct key_file *file, int64_t wall_ms);
    } rows[] = {
        {"mcpx_key_file_keys", "gauge", "Public keys of a file that are in force", count_keys},
        {"mcpx_key_file_age_seconds", "gauge",
         "Since when the content is there whose keys are in force", age_s},
        {"mcpx_key_file_faulty", "gauge",
         "1 when the file was not good when it was read last, and older keys are in force",
         is_faulty},
        {"mcpx_key_file_reads_total", "counter", "Readings of a file with public keys", reads},
        {"mcpx_key_file_failures_total", "counter",
         "Readings of such a file that gave no keys", failures},
    };
    const struct tokens *tokens = call->api->config->tokens;
    const struct key_file *file;

    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        if (tokens_key_file(tokens, 0))
            metric_header(rows[row].name, rows[row].type, rows[row].help, out);
        for (size_t i = 0; (file = tokens_key_file(tokens, i)) != NULL; i++)
            mx_format(out, "%s{setting=\"%s\"} %s\n", rows[row].name, file->setting,
                      rows[row].ask(file, call->now.wall_ms));
    }
}
