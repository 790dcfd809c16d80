/*
 * A router that stores, as its clients meet it. What breaks here: somebody who acts on what he
 * received and finds it gone after a restart, and somebody who reads a secret in a file. Protocol:
 * sections 5 to 7.
 */
#include "tests/support/store_talk.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct store_router router;
static struct rude ann;

static void stop(void)
{
    rude_shut(&ann);
    talk_stop(&router);
}

TestSuite(store, .fini = stop, .timeout = 600);

/* ---- restarts ---- */

Test(store, a_reader_goes_on_where_it_was)
{
    static const int signals[] = {SIGTERM, SIGKILL};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct frame frame;
        char epoch[33], query[128];

        talk_start(&router, "", "", "");
        talk_enter(&ann, &router, "ann", "&history=0", epoch);
        talk_say(&ann, "m", 50);
        talk_expect_order(&ann, "m", 0, 50);
        daemon_restart(&router.daemon, router.place.config, signals[i]);
        rude_shut(&ann);
        snprintf(query, sizeof query, "&epoch=%s&serial=0&after=m9", epoch);
        rude_join(&ann, &router.daemon, "ann", "room", query);
        cr_assert(rude_expect(&ann, "system/welcome", &frame));
        cr_expect(frame_holds(&frame, "\"resumed\":true"), "%.*s", (int)frame.len,
                  frame.payload);
        cr_expect(frame_holds(&frame, epoch), "%.*s", (int)frame.len, frame.payload);
        talk_expect_order(&ann, "m", 10, 50);
        talk_say(&ann, "n", 1);
        talk_expect(&ann, "n0");
        cr_expect(talk_history_holds(&router, "m0") && talk_history_holds(&router, "n0"));
        rude_chat(&ann, "m0", "{}");
        cr_expect(rude_expect(&ann, "duplicate_id", &frame), "an id counts once");
        rude_shut(&ann);
        talk_stop(&router);
    }
}

/* Of the topic nothing is in memory, and nobody is in it. */
Test(store, history_is_loaded_for_who_asks_by_http, .timeout = 300)
{
    struct rude rude;

    talk_start(&router, "", NULL, "");
    talk_enter(&ann, &router, "ann", "", NULL);
    talk_say(&ann, "m", 3);
    talk_expect_order(&ann, "m", 0, 3);
    rude_shut(&ann);
    daemon_restart(&router.daemon, router.place.config, SIGKILL);
    cr_expect(talk_history_holds(&router, "m0") && talk_history_holds(&router, "m2"));
    cr_expect_eq(talk_get(&rude, &router, "/v0.1/topics/room/history?before=nothing", "ann"),
                 404);
    rude_shut(&rude);
    cr_expect_eq(talk_get(&rude, &router, "/v0.1/topics/room/participants", "ann"), 200);
    rude_shut(&rude);
}

/* What comes in one packet with the handshake, and what comes while the topic is being loaded. */
Test(store, what_is_said_before_the_welcome_is_routed_in_order, .timeout = 300)
{
    struct frame frame;

    talk_start(&router, "", "", "");
    talk_enter(&ann, &router, "ann", "", NULL);
    talk_say(&ann, "old", 20);
    talk_expect_order(&ann, "old", 0, 20);
    rude_shut(&ann);
    daemon_restart(&router.daemon, router.place.config, SIGTERM);
    rude_knock(&ann, &router.daemon, rude_token(&router.daemon, "ann", "room", "[\"*\"]"),
               "/ws?topic=room", "");
    talk_say(&ann, "early", 200);
    cr_assert_eq(rude_pass_head(&ann), 101);
    cr_assert(rude_expect(&ann, "system/welcome", &frame));
    cr_assert(rude_expect(&ann, "system/history", &frame));
    cr_expect(frame_holds(&frame, "\"old19\""));
    talk_expect_order(&ann, "early", 0, 200);
}

Test(store, a_crowd_comes_into_a_topic_that_is_not_loaded, .timeout = 900)
{
    enum { MANY = 200 };
    static struct rude many[MANY];
    static char headers[MANY][1024];
    struct frame frame;
    char name[32];

    talk_start(&router, "", "", "");
    talk_enter(&ann, &router, "ann", "", NULL);
    talk_say(&ann, "m", 100);
    talk_expect_order(&ann, "m", 0, 100);
    rude_shut(&ann);
    daemon_restart(&router.daemon, router.place.config, SIGKILL);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "c%d", i);
        snprintf(headers[i], sizeof headers[i], "Authorization: Bearer %s\r\n",
                 rude_token(&router.daemon, name, "room", "[\"*\"]"));
    }
    for (int i = 0; i < MANY; i++) {
        rude_open(&many[i], &router.daemon, 0);
        rude_ask_upgrade(&many[i], "/ws?topic=room&history=1", headers[i]);
    }
    for (int i = 0; i < MANY; i++) {
        cr_assert_eq(rude_pass_head(&many[i]), 101);
        cr_assert(rude_expect(&many[i], "system/welcome", &frame));
        cr_assert(rude_expect(&many[i], "system/history", &frame));
        cr_expect(frame_holds(&frame, "\"m99\""));
    }
    talk_say(&many[0], "new", 1);
    for (int i = 0; i < MANY; i++)
        talk_expect(&many[i], "new0");
    for (int i = 0; i < MANY; i++)
        rude_shut(&many[i]);
    cr_expect_eq(rude_metric(&router.daemon, "mcpx_store_open_seconds_count"), 1,
                 "one loading");
}

/* Who was told that his message is there, and who was not: both were told the truth. */
Test(store, a_shutdown_answers_what_it_has_accepted)
{
    enum { SENT = 3000 };
    static bool heard[SENT];
    struct frame frame;
    char id[32];
    int number;

    talk_start(&router, "", "", ",\"topics\":{\"history\":{\"count\":10000}}");
    talk_enter(&ann, &router, "ann", "", NULL);
    talk_say(&ann, "m", SENT);
    talk_expect(&ann, "m0");
    heard[0] = true;
    kill(router.daemon.pid, SIGTERM);
    while (rude_next(&ann, &frame) && frame.first != CLOSE) {
        char text[256];
        const char *at;

        snprintf(text, sizeof text, "%.*s", (int)frame.len, frame.payload);
        at = strstr(text, "\"id\":\"m");
        if (at && sscanf(at + 7, "%d", &number) == 1)
            heard[number] = true;
    }
    cr_expect_eq(frame.first, CLOSE);
    cr_expect_eq((unsigned char)frame.payload[0] * 256 + (unsigned char)frame.payload[1],
                 1001);
    rude_frame(&ann, CLOSE, "\x03\xe9", 2);
    rude_shut(&ann);
    cr_assert_eq(daemon_wait(&router.daemon), 0);
    daemon_start(&router.daemon, router.place.config, 0);
    rude_join(&ann, &router.daemon, "ann", "room", "&history=10000");
    for (int i = 0; i < SENT && heard[i]; i++)
        number = i;
    for (int i = number + 1; i < SENT; i++)
        cr_expect_not(heard[i], "%d was heard, and %d was not", i, number);
    snprintf(id, sizeof id, "m%d", number);
    cr_expect(talk_history_holds(&router, id));
    snprintf(id, sizeof id, "m%d", number + 1);
    cr_expect_not(talk_history_holds(&router, id), "%s is there, and its sender was not told",
                  id);
}

/* ---- the audit ---- */

/* Whom was it meant for? An auditor asks that of what was refused as well. */
Test(store, a_refused_message_leaves_a_line_with_its_addressees, .timeout = 300)
{
    static const char text[] = "{\"protocol\":\"mcpx/v0.1\",\"id\":\"r\",\"from\":\"eve\","
                               "\"kind\":\"chat\",\"to\":[\"bob\",\"carol\"],\"payload\":{}}";

    talk_start(&router, NULL, "", "");
    talk_enter(&ann, &router, "ann", "", NULL);
    rude_frame(&ann, TEXT, text, strlen(text));
    cr_assert(rude_expect(&ann, "auth_violation", NULL));
    rude_shut(&ann);
    talk_end(&router);
    cr_expect(store_place_holds(&router.place, "\"from\":\"ann\",\"to\":[\"bob\",\"carol\"],"
                                               "\"kind_sent\":\"chat\",\"id\":\"r\""));
}

/* Nobody may come in with what somebody reads there. */
Test(store, no_secret_stands_in_any_file, .timeout = 300)
{
    char token[8192], request[9000], ticket[256];
    struct rude rude;
    const char *at;

    talk_start(&router, "", ",\"payloads\":true", "");
    strcpy(token, rude_token(&router.daemon, "ann", "room", "[\"chat\"]"));
    snprintf(
        request, sizeof request,
        "POST /v0.1/tickets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
        "Content-Type: application/json\r\nContent-Length: 16\r\n\r\n{\"topic\":\"room\"}",
        token);
    cr_assert_eq(rude_http(&rude, &router.daemon, request), 200, "%s", rude.in.text);
    at = strstr(rude.in.text, "\"ticket\":\"");
    cr_assert_not_null(at);
    snprintf(ticket, sizeof ticket, "%.*s", (int)strcspn(at + 10, "\""), at + 10);
    rude_shut(&rude);
    snprintf(request, sizeof request, "/ws?topic=room&ticket=%s", ticket);
    rude_open(&ann, &router.daemon, 0);
    rude_ask_upgrade(&ann, request, "");
    cr_assert_eq(rude_pass_head(&ann), 101);
    talk_say(&ann, "m", 3);
    talk_expect(&ann, "m2");
    rude_frame(&ann, TEXT, "{}", 2);
    cr_assert(rude_expect(&ann, "invalid_envelope", NULL));
    cr_expect_eq(rude_enter(&rude, &router.daemon, token, "/ws?topic=other"), 403);
    rude_shut(&rude);
    cr_expect_eq(rude_enter(&rude, &router.daemon, "a.b.c", "/ws?topic=room"), 401);
    rude_shut(&rude);
    rude_shut(&ann);
    talk_end(&router);
    cr_expect(store_place_holds(&router.place, "\"what\":\"allow\""));
    cr_expect(store_place_holds(&router.place, "invalid_envelope"));
    cr_expect(store_place_holds(&router.place, "\"turned_away\""));
    cr_expect_not(store_place_holds(&router.place, strrchr(token, '.')));
    cr_expect_not(store_place_holds(&router.place, ticket));
}
