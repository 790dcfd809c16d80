/*
 * What breaks for whom: when the disk is full, an operator has chosen what matters more, the record
 * or the service, and has to get exactly that. docs/audit.md, "When a line cannot be written".
 */
#include "tests/unit/store/audit_world.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static _Atomic bool sync_fails;

int __real_fdatasync(int file);
int __wrap_fdatasync(int file);

/* The linker lets the audit call this in the place of fdatasync(2). */
int __wrap_fdatasync(int file)
{
    if (!sync_fails)
        return __real_fdatasync(file);
    errno = EIO;
    return -1;
}

/* A file may not grow beyond `bytes`: the same as a full disk, for this process alone. */
static void limit(rlim_t bytes)
{
    struct rlimit wanted = {bytes, RLIM_INFINITY};

    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &wanted), 0);
}

static struct world *start(enum on_full on_full)
{
    struct world *world = world_new();

    world->config.on_full = on_full;
    cr_assert_not(world_open(world, NULL));
    return world;
}

static void send_and_settle(struct world *world, size_t count)
{
    world_send(world, count, 256);
    world_settle(world);
}

static void finish(struct world *world, size_t lines)
{
    struct audit_verdict verdict;

    world_close(world);
    verdict = world_verify(world, true);
    cr_expect_eq(verdict.damage, AUDIT_WHOLE, "%s at %u: %s",
                 audit_damage_name(verdict.damage), (unsigned)verdict.seq, verdict.reason);
    cr_expect_eq(world_count(world, "allow", NULL, NULL) +
                     world_count(world, "join", NULL, NULL),
                 lines);
    world_free(world);
}

static void sum_lost(void *context, const struct audit_line *line)
{
    *(uint64_t *)context += world_number(line, "count");
}

Test(audit_full, refuse_rejects_for_certain_until_there_is_room)
{
    struct world *world = start(ON_FULL_REFUSE);

    send_and_settle(world, 10);
    limit(7000);
    send_and_settle(world, 100);
    cr_expect_eq(world->report.state, STAGE_FULL);
    cr_expect_str_eq(world->report.reason, "File too large");
    for (size_t i = 10; i < 110; i++) {
        cr_expect_eq(world->submissions[i].rejection.err, MCPX_EUNAVAILABLE);
        cr_expect(world->submissions[i].rejection.certain);
        cr_expect_gt(world->submissions[i].rejection.retry_ms, 0);
        cr_expect_eq(world->submissions[i].line, 0);
    }
    cr_expect_not(audit_is_blocked(world->audit));
    limit(RLIM_INFINITY);
    send_and_settle(world, 50);
    cr_expect_eq(world->report.state, STAGE_READY);
    for (size_t i = 110; i < 160; i++)
        cr_expect_eq(world->submissions[i].rejection.err, MCPX_OK);
    cr_expect_eq(world_count(world, "lost", NULL, NULL), 0);
    finish(world, 60);
}

Test(audit_full, with_room_again_the_state_is_ready_without_traffic)
{
    struct world *world = start(ON_FULL_REFUSE);

    limit(3000);
    send_and_settle(world, 100);
    cr_expect_eq(world->report.state, STAGE_FULL);
    limit(RLIM_INFINITY);
    while (world->report.state != STAGE_READY)
        world_take(world);
    finish(world, 0);
}

Test(audit_full, block_answers_nothing_until_there_is_room)
{
    struct world *world = start(ON_FULL_BLOCK);

    limit(3000);
    world_send(world, 100, 256);
    while (!audit_is_blocked(world->audit))
        world_take(world);
    cr_expect_eq(world->answered_count, 0);
    limit(RLIM_INFINITY);
    world_settle(world);
    cr_expect_not(audit_is_blocked(world->audit));
    for (size_t i = 0; i < 100; i++)
        cr_expect(world->submissions[i].rejection.err == MCPX_OK &&
                  world->submissions[i].line);
    finish(world, 100);
}

Test(audit_full, a_router_that_is_blocked_can_be_ended)
{
    struct world *world = start(ON_FULL_BLOCK);

    limit(3000);
    world_send(world, 100, 256);
    while (!audit_is_blocked(world->audit))
        world_take(world);
    world_close(world);
    limit(RLIM_INFINITY);
    cr_expect_eq(world_verify(world, false).damage, AUDIT_WHOLE);
    world_free(world);
}

Test(audit_full, drop_lets_go_on_and_tells_how_many_lines_are_missing)
{
    struct world *world = start(ON_FULL_DROP);
    struct audit_note refuse = {.what = AUDIT_REFUSE, .wall_ms = 1, .from = MCPX_SLICE("m")};
    uint64_t lost = 0;

    limit(3000);
    send_and_settle(world, 100);
    audit_tell(world->audit, &refuse);
    send_and_settle(world, 50);
    for (size_t i = 0; i < 150; i++)
        cr_expect(world->submissions[i].rejection.err == MCPX_OK &&
                  !world->submissions[i].line);
    limit(RLIM_INFINITY);
    send_and_settle(world, 10);
    cr_expect_gt(world->submissions[150].line, 0);
    world_count(world, "lost", sum_lost, &lost);
    cr_expect_eq(lost + world_count(world, "refuse", NULL, NULL), 151);
    finish(world, 10);
}

/* Refusals that cannot be noted are counted under every policy. */
Test(audit_full, refusals_that_are_not_noted_are_told_later)
{
    static const enum on_full all[] = {ON_FULL_REFUSE, ON_FULL_BLOCK, ON_FULL_DROP};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct world *world = start(all[i]);
        struct audit_note refuse = {
            .what = AUDIT_REFUSE, .wall_ms = 1, .from = MCPX_SLICE("m")};
        uint64_t lost = 0;

        limit(500);
        for (int note = 0; note < 20; note++)
            audit_tell(world->audit, &refuse);
        while (world->report.state != STAGE_FULL)
            world_take(world);
        limit(RLIM_INFINITY);
        send_and_settle(world, 1);
        world_count(world, "lost", sum_lost, &lost);
        cr_expect_eq(lost + world_count(world, "refuse", NULL, NULL), 20);
        cr_expect_gt(lost, 0);
        finish(world, 1);
    }
}

/* What the page cache holds after a failed sync is not to be trusted,
   so nothing is written on it. */
Test(audit_full, after_a_failed_sync_nothing_is_written_until_a_restart)
{
    static const enum on_full answering[] = {ON_FULL_REFUSE, ON_FULL_DROP};

    for (size_t i = 0; i < sizeof answering / sizeof *answering; i++) {
        struct world *world = start(answering[i]);
        bool refuses = answering[i] == ON_FULL_REFUSE;

        sync_fails = true;
        send_and_settle(world, 10);
        sync_fails = false;
        send_and_settle(world, 10);
        cr_expect_eq(world->report.state, STAGE_FAILED);
        cr_expect_str_eq(world->report.reason, "Input/output error");
        for (size_t at = 0; at < 20; at++) {
            cr_expect_eq(world->submissions[at].rejection.err,
                         refuses ? MCPX_EUNAVAILABLE : MCPX_OK);
            cr_expect_eq(world->submissions[at].line, 0);
        }
        world_close(world);
        cr_expect_eq(world_count(world, "stop", NULL, NULL), 0);
        cr_assert_not(world_open(world, NULL));
        world->sent = world->answered_count = 0;
        send_and_settle(world, 5);
        world_close(world);
        cr_expect_eq(world_verify(world, true).damage, AUDIT_WHOLE);
        world_free(world);
    }
}
