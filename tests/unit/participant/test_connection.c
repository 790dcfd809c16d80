/*
 * What breaks for whom: an application that sends into a connection that is gone, misses what came
 * before it was welcomed, or connects again for ever after a final end. Everything that can happen
 * to a session happens in every situation it can be in.
 */
#include "lib/base/scoped.h"
#include "tests/support/fault_alloc.h"
#include "tests/support/stage.h"

#include <criterion/criterion.h>

TestSuite(connection, .init = stage_begins, .fini = stage_clear);

#define CHAT "{'id':'1','from':'bob','kind':'chat'}"

/* The same order as the rows and columns of the table below. */
enum situation {
    OFFLINE,
    CONNECTED,
    JOINED,
    CONNECTED_STARVED,
    JOINED_STARVED,
    ENDED,
    SITUATIONS
};

enum { HAPPENINGS = 7 };

static const char *const names[SITUATIONS] = {
    "offline", "connected", "joined", "connected, no memory", "joined, no memory", "ended"};

static void connects(void)
{
    mcpx_session_connected(stage.session, stage.now);
}

static void welcome_comes(void)
{
    stage_hears(STAGE_WELCOME);
}

static void chat_comes(void)
{
    stage_hears(CHAT);
}

static void memory_runs_out(void)
{
    mx_scoped_text text = {0};

    stage_compose(CHAT, &text);
    fault_alloc_arm(1);
    mcpx_session_receive(stage.session, mcpx_text_view(&text), stage.now);
    fault_alloc_disarm();
}

static void breaks(void)
{
    stage_breaks(1006);
}

static void is_kicked(void)
{
    stage_breaks(4004);
}

static void ends(void)
{
    mcpx_session_end(stage.session);
}

static const struct {
    const char *name;
    void (*happen)(void);
    enum situation then[SITUATIONS];
} happenings[HAPPENINGS] = {
    {"connected", connects, {CONNECTED, CONNECTED, CONNECTED, CONNECTED, CONNECTED, ENDED}},
    {"a welcome comes",
     welcome_comes,
     {OFFLINE, JOINED, JOINED, CONNECTED_STARVED, JOINED_STARVED, ENDED}},
    {"a message comes",
     chat_comes,
     {OFFLINE, CONNECTED, JOINED, CONNECTED_STARVED, JOINED_STARVED, ENDED}},
    {"memory runs out",
     memory_runs_out,
     {OFFLINE, CONNECTED_STARVED, JOINED_STARVED, CONNECTED_STARVED, JOINED_STARVED, ENDED}},
    {"disconnected", breaks, {OFFLINE, OFFLINE, OFFLINE, OFFLINE, OFFLINE, ENDED}},
    {"disconnected for good", is_kicked, {ENDED, ENDED, ENDED, ENDED, ENDED, ENDED}},
    {"ended by the transport", ends, {ENDED, ENDED, ENDED, ENDED, ENDED, ENDED}},
};

static void reach(enum situation situation)
{
    stage_set(NULL);
    if (situation == ENDED)
        ends();
    if (situation == OFFLINE || situation == ENDED)
        return;
    connects();
    if (situation == JOINED || situation == JOINED_STARVED)
        welcome_comes();
    if (situation == CONNECTED_STARVED || situation == JOINED_STARVED)
        memory_runs_out();
}

/* The situation as everybody outside sees it; a session that takes nothing in says so. */
static enum situation seen(void)
{
    struct mcpx_draft no_payload = {.type = "chat"};
    bool is_joined = mcpx_session_is_joined(stage.session);

    if (mcpx_session_send(stage.session, &no_payload, stage.now, NULL, NULL) == MCPX_ECLOSED)
        return ENDED;
    if (mcpx_session_connect_at(stage.session) >= 0)
        return OFFLINE;
    if (stage_hears(CHAT) == MCPX_ENOMEM)
        return is_joined ? JOINED_STARVED : CONNECTED_STARVED;
    return is_joined ? JOINED : CONNECTED;
}

Test(connection, everything_may_happen_at_any_time)
{
    for (size_t i = 0; i < HAPPENINGS; i++)
        for (enum situation before = OFFLINE; before < SITUATIONS; before++) {
            enum situation expected = happenings[i].then[before], now;

            reach(before);
            cr_expect_eq(seen(), before, "%s is not reached", names[before]);
            happenings[i].happen();
            now = seen();
            cr_expect_eq(now, expected, "%s, then %s: %s, expected %s", names[before],
                         happenings[i].name, names[now], names[expected]);
            stage_skip();
        }
}

Test(connection, only_who_is_joined_writes)
{
    for (enum situation situation = OFFLINE; situation < SITUATIONS; situation++) {
        bool is_joined = situation == JOINED || situation == JOINED_STARVED;
        struct mcpx_slice text;

        reach(situation);
        stage_sends("c", "chat", NULL, "{}");
        cr_expect_eq(mcpx_session_output(stage.session, &text), is_joined, "%s",
                     names[situation]);
        cr_expect_eq(mcpx_session_connect_at(stage.session) >= 0, situation == OFFLINE, "%s",
                     names[situation]);
        stage_skip();
    }
}
