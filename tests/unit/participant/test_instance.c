/*
 * What breaks for whom: a window that ends with the other one, or that waits for ever for answers
 * to what it asked before it got another id, or that answers its own call. Protocol: section 7.
 */
#include "tests/support/stage.h"

#include <criterion/criterion.h>

TestSuite(instance, .init = stage_begins, .fini = stage_clear);

#define CALL "{'jsonrpc':'2.0','id':'a','method':'tools/call','params':{'name':'x'}}"

/* A welcome of an instance; `resumed` is true or false. */
#define WELCOME(you, resumed)                                                                 \
    "{'id':'w','from':'system:gateway','to':['x'],'kind':'system/welcome','payload':{"        \
    "'you':{" you ",'capabilities':['*']},'participants':["                                   \
    "{'id':'bob','capabilities':[]},{'id':'me~9','capabilities':[]},"                         \
    "{'id':'server~3','identity':'server','capabilities':[]}],"                               \
    "'topic':{'name':'t','head':null},'resumed':" resumed ",'history':{'count':0}}}"

static void set(void)
{
    struct mcpx_session_config config = stage_config();

    config.instance = true;
    stage_set(&config);
}

static void welcome(const char *text)
{
    stage_comes(text);
}

static void expect_asked(const char *instance)
{
    struct mcpx_slice asked = mcpx_session_instance(stage.session);

    cr_expect(mcpx_slice_equal(asked, mcpx_slice_of(instance)), "%.*s, expected %s",
              (int)asked.len, asked.text ? asked.text : "", instance);
}

Test(instance, is_asked_for_again_with_the_same_key)
{
    struct mcpx_slice key;

    set();
    key = mcpx_session_instance_key(stage.session);
    cr_expect_eq(key.len, 32);
    expect_asked("auto");
    welcome(WELCOME("'id':'me~2','identity':'me'", "false"));
    stage_expect("joined w from system:gateway\n");
    expect_asked("2");
    stage_breaks(1006);
    welcome(WELCOME("'id':'me','identity':'me'", "false"));
    expect_asked("1");
    stage_breaks(1006);
    welcome(WELCOME("'id':'me~64','identity':'me'", "false"));
    expect_asked("64");
    cr_expect(mcpx_slice_equal(key, mcpx_session_instance_key(stage.session)));
    stage_skip();
}

Test(instance, is_asked_for_by_nobody_who_did_not_say_so)
{
    stage_set(NULL);
    welcome(WELCOME("'id':'me~2','identity':'me'", "false"));
    cr_expect_null(mcpx_session_instance(stage.session).text);
    cr_expect_null(mcpx_session_instance_key(stage.session).text);
    stage_skip();
    stage_breaks(4001);
    stage_expect("left 4001 gone; final\n");
}

Test(instance, goes_on_as_another_one_when_it_was_replaced)
{
    set();
    welcome(WELCOME("'id':'me'", "false"));
    stage_expect("joined w from system:gateway\n");
    stage_breaks(4001);
    stage_expect("left 4001 gone; again\n");
    welcome(WELCOME("'id':'me~2','identity':'me'", "true"));
    stage_expect("joined w from system:gateway; resumed; renamed\n");
    stage_breaks(1006);
    welcome(WELCOME("'id':'me~2','identity':'me'", "true"));
    stage_expect("left 1006 gone; again\n"
                 "joined w from system:gateway; resumed\n");
}

/* What it said as `me` comes back to it as `me~2`. */
Test(instance, knows_what_it_said_and_asked_under_its_former_id)
{
    set();
    welcome(WELCOME("'id':'me'", "false"));
    stage_sends("q", "mcp/request", NULL, CALL);
    stage_flushes();
    stage_breaks(4001);
    welcome(WELCOME("'id':'me~2','identity':'me'", "true"));
    stage_skip();
    stage_hears("{'id':'@q','from':'me','kind':'mcp/request:tools/call:x','payload':" CALL
                "}");
    stage_hears("{'id':'r','from':'server','to':['me'],'correlation_id':'@q','kind':'mcp/"
                "response:tools/call:x','payload':{'jsonrpc':'2.0','id':'a','result':{}}}");
    stage_expect("delivered q\n"
                 "observed @q from me\n"
                 "response r from server; own q\n");
    stage_hears("{'id':'n','from':'bob','to':['me'],'kind':'mcp/request:tools/call:x',"
                "'payload':" CALL "}");
    stage_expect("observed n from bob\n"); /* it is for who is `me` now */
    stage_hears("{'id':'m','from':'me','kind':'chat'}");
    stage_expect("message m from me\n"); /* and that is somebody else */
}

Test(instance, shows_whose_instances_others_are)
{
    static const char *const expected[][2] = {
        {"bob", "bob"}, {"me~9", "me~9"}, {"server~3", "server"}};
    struct mcpx_participant person;

    set();
    welcome(WELCOME("'id':'me'", "false"));
    stage_skip();
    cr_assert_eq(mcpx_session_participant_count(stage.session), 3);
    for (size_t i = 0; i < 3; i++) {
        mcpx_session_participant(stage.session, i, &person);
        cr_expect(mcpx_slice_equal(person.id, mcpx_slice_of(expected[i][0])));
        cr_expect(mcpx_slice_equal(person.identity, mcpx_slice_of(expected[i][1])), "%s",
                  expected[i][0]);
    }
}
