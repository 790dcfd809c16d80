/*
 * log.c - a line is composed whole in one buffer and leaves in one write, so lines of several
 * processes on one pipe do not mix. Values are escaped here and nowhere else. syslog was
 * refused: the journal and every container runtime read stderr, and nothing is lost on the way.
 * Includes json.h, ident.h and the clock.
 */
#include "router/edge/log.h"
#include "lib/core/ident.h"
#include "router/edge/clock.h"
#include <mcpx/json.h>

#include <errno.h>
#include <libwebsockets.h>
#include <stdio.h>
#include <unistd.h>

enum { LINES_PER_SECOND = 10, VALUE_MAX = 512 };

static struct {
    enum log_level level;
    enum log_format format;
    struct mcpx_text line;
} state = {.level = LOG_INFO};

void log_open(enum log_level level, enum log_format format)
{
    state.level = level;
    state.format = format;
}

void log_close(void)
{
    mcpx_text_fini(&state.line);
}

bool log_wants(enum log_level level)
{
    return level <= state.level;
}

static const char *level_name(enum log_level level)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};

    return names[level];
}

/* ASCII only: what a stranger sends need not be UTF-8, and a log reader should not have to care.
 * A long value is cut: a line is for reading. */
static void add_escaped(struct mcpx_text *line, struct mcpx_slice text)
{
    static const char hex[] = "0123456789abcdef";
    size_t i, len = text.len > VALUE_MAX ? VALUE_MAX : text.len;

    for (i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text.text[i];
        char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

        if (c == '"' || c == '\\')
            mcpx_text_add(line, "\\", 1);
        if (c < 0x20 || c >= 0x7f)
            mcpx_text_add(line, escape, sizeof escape);
        else
            mcpx_text_add(line, (const char *)&text.text[i], 1);
    }
    if (len < text.len)
        mcpx_text_puts(line, "...");
}

static void add_quoted(struct mcpx_text *line, struct mcpx_slice text)
{
    mcpx_text_puts(line, "\"");
    add_escaped(line, text);
    mcpx_text_puts(line, "\"");
}

static void add_field(struct mcpx_text *line, const struct log_field *field)
{
    bool json = state.format == LOG_JSON;

    mcpx_text_puts(line, json ? ",\"" : " ");
    mcpx_text_puts(line, field->key);
    mcpx_text_puts(line, json ? "\":" : "=");
    if (field->is_number)
        mcpx_text_number(line, field->number);
    else
        add_quoted(line, field->text);
}

static void add_head(struct mcpx_text *line, enum log_level level, const char *event)
{
    bool json = state.format == LOG_JSON;
    char ts[MX_TIME_LEN + 1];

    mx_time_format(clock_ask().wall_ms, ts);
    mcpx_text_puts(line, json ? "{\"ts\":\"" : "ts=");
    mcpx_text_puts(line, ts);
    mcpx_text_puts(line, json ? "\",\"level\":\"" : " level=");
    mcpx_text_puts(line, level_name(level));
    mcpx_text_puts(line, json ? "\",\"event\":\"" : " event=");
    mcpx_text_puts(line, event);
    mcpx_text_puts(line, json ? "\"" : "");
}

void log_write(enum log_level level, const char *event, const struct log_field *fields,
               size_t count)
{
    struct mcpx_text *line = &state.line;
    ssize_t done;
    size_t i;

    if (!log_wants(level))
        return;
    mcpx_text_reset(line);
    add_head(line, level, event);
    for (i = 0; i < count; i++)
        if (fields[i].key)
            add_field(line, &fields[i]);
    mcpx_text_puts(line, state.format == LOG_JSON ? "}\n" : "\n");
    if (line->failed)
        return;
    do
        done = write(STDERR_FILENO, line->text, line->len);
    while (done < 0 && errno == EINTR); /* a log nobody reads is no reason to stop */
}

bool log_permits(struct log_limit *limit, int64_t mono_ms)
{
    if (!limit->since_ms || mono_ms - limit->since_ms >= 1000) {
        if (limit->held_back)
            LOG(LOG_WARN, "held_back", log_number("lines", limit->held_back));
        *limit = (struct log_limit){.since_ms = mono_ms};
    }
    if (limit->written < LINES_PER_SECOND) {
        limit->written++;
        return true;
    }
    limit->held_back++;
    return false;
}

/* libwebsockets says at error level, whenever it begins to close, which function did. */
static bool is_noise(const char *line)
{
    return strncmp(line, "lws_libuv_stop", 14) == 0;
}

void log_lws(int level, const char *line)
{
    static struct log_limit limit;
    struct mcpx_slice text = mcpx_slice_of(line);

    while (text.len && (text.text[text.len - 1] == '\n' || text.text[text.len - 1] == '\r'))
        text.len--;
    if (is_noise(line) || !log_permits(&limit, clock_ask().mono_ms))
        return;
    LOG(level & LLL_ERR ? LOG_WARN : LOG_INFO, "libwebsockets", log_text("says", text));
}
