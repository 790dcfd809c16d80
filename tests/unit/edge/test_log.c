/*
 * A log line that somebody else can write is evidence against an innocent. Whatever a value
 * holds, an event is one line of ASCII, and as JSON it is one object.
 */
#include "router/process/log.h"

#include "lib/json/escape.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
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
    log_close();
    dup2(stderr_kept, STDERR_FILENO);
    close(stderr_kept);
    close(pipes[1]);
    len = read(pipes[0], line, sizeof line - 1);
    close(pipes[0]);
    line[len > 0 ? len : 0] = '\0';
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
    VALUE("\xf0\x9f\x98\x80 \xef\xbf\xbf \xf4\x8f\xbf\xbf"),
    VALUE("\\xff \xed\xa0\x80"),
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

/* A program reads what was said: characters themselves, and bytes that are none by their number. */
static void expect_value(const json_t *value, struct mcpx_slice text)
{
    char wanted[256];
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        const unsigned char *at = (const unsigned char *)text.text + i;
        size_t sequence = mx_utf8_sequence(at, (const unsigned char *)text.text + text.len);

        if (!sequence) {
            len += (size_t)snprintf(wanted + len, sizeof wanted - len, "\\x%02x", *at);
            continue;
        }
        memcpy(wanted + len, at, sequence);
        len += sequence;
        i += sequence - 1;
    }
    cr_expect_eq(json_string_length(value), len, "%s", line);
    cr_expect(memcmp(json_string_value(value), wanted, len) == 0, "%s", line);
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
        expect_value(json_object_get(object, "value"), values[i]);
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

Test(log, a_value_is_not_cut_within_a_character)
{
    char much[1024];
    json_t *object;

    for (size_t i = 0; i + 1 < sizeof much; i += 2)
        memcpy(much + i, "\xc3\xa9", 2);
    for (size_t from = 0; from < 2; from++) {
        size_t len = written(LOG_JSON, (struct mcpx_slice){much + from, sizeof much - 2});

        object = json_loadb(line, len, 0, NULL);
        cr_assert_not_null(object, "%s", line);
        cr_expect(strstr(line, "\\u00e9...\"") != NULL, "%s", line);
        json_decref(object);
    }
}

static void fill(int fd)
{
    static char much[65536];
    int flags = fcntl(fd, F_GETFL);

    memset(much, 'x', sizeof much);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, much, sizeof much) > 0 || write(fd, much, 1) > 0)
        ;
    fcntl(fd, F_SETFL, flags);
}

/* Reads what there is; returns how much. */
static size_t empty(int fd, char *out, size_t size)
{
    size_t len = 0;
    int left = 0;

    while (ioctl(fd, FIONREAD, &left) == 0 && left > 0 && len + 1 < size) {
        ssize_t got = read(fd, out + len, size - len - 1);

        if (got <= 0)
            break;
        len += (size_t)got;
        log_flush();
    }
    out[len] = '\0';
    return len;
}

/* Nobody reads; nobody waits. What was kept comes in order, and what is missing is counted. */
Test(log, who_does_not_read_stops_nobody_and_is_told_what_is_missing, .timeout = 60)
{
    enum { MANY = 20000, SIZE = 4 << 20 };
    static char all[SIZE];
    int pipes[2], stderr_kept = dup(STDERR_FILENO);
    uint64_t before = log_lost();
    long long lost = 0;
    int kept = 0;
    char *at;

    cr_assert(pipe(pipes) == 0);
    fill(pipes[1]);
    dup2(pipes[1], STDERR_FILENO);
    log_open(LOG_INFO, LOG_TEXT);
    cr_expect_eq(fcntl(pipes[1], F_GETFL) & O_NONBLOCK, 0, "the pipe is others' too");
    for (int i = 0; i < MANY; i++)
        LOG(LOG_INFO, "counted", log_number("n", i), log_text("x", MCPX_SLICE("0123456789")));
    empty(pipes[0], all, sizeof all); /* what filled it, and what was kept */
    log_flush();
    LOG(LOG_INFO, "last", log_number("n", -1));
    dup2(stderr_kept, STDERR_FILENO);
    empty(pipes[0], all + strlen(all), sizeof all - strlen(all));
    log_close();
    at = memchr(all, 't', sizeof all);
    for (int i = 0; at && strncmp(at, "ts=", 3) == 0; i++) {
        int n = -2;

        sscanf(strstr(at, " event="), " event=counted n=%d", &n);
        if (n == -2)
            break;
        cr_assert_eq(n, i);
        kept++;
        at = strchr(at, '\n') + 1;
    }
    cr_assert_not_null(at);
    cr_expect_eq(sscanf(strstr(at, " level="), " level=warn event=log_lost lines=%lld", &lost),
                 1, "%.100s", at);
    cr_expect_eq(kept + lost, MANY, "%d kept, %lld lost", kept, lost);
    cr_expect_gt(kept, 5000);
    cr_expect_gt(lost, 0);
    cr_expect_eq(log_lost() - before, (uint64_t)lost);
    cr_expect_not_null(strstr(at, " event=last n=-1\n"));
    close(stderr_kept);
}

Test(log, lines_below_the_level_are_not_written)
{
    log_open(LOG_WARN, LOG_TEXT);
    cr_expect(log_wants(LOG_ERROR) && log_wants(LOG_WARN));
    cr_expect(!log_wants(LOG_INFO) && !log_wants(LOG_DEBUG));
}

Test(log, what_anybody_can_cause_is_written_ten_times_a_second)
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

/* Whoever is refused a thousand times a second would else hide what everybody else is refused. */
Test(log, who_causes_many_lines_hides_nobodys)
{
    static struct log_share share;
    int permitted = 0;

    log_open(LOG_ERROR, LOG_TEXT);
    log_share_init(&share, "tried", (struct mx_map_key){{1, 2}});
    for (int i = 0; i < 1000; i++)
        permitted += log_share_permits(&share, MCPX_SLICE("loud"), 5000 + i / 2);
    cr_expect_eq(permitted, LOG_SHARE_BURST);
    cr_expect_eq(share.all.held_back, 1000 - LOG_SHARE_BURST);
    cr_expect(log_share_permits(&share, MCPX_SLICE("quiet"), 5500));
    log_tell(&share.all, 5999);
    cr_expect_gt(share.all.held_back, 0, "its second is not over");
    log_tell(&share.all, 6001);
    cr_expect_eq(share.all.held_back, 0, "what was left out is told once");
    cr_expect_not(log_share_permits(&share, MCPX_SLICE("loud"), 6002));
    cr_expect(
        log_share_permits(&share, MCPX_SLICE("loud"), 5500 + 60000 / LOG_SHARE_PER_MINUTE));
}

/* Names cost an attacker nothing: all of them together have a bound as well. */
Test(log, many_names_have_one_bound)
{
    static struct log_share share;
    char name[16];
    int permitted = 0;

    log_open(LOG_ERROR, LOG_TEXT);
    log_share_init(&share, "tried", (struct mx_map_key){{1, 2}});
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        permitted += log_share_permits(&share, mcpx_slice_of(name), 5000);
    }
    cr_expect_eq(permitted, 10, "%d", permitted);
    cr_expect_eq(share.all.held_back, 990);
}
