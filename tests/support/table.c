/*
 * table.c - the wires between the hub and the sessions: bytes are under way in both directions, and
 * when a connection breaks, some of them arrive and the others do not.
 */
#include "tests/support/frames.h"
#include "tests/support/hub_defaults.h"
#include "tests/support/table_state.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void table_require(const struct table *table, bool holds, const char *what)
{
    if (!holds)
        cr_assert_fail("MCPX_TABLE_SEED=%" PRIu64 ": %s", table->plan->seed, what);
}

/* ---- from the hub to the sessions ---- */

static void drop_link(struct table *table, struct link *link)
{
    for (size_t i = 0; i < table->link_count; i++)
        if (table->links[i] == link)
            table->links[i] = table->links[--table->link_count];
    if (link->seat)
        link->seat->link = NULL;
    mcpx_text_fini(&link->down);
    mcpx_text_fini(&link->up);
    free(link);
}

/* Everything the hub has for anybody goes on its way. */
static void pull(struct table *table)
{
    struct peer *peer;
    struct output output;

    while ((peer = hub_next_ready(table->hub))) {
        struct link *link = peer_owner(peer);
        bool closes = false;

        while (!closes && peer_peek(peer, &output)) {
            mcpx_text_add(&link->down, output.bytes, output.len);
            closes = output.close;
            peer_pop(peer);
        }
        if (!closes)
            continue;
        hub_leave(table->hub, peer, MCPX_ECLOSED, table->now);
        link->peer = NULL;
        if (!link->seat)
            drop_link(table, link);
    }
}

static void leave(struct seat *seat, int code)
{
    struct link *link = seat->link;

    link->seat = NULL;
    seat->link = NULL;
    mcpx_session_disconnected(seat->session, code, MCPX_SLICE("gone"), seat->table->now);
    table_listen(seat);
    if (!link->peer)
        drop_link(seat->table, link);
}

/* The next frame reaches the participant. Returns false when there is none. */
static bool deliver(struct seat *seat)
{
    struct link *link = seat->link;
    struct frame_view frame;
    struct mcpx_slice stream;

    if (!link || link->down_at == link->down.len)
        return false;
    stream =
        (struct mcpx_slice){link->down.text + link->down_at, link->down.len - link->down_at};
    cr_assert(frame_cut(&stream, &frame));
    link->down_at = link->down.len - stream.len;
    if (frame.opcode == 1) {
        cr_assert_eq(mcpx_session_receive(seat->session, frame.payload, seat->table->now),
                     MCPX_OK);
        table_listen(seat);
    } else if (frame.opcode == 8) {
        leave(seat, frame.close_code);
    }
    return true;
}

/* ---- from the sessions to the hub ---- */

static void write_out(struct seat *seat)
{
    struct mcpx_slice text;

    while (seat->link && mcpx_session_output(seat->session, &text)) {
        mcpx_text_add(&seat->link->up, (const char *)&text.len, sizeof text.len);
        mcpx_text_slice(&seat->link->up, text);
        mcpx_session_written(seat->session);
    }
    table_listen(seat);
}

static void note_verdict(struct table *table, const struct verdict *verdict)
{
    struct note *note = table_note(table, verdict->id);

    table->tally->duplicates += verdict->err == MCPX_EDUPLICATE;
    table->tally->retries += verdict->err == MCPX_ERATE;
    if (verdict->err)
        return;
    table->tally->accepted++;
    table->order++;
    if (!note) /* answers have no note of their own */
        return;
    note->accepted++;
    note->order = table->order;
}

/* The next message reaches the router. Returns false when there is none. */
static bool route(struct table *table, struct link *link)
{
    struct verdict verdict;
    struct mcpx_slice text;

    if (!link->peer || link->up_at == link->up.len)
        return false;
    memcpy(&text.len, link->up.text + link->up_at, sizeof text.len);
    text.text = link->up.text + link->up_at + sizeof text.len;
    link->up_at += sizeof text.len + text.len;
    hub_route(table->hub, link->peer, text, table->now, &verdict);
    note_verdict(table, &verdict);
    return true;
}

/* ---- connections ---- */

static void come(struct seat *seat)
{
    struct table *table = seat->table;
    struct mcpx_place place = {.serial = 0};
    bool had_place = mcpx_session_place(seat->session, &place);
    struct mcpx_slice instance = mcpx_session_instance(seat->session);
    struct admission admission = {
        .topic = MCPX_SLICE("table"),
        .routing = seat->directed ? ROUTING_DIRECTED : ROUTING_ALL,
        .after = place.after,
        .epoch = place.epoch,
        .serial = place.serial,
        .instance = instance.text ? (unsigned)atoi(instance.text) : 0,
        .instance_key = mcpx_session_instance_key(seat->session),
    };
    struct link *link = calloc(1, sizeof *link);
    enum mcpx_err err;

    if (mcpx_slice_equal(instance, MCPX_SLICE("auto")))
        admission.instance = INSTANCE_AUTO;
    cr_assert_not_null(link);
    cr_assert_lt(table->link_count, (size_t)LINKS_MAX);
    err = hub_admit(table->hub, seat->grant, &admission, link, table->now, &link->peer);
    if (err) {
        free(link);
        mcpx_session_disconnected(seat->session, mcpx_error_status(err),
                                  mcpx_slice_of(mcpx_strerror(err)), table->now);
        table_listen(seat);
        return;
    }
    table->links[table->link_count++] = link;
    link->seat = seat;
    seat->link = link;
    seat->admitted = table->order;
    seat->had_place = had_place;
    mcpx_session_connected(seat->session, table->now);
}

/* A connection breaks; the router notices at once, or later, or when somebody takes the place. */
static void lose(struct seat *seat)
{
    struct table *table = seat->table;
    struct link *link = seat->link;
    size_t arrive = dice_below(&table->dice, 4);

    table->tally->breaks++;
    while (arrive-- > 0 && route(table, link))
        ;
    leave(seat, dice_hits(&table->dice, 2) ? 0 : 1006);
}

static void notice_loss(struct table *table)
{
    for (size_t i = 0; i < table->link_count; i++) {
        struct link *link = table->links[i];

        if (link->seat)
            continue;
        if (dice_hits(&table->dice, 2))
            route(table, link);
        hub_leave(table->hub, link->peer, MCPX_ECLOSED, table->now);
        drop_link(table, link);
        return;
    }
}

static void come_when_due(struct table *table)
{
    for (size_t i = 0; i < SEATS; i++) {
        struct seat *seat = &table->seats[i];
        int64_t at = mcpx_session_connect_at(seat->session);

        if (!seat->link && at >= 0 && at <= table->now.mono_ms)
            come(seat);
    }
}

/* ---- time ---- */

static void wait_for(struct table *table, int64_t ms)
{
    table->now.mono_ms += ms;
    table->now.wall_ms += ms;
    hub_tick(table->hub, table->now);
    for (size_t i = 0; i < SEATS; i++) {
        struct seat *seat = &table->seats[i];

        if (mcpx_session_deadline(seat->session) <= table->now.mono_ms)
            mcpx_session_tick(seat->session, table->now);
        table_listen(seat);
    }
    come_when_due(table);
}

static void route_some(struct table *table, struct seat *seat)
{
    size_t count = 1 + dice_below(&table->dice, 8);

    while (count-- > 0 && seat->link && route(table, seat->link))
        ;
}

static void deliver_some(struct table *table, struct seat *seat)
{
    size_t count = 1 + dice_below(&table->dice, 32);

    while (count-- > 0 && deliver(seat))
        ;
}

static void step(struct table *table)
{
    struct seat *seat = &table->seats[dice_below(&table->dice, SEATS)];
    size_t choice = dice_below(&table->dice, 100);

    if (choice < 25)
        table_act(seat);
    else if (choice < 40)
        write_out(seat);
    else if (choice < 55)
        pull(table);
    else if (choice < 75)
        route_some(table, seat);
    else if (choice < 90)
        deliver_some(table, seat);
    else if (choice < 92 && seat->link)
        lose(seat);
    else if (choice < 93)
        notice_loss(table);
    else
        wait_for(table, (int64_t)dice_below(&table->dice, 400));
}

/* Everything on every wire arrives. Returns whether there was anything. */
static bool settle(struct table *table)
{
    bool any = false;

    for (size_t i = 0; i < SEATS; i++) {
        struct seat *seat = &table->seats[i];

        write_out(seat);
        while (seat->link && route(table, seat->link))
            any = true;
        pull(table);
        while (deliver(seat))
            any = true;
    }
    return any;
}

/* ---- a run ---- */

static struct grant *make_grant(const char *name)
{
    struct mcpx_grant everything = {.pattern = MCPX_SLICE("*")};
    struct mcpx_capset *capset;
    struct grant *grant;

    cr_assert_eq(mcpx_capset_new(&everything, 1, NULL, 0, NULL, NULL, &capset), MCPX_OK);
    grant = grant_new(mcpx_slice_of(name), capset, ROUTING_DEFAULT, 0);
    cr_assert_not_null(grant);
    mcpx_capset_unref(capset);
    return grant;
}

static void seat_down(struct table *table, size_t index)
{
    struct seat *seat = &table->seats[index];
    struct mcpx_session_config config = {.fill = dice_fill,
                                         .context = &table->chance,
                                         .request_ms = 20000,
                                         .proposal_ms = 40000};

    seat->table = table;
    seat->index = index;
    snprintf(seat->name, sizeof seat->name, "s%zu", index);
    seat->grant = make_grant(seat->name);
    seat->directed = dice_hits(&table->dice, 4);
    config.directed = seat->directed;
    config.instance = dice_hits(&table->dice, 2);
    config.observe = dice_hits(&table->dice, 2);
    cr_assert_eq(mcpx_session_new(&config, &seat->session), MCPX_OK);
}

static struct hub *make_hub(struct table *table)
{
    struct hub_config config = hub_config_default();

    config.ping_ms = 0;
    config.linger_ms = 3600000;
    config.history_count = table->plan->forgetful ? 8 : 100000;
    config.history_bytes = 64 * 1024 * 1024;
    config.messages_per_minute = table->plan->hurried ? 120 : 0;
    return hub_new(&config, (struct chance){dice_fill, &table->chance});
}

static void finish(struct table *table)
{
    for (int i = 0; i < 100; i++) {
        for (size_t seat = 0; seat < SEATS; seat++)
            table->seats[seat].todo_count = 0;
        wait_for(table, 1000);
        while (settle(table))
            ;
    }
    for (size_t seat = 0; seat < SEATS; seat++)
        table->tally->thrown_out += !table->seats[seat].link;
    table_check(table);
}

void table_run(const struct table_plan *plan, struct table_tally *tally)
{
    struct table *table = calloc(1, sizeof *table);

    cr_assert_not_null(table);
    table->plan = plan;
    table->tally = tally;
    table->dice = dice_of_seed(plan->seed);
    table->chance = dice_of_seed(plan->seed ^ 0x7ab1e);
    table->now = (struct mcpx_now){1000000, 1780000000000};
    table->hub = make_hub(table);
    for (size_t i = 0; i < SEATS; i++)
        seat_down(table, i);
    come_when_due(table);
    for (size_t i = 0; i < plan->steps; i++)
        step(table);
    finish(table);
    hub_free(table->hub);
    while (table->link_count > 0)
        drop_link(table, table->links[0]);
    for (size_t i = 0; i < SEATS; i++) {
        mcpx_session_free(table->seats[i].session);
        grant_unref(table->seats[i].grant);
    }
    free(table);
}
