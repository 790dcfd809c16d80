/*
 * log.c - a line is composed whole in one buffer and leaves in one write, so lines of several
 * processes on one pipe do not mix. Values are escaped here and nowhere else. Writing never blocks:
 * lines are kept, up to a bound, until standard error takes them; lost lines are counted and
 * reported. Rejected: syslog, because log files and container runtimes read stderr.
 */
#include "router/process/log.h"

#include "lib/base/digits.h"
#include "lib/base/ident.h"
#include "lib/edge/line_writer.h"
#include "lib/edge/timer.h"
#include "lib/json/escape.h"
#include "lib/json/json_write.h"

#include <libwebsockets.h>
#include <stdio.h>
#include <unistd.h>

enum { LINES_PER_SECOND = 10, VALUE_MAX = 512, DRAIN_MS = 1000 };

static struct {
    enum log_level level;
    enum log_format format;
    struct mcpx_text line;
    struct mx_line_writer writer;
} state = {.level = LOG_INFO, .writer = {.fd = STDERR_FILENO}};

void log_set(enum log_level level, enum log_format format)
{
    state.level = level;
    state.format = format;
}

void log_open(enum log_level level, enum log_format format)
{
    log_set(level, format);
    mx_line_writer_close(&state.writer);
    mx_line_writer_open(&state.writer, STDERR_FILENO);
}

bool log_wants(enum log_level level)
{
    return level <= state.level;
}

/*
 * Writes ASCII only, for readers of any encoding: characters as JSON escapes them, other bytes than
 * UTF-8 as "\\xff". A long value is cut: a line is for reading.
 */
static void add_escaped(struct mcpx_text *line, struct mcpx_slice text)
{
    size_t i = 0, len;

    for (; i < text.len && i < VALUE_MAX; i += len ? len : 1) {
        uint32_t c;

        len = mx_utf8_decode((struct mcpx_slice){text.text + i, text.len - i}, &c);
        if (c == '"' || c == '\\')
            mcpx_text_add(line, "\\", 1);
        if (!len)
            mx_hex_add(line, "\\\\x", c, 2);
        else if (c < 0x20 || c >= 0x7f)
            mx_escape_add(line, c);
        else
            mcpx_text_add(line, text.text + i, 1);
    }
    if (i < text.len)
        mcpx_text_puts(line, "...");
}

static void add_field(struct mcpx_text *line, const struct log_field *field)
{
    bool json = state.format == LOG_JSON;

    mx_format(line, json ? ",\"%s\":" : " %s=", field->key);
    if (field->is_number) {
        mcpx_text_number(line, field->number);
        return;
    }
    mcpx_text_puts(line, "\"");
    add_escaped(line, field->text);
    mcpx_text_puts(line, "\"");
}

static void add_head(struct mcpx_text *line, enum log_level level, const char *event)
{
    static const char *const levels[] = {"error", "warn", "info", "debug"};
    bool json = state.format == LOG_JSON;
    char ts[MX_TIME_LEN + 1];

    mx_time_format(mx_clock_now().wall_ms, ts);
    mx_format(line, json ? "{\"ts\":%q,\"level\":%q,\"event\":%q" : "ts=%s level=%s event=%s",
              ts, levels[level], event);
}

static void put(enum log_level level, const char *event, const struct log_field *fields,
                size_t count)
{
    struct mcpx_text *line = &state.line;

    mcpx_text_reset(line);
    add_head(line, level, event);
    for (size_t i = 0; i < count; i++)
        if (fields[i].key)
            add_field(line, &fields[i]);
    mcpx_text_puts(line, state.format == LOG_JSON ? "}\n" : "\n");
    if (!line->failed)
        mx_line_writer_put(&state.writer, mcpx_text_view(line));
}

static void report_lost(void)
{
    struct log_field lines = log_number("lines", (int64_t)state.writer.lost);

    if (!mx_line_writer_may_report_lost(&state.writer))
        return;
    state.writer.lost = 0;
    put(LOG_WARN, "log_lost", &lines, 1);
}

bool log_flush(void)
{
    if (!mx_line_writer_flush(&state.writer))
        return false;
    report_lost();
    return true;
}

uint64_t log_lost(void)
{
    return state.writer.lost_ever;
}

void log_close(void)
{
    if (mx_line_writer_drain(&state.writer, DRAIN_MS))
        report_lost();
    mx_line_writer_close(&state.writer);
    mcpx_text_fini(&state.line);
}

void log_write(enum log_level level, const char *event, const struct log_field *fields,
               size_t count)
{
    if (!log_wants(level))
        return;
    log_flush();
    put(level, event, fields, count);
}

void log_tell(struct log_limit *limit, int64_t mono_ms)
{
    if (limit->since_ms && mono_ms - limit->since_ms < 1000)
        return;
    if (limit->held_back)
        LOG(LOG_WARN, "held_back", log_number("lines", limit->held_back),
            log_known("about", mcpx_slice_of(limit->about)));
    *limit = (struct log_limit){.about = limit->about, .since_ms = mono_ms};
}

bool log_permits(struct log_limit *limit, int64_t mono_ms)
{
    log_tell(limit, mono_ms);
    if (limit->written < LINES_PER_SECOND) {
        limit->written++;
        return true;
    }
    limit->held_back++;
    return false;
}

void log_lws(int level, const char *line)
{
    static struct log_limit limit;
    struct mcpx_slice text = mx_trim(mcpx_slice_of(line), "\r\n");

    /* Skips the line at error level about the start of each shutdown. */
    if (strncmp(line, "lws_libuv_stop", 14) == 0 ||
        !log_permits(&limit, mx_clock_now().mono_ms))
        return;
    LOG(level & LLL_ERR ? LOG_WARN : LOG_INFO, "libwebsockets", log_text("says", text));
}

/*
 * Quotas: with one bound for all lines of a kind, the most refused client would hide the others.
 * Clients can invent names, so the counts are in buckets of constant memory.
 */
void log_share_init(struct log_share *share, const char *about, struct mx_map_key key)
{
    *share = (struct log_share){.all.about = about};
    share->each.key = key;
    share->each.rate = (struct mx_rate){LOG_SHARE_PER_MINUTE, LOG_SHARE_BURST};
}

bool log_share_permits(struct log_share *share, struct mcpx_slice name, int64_t mono_ms)
{
    if (mx_buckets_wait_ms(&share->each, name, 1, mono_ms) > 0) {
        log_tell(&share->all, mono_ms);
        share->all.held_back++;
        return false;
    }
    if (!log_permits(&share->all, mono_ms))
        return false;
    mx_buckets_spend(&share->each, name, 1, mono_ms);
    return true;
}
