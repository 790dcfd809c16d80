/*
 * What breaks for whom: participants that come back after a restart and find their room empty, or
 * are told that they missed nothing when they did; thousands that come at once and have a topic
 * loaded a thousand times; a topic that nobody can enter any more because its store did not answer
 * once. Protocol: sections 5 and 7.
 */
#include "router/hub/topic/hub_state.h"
#include "tests/support/fault_alloc.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/vault.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* The vault of the test that runs, of a hub whose topics are stored. */
static struct vault *v;

#define EPOCH "00112233445566778899aabbccddeeff"

static struct hub_config stored(void)
{
    struct hub_config config = hub_config_default();

    config.stored = true;
    config.open_ms = 5000;
    return config;
}

static void begin(void)
{
    v = vault_new(stored());
}

TestSuite(loads, .init = begin, .fini = vault_end);

static enum mcpx_err asks(const char *name, const char *topic)
{
    const struct grant grant = {.identity = mcpx_slice_of(name)};

    return hub_open(world_hub(v->world), &grant, mcpx_slice_of(topic), world_now(v->world));
}

/* Each topic is asked for by somebody else. */
static enum mcpx_err opens(const char *topic)
{
    return asks(topic, topic);
}

static enum mcpx_err arrives(const char *name, const char *topic)
{
    return world_arrives(v->world, name,
                         &(struct arrival){.grants = "*", .topic = topic, .history = -1});
}

/* Loads envelopes of alice, with ids from m<first> to m<last>. */
static void loads(const char *task, unsigned first, unsigned last)
{
    struct hub *hub = world_hub(v->world);
    uint64_t ticket = vault_task(v, task)->ticket;
    struct stored_topic topic = {MCPX_SLICE(EPOCH), first};

    cr_assert_eq(hub_load_topic(hub, ticket, &topic), MCPX_OK);
    for (unsigned number = first; number <= last; number++) {
        char text[256];
        struct stored_envelope envelope = {.wall_ms = world_now(v->world).wall_ms};

        snprintf(text, sizeof text,
                 "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m%u\",\"from\":\"alice\","
                 "\"kind\":\"chat\",\"payload\":{}}",
                 number);
        envelope.text = mcpx_slice_of(text);
        cr_assert_eq(hub_load(hub, ticket, &envelope), MCPX_OK);
    }
}

static bool is_open(const char *topic)
{
    return hub_topic_find(world_hub(v->world), mcpx_slice_of(topic)) != NULL;
}

Test(loads, however_many_wait_a_topic_is_loaded_once)
{
    uint64_t waits = hub_waits(world_hub(v->world));

    for (int i = 0; i < 5000; i++) {
        cr_assert_eq(arrives("bob", "room"), MCPX_EOPENING);
        cr_assert_eq(opens("room"), MCPX_EOPENING);
    }
    vault_expect(v, "open room\n");
    loads("open room", 1, 3);
    cr_expect_eq(arrives("bob", "room"), MCPX_EOPENING);
    cr_expect_not(is_open("room"), "nobody sees half a topic");
    cr_expect_eq(hub_waits(world_hub(v->world)), waits);
    vault_commits(v, "open room");
    cr_expect_neq(hub_waits(world_hub(v->world)), waits);
    cr_expect_eq(opens("room"), MCPX_OK);
    cr_expect_eq(arrives("bob", "room"), MCPX_OK);
    vault_commits_all(v);
    world_expect(v->world, "bob < welcome bob [*]; head m3; history 3\n"
                           "bob < history m1 m2 m3 complete\n"
                           "bob < presence join bob\n");
}

Test(loads, who_comes_back_after_a_restart_goes_on_where_it_was)
{
    static const struct {
        const char *epoch;
        uint64_t serial;
        const char *read;
    } rows[] = {
        {EPOCH, 12,
         "bob < welcome bob [*]; head m14; resumed\nbob < chat m13 from alice\n"
         "bob < chat m14 from alice\nbob < presence join bob\n"},
        {EPOCH, 14, "bob < welcome bob [*]; head m14; resumed\nbob < presence join bob\n"},
        {EPOCH, 8,
         "bob < welcome bob [*]; head m14; history 5\n"
         "bob < history m10 m11 m12 m13 m14 complete\nbob < presence join bob\n"},
        {EPOCH, 15,
         "bob < welcome bob [*]; head m14; history 5\n"
         "bob < history m10 m11 m12 m13 m14 complete\nbob < presence join bob\n"},
        {"ffffffffffffffffffffffffffffffff", 12,
         "bob < welcome bob [*]; head m14; history 5\n"
         "bob < history m10 m11 m12 m13 m14 complete\nbob < presence join bob\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reader_place place = {.serial = rows[i].serial};

        begin();
        snprintf(place.epoch, sizeof place.epoch, "%s", rows[i].epoch);
        opens("room");
        loads("open room", 10, 14);
        vault_commits(v, "open room");
        world_arrives(v->world, "bob",
                      &(struct arrival){.grants = "*", .history = -1, .place = &place});
        vault_commits_all(v);
        world_expect(v->world, rows[i].read);
    }
}

/* The router writes down whom it refused; topics are loaded while it does. */
Test(loads, a_refusal_is_known_while_topics_are_loaded)
{
    static const char text[] = "{\"protocol\":\"mcpx/v0.1\",\"id\":\"\\u0061sked\","
                               "\"kind\":\"fil\\u0065\",\"payload\":{}}";
    struct stored_topic topic = {MCPX_SLICE(EPOCH), 1};
    struct stored_envelope envelope = {
        .text = MCPX_SLICE("{\"protocol\":\"mcpx/v0.1\",\"id\":\"\\u0062other\\u0062other\","
                           "\"from\":\"\\u0062ob\",\"kind\":\"ch\\u0061t\",\"payload\":{}}")};
    struct hub *hub = world_hub(v->world);
    struct verdict verdict;

    opens("room");
    vault_commits(v, "open room");
    vault_joins(v, "alice", "chat");
    opens("hall");
    hub_route(hub, world_peer(v->world, "alice"), MCPX_SLICE(text), world_now(v->world),
              &verdict);
    cr_expect_eq(verdict.err, MCPX_ECAPABILITY);
    cr_assert_eq(hub_load_topic(hub, vault_task(v, "open hall")->ticket, &topic), MCPX_OK);
    cr_assert_eq(hub_load(hub, vault_task(v, "open hall")->ticket, &envelope), MCPX_OK);
    cr_expect(mcpx_slice_equal(verdict.id, MCPX_SLICE("asked")));
    cr_expect(mcpx_slice_equal(verdict.kind_sent, MCPX_SLICE("file")));
    world_skip(v->world);
    vault_commits(v, "open hall");
}

Test(loads, serials_and_ids_go_on_where_the_store_ends)
{
    const struct submission *submission;
    uint64_t delivered = 0;

    opens("room");
    loads("open room", 10, 14);
    vault_commits(v, "open room");
    vault_joins(v, "alice", "*");
    world_skip(v->world);
    cr_expect_eq(world_says(v->world, "alice", "{\"id\":\"m12\",\"kind\":\"chat\"}"),
                 MCPX_EDUPLICATE);
    world_says(v->world, "alice", "{\"id\":\"m15\",\"kind\":\"chat\"}");
    submission = vault_task(v, "m15")->submission;
    cr_expect(mcpx_slice_equal(submission->epoch, MCPX_SLICE(EPOCH)));
    vault_commits_all(v);
    vault_joins(v, "bob", "*");
    world_skip(v->world);
    cr_expect_not_null(strstr(world_told(v->world, "alice"), "\"serial\":15"));
    hub_note_written(world_hub(v->world), world_now(v->world));
    for (size_t i = 0; i <= MX_CLASSES_MAX; i++)
        delivered += hub_stats(world_hub(v->world))->delivery.counts[i];
    cr_expect_eq(delivered, 1, "what is loaded is not delivered again");
}

/* Retention keeps more rows than the log has room for. */
Test(loads, what_is_beyond_the_bounds_of_history_is_spent)
{
    struct hub_config config = stored();

    config.history_count = 4;
    v = vault_new(config);
    opens("room");
    loads("open room", 1, 5);
    vault_commits(v, "open room");
    vault_joins(v, "alice", "*");
    world_expect(v->world, "alice < welcome alice [*]; head m5; history 4\n"
                           "alice < history m2 m3 m4 m5 complete\n"
                           "alice < presence join alice\n");
    cr_expect_eq(world_says(v->world, "alice", "{\"id\":\"m1\",\"kind\":\"chat\"}"),
                 MCPX_EDUPLICATE);
    world_skip(v->world);
}

Test(loads, a_topic_that_the_store_does_not_have_comes_to_be_or_not)
{
    struct hub_config config = stored();

    for (int create = 0; create < 2; create++) {
        config.create = create;
        v = vault_new(config);
        opens("room");
        vault_commits(v, "open room");
        cr_expect_eq(opens("room"), MCPX_OK);
        cr_expect_not(is_open("room"));
        cr_expect_eq(arrives("alice", "room"), create ? MCPX_OK : MCPX_ENOTOPIC);
        cr_expect_eq(is_open("room"), create);
        world_waits(v->world, 1000);
        cr_expect_eq(opens("room"), create ? MCPX_OK : MCPX_EOPENING, "asked anew");
        vault_commits_all(v);
        world_skip(v->world);
    }
}

Test(loads, a_topic_that_cannot_be_opened_stays_so_for_a_second)
{
    opens("room");
    loads("open room", 1, 2);
    vault_refuses(v, "open room");
    cr_expect_eq(opens("room"), MCPX_EUNAVAILABLE);
    cr_expect_eq(arrives("alice", "room"), MCPX_ENOTNOW);
    vault_expect(v, "open room\n");
    world_waits(v->world, 1000);
    cr_expect_eq(arrives("alice", "room"), MCPX_EOPENING);
    cr_expect_eq(opens("room"), MCPX_EOPENING);
    loads("open room", 1, 2);
    vault_commits(v, "open room");
    cr_expect_eq(arrives("alice", "room"), MCPX_OK);
    vault_commits_all(v);
    world_skip(v->world);
}

/* Nobody waits longer than that, and a store that answers late has not worked in vain. */
Test(loads, who_waits_too_long_is_told_and_what_is_loaded_late_is_there)
{
    uint64_t waits = hub_waits(world_hub(v->world));

    opens("room");
    vault_take(v);
    world_waits(v->world, 4000);
    cr_expect_eq(opens("room"), MCPX_EOPENING);
    cr_expect_eq(hub_waits(world_hub(v->world)), waits);
    world_waits(v->world, 2000);
    cr_expect_neq(hub_waits(world_hub(v->world)), waits);
    for (int i = 0; i < 10; i++) {
        cr_expect_eq(opens("room"), MCPX_EUNAVAILABLE);
        cr_expect_eq(arrives("alice", "room"), MCPX_ENOTNOW);
        world_waits(v->world, 1000);
    }
    vault_expect(v, "open room\n");
    loads("open room", 1, 2);
    vault_commits(v, "open room");
    cr_expect_eq(opens("room"), MCPX_OK);
    vault_joins(v, "alice", "*");
    world_skip(v->world);
}

Test(loads, a_task_that_nobody_took_in_time_is_not_handed_out)
{
    opens("room");
    world_waits(v->world, 5000);
    cr_expect_eq(opens("room"), MCPX_EUNAVAILABLE);
    vault_expect(v, "");
}

#define SENT(by, kind) "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m\",\"payload\":{}" by kind "\"}"
#define FROM(from, kind) SENT(",\"from\":\"" from "\",\"kind\":\"", kind)
Test(loads, what_is_no_stored_topic_is_not_loaded)
{
    struct hub *hub = world_hub(v->world);
    const struct stored_topic bad[] = {{MCPX_SLICE("short"), 1},
                                       {MCPX_SLICE("00112233445566778899AABBCCDDEEFF"), 1},
                                       {MCPX_SLICE(EPOCH), 0}};
    static const char *const texts[] = {"", "\377", SENT(",\"kind\":\"", "chat"),
                                        FROM("system:gateway", "chat"),
                                        FROM("ann", "system/presence")};
    struct stored_topic good = {MCPX_SLICE(EPOCH), 1};
    struct stored_envelope envelope = {.wall_ms = 0};
    uint64_t ticket;

    opens("room");
    ticket = vault_task(v, "open room")->ticket;
    cr_expect_eq(hub_load(hub, ticket, &envelope), MCPX_ENOTFOUND);
    cr_expect_eq(hub_load_topic(hub, ticket + 1, &good), MCPX_ENOTFOUND);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_eq(hub_load_topic(hub, ticket, &bad[i]), MCPX_EINVALID, "row %zu", i);
    cr_expect_eq(hub_load_topic(hub, ticket, &good), MCPX_OK);
    cr_expect_eq(hub_load_topic(hub, ticket, &good), MCPX_EINVALID);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        envelope.text = mcpx_slice_of(texts[i]);
        cr_expect_eq(hub_load(hub, ticket, &envelope), MCPX_EINVALID, "text %zu", i);
    }
    vault_refuses(v, "open room");
    cr_expect_not(is_open("room"));
}

/* The clock was a year ahead, and was set back: what was stored then would stay for a year. */
Test(loads, what_was_stored_with_a_time_to_come_grows_old_from_now_on)
{
    static const int64_t hour_ms = 3600000, year_ms = 31536000000;
    const int64_t ages_ms[] = {-year_ms, 2 * hour_ms, -year_ms};
    struct hub_config config = stored();
    struct stored_topic topic = {MCPX_SLICE(EPOCH), 1};
    const struct topic *room;
    struct mcpx_now now;
    uint64_t ticket;

    config.history_age_ms = hour_ms;
    v = vault_new(config);
    opens("room");
    ticket = vault_task(v, "open room")->ticket;
    cr_assert_eq(hub_load_topic(world_hub(v->world), ticket, &topic), MCPX_OK);
    for (unsigned i = 0; i < 3; i++) {
        char text[256];
        struct stored_envelope envelope = {.wall_ms =
                                               world_now(v->world).wall_ms - ages_ms[i]};

        snprintf(text, sizeof text,
                 "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m%u\",\"from\":\"alice\","
                 "\"kind\":\"chat\",\"payload\":{}}",
                 i + 1);
        envelope.text = mcpx_slice_of(text);
        cr_assert_eq(hub_load(world_hub(v->world), ticket, &envelope), MCPX_OK);
    }
    vault_commits(v, "open room");
    cr_expect_eq(arrives("bob", "room"), MCPX_OK);
    vault_commits_all(v);
    world_expect(v->world, "bob < welcome bob [*]; head m3; history 1\n"
                           "bob < history m3 complete\nbob < presence join bob\n");
    now = world_now(v->world);
    now.mono_ms += hour_ms + 1;
    now.wall_ms -= year_ms;
    hub_tick(world_hub(v->world), now);
    room = hub_topic_find(world_hub(v->world), MCPX_SLICE("room"));
    cr_expect_eq(room->log.history, room->log.head,
                 "an hour is an hour, whatever the clock says");
}

/* ---- shares ---- */

/* A program that comes back with all its rooms must not keep out somebody who has one. */
Test(loads, of_each_participant_a_few_are_on_their_way)
{
    char topic[] = "a1";

    for (; topic[1] <= '9'; topic[1]++)
        cr_expect_eq(asks("alice", topic), MCPX_EOPENING);
    cr_expect_eq(asks("bob", "b1"), MCPX_EOPENING);
    vault_expect(v, "open a1\nopen a2\nopen a3\nopen a4\nopen a5\nopen a6\nopen a7\nopen a8\n"
                    "open b1\n");
    cr_expect_eq(asks("alice", "a9"), MCPX_EOPENING, "she waits");
    cr_expect_eq(asks("alice", "b1"), MCPX_EOPENING, "it is bob's");
    vault_expect(v, "");
    vault_commits(v, "open a1");
    vault_refuses(v, "open a2");
    cr_expect_eq(asks("alice", "a9"), MCPX_EOPENING);
    vault_expect(v, "open a9\n");
}

/* ---- closing ---- */

Test(loads, an_empty_topic_leaves_memory_when_nothing_of_it_is_pending)
{
    struct hub_config config = stored();

    config.linger_ms = 3000;
    v = vault_new(config);
    opens("room");
    vault_commits(v, "open room");
    vault_joins(v, "alice", "*");
    world_skip(v->world);
    world_says(v->world, "alice", "{\"id\":\"m1\",\"kind\":\"chat\"}");
    world_drops(v->world, "alice");
    vault_take(v);
    world_waits(v->world, 5000);
    cr_expect(is_open("room"), "its leave and its message are pending");
    vault_commits(v, "m1");
    vault_commits(v, "leave alice");
    world_waits(v->world, 1000);
    cr_expect_not(is_open("room"));
    vault_expect(v, "m1\nleave alice\nclose room\n");
    cr_expect_eq(opens("room"), MCPX_EOPENING);
    vault_expect(v, "open room\n");
}

Test(loads, the_topic_that_was_empty_for_longest_makes_room)
{
    struct hub_config config = stored();

    config.topics_max = 2;
    v = vault_new(config);
    for (int i = 0; i < 2; i++) {
        const char *topic = i == 0 ? "one" : "two";

        opens(topic);
        loads(i == 0 ? "open one" : "open two", 1, 2);
        vault_commits(v, i == 0 ? "open one" : "open two");
    }
    cr_assert_eq(arrives("alice", "one"), MCPX_OK);
    vault_commits_all(v);
    cr_assert_eq(opens("three"), MCPX_EOPENING);
    vault_expect(v, "close two\nopen three\n");
    cr_expect_eq(opens("four"), MCPX_EFULL, "one is in use, the other on its way");
    vault_commits(v, "open three");
    cr_assert_eq(arrives("alice", "three"), MCPX_OK);
    cr_expect_eq(opens("four"), MCPX_EFULL);
    world_drops(v->world, "alice");
    cr_expect_eq(opens("four"), MCPX_EFULL, "its leave is pending");
    vault_commits_all(v);
    cr_expect_eq(opens("four"), MCPX_EOPENING);
    vault_expect(v, "close one\nopen four\n");
    world_skip(v->world);
}

/* ---- no memory ---- */

/* What is stored and not in the log would be missing for all who read on. */
Test(loads, a_topic_without_memory_for_what_is_stored_is_opened_again)
{
    opens("room");
    vault_commits(v, "open room");
    vault_joins(v, "alice", "*");
    vault_joins(v, "bob", "*");
    world_skip(v->world);
    world_says_long(v->world, "alice", 1, 100000);
    world_says(v->world, "bob", "{\"id\":\"m2\",\"kind\":\"chat\"}");
    world_joins(v->world, "carol", "*");
    vault_take(v);
    fault_alloc_arm(1);
    vault_commits(v, "long-1");
    cr_assert(fault_alloc_disarm());
    world_expect(v->world, "alice < close 1011\nbob < close 1011\n");
    cr_expect_eq(opens("room"), MCPX_EUNAVAILABLE);
    cr_expect_eq(arrives("dave", "room"), MCPX_ENOTNOW);
    vault_commits_all(v);
    world_expect(v->world, "carol < close 1013\n");
    world_drops(v->world, "alice");
    world_drops(v->world, "bob");
    world_drops(v->world, "carol");
    world_waits(v->world, 1000);
    vault_expect(v, "close room\n");
    cr_expect_eq(opens("room"), MCPX_EOPENING);
    vault_expect(v, "open room\n");
}
