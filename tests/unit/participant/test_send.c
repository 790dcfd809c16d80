/*
 * What breaks for whom: an application that learns only from the router, or from silence, what was
 * wrong with a message; a peer that gets one that lies. Protocol: sections 1, 2 and 3.
 */
#include "lib/base/scoped.h"
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(send, .init = stage_begins, .fini = stage_clear);

#define PING "{'jsonrpc':'2.0','id':1,'method':'ping'}"

Test(send, refuses_what_would_not_be_understood)
{
    static const struct {
        const char *type, *to, *payload;
        enum mcpx_err err;
    } rows[] = {
        {"chat", NULL, "{}", MCPX_OK},
        {"chat:x:y", "bob", " {} ", MCPX_OK},
        {"chat", NULL, "", MCPX_EINVALID},
        {"chat", NULL, "[]", MCPX_EINVALID},
        {"chat", NULL, "{} {}", MCPX_EINVALID},
        {"chat", NULL, "{'a':'\xff'}", MCPX_EINVALID},
        {"", NULL, "{}", MCPX_EKIND},
        {"chat:", NULL, "{}", MCPX_EKIND},
        {"a b", NULL, "{}", MCPX_EKIND},
        {"chat", "system:gateway", "{}", MCPX_EINVALID},
        {"chat", "a\nb", "{}", MCPX_EINVALID},
        {"system/welcome", NULL, "{}", MCPX_ECAPABILITY},
        {"mcp/request", NULL, PING, MCPX_OK},
        {"mcp/request", NULL, "{}", MCPX_EINVALID},
        {"mcp/request", NULL, "{'jsonrpc':'2.0','id':1,'result':{}}", MCPX_EINVALID},
        {"mcp/request", NULL, "{'method':'ping'}", MCPX_EINVALID},
        {"mcp/request", NULL, "{'jsonrpc':'2.0','method':'notifications/x'}", MCPX_OK},
        {"mcp/request:ping", NULL, PING, MCPX_OK},
        {"mcp/request:pong", NULL, PING, MCPX_EINVALID},
        {"mcp/proposal", NULL, "{'method':'ping'}", MCPX_OK},
        {"mcp/proposal", NULL, PING, MCPX_EINVALID},
        {"mcp/response:ping", NULL, "{'jsonrpc':'2.0','id':1,'result':{}}", MCPX_OK},
        {"mcp/response:ping", NULL, PING, MCPX_EINVALID},
        {"mcp/response:ping", NULL, "{}", MCPX_EINVALID},
        {"mcp/reject", NULL, "{'reason':'no'}", MCPX_OK},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum mcpx_err err;

        stage_begins();
        err = stage_sends("x", rows[i].type, rows[i].to, rows[i].payload);
        cr_expect_eq(err, rows[i].err, "%s %s: %s", rows[i].type, rows[i].payload,
                     mcpx_strerror(err));
        cr_expect_eq(stage.count, rows[i].err == MCPX_OK);
    }
}

Test(send, says_what_is_wrong)
{
    struct mcpx_fault fault = {NULL, NULL, 0};
    struct mcpx_draft draft = {.type = "chat", .payload = MCPX_SLICE("{\"a\":}")};
    struct mcpx_slice many[257];

    stage_set(NULL);
    cr_expect_eq(mcpx_session_send(stage.session, &draft, stage.now, NULL, &fault),
                 MCPX_EINVALID);
    cr_expect_eq(fault.offset, 5);
    cr_expect_eq(mcpx_session_send(stage.session, &draft, stage.now, NULL, NULL),
                 MCPX_EINVALID);
    draft.payload = (struct mcpx_slice){NULL, 0};
    cr_expect_eq(mcpx_session_send(stage.session, &draft, stage.now, NULL, &fault),
                 MCPX_EINVALID);
    cr_expect_str_eq(fault.field, "payload");
    draft.payload = MCPX_SLICE("{}");
    draft.correlation_id = MCPX_SLICE("");
    cr_expect_eq(mcpx_session_send(stage.session, &draft, stage.now, NULL, &fault),
                 MCPX_EINVALID);
    cr_expect_str_eq(fault.field, "correlation_id");
    draft.correlation_id = (struct mcpx_slice){NULL, 0};
    for (size_t i = 0; i < 257; i++)
        many[i] = MCPX_SLICE("bob");
    draft.to = many;
    draft.to_count = 256;
    cr_expect_eq(mcpx_session_send(stage.session, &draft, stage.now, NULL, &fault), MCPX_OK);
    draft.to_count = 257;
    cr_expect_eq(mcpx_session_send(stage.session, &draft, stage.now, NULL, &fault),
                 MCPX_EINVALID);
    cr_expect_str_eq(fault.field, "to");
}

Test(send, refuses_a_kind_that_is_too_long_and_shortens_one_it_makes)
{
    mx_scoped_text payload = {0}, text = {0};
    struct mcpx_draft draft = {.type = "mcp/request"};
    char type[4096];

    memset(type, 'a', sizeof type - 1);
    type[sizeof type - 1] = '\0';
    cr_expect_eq(stage_sends("x", type, NULL, "{}"), MCPX_EKIND);
    mcpx_text_puts(&payload, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                             "\"params\":{\"name\":\"");
    for (size_t i = 0; i < 2040; i++)
        mcpx_text_puts(&payload, "n");
    mcpx_text_puts(&payload, "\"}}");
    draft.payload = mcpx_text_view(&payload);
    cr_assert_eq(mcpx_session_send(stage.session, &draft, stage.now, NULL, NULL), MCPX_OK);
    cr_assert(stage_writes(&text));
    cr_expect_not_null(strstr(text.text, "'kind':'mcp/request:tools/call',"));
}

Test(send, knows_the_limits)
{
    struct mcpx_session_config config = stage_config();
    struct mcpx_draft draft = {.type = "chat"};
    char *large = malloc(100001);

    cr_assert_not_null(large);
    memset(large, ' ', 100000);
    memcpy(large, "{\"a\":1", 6);
    large[99950] = '}';
    config.pending_max = 2;
    config.unsent_bytes = 150000;
    stage_set(&config);
    cr_expect_eq(mcpx_session_message_max(stage.session), 0);
    stage_joins();
    cr_expect_eq(mcpx_session_message_max(stage.session), 100000);
    draft.payload = (struct mcpx_slice){large, 100000};
    cr_expect_eq(mcpx_session_send(stage.session, &draft, stage.now, NULL, NULL),
                 MCPX_ETOOBIG);
    large[99950] = ' ';
    large[99000] = '}';
    cr_expect_eq(mcpx_session_send(stage.session, &draft, stage.now, NULL, NULL), MCPX_OK);
    cr_expect_eq(mcpx_session_send(stage.session, &draft, stage.now, NULL, NULL), MCPX_ELIMIT);
    cr_expect_eq(stage_sends("a", "mcp/request", NULL, PING), MCPX_OK);
    cr_expect_eq(stage_sends("b", "mcp/proposal", NULL, "{'method':'ping'}"), MCPX_OK);
    cr_expect_eq(stage_sends("c", "mcp/request", NULL, PING), MCPX_ELIMIT);
    cr_expect_eq(stage_sends("d", "chat", NULL, "{}"), MCPX_OK);
    stage_flushes();
    cr_expect_eq(mcpx_session_send(stage.session, &draft, stage.now, NULL, NULL), MCPX_ELIMIT);
    stage_breaks(0);
    stage_skip();
    stage_joins();
    stage_waits(5000);
    stage_echoes();
    cr_expect_eq(mcpx_session_send(stage.session, &draft, stage.now, NULL, NULL), MCPX_OK);
    free(large);
    stage_skip();
}

static bool may(const char *kind, const char *to)
{
    struct mcpx_kind parsed;
    struct mcpx_slice addressee = mcpx_slice_of(to);
    struct mcpx_question question = {.kind = &parsed,
                                     .to = &addressee,
                                     .to_count = to != NULL,
                                     .wall_ms = stage.now.wall_ms};

    cr_assert_eq(mcpx_kind_parse(mcpx_slice_of(kind), &parsed, NULL), MCPX_OK);
    return mcpx_session_may(stage.session, &question);
}

#define GRANTED(you)                                                                          \
    "{'id':'w','from':'system:gateway','to':['me'],'kind':'system/welcome','payload':{"       \
    "'you':{'id':'me'," you "},'participants':[]}}"

Test(send, keeps_to_the_grants_and_their_conditions)
{
    const struct mcpx_slice *capabilities;
    size_t count;

    stage_set(NULL);
    cr_expect(may("chat", NULL)); /* not known yet */
    stage_comes(GRANTED("'capabilities':['chat','a','b'],'grants':['chat',"
                        "{'kind':'a','to':['bob']},"
                        "{'kind':'b','expires':'2026-01-01T00:00:01Z'}]"));
    mcpx_session_capabilities(stage.session, &capabilities, &count);
    cr_assert_eq(count, 3);
    cr_expect(mcpx_slice_equal(capabilities[1], MCPX_SLICE("a")));
    cr_expect(may("chat", NULL));
    cr_expect_not(may("a", NULL));
    cr_expect(may("a", "bob"));
    cr_expect_not(may("a", "eve"));
    cr_expect(may("b", NULL));
    cr_expect_eq(stage_sends("x", "a", "eve", "{}"), MCPX_ECAPABILITY);
    cr_expect_eq(stage_sends("y", "a", "bob", "{}"), MCPX_OK);
    stage_waits(1000);
    cr_expect_not(may("b", NULL));
    stage_hears(GRANTED("'capabilities':['b'],'grants':null"));
    cr_expect(may("b", NULL));
    cr_expect_not(may("chat", NULL));
    stage_hears(GRANTED("'capabilities':['from the future']"));
    cr_expect(may("chat", NULL)); /* the router knows better */
    stage_expect("joined w from system:gateway\n"
                 "grants w from system:gateway\n"
                 "grants w from system:gateway\n");
}
