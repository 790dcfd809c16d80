/*
 * What breaks for whom: somebody watches a topic and is shown another sender, kind or text than
 * was sent, or a program reads a line that is no JSON.
 */
#include "tests/support/count.h"
#include "tools/mcpxctl/core/line.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct entry *make(const char *head, const char *kind, const char *payload)
{
    char text[2048];
    struct mcpx_fault fault = {"", "", 0};
    struct entry *entry = NULL;

    snprintf(text, sizeof text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"0123456789\",\"from\":\"ann\",%s"
             "\"kind\":\"%s\",\"payload\":%s}",
             head, kind, payload);
    cr_assert_eq(entry_new(mcpx_slice_of(text), &fault, &entry), MCPX_OK, "%s: %s",
                 fault.reason, text);
    return entry;
}

Test(line, says_what_tells_most)
{
    static const struct {
        const char *head, *kind, *payload, *line;
    } rows[] = {
        {"", "chat", "{\"text\":\"hi\"}", "--:--:-- 01234567  ann -> everyone  chat  hi\n"},
        {"\"ts\":\"2026-11-22T03:10:00Z\",\"to\":[\"a\",\"b\"],", "chat", "{\"text\":\"hi\"}",
         "03:10:00 01234567  ann -> a, b  chat  hi\n"},
        {"", "chat", "{\"text\":\"\\u001b[2J\\n\"}",
         "--:--:-- 01234567  ann -> everyone  chat  \\u001b[2J\\u000a\n"},
        {"", "chat", "{ \"words\" : 1.10 }",
         "--:--:-- 01234567  ann -> everyone  chat  {\"words\":1.10}\n"},
        {"\"to\":[\"fs\\u200d\"],", "mcp/request:tools/call:w",
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"w\","
         "\"arguments\":{\"p\":\"x\"}}}",
         "--:--:-- 01234567  ann -> fs\\u200d  mcp/request:tools/call:w  {\"p\":\"x\"}\n"},
        {"", "mcp/request:resources/read:x:y",
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":"
         "\"x:y\"}}",
         "--:--:-- 01234567  ann -> everyone  mcp/request:resources/read:x:y  "
         "{\"uri\":\"x:y\"}\n"},
        {"", "mcp/response:tools/call",
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
         "\"done\"}]}}",
         "--:--:-- 01234567  ann -> everyone  mcp/response:tools/call  done\n"},
        {"", "mcp/response:ping", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
         "--:--:-- 01234567  ann -> everyone  mcp/response:ping  {}\n"},
        {"", "mcp/response:ping",
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"no\"}}",
         "--:--:-- 01234567  ann -> everyone  mcp/response:ping  no\n"},
        {"", "mcp/reject", "{\"reason\":\"too much\"}",
         "--:--:-- 01234567  ann -> everyone  mcp/reject  too much\n"},
        {"", "mcp/reject", "{}", "--:--:-- 01234567  ann -> everyone  mcp/reject  {}\n"},
    };
    static const struct line_style style = {.columns = 60, .brief = 8};

    setenv("TZ", "UTC", 1);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct entry *entry = make(rows[i].head, rows[i].kind, rows[i].payload);
        struct mcpx_text out = {0};

        line_write(&out, entry, &style, NULL);
        cr_expect_str_eq(out.text, rows[i].line);
        mcpx_text_fini(&out);
        free(entry);
    }
}

Test(line, warns_colours_and_dims)
{
    struct entry *entry = make("", "mcp/proposal:x", "{\"method\":\"x\"}");
    mx_scoped_text out = {0};

    line_write(&out, entry, &(struct line_style){.colour = true, .columns = 6}, "it lies");
    cr_expect_str_eq(out.text, "\x1b[2m--:--:-- 0123456789\x1b[0m  \x1b[1mann\x1b[0m -> "
                               "everyone  \x1b[33mmcp/proposal:x\x1b[0m  \x1b[31m[ignored: it "
                               "lies]\x1b[0m {\"meth...\n");
    mcpx_text_reset(&out);
    line_write(&out, entry,
               &(struct line_style){.colour = true, .past = true, .columns = 6, .brief = 4},
               NULL);
    cr_expect_str_eq(out.text, "\x1b[2m--:--:-- 0123  ann -> everyone  mcp/proposal:x  "
                               "{\"meth...\x1b[0m\n");
    mcpx_text_reset(&out);
    line_write(&out, entry, &(struct line_style){.columns = 6, .brief = 4, .digest = "5eed"},
               NULL);
    cr_expect_str_eq(out.text, "--:--:-- 0123@5eed  ann -> everyone  mcp/proposal:x  "
                               "{\"meth...\n");
    free(entry);
}

Test(line, raw_json_stays_on_its_line)
{
    mx_scoped_text out = {0};

    envelope_write_json(&out, MCPX_SLICE("{\r\n \"a\": \"b\\n\"\n}"));
    cr_expect_str_eq(out.text, "{   \"a\": \"b\\n\" }");
}

Test(filter, covers_what_a_grant_would_and_the_routers_kinds_too)
{
    static const struct {
        const char *pattern, *kind;
        bool passes;
    } rows[] = {
        {NULL, "chat", true},
        {NULL, "system/error", true},
        {"chat", "chat", true},
        {"chat", "chat:x", false},
        {"mcp/*", "mcp/request:tools/call:x", true},
        {"mcp/request:tools/call", "mcp/request:tools/call:x", true},
        {"mcp/proposal:*", "mcp/request:ping", false},
        {"*", "system/presence", true},
        {"system/*", "system/error", true},
        {"system/error", "system/error", true},
        {"system/error", "system/presence", false},
        {"system/*", "chat", false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mcpx_fault fault = {"", "", 0};
        struct filter filter;
        struct mcpx_kind kind;

        cr_assert_eq(filter_make(rows[i].pattern, NULL, &fault, &filter), MCPX_OK);
        cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(rows[i].kind), &kind, NULL), MCPX_OK);
        cr_expect_eq(filter_passes(&filter, &kind, MCPX_SLICE("ann")), rows[i].passes,
                     "%s: %s", rows[i].pattern, rows[i].kind);
    }
}

Test(filter, names_the_sender_and_refuses_what_is_no_pattern)
{
    struct mcpx_fault fault = {"", "", 0};
    struct filter filter;
    struct mcpx_kind kind;

    cr_assert_eq(filter_make(NULL, "ann", &fault, &filter), MCPX_OK);
    cr_assert_eq(mcpx_kind_parse(MCPX_SLICE("chat"), &kind, NULL), MCPX_OK);
    cr_expect(filter_passes(&filter, &kind, MCPX_SLICE("ann")));
    cr_expect(filter_passes(&filter, &kind, MCPX_SLICE("ann~2")), "an instance of hers");
    cr_expect_not(filter_passes(&filter, &kind, MCPX_SLICE("anna")));
    cr_expect_eq(filter_make("a::b", NULL, &fault, &filter), MCPX_EPATTERN);
    cr_expect_eq(filter_make("", NULL, &fault, &filter), MCPX_EPATTERN);
}
