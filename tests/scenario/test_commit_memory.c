/*
 * What breaks for whom: everybody in a room whose router once had no memory for a moment, and since
 * then waits for a join, a leave or a topic that never comes.
 *
 * One day of a stored hub is a list of steps. Each allocation of each step fails once; the rest of
 * the day goes on, and at its end somebody comes in and is told the truth.
 */
#include "router/store/commit/submission.h"
#include "tests/support/fault_alloc.h"
#include "tests/support/hub_defaults.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { TASKS_MAX = 64, GUESTS = 4 };

/* Everything there is. `peers` are NULL while they are not there. */
struct day {
    struct hub *hub;
    struct mcpx_now now;
    struct grant *grants[GUESTS];
    struct peer *peers[GUESTS];
    struct task tasks[TASKS_MAX];
    size_t count;
    unsigned said;
};

static void fill(void *context, void *bytes, size_t len)
{
    (void)context;
    memset(bytes, 7, len);
}

static struct grant *make_grant(const char *name)
{
    struct mcpx_grant everything = {.pattern = MCPX_SLICE("*")};
    struct mcpx_capset *capset;
    struct grant *grant;

    cr_assert_eq(mcpx_capset_new(&everything, 1, NULL, 0, NULL, NULL, &capset), MCPX_OK);
    grant = grant_new(mcpx_slice_of(name), capset, ROUTING_DEFAULT, 0);
    mcpx_capset_unref(capset);
    return grant;
}

static void begin(struct day *day)
{
    static const char *const names[GUESTS] = {"alice", "bob", "bob", "carol"};
    struct hub_config config = hub_config_default();

    config.stored = config.audited = true;
    config.open_ms = 5000;
    config.log_bytes = 1 << 20;
    *day = (struct day){.now = {1000, 1767225600000}};
    day->hub = hub_new(&config, (struct chance){fill, NULL});
    for (size_t i = 0; i < GUESTS; i++)
        day->grants[i] = make_grant(names[i]);
}

/* ---- steps ---- */

static void take(struct day *day)
{
    struct task task;

    while (day->count < TASKS_MAX && hub_next_task(day->hub, &task))
        if (task.kind != TASK_CLOSE)
            day->tasks[day->count++] = task;
}

static void load(struct day *day, uint64_t ticket)
{
    struct stored_topic topic = {MCPX_SLICE("00112233445566778899aabbccddeeff"), 1};
    struct stored_envelope envelope = {
        MCPX_SLICE("{\"protocol\":\"mcpx/v0.1\",\"id\":\"old\",\"from\":\"alice\","
                   "\"kind\":\"chat\",\"payload\":{}}"),
        day->now.wall_ms};
    struct rejection rejection = {MCPX_EUNAVAILABLE, 0, true};

    if (hub_load_topic(day->hub, ticket, &topic) == MCPX_OK &&
        hub_load(day->hub, ticket, &envelope) == MCPX_OK)
        hub_commit(day->hub, ticket, day->now);
    else
        hub_reject(day->hub, ticket, &rejection, day->now);
}

static void answer(struct day *day)
{
    for (size_t i = 0; i < day->count; i++) {
        if (day->tasks[i].kind == TASK_OPEN)
            load(day, day->tasks[i].ticket);
        else
            hub_commit(day->hub, day->tasks[i].ticket, day->now);
    }
    day->count = 0;
}

static void refuse(struct day *day)
{
    struct rejection rejection = {MCPX_EUNAVAILABLE, 0, false};

    for (size_t i = 0; i < day->count; i++)
        hub_reject(day->hub, day->tasks[i].ticket, &rejection, day->now);
    day->count = 0;
}

static void open_room(struct day *day)
{
    (void)hub_open(day->hub, day->grants[0], MCPX_SLICE("room"), day->now);
}

static enum mcpx_err join(struct day *day, size_t guest)
{
    struct admission admission = {.topic = MCPX_SLICE("room")};

    return hub_admit(day->hub, day->grants[guest], &admission, day, day->now,
                     &day->peers[guest]);
}

static void join_alice(struct day *day)
{
    (void)join(day, 0);
}

static void join_bob(struct day *day)
{
    (void)join(day, 1);
}

static void replace_bob(struct day *day)
{
    (void)join(day, 2);
}

static void say(struct day *day)
{
    struct verdict verdict;
    char text[200];

    snprintf(text, sizeof text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"m%u\",\"to\":[\"bob\"],\"kind\":\"chat\","
             "\"payload\":{}}",
             ++day->said);
    for (size_t i = 0; i < GUESTS; i++)
        if (day->peers[i])
            hub_route(day->hub, day->peers[i], mcpx_slice_of(text), day->now, &verdict);
}

static void regrant(struct day *day)
{
    for (size_t i = 0; i < GUESTS; i++)
        if (day->peers[i])
            (void)hub_update_grants(day->hub, day->peers[i], day->grants[i], false, day->now);
}

static void leave(struct day *day, size_t guest)
{
    if (day->peers[guest])
        hub_leave(day->hub, day->peers[guest], MCPX_ECLOSED, day->now);
    day->peers[guest] = NULL;
}

static void leave_bob(struct day *day)
{
    leave(day, 1);
}

static void leave_new_bob(struct day *day)
{
    leave(day, 2);
}

static void read_all(struct day *day)
{
    struct output output;
    struct peer *peer;

    while ((peer = hub_next_ready(day->hub)))
        while (peer_peek(peer, &output))
            peer_pop(peer);
}

static void wait_a_second(struct day *day)
{
    day->now.mono_ms += 1000;
    day->now.wall_ms += 1000;
    hub_tick(day->hub, day->now);
}

static void (*const steps[])(struct day *) = {
    open_room, take,          answer,   join_alice,    join_bob,      take,
    say,       answer,        read_all, say,           take,          answer,
    read_all,  regrant,       take,     refuse,        wait_a_second, take,
    answer,    replace_bob,   say,      take,          answer,        read_all,
    leave_bob, take,          answer,   join_bob,      leave_new_bob, take,
    refuse,    wait_a_second, take,     answer,        read_all,      say,
    take,      leave_bob,     answer,   wait_a_second,
};
enum { STEPS = sizeof steps / sizeof *steps };

/* ---- days ---- */

static void settle(struct day *day)
{
    for (int i = 0; i < 4; i++) {
        wait_a_second(day);
        take(day);
        answer(day);
        read_all(day);
    }
}

/* Whatever has failed: everybody is gone, nothing is pending, and somebody can come in. */
static void check_end(struct day *day, size_t step, size_t nth)
{
    struct output output;

    settle(day);
    for (size_t i = 0; i < GUESTS; i++)
        leave(day, i);
    settle(day);
    cr_assert_eq(hub_pending(day->hub), 0, "step %zu, allocation %zu", step, nth);
    open_room(day);
    settle(day);
    cr_assert_eq(join(day, 3), MCPX_OK, "step %zu, allocation %zu", step, nth);
    take(day);
    answer(day);
    cr_assert(peer_peek(day->peers[3], &output), "step %zu, allocation %zu", step, nth);
    cr_expect_not_null(strstr(output.bytes, "\"participants\":[]"),
                       "step %zu, allocation %zu: %.*s", step, nth, (int)output.len,
                       output.bytes);
}

static bool live(size_t step, size_t nth)
{
    struct day day;
    bool failed = false;

    begin(&day);
    for (size_t i = 0; i < STEPS; i++) {
        if (i == step)
            fault_alloc_arm(nth);
        steps[i](&day);
        if (i == step)
            failed = fault_alloc_disarm();
    }
    check_end(&day, step, nth);
    hub_free(day.hub);
    for (size_t i = 0; i < GUESTS; i++)
        grant_unref(day.grants[i]);
    return failed;
}

Test(commit_memory, no_allocation_that_fails_leaves_anybody_waiting)
{
    size_t failures = 0;

    for (size_t step = 0; step < STEPS; step++)
        for (size_t nth = 1; live(step, nth); nth++)
            failures++;
    cr_expect_gt(failures, 60, "%zu", failures);
}
