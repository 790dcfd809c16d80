/*
 * What breaks for whom: auditors read these lines with their own programs. docs/audit.md, "A line".
 */
#include "lib/base/scoped.h"
#include "router/store/audit/audit_chain.h"
#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEGIN "{\"seq\":7,\"time\":\"2026-09-21T14:13:20.123Z\",\"what\":"
#define PREV "\"prev\":\"0000000000000000000000000000000000000000000000000000000000000000\""

static const int64_t wall_ms = 1790000000123;
static const struct mcpx_slice to[] = {{"bob", 3}, {"c\"d", 3}};

#define S(literal)                                                                            \
    {                                                                                         \
        (literal), sizeof(literal) - 1                                                        \
    }

static const struct {
    struct audit_note note;
    bool payloads;
    const char *line;
} rows[] = {
    {{.what = AUDIT_BEGIN}, false, BEGIN "\"begin\"," PREV ",\"format\":1}\n"},
    {{.what = AUDIT_START, .rev = S("aa"), .cut = 17},
     false,
     BEGIN "\"start\"," PREV ",\"rev\":\"aa\",\"cut\":17}\n"},
    {{.what = AUDIT_STOP}, false, BEGIN "\"stop\"," PREV "}\n"},
    {{.what = AUDIT_ALLOW,
      .topic = S("t/u"),
      .from = S("alice"),
      .to = to,
      .to_count = 2,
      .kind_sent = S("mcp/response"),
      .kind = S("mcp/response:tools/call:x"),
      .id = S("i"),
      .correlation_id = S("j"),
      .grant = S("mcp/*"),
      .rev = S("aa"),
      .text = S("{}")},
     true,
     BEGIN
     "\"allow\"," PREV ",\"topic\":\"t/u\",\"from\":\"alice\",\"to\":[\"bob\",\"c\\\"d\"],"
     "\"kind_sent\":\"mcp/response\",\"kind\":\"mcp/response:tools/call:x\",\"id\":\"i\","
     "\"correlation_id\":\"j\",\"grant\":\"mcp/*\",\"rev\":\"aa\",\"bytes\":2,"
     "\"sha256\":\"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\","
     "\"text\":\"{}\"}\n"},
    {{.what = AUDIT_REFUSE,
      .from = S("al\xff\x80"),
      .error = S("capability_violation"),
      .reason = S("denied"),
      .bytes = 99},
     true,
     BEGIN "\"refuse\"," PREV ",\"from\":\"al\u2026\",\"error\":\"capability_violation\","
           "\"reason\":\"denied\",\"bytes\":99}\n"},
    {{.what = AUDIT_TURNED_AWAY, .address = S("192.0.2.1"), .error = S("unauthorized")},
     false,
     BEGIN "\"turned_away\"," PREV ",\"error\":\"unauthorized\",\"address\":\"192.0.2.1\"}\n"},
    {{.what = AUDIT_GRANT,
      .from = S("alice"),
      .grant = S("chat"),
      .by = S("root"),
      .address = S("::1"),
      .until = 1795392000123},
     false,
     BEGIN "\"grant\"," PREV ",\"from\":\"alice\",\"grant\":\"chat\",\"by\":\"root\","
           "\"address\":\"::1\",\"until\":\"2026-11-23T00:00:00.123Z\"}\n"},
    {{.what = AUDIT_KICK, .from = S("alice"), .by = S("root")},
     false,
     BEGIN "\"kick\"," PREV ",\"from\":\"alice\",\"by\":\"root\"}\n"},
    {{.what = AUDIT_UNDELIVERED, .of = 6},
     false,
     BEGIN "\"undelivered\"," PREV ",\"of\":6}\n"},
    {{.what = AUDIT_LOST, .count = 3, .since = 1790000000123, .until = 1790000001000},
     false,
     BEGIN "\"lost\"," PREV ",\"count\":3,\"since\":\"2026-09-21T14:13:20.123Z\","
           "\"until\":\"2026-09-21T14:13:21.000Z\"}\n"},
};

Test(audit_line, a_note_becomes_a_line_and_can_be_read)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct audit_head head = {7, audit_prev_none};
        struct audit_note note = rows[i].note;
        struct mcpx_text out = {0};
        struct audit_line line;

        note.wall_ms = wall_ms;
        audit_line_add(&out, &head, &note, rows[i].payloads);
        cr_expect_str_eq(out.text, rows[i].line, "row %zu:\n%s", i, out.text);
        cr_assert(audit_line_read((struct mcpx_slice){out.text, out.len - 1}, &line),
                  "row %zu", i);
        cr_expect_eq(line.seq, 7);
        cr_expect_eq(line.wall_ms, wall_ms);
        cr_expect_eq(line.what, note.what);
        mcpx_text_fini(&out);
    }
}

Test(audit_line, what_somebody_sent_is_shown_up_to_a_bound)
{
    static char many[AUDIT_TEXT_MAX + 10];
    struct audit_head head = {7, audit_prev_none};
    struct audit_note note = {.what = AUDIT_REFUSE, .kind_sent = {many, sizeof many}};
    mx_scoped_text out = {0};

    memset(many, 'x', sizeof many);
    memcpy(many + AUDIT_TEXT_MAX - 1, "\xc3\xa9",
           2); /* the bound is in the middle of a letter */
    audit_line_add(&out, &head, &note, false);
    cr_expect(strstr(out.text, "xx\u2026\"}\n") != NULL);
    cr_expect_lt(out.len, AUDIT_TEXT_MAX + 200);
}

static const char *const no_lines[] = {
    "",
    "{}",
    "x",
    " " BEGIN "\"stop\"," PREV "}",
    BEGIN "\"stop\"," PREV "} ",
    BEGIN "\"stop\"," PREV "",
    BEGIN "\"stop\"," PREV "}}",
    "{\"seq\":0,\"time\":\"2026-09-21T14:13:20.123Z\",\"what\":\"stop\"," PREV "}",
    "{\"seq\":-1,\"time\":\"2026-09-21T14:13:20.123Z\",\"what\":\"stop\"," PREV "}",
    "{\"seq\":1e3,\"time\":\"2026-09-21T14:13:20.123Z\",\"what\":\"stop\"," PREV "}",
    "{\"seq\":\"1\",\"time\":\"2026-09-21T14:13:20.123Z\",\"what\":\"stop\"," PREV "}",
    "{\"seq\":1,\"time\":\"2026-09-31T14:13:20.123Z\",\"what\":\"stop\"," PREV "}",
    "{\"seq\":1,\"time\":\"2026-09-21T14:13:20Z\",\"what\":\"stop\"," PREV "}",
    "{\"seq\":1,\"time\":1,\"what\":\"stop\"," PREV "}",
    "{\"time\":\"2026-09-21T14:13:20.123Z\",\"seq\":1,\"what\":\"stop\"," PREV "}",
    "{\"seq\":1,\"seq\":2,\"time\":\"2026-09-21T14:13:20.123Z\",\"what\":\"stop\"," PREV "}",
    BEGIN "\"st\\u006fp\"," PREV "}",
    BEGIN "\"stop\"}",
    BEGIN "\"stop\",\"prev\":\"00\"}",
    BEGIN "\"stop\","
          "\"prev\":\"000000000000000000000000000000000000000000000000000000000000000G\"}",
    BEGIN "\"stop\","
          "\"prev\":\"000000000000000000000000000000000000000000000000000000000000000A\"}",
    "[" BEGIN "\"stop\"," PREV "}]",
};

Test(audit_line, nothing_else_is_a_line)
{
    struct audit_line line;

    for (size_t i = 0; i < sizeof no_lines / sizeof *no_lines; i++)
        cr_expect_not(audit_line_read(mcpx_slice_of(no_lines[i]), &line), "row %zu: %s", i,
                      no_lines[i]);
    cr_expect(audit_line_read(mcpx_slice_of(BEGIN "\"later\"," PREV ",\"new\":[1]}"), &line));
    cr_expect_eq(line.what, AUDIT_OTHER);
}

/* A batch that could not be written is taken back: the state before it is good again. */
Test(audit_line, without_memory_the_chain_stays_as_it_was)
{
    struct audit_note note = {.what = AUDIT_ALLOW, .text = MCPX_SLICE("{}")};
    struct audit_chain chain;

    FAULT_ALLOC_EACH(nth, 1) {
        struct mcpx_text out = {0};
        struct audit_chain before;
        uint64_t seq;
        bool failed;

        audit_chain_begin(&chain);
        before = chain;
        seq = audit_chain_add(&chain, &note, true, &out);
        failed = fault_alloc_disarm();
        cr_expect_eq(out.failed, failed);
        cr_expect_eq(seq, failed ? 0 : 1);
        cr_expect(!failed ||
                  (chain.seq == before.seq && strcmp(chain.prev, before.prev) == 0));
        mcpx_text_fini(&out);
    }
    cr_expect_eq(chain.seq, 2);
}

/* A router that starts with little memory would read names that are not there. */
Test(folder, without_memory_no_file_is_listed)
{
    enum { FILES = 9 }; /* the array grows twice */
    char path[] = "/tmp/mcpx-audit-XXXXXX", name[AUDIT_NAME_ROOM];
    int folder = open(mkdtemp(path), O_RDONLY | O_DIRECTORY);

    for (uint64_t seq = 1; seq <= FILES; seq++) {
        audit_file_name(seq, name);
        close(openat(folder, name, O_CREAT | O_WRONLY, 0600));
    }
    FAULT_ALLOC_EACH(nth, 2) {
        uint64_t *seqs = NULL;
        size_t count = 0;
        enum mcpx_err err = audit_folder_list(folder, &seqs, &count);
        bool failed = fault_alloc_disarm();

        cr_expect_eq(err, failed ? MCPX_ENOMEM : MCPX_OK);
        cr_expect_eq(count, failed ? 0 : FILES);
        free(seqs);
    }
    for (uint64_t seq = 1; seq <= FILES; seq++) {
        audit_file_name(seq, name);
        unlinkat(folder, name, 0);
    }
    close(folder);
    rmdir(path);
}
