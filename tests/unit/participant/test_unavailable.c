/*
 * What breaks for whom: a message lost because the router's disk was full for a moment, or said
 * twice, or overtaken by a later one of the same sender; a program that is told twice what became
 * of it, or never. Protocol: sections 6 and 9.
 */
#include "tests/support/stage.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(unavailable, .init = stage_begins, .fini = stage_clear);

#define CALL "{'jsonrpc':'2.0','id':'a','method':'tools/call','params':{'name':'x'}}"
#define REFUSED(name) STAGE_ERROR("unavailable", "@" name)
#define ECHO(name) "{'id':'@" name "','from':'me','kind':'chat'}"

/* So long the router of this test asks to wait, and so long we try at most. */
enum { ASKED_MS = 600, LONGEST_MS = 30000, PATIENCE_MS = 600000 };

static void say(const char *names[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(stage_sends(names[i], "chat", NULL, "{}"), MCPX_OK);
}

/* In the order of sending, whatever order the refusals come in;
   and what was sent since, after them. */
Test(unavailable, is_written_again_in_the_order_of_sending)
{
    const char *names[] = {"a", "b", "c", "d"};

    say(names, 4);
    stage_flushes();
    stage_sends("e", "chat", NULL, "{}");
    stage_hears(REFUSED("c"));
    stage_hears(REFUSED("a"));
    stage_hears(ECHO("b")); /* it was on its way, and has its place before a */
    stage_hears(REFUSED("d"));
    stage_expect("delivered b\nobserved @b from me\n");
    stage_waits(ASKED_MS - 1);
    stage_expect_output(NULL);
    stage_waits(1);
    stage_expect_output("'@a'");
    stage_expect_output(NULL); /* nothing goes with it that could overtake it */
    stage_hears(ECHO("a"));
    stage_expect_output("'@c'");
    stage_expect_output("'@d'");
    stage_expect_output(NULL);
    stage_hears(ECHO("c"));
    stage_hears(ECHO("d"));
    stage_expect_output("'@e'");
    stage_hears(ECHO("e"));
    stage_expect("delivered a\nobserved @a from me\n"
                 "delivered c\nobserved @c from me\n"
                 "delivered d\nobserved @d from me\n"
                 "delivered e\nobserved @e from me\n");
    cr_expect_eq(mcpx_session_unsent_count(stage.session), 0);
}

/* The router knew more than it could say when it refused. */
Test(unavailable, counts_once_whatever_became_of_the_first_attempt)
{
    static const char *const accepted[] = {
        STAGE_ERROR("duplicate_id", "@a"), /* it was stored after all */
        ECHO("a"),
    };

    for (size_t i = 0; i < 2; i++) {
        stage_begins();
        stage_sends("a", "mcp/response:ping", "bob", "{'jsonrpc':'2.0','id':1,'result':{}}");
        stage_flushes();
        stage_hears(REFUSED("a"));
        stage_waits(ASKED_MS);
        stage_expect_output("'@a'");
        stage_hears(accepted[i]);
        stage_hears(accepted[0]); /* and once more */
        stage_hears(REFUSED("a"));
        stage_expect(i == 0 ? "delivered a\n" : "delivered a\nobserved @a from me\n");
        stage_waits(LONGEST_MS);
        stage_expect_output(NULL);
    }
}

/* Rates are checked before ids: after an unknown outcome they say nothing of the first attempt. */
Test(unavailable, is_not_given_up_for_being_too_fast)
{
    stage_sends("a", "chat", NULL, "{}");
    stage_flushes();
    stage_hears(REFUSED("a"));
    stage_waits(ASKED_MS);
    stage_expect_output("'@a'");
    stage_hears(STAGE_ERROR("rate_limited", "@a"));
    stage_waits(ASKED_MS);
    stage_expect_output("'@a'");
}

/* How long until the session does something, which is to write again. */
static int64_t pause_of(void)
{
    return mcpx_session_deadline(stage.session) - stage.now.mono_ms;
}

/* The pause grows, so that a router whose disk is full is not asked twice a second all night. */
Test(unavailable, is_tried_for_ten_minutes_ever_more_slowly)
{
    const char *names[] = {"a", "b"};
    int64_t began, pause = 0, last = 0;
    int attempts = 0;

    say(names, 2);
    began = stage.now.mono_ms;
    while (stage.now.mono_ms - began < PATIENCE_MS) {
        stage_expect_output("'@a'");
        if (attempts++ == 0)
            stage_expect_output("'@b'");
        stage_hears(REFUSED("a"));
        if (attempts == 1)
            stage_hears(REFUSED("b"));
        stage_expect("");
        pause = pause_of();
        cr_expect(pause >= ASKED_MS && pause <= LONGEST_MS, "%ld ms", (long)pause);
        cr_expect(pause > last || pause >= LONGEST_MS / 2, "%ld ms after %ld", (long)pause,
                  (long)last);
        last = pause;
        stage_waits(pause);
    }
    cr_expect(attempts > 20 && attempts < 60, "%d attempts", attempts);
    stage_expect_output("'@a'");
    stage_hears(REFUSED("a"));
    stage_expect("refused a unavailable\n");
    stage_waits(pause_of());
    stage_expect_output("'@b'");
    stage_hears(ECHO("b")); /* from now on everything is as if nothing had been */
    stage_sends("c", "chat", NULL, "{}");
    stage_expect_output("'@c'");
    stage_hears(REFUSED("c"));
    cr_expect_eq(pause_of(), ASKED_MS);
    stage_waits(ASKED_MS);
    stage_expect_output("'@c'");
    stage_expect("delivered b\nobserved @b from me\n");
}

/* A number in the router's answer makes nobody wait for an hour. */
Test(unavailable, has_a_pause_with_bounds)
{
    static const struct {
        const char *asked;
        int64_t least_ms, most_ms;
    } rows[] = {
        {"0", 500, 500},
        {"-1", 500, 500},
        {"'x'", 500, 500},
        {"29999", 29999, 29999},
        {"30001", LONGEST_MS, LONGEST_MS},
        {"18446744073709551617", LONGEST_MS, LONGEST_MS},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char error[320];

        stage_begins();
        stage_sends("a", "chat", NULL, "{}");
        stage_flushes();
        snprintf(error, sizeof error,
                 "{'id':'e','from':'system:gateway','to':['me'],'kind':'system/error',"
                 "'correlation_id':'@a','payload':{'error':'unavailable','message':'m',"
                 "'outcome':'unknown','retry_after_ms':%s}}",
                 rows[i].asked);
        stage_hears(error);
        cr_expect(pause_of() >= rows[i].least_ms && pause_of() <= rows[i].most_ms,
                  "retry_after_ms %s: %ld ms", rows[i].asked, (long)pause_of());
    }
}

Test(unavailable, waits_no_longer_for_what_nobody_waits_for)
{
    STAGE_BEGINS(.request_ms = 1000);
    stage_sends("q", "mcp/request", "server", CALL);
    stage_flushes();
    stage_hears(REFUSED("q"));
    stage_waits(ASKED_MS);
    stage_expect_output("'@q'");
    stage_hears(REFUSED("q"));
    stage_waits(LONGEST_MS);
    stage_expect("expired q\n");
    stage_expect_output(NULL);
    cr_expect_eq(mcpx_session_unsent_count(stage.session), 0);
}

/* What waits for the store is bounded, as what waits for a connection is. */
Test(unavailable, keeps_no_more_than_may_wait)
{
    STAGE_BEGINS(.unsent_bytes = 250);
    stage_sends("a", "chat", NULL, "{}");
    stage_flushes();
    stage_hears(REFUSED("a"));
    cr_expect_eq(stage_sends("b", "chat", NULL, "{}"), MCPX_OK);
    cr_expect_eq(stage_sends("c", "chat", NULL, "{}"), MCPX_ELIMIT);
}

/* A router that could not store is restarted: what it refused is said to the next one, in order. */
Test(unavailable, is_written_again_on_the_next_connection)
{
    static const int codes[] = {0, 1001, 1012, 1013};

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const char *names[] = {"a", "b"};
        struct mcpx_place place;

        stage_begins();
        say(names, 2);
        stage_flushes();
        stage_hears(REFUSED("b"));
        stage_hears(REFUSED("a"));
        stage_breaks(codes[i]);
        cr_expect_geq(mcpx_session_connect_at(stage.session), 0, "%d", codes[i]);
        mcpx_session_connected(stage.session, stage.now);
        stage_breaks(1013); /* the topic could not be opened yet: there is no welcome */
        cr_expect_geq(mcpx_session_connect_at(stage.session), 0);
        cr_assert(mcpx_session_place(stage.session, &place));
        cr_expect(mcpx_slice_equal(place.epoch, MCPX_SLICE("E1")));
        stage_comes(STAGE_RESUMED);
        stage_hears(STAGE_CAUGHT_UP);
        stage_skip();
        stage_expect_output("'@a'");
        stage_hears(STAGE_ERROR("duplicate_id", "@a"));
        stage_expect_output("'@b'");
        stage_expect("delivered a\n");
    }
}

/* Without an echo nobody knows what has arrived, so nothing is kept. */
Test(unavailable, is_told_at_once_where_there_are_no_echoes)
{
    STAGE_BEGINS(.directed = true);
    stage_sends("q", "mcp/request", "server", CALL);
    stage_flushes();
    stage_hears(REFUSED("q"));
    stage_expect("delivered q\nrefused q unavailable\n");
    stage_waits(LONGEST_MS);
    stage_expect_output(NULL);
}
