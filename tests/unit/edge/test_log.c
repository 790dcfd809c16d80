/*
 * A log line that somebody else can write is evidence against an innocent. Whatever a value
 * holds, an event is one line of ASCII, and as JSON it is one object.
 */
#include "router/edge/log.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

static char line[8192];

/* Writes one event with this value and returns the length of what came out. */
static size_t written(enum log_format format, struct mcpx_slice value)
{
    int pipes[2], stderr_kept = dup(STDERR_FILENO);
    ssize_t len;

    cr_assert(pipe(pipes) == 0);
    dup2(pipes[1], STDERR_FILENO);
    log_open(LOG_INFO, format);
    LOG(LOG_INFO, "tried", log_text("value", value), log_number("count", -3));
    dup2(stderr_kept, STDERR_FILENO);
    close(stderr_kept);
    close(pipes[1]);
    len = read(pipes[0], line, sizeof line - 1);
    close(pipes[0]);
    line[len > 0 ? len : 0] = '\0';
    log_close();
    return len > 0 ? (size_t)len : 0;
}

#define VALUE(literal)                                                                        \
    {                                                                                         \
        (literal), sizeof(literal) - 1                                                        \
    }

static const struct mcpx_slice values[] = {
    VALUE("plain"),
    VALUE(""),
    {NULL, 0},
    VALUE("two\nlines"),
    VALUE("\r\nts=2026 level=info event=forged"),
    VALUE("\" event=forged x=\""),
    VALUE("\\\" event=forged"),
    VALUE("nul\0inside"),
    VALUE("\x1b[2J\x7f"),
    VALUE("not utf-8 \xff\xc3\x28"),
    VALUE("gr\xc3\xbc\xc3\x9f \xe2\x80\xa8 \xc2\x85"),
    VALUE("\"},{\"event\":\"forged\""),
};

Test(log, an_event_is_one_line_of_printable_ascii)
{
    size_t i, at;
    int format;

    for (i = 0; i < sizeof values / sizeof *values; i++)
        for (format = LOG_TEXT; format <= LOG_JSON; format++) {
            size_t len = written((enum log_format)format, values[i]);

            cr_assert(len > 1);
            cr_expect_eq(line[len - 1], '\n', "%s", line);
            for (at = 0; at + 1 < len; at++)
                cr_expect(line[at] >= 0x20 && line[at] < 0x7f, "%zu: %s", i, line);
        }
}

Test(log, as_json_it_is_one_object_with_one_event)
{
    size_t i;

    for (i = 0; i < sizeof values / sizeof *values; i++) {
        size_t len = written(LOG_JSON, values[i]);
        json_error_t error;
        json_t *object =
            json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);

        cr_expect(object != NULL, "%s: %s", error.text, line);
        cr_expect_str_eq(json_string_value(json_object_get(object, "event")), "tried");
        cr_expect_eq(json_integer_value(json_object_get(object, "count")), -3);
        json_decref(object);
    }
}

Test(log, a_long_value_is_cut)
{
    static char much[100000];

    memset(much, 'x', sizeof much);
    cr_expect(written(LOG_TEXT, (struct mcpx_slice){much, sizeof much}) < 1024);
    cr_expect(strstr(line, "x...\"") != NULL);
}

Test(log, lines_below_the_level_are_not_written)
{
    log_open(LOG_WARN, LOG_TEXT);
    cr_expect(log_wants(LOG_ERROR) && log_wants(LOG_WARN));
    cr_expect(!log_wants(LOG_INFO) && !log_wants(LOG_DEBUG));
}

Test(log, what_strangers_cause_is_written_ten_times_a_second)
{
    struct log_limit limit = {0};
    int i, permitted = 0;

    log_open(LOG_ERROR, LOG_TEXT);
    for (i = 0; i < 100; i++)
        permitted += log_permits(&limit, 5000 + i);
    cr_expect_eq(permitted, 10, "%d", permitted);
    cr_expect_eq(limit.held_back, 90);
    cr_expect(log_permits(&limit, 6001), "the next second is a new one");
}
