/*
 * What breaks for whom: whoever may say anything pushes somebody's id out of history and says
 * something else under it. Others then take the one for the other: a response gets the attacker's
 * CONTEXT, a resumed connection skips what lay between. Protocol: sections 4 and 5.
 */
#include "tests/support/hub_defaults.h"
#include "tests/support/world.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(reuse, .fini = world_end);

/* A room whose history holds ten envelopes; mallory may say anything. */
static struct world *room(void)
{
    struct hub_config config = hub_config_default();
    struct world *w;

    config.history_count = 10;
    config.messages_per_minute = 0;
    w = world_with(&config);
    world_joins(w, "alice", "*");
    world_joins(w, "bob", "*");
    world_joins(w, "mallory", "*");
    world_skip(w);
    return w;
}

static enum mcpx_err says(struct world *w, const char *who, const char *id, const char *rest)
{
    char text[300];

    snprintf(text, sizeof text, "{\"id\":\"%s\",%s}", id, rest);
    return world_says(w, who, text);
}

static void floods(struct world *w, const char *who, int count)
{
    static int number;
    char id[32];

    while (count-- > 0) {
        snprintf(id, sizeof id, "f%d", number++);
        cr_assert_eq(says(w, who, id, "\"kind\":\"chat\""), MCPX_OK);
    }
    world_skip(w);
}

Test(reuse, an_id_that_was_pushed_out_of_history_stays_refused)
{
    struct world *w = room();

    says(w, "alice", "m1", "\"kind\":\"chat\"");
    floods(w, "mallory", 2000);
    cr_expect_eq(says(w, "mallory", "m1", "\"kind\":\"chat\""), MCPX_EDUPLICATE);
    cr_expect_eq(says(w, "alice", "m1", "\"kind\":\"chat\""), MCPX_EDUPLICATE);
    world_skip(w);
}

/*
 * Bob's last envelope is pushed out of history, and sent again, while he is away. He gets history,
 * and knows it; what mallory said in between is no hole. An id alone is never a place, not even his
 * own.
 */
Test(reuse, nobody_resumes_behind_an_envelope_that_came_back)
{
    static const struct {
        int flood; /* by mallory, who said it */
        bool again, forgets_place;
        const char *read; /* of the welcome */
    } rows[] = {
        {0, false, false, "head missed; resumed\n"},
        {5, false, false, NULL}, /* resumed; see below */
        {0, false, true, "head missed; history 2\n"},
        {300, false, false, "head f"},
        {300, true, false, "head last; history 10\n"},
        {300, true, true, "head last; history 10\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *w = room();
        struct reader_place place;
        struct mcpx_text read = {0};
        char welcome[100];

        says(w, "mallory", "last", "\"kind\":\"chat\"");
        world_skip(w);
        place = world_place(w, "bob");
        cr_expect_str_eq(place.after, "last");
        world_drops(w, "bob");
        says(w, "mallory", "missed", "\"kind\":\"chat\"");
        floods(w, "mallory", rows[i].flood);
        if (rows[i].again)
            cr_assert_eq(says(w, "mallory", "last", "\"kind\":\"chat\""), MCPX_OK);
        world_skip(w);
        if (rows[i].forgets_place)
            place.epoch[0] = '\0';
        world_arrives(w, "bob", &(struct arrival){.place = &place, .history = -1});
        world_read(w, &read);
        snprintf(welcome, sizeof welcome, "bob < welcome bob [] with alice,mallory; %s",
                 rows[i].read ? rows[i].read : "head f");
        cr_expect(strstr(read.text, welcome), "row %zu: %s", i, read.text);
        cr_expect_eq(strstr(read.text, "; resumed") != NULL, i < 2, "row %zu: %s", i,
                     read.text);
        cr_expect_eq(strstr(read.text, "bob < chat missed from mallory\n") != NULL, i < 2,
                     "row %zu: %s", i, read.text);
        mcpx_text_fini(&read);
    }
}

/* A topic that came to be again, or a router: serials and ids may agree, the epoch does not. */
Test(reuse, nobody_resumes_in_another_log)
{
    struct world *w = room();
    struct reader_place place;

    says(w, "mallory", "last", "\"kind\":\"chat\"");
    world_skip(w);
    place = world_place(w, "bob");
    w = world_new();
    world_arrives(w, "mallory", &(struct arrival){.grants = "*", .topic = "other"});
    world_joins(w, "alice", "*"); /* chance has moved on: the same room, another log */
    says(w, "alice", "a", "\"kind\":\"chat\"");
    says(w, "alice", "last", "\"kind\":\"chat\"");
    world_skip(w);
    cr_expect_str_neq(world_place(w, "alice").epoch, world_place(w, "mallory").epoch);
    world_arrives(w, "bob", &(struct arrival){.place = &place, .history = 0});
    world_expect(w, "alice < presence join bob\n"
                    "bob < welcome bob [] with alice; head last\n"
                    "bob < presence join bob\n");
}

/* Bob only listens, in directed mode, and nobody comes or goes: he is told
   where the topic stands. */
Test(reuse, a_reader_whom_nothing_is_for_is_told_its_place_in_time)
{
    struct world *w = room();
    struct reader_place place, before = {.serial = 0};
    size_t told = 0;

    world_drops(w, "bob");
    world_arrives(w, "bob", &(struct arrival){.routing = ROUTING_DIRECTED, .history = 0});
    world_skip(w);
    for (int i = 0; i < 100; i++) {
        char id[32];

        snprintf(id, sizeof id, "n%d", i);
        says(w, "alice", id, "\"to\":[\"alice\"],\"kind\":\"chat\"");
        world_skip(w);
        place = world_place(w, "bob");
        told += place.serial != before.serial;
        before = place;
        cr_expect_geq(place.serial + 10, (uint64_t)i + 1, "told %d after %d",
                      (int)place.serial, i + 1); /* all that came after is retained */
    }
    cr_expect(told > 10 && told < 30, "%zu times", told);
    world_drops(w, "bob");
    world_skip(w);
    says(w, "alice", "for bob", "\"to\":[\"bob\"],\"kind\":\"chat\"");
    world_skip(w);
    world_arrives(
        w, "bob",
        &(struct arrival){.routing = ROUTING_DIRECTED, .history = -1, .place = &place});
    world_expect(w, "alice < presence join bob\n"
                    "bob < welcome bob [] with alice,mallory; head for bob; resumed\n"
                    "bob < chat for bob from alice\n"
                    "bob < presence join bob\n"
                    "mallory < presence join bob\n");
}

/* Alice said so much since that even her share has forgotten the request. */
Test(reuse, an_answer_is_not_completed_from_another_request_under_the_same_id)
{
    static const struct {
        const char *to, *kind;
    } rows[] = {
        {"\"alice\"", "mcp/response:tools/call"},
        {"\"alice\",\"bob\"", "mcp/response:tools/call"},
        {"\"mallory\"", "mcp/response:tools/call:delete_all"},
    };
    char text[200], wanted[100];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *w = room();

        says(w, "alice", "q1",
             "\"to\":[\"bob\"],\"kind\":\"mcp/request:tools/call:read_file\"");
        floods(w, "alice", 300);
        cr_assert_eq(
            says(w, "mallory", "q1", "\"kind\":\"mcp/request:tools/call:delete_all\""),
            MCPX_OK);
        snprintf(text, sizeof text,
                 "\"to\":[%s],\"kind\":\"mcp/response:tools/call\",\"correlation_id\":\"q1\"",
                 rows[i].to);
        cr_assert_eq(says(w, "bob", "a1", text), MCPX_OK);
        world_skip(w);
        snprintf(wanted, sizeof wanted, "\"kind\":\"%s\"", rows[i].kind);
        cr_expect(strstr(world_last(w, "alice"), wanted), "%s", world_last(w, "alice"));
    }
}
