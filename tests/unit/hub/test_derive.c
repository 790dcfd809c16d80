/*
 * What breaks for whom: a response that passes a narrow grant with another tool's name, or one
 * that a narrow grant ought to let through. Protocol: section 4, every sentence of it.
 */
#include "lib/base/scoped.h"
#include "router/hub/hub_parts.h"

#include "tests/support/fault_alloc.h"

#include <criterion/criterion.h>

enum { TO_MAX = 3 };

/* Reads "a b c" as addressees. */
static size_t read_to(const char *words, struct mcpx_slice to[TO_MAX])
{
    size_t count = 0;

    for (const char *at = words ? words : ""; *at; count++) {
        size_t len = strcspn(at, " ");

        to[count] = (struct mcpx_slice){at, len};
        at += len + (at[len] == ' ');
    }
    return count;
}

/* From "asker", for whom `to` names. */
static void put_to(struct log *log, const char *id, const char *kind, const char *to)
{
    struct mcpx_slice names[TO_MAX];
    struct log_message message = {.piece_count = 1, .pieces = {MCPX_SLICE("{}")}};

    message.sender = log_sender(log, MCPX_SLICE("asker"));
    message.to = names;
    message.to_count = read_to(to, names);
    message.id = mcpx_slice_of(id);
    message.kind = mcpx_slice_of(kind);
    cr_assert_eq(log_append(log, &message), MCPX_OK);
}

static void put(struct log *log, const char *id, const char *kind)
{
    put_to(log, id, kind, NULL);
}

static void fill(struct log *log)
{
    put(log, "call", "mcp/request:tools/call:read_file");
    put(log, "read", "mcp/request:resources/read:file:///a:b");
    put(log, "list", "mcp/request:tools/list");
    put(log, "offer", "mcp/proposal:tools/call:write_file");
    put_to(log, "for two", "mcp/proposal:tools/call:rm", "fs disk");
    put(log, "answer", "mcp/response:tools/call:read_file");
    put(log, "chat", "chat");
    put(log, "event", "system/presence");
    put(log, "other type", "a/b:tools/call:d");
}

/* Sent by `from`, to whom `to` names. */
static const struct row {
    const char *to, *from;
    const char *kind;
    const char *correlation; /* NULL = absent */
    const char *completed;   /* NULL = stays as it was sent */
} rows[] = {
    {NULL, "eve", "mcp/response:tools/call", "call", "mcp/response:tools/call:read_file"},
    {NULL, "eve", "mcp/response:resources/read", "read",
     "mcp/response:resources/read:file:///a:b"},
    {NULL, "eve", "mcp/request:tools/call", "offer", "mcp/request:tools/call:write_file"},
    /* nothing else is derived */
    {NULL, "eve", "mcp/response:tools/call", NULL, NULL},
    {NULL, "eve", "mcp/response:tools/call", "unknown", NULL},
    {NULL, "eve", "mcp/response:tools/call:other", "call", NULL},
    {NULL, "eve", "mcp/response:tools/list", "call", NULL},
    {NULL, "eve", "mcp/response:tools", "call", NULL},
    {NULL, "eve", "mcp/response:tools/callx", "call", NULL},
    {NULL, "eve", "mcp/response:tools/list", "list", NULL},
    {NULL, "eve", "mcp/response:tools/call", "offer", NULL},
    {NULL, "eve", "mcp/response:tools/call", "answer", NULL},
    {NULL, "eve", "mcp/response:tools/call", "chat", NULL},
    {NULL, "eve", "mcp/response:tools/call", "event", NULL},
    {NULL, "eve", "mcp/response:tools/call", "other type", NULL},
    {NULL, "eve", "mcp/request:tools/call", "call", NULL},
    {NULL, "eve", "mcp/request:tools/call", "answer", NULL},
    {NULL, "eve", "mcp/request:tools/call:own", "offer", NULL},
    {NULL, "eve", "mcp/proposal:tools/call", "offer", NULL},
    {NULL, "eve", "mcp/proposal:tools/call", "call", NULL},
    {NULL, "eve", "mcp/response", "call", NULL},
    {NULL, "eve", "MCP/response:tools/call", "call", NULL},
    {NULL, "eve", "mcp/responses:tools/call", "call", NULL},
    {NULL, "eve", "chat:tools/call", "call", NULL},
    {NULL, "eve", "chat", "call", NULL},
    /* only from the request or proposal that was meant */
    {"asker", "eve", "mcp/response:tools/call", "call", "mcp/response:tools/call:read_file"},
    {"bob asker", "eve", "mcp/response:tools/call", "call",
     "mcp/response:tools/call:read_file"},
    {"bob", "eve", "mcp/response:tools/call", "call", NULL},
    {"bob aske askerx", "eve", "mcp/response:tools/call", "call", NULL},
    {"bob", "asker", "mcp/response:tools/call", "call", NULL},
    {"fs", "eve", "mcp/request:tools/call", "for two", "mcp/request:tools/call:rm"},
    {"disk fs", "eve", "mcp/request:tools/call", "for two", "mcp/request:tools/call:rm"},
    {NULL, "disk", "mcp/request:tools/call", "for two", "mcp/request:tools/call:rm"},
    {"bob", "fs", "mcp/request:tools/call", "for two", "mcp/request:tools/call:rm"},
    {"fs bob", "eve", "mcp/request:tools/call", "for two", NULL},
    {"bob", "asker", "mcp/request:tools/call", "for two", NULL},
    {NULL, "eve", "mcp/request:tools/call", "for two", NULL},
    {"bob", "eve", "mcp/request:tools/call", "offer", "mcp/request:tools/call:write_file"},
};

static void check(const struct topic *topic, const struct row *row)
{
    static struct mcpx_envelope envelope;
    struct mcpx_kind *kind = &envelope.kind;
    mx_scoped_text text = {0};
    bool is_completed;

    cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(row->kind), kind, NULL), MCPX_OK);
    envelope.correlation_id = mcpx_slice_of(row->correlation);
    envelope.to_count = read_to(row->to, envelope.to);
    is_completed = derive_kind(topic, mcpx_slice_of(row->from), &envelope, &text);
    cr_expect_eq(is_completed, row->completed != NULL, "%s about %s to %s", row->kind,
                 row->correlation, row->to);
    cr_expect(mcpx_slice_equal(kind->text,
                               mcpx_slice_of(row->completed ? row->completed : row->kind)),
              "%s about %s: %.*s", row->kind, row->correlation, (int)kind->text.len,
              kind->text.text);
    cr_expect_eq(kind->context.text != NULL, row->completed || strstr(row->kind, ":o"), "%s",
                 row->kind);
}

Test(derive, completes_what_section_4_names_and_nothing_else)
{
    struct log_bounds bounds = {.bytes = 1000000};
    struct topic topic = {.pending = 0};

    log_init(&topic.log, (struct mx_map_key){{1, 2}}, &bounds);
    fill(&topic.log);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&topic, &rows[i]);
    log_fini(&topic.log);
}

Test(derive, says_in_its_text_that_memory_was_missing)
{
    struct log_bounds bounds = {.bytes = 1000000};
    static struct mcpx_envelope envelope;
    mx_scoped_text text = {0};
    struct topic topic = {.pending = 0};

    log_init(&topic.log, (struct mx_map_key){{1, 2}}, &bounds);
    fill(&topic.log);
    mcpx_kind_parse(MCPX_SLICE("mcp/response:tools/call"), &envelope.kind, NULL);
    envelope.correlation_id = MCPX_SLICE("call");
    fault_alloc_arm(1);
    cr_expect_not(derive_kind(&topic, MCPX_SLICE("eve"), &envelope, &text));
    cr_expect(fault_alloc_disarm());
    cr_expect(text.failed);
    cr_expect(mcpx_slice_equal(envelope.kind.text, MCPX_SLICE("mcp/response:tools/call")));
    log_fini(&topic.log);
}
