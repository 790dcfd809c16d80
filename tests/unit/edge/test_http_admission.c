/*
 * What breaks for whom: a client is let into a room its token is not for, a page of a foreign
 * origin gets a socket, or somebody who mistyped is refused without being told why.
 * Protocol: section 7.
 */
#include "http_fixture.h"
#include "router/api/api.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* What an attempt came to. */
static struct admission admission;
static struct http_reply reply;

static void forget(void)
{
    http_reply_fini(&reply);
    reply = (struct http_reply){.err = MCPX_OK};
    admission = (struct admission){.instance = 0};
}

static void fini(void)
{
    forget();
    fixture_fini();
}

TestSuite(http_admission, .init = fixture_init, .fini = fini);

static void attempt_to(const struct ask *ask)
{
    struct http_request request = {.method = mcpx_slice_of(ask->method),
                                   .target = mcpx_slice_of(ask->target),
                                   .authorization = mcpx_slice_of(ask->authorization),
                                   .origin = mcpx_slice_of(ask->origin)};

    forget();
    request.join = &admission;
    http_answer(&router.api, &request, router.now, &reply);
    cr_expect_eq(reply.err == MCPX_OK, reply.grant != NULL, "%s", ask->target);
}

static void attempt_get(const char *target, const char *authorization)
{
    attempt_to(&(struct ask){"GET", target, authorization, NULL, NULL});
}

Test(http_admission, refuses_in_a_fixed_order)
{
    static const char *const fs = FIXTURE_FS_BEARER;
    const struct {
        const char *method, *target, *authorization, *origin;
        enum mcpx_err err;
    } rows[] = {
        {"GET", "/ws?topic=room-1", fs, NULL, MCPX_OK},
        {"GET", "/v0.1/ws?topic=room-1", fs, NULL, MCPX_OK},
        {"GET", "/ws?topic=room-1", fs, "http://localhost:3000", MCPX_OK},
        {"GET", "/ws?topic=room-1&x=%zz&x=1", fs, NULL, MCPX_OK},
        {"GET", "/ws?topic=room-1&ticket=nonsense", fs, NULL, MCPX_OK},
        {"GET", "/ws/?topic=room-1", fs, NULL, MCPX_ENOTFOUND},
        {"GET", "/v0/ws?topic=room-1", fs, NULL, MCPX_ENOTFOUND},
        {"GET", "/health", fs, NULL, MCPX_ENOTFOUND},
        {"GET", "/nowhere", fs, "http://evil.example", MCPX_ENOTFOUND},
        {"GET", "ws", fs, NULL, MCPX_EREQUEST},
        {"POST", "/ws?topic=room-1", fs, NULL, MCPX_EMETHOD},
        {"GET", "/ws", NULL, "http://evil.example", MCPX_EORIGIN},
        {"GET", "/ws?topic=room-1", fs, "", MCPX_EORIGIN},
        {"GET", "/ws", NULL, NULL, MCPX_ETOPIC},
        {"GET", "/ws?topic=", NULL, NULL, MCPX_ETOPIC},
        {"GET", "/ws?topic=a%00", NULL, NULL, MCPX_ETOPIC},
        {"GET", "/ws?topic=%ff", NULL, NULL, MCPX_ETOPIC},
        {"GET", "/ws?topic=%4", NULL, NULL, MCPX_ETOPIC},
        {"GET", "/ws?topic=room-1&topic=room-1", fs, NULL, MCPX_ETOPIC},
        {"GET", "/ws?topic=room-1&%74opic=other", fs, NULL, MCPX_ETOPIC},
        {"GET", "/ws?topic=room-1&routing=some", NULL, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&routing=", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&routing=all&routing=all", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&history=", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&history=-1", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&history=1000001", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&after=", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&instance=", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&instance=0", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&instance=65", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&instance=AUTO", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&instance=auto&instance=2", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&instance=auto&instance_key=", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&instance_key=k", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&instance=64&instance_key=k", fs, NULL, MCPX_OK},
        {"GET", "/ws?topic=room-1&epoch=5e", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&serial=5", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&serial=5&after=m1", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&epoch=&serial=5", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&epoch=5e&serial=", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&epoch=5e&serial=-1", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&epoch=5e&serial=1234567890123456789", fs, NULL,
         MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&epoch=5e&serial=5&serial=5", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&ticket=a&ticket=a", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1&token=%zz", fs, NULL, MCPX_EREQUEST},
        {"GET", "/ws?topic=room-1", NULL, NULL, MCPX_ETOKEN},
        {"GET", "/ws?topic=room-1", "Bearer", NULL, MCPX_ETOKEN},
        {"GET", "/ws?topic=room-1", "Bearer x", NULL, MCPX_ETOKEN},
        {"GET", "/ws?topic=room-1", "Basic YTpi", NULL, MCPX_ETOKEN},
        {"GET", "/ws?topic=room-1&ticket=", NULL, NULL, MCPX_ETOKEN},
        {"GET", "/ws?topic=room-1&ticket=nonsense", NULL, NULL, MCPX_ETOKEN},
        {"GET", "/ws?topic=other", fs, NULL, MCPX_EFORBIDDEN},
        {"GET", "/ws?topic=Room-1", fs, NULL, MCPX_EFORBIDDEN},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        attempt_to(&(struct ask){rows[i].method, rows[i].target, rows[i].authorization,
                                 rows[i].origin, NULL});
        cr_expect_eq(reply.err, rows[i].err, "row %zu %s: %s (%s)", i, rows[i].target,
                     mcpx_strerror(reply.err), reply.detail.text);
    }
}

/* Whoever is refused for what one may have is told which setting to ask the operator for. */
Test(http_admission, names_the_setting_that_somebody_has_used_up)
{
    static const struct {
        size_t connections, topics;
        enum cap cap;
    } rows[] = {{1, 0, CAP_CONNECTIONS}, {0, 1, CAP_TOPICS}, {1, 1, CAP_CONNECTIONS}};
    /* Caps of others than admissions have tests of their own. */
    bool tried[CAP_COUNT] = {[CAP_STORED_BYTES] = true,
                             [CAP_CONNECTS] = true,
                             [CAP_REQUESTS] = true,
                             [CAP_TICKETS] = true};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *setting = cap_setting(rows[i].cap);
        fixture_again();
        router.config.hub.connections_each = rows[i].connections;
        router.config.hub.topics_each = rows[i].topics;
        fixture_remake_hub();
        fixture_join("fs", "room-2");
        attempt_get("/ws?topic=room-1", FIXTURE_FS_BEARER);
        cr_expect_eq(reply.err, MCPX_ESHARE, "%zu", i);
        cr_expect(reply.detail.text && strstr(reply.detail.text, setting), "%s",
                  reply.detail.text);
        cr_expect_eq(hub_stats(router.api.hub)->caps[rows[i].cap], 1, "%s is counted",
                     setting);
        tried[rows[i].cap] = true;
    }
    for (int cap = 0; cap < CAP_COUNT; cap++)
        cr_expect(tried[cap], "%s has no row", cap_setting((enum cap)cap));
}

Test(http_admission, reads_how_somebody_wants_to_come_in)
{
    char after[MCPX_ID_MAX + 2], target[MCPX_ID_MAX + 200];
    attempt_get("/ws?history=0012&after=m%2F1&routing=directed&topic=room-%C3%BC+1"
                "&serial=000999999999999999&epoch=5%65",
                FIXTURE_FS_BEARER);
    cr_expect_eq(reply.err, MCPX_OK);
    cr_expect(mcpx_slice_equal(admission.topic, MCPX_SLICE("room-\xc3\xbc 1")));
    cr_expect(mcpx_slice_equal(admission.after, MCPX_SLICE("m/1")));
    cr_expect(mcpx_slice_equal(admission.epoch, MCPX_SLICE("5e")));
    cr_expect_eq(admission.serial, 999999999999999);
    cr_expect_eq(admission.routing, ROUTING_DIRECTED);
    cr_expect(admission.has_history);
    cr_expect_eq(admission.history, 12);
    cr_expect(mcpx_slice_equal(reply.grant->identity, MCPX_SLICE("fs")));

    attempt_get("/ws?topic=room-1", FIXTURE_FS_BEARER);
    cr_expect_eq(admission.routing, ROUTING_DEFAULT);
    cr_expect_not(admission.has_history);
    cr_expect_null(admission.after.text);
    cr_expect_null(admission.epoch.text);
    cr_expect_eq(admission.instance, 0);

    attempt_get("/ws?topic=room-1&instance=auto&instance_key=%6b1", FIXTURE_FS_BEARER);
    cr_expect_eq(admission.instance, INSTANCE_AUTO);
    cr_expect(mcpx_slice_equal(admission.instance_key, MCPX_SLICE("k1")));

    memset(after, 'a', sizeof after);
    after[MCPX_ID_MAX + 1] = '\0';
    snprintf(target, sizeof target, "/ws?topic=room-1&after=%s", after);
    attempt_get(target, FIXTURE_FS_BEARER);
    cr_expect_eq(reply.err, MCPX_EREQUEST);
}

Test(http_admission, takes_a_ticket_once)
{
    char target[256];

    fixture_post("/v0.1/tickets", FIXTURE_FS_BEARER, "{\"topic\":\"room-1\"}");
    snprintf(target, sizeof target, "/ws?topic=room-1&ticket=%s", answer_string("ticket"));
    /* A proxy's own credentials are none of ours. */
    attempt_get(target, "Basic YTpi");
    cr_expect_eq(reply.err, MCPX_OK, "%s", reply.detail.text);
    attempt_get(target, NULL);
    cr_expect_eq(reply.err, MCPX_ETOKEN);
}

Test(http_admission, takes_tokens_in_the_query_only_when_told_to)
{
    char target[256];

    snprintf(target, sizeof target, "/ws?topic=room-1&token=%s",
             strchr(FIXTURE_FS_BEARER, ' ') + 1);
    attempt_get(target, NULL);
    cr_expect_eq(reply.err, MCPX_ETOKEN);
    router.config.query_token = true;
    attempt_get(target, NULL);
    cr_expect_eq(reply.err, MCPX_OK, "%s", reply.detail.text);
    /* A bad header is not rescued by a good query. */
    attempt_get(target, "Bearer x");
    cr_expect_eq(reply.err, MCPX_ETOKEN);
}

/* A ticket says nothing of instances: its grant and the query do. */
Test(http_admission, lets_browsers_be_instances_until_there_are_enough)
{
    static const enum mcpx_err expected[] = {MCPX_OK, MCPX_OK, MCPX_EINSTANCES};

    router.config.hub.instances = 2;
    fixture_remake_hub();
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct peer *peer;
        char target[256];

        fixture_post("/v0.1/tickets", FIXTURE_FS_BEARER, "{\"topic\":\"room-1\"}");
        snprintf(target, sizeof target, "/ws?topic=room-1&instance=auto&ticket=%s",
                 answer_string("ticket"));
        attempt_get(target, NULL);
        cr_expect_eq(reply.err, expected[i], "%s", mcpx_strerror(reply.err));
        if (reply.err)
            cr_expect(
                strstr(reply.detail.text, "connected to the topic as often as it may be"));
        else
            cr_expect_eq(
                hub_admit(router.api.hub, reply.grant, &admission, NULL, router.now, &peer),
                MCPX_OK);
    }
}

/* Joins "fs" to room-1 and lets it be replaced `times` times. */
static void join_again_and_again(int times)
{
    for (int i = 0; i <= times; i++)
        fixture_join("fs", "room-1");
}

Test(http_admission, passes_on_what_the_hub_says)
{
    static const struct {
        bool create, takeover, drain;
        size_t participants_max;
        int joins; /* of "fs" before; -1 = none */
        enum mcpx_err err;
        const char *detail; /* its beginning */
    } rows[] = {
        {true, true, false, 9, 0, MCPX_OK, ""},
        {true, true, true, 9, -1, MCPX_EGOING, "the router is going away"},
        {true, false, false, 9, 0, MCPX_EPRESENT, "this participant is already connected"},
        {true, true, false, 9, 3, MCPX_EFLAPPING, "this participant was replaced more than"},
        {true, true, false, 1, -1, MCPX_EFULL, "topic or router is full"},
        {false, true, false, 9, -1, MCPX_ENOTOPIC, "topic does not exist"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_again();
        router.config.hub.create = rows[i].create;
        router.config.hub.takeover = rows[i].takeover;
        router.config.hub.participants_max = rows[i].participants_max;
        fixture_remake_hub();
        join_again_and_again(rows[i].joins);
        if (rows[i].err == MCPX_EFULL)
            fixture_join("ann", "room-1");
        if (rows[i].drain)
            hub_drain(router.api.hub, router.now);
        attempt_get("/ws?topic=room-1", FIXTURE_FS_BEARER);
        cr_expect_eq(reply.err, rows[i].err, "row %zu: %s", i, mcpx_strerror(reply.err));
        if (reply.detail.text)
            cr_expect_eq(strncmp(reply.detail.text, rows[i].detail, strlen(rows[i].detail)), 0,
                         "row %zu: %s", i, reply.detail.text);
    }
}
