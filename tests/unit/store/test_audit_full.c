/*
 * What breaks for whom: when the disk is full, an operator has chosen what matters more, the record
 * or the service, and has to get exactly that. docs/audit.md, "When a line cannot be written".
 */
#include "tests/unit/store/audit_world.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

static _Atomic unsigned failing_syncs;

int __real_fdatasync(int file);
int __wrap_fdatasync(int file);

/* The linker lets the audit call this in the place of fdatasync(2). */
int __wrap_fdatasync(int file)
{
    if (failing_syncs == 0)
        return __real_fdatasync(file);
    failing_syncs--;
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

TestSuite(audit_full, .init = world_new, .fini = world_free);

static void start(enum on_full on_full)
{
    world.config.on_full = on_full;
    cr_assert_not(world_open(NULL));
}

static void send_and_settle(size_t count)
{
    world_send(count, 256);
    world_settle();
}

static void finish(size_t lines)
{
    world_close();
    world_expect_whole(true);
    cr_expect_eq(world_count("allow", NULL, NULL) + world_count("join", NULL, NULL), lines);
}

static void sum_lost(void *context, const struct audit_line *line)
{
    *(uint64_t *)context += world_number(line, "count");
}

Test(audit_full, refuse_rejects_for_certain_until_there_is_room)
{
    start(ON_FULL_REFUSE);
    send_and_settle(10);
    limit(7000);
    send_and_settle(100);
    cr_expect_eq(world.report.state, STAGE_FULL);
    cr_expect_str_eq(world.report.reason, "File too large");
    for (size_t i = 10; i < 110; i++) {
        cr_expect_eq(world.submissions[i].rejection.err, MCPX_EUNAVAILABLE);
        cr_expect(world.submissions[i].rejection.certain);
        cr_expect_gt(world.submissions[i].rejection.retry_ms, 0);
        cr_expect_eq(world.submissions[i].line, 0);
    }
    limit(RLIM_INFINITY);
    send_and_settle(50);
    cr_expect_eq(world.report.state, STAGE_READY);
    for (size_t i = 110; i < 160; i++)
        cr_expect_eq(world.submissions[i].rejection.err, MCPX_OK);
    cr_expect_eq(world_count("lost", NULL, NULL), 0);
    finish(60);
}

Test(audit_full, with_room_again_the_state_is_ready_without_traffic)
{
    start(ON_FULL_REFUSE);
    limit(3000);
    send_and_settle(100);
    cr_expect_eq(world.report.state, STAGE_FULL);
    limit(RLIM_INFINITY);
    while (world.report.state != STAGE_READY)
        world_take();
    finish(0);
}

Test(audit_full, block_answers_nothing_until_there_is_room)
{
    start(ON_FULL_BLOCK);
    limit(3000);
    world_send(100, 256);
    while (world.report.state == STAGE_READY)
        world_take();
    cr_expect_eq(world.answered_count, 0);
    limit(RLIM_INFINITY);
    world_settle();
    cr_expect_eq(world.report.state, STAGE_READY);
    for (size_t i = 0; i < 100; i++)
        cr_expect(world.submissions[i].rejection.err == MCPX_OK && world.submissions[i].line);
    finish(100);
}

Test(audit_full, a_router_that_is_blocked_can_be_ended)
{
    start(ON_FULL_BLOCK);
    limit(3000);
    world_send(100, 256);
    while (world.report.state == STAGE_READY)
        world_take();
    world_close();
    limit(RLIM_INFINITY);
    cr_expect_eq(world_verify(false).damage, AUDIT_WHOLE);
}

Test(audit_full, drop_lets_go_on_and_tells_how_many_lines_are_missing)
{
    struct audit_note refuse = {.what = AUDIT_REFUSE, .wall_ms = 1, .from = MCPX_SLICE("m")};
    uint64_t lost = 0;

    start(ON_FULL_DROP);
    limit(3000);
    send_and_settle(100);
    audit_tell(world.audit, &refuse);
    send_and_settle(50);
    for (size_t i = 0; i < 150; i++)
        cr_expect(world.submissions[i].rejection.err == MCPX_OK && !world.submissions[i].line);
    limit(RLIM_INFINITY);
    send_and_settle(10);
    cr_expect_gt(world.submissions[150].line, 0);
    world_count("lost", sum_lost, &lost);
    cr_expect_eq(lost + world_count("refuse", NULL, NULL), 151);
    finish(10);
}

/* Refusals that cannot be noted are counted under every policy. */
Test(audit_full, refusals_that_are_not_noted_are_told_later)
{
    static const enum on_full all[] = {ON_FULL_REFUSE, ON_FULL_BLOCK, ON_FULL_DROP};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct audit_note refuse = {
            .what = AUDIT_REFUSE, .wall_ms = 1, .from = MCPX_SLICE("m")};
        uint64_t lost = 0;

        world_free();
        world_new();
        start(all[i]);
        limit(500);
        for (int note = 0; note < 20; note++)
            audit_tell(world.audit, &refuse);
        while (world.report.state != STAGE_FULL)
            world_take();
        limit(RLIM_INFINITY);
        send_and_settle(1);
        world_count("lost", sum_lost, &lost);
        cr_expect_eq(lost + world_count("refuse", NULL, NULL), 20);
        cr_expect_gt(lost, 0);
        finish(1);
    }
}

/* What the page cache holds after a failed sync is not to be trusted,
   so nothing is written on it. */
Test(audit_full, after_a_failed_sync_nothing_is_written_until_a_restart)
{
    static const enum on_full answering[] = {ON_FULL_REFUSE, ON_FULL_DROP};

    for (size_t i = 0; i < 2 * sizeof answering / sizeof *answering; i++) {
        bool refuses = answering[i / 2] == ON_FULL_REFUSE, rotates = i % 2;
        size_t good = rotates ? 5 : 0;

        world_free();
        world_new();
        world.config.rotate_bytes = rotates;
        start(answering[i / 2]);
        send_and_settle(good);
        failing_syncs = 1; /* of a checkpoint in front of a new file, or of the lines */
        send_and_settle(10);
        send_and_settle(10);
        cr_expect_eq(world.report.state, STAGE_FAILED);
        cr_expect_str_eq(world.report.reason, "Input/output error");
        for (size_t at = good; at < good + 20; at++) {
            cr_expect_eq(world.submissions[at].rejection.err,
                         refuses ? MCPX_EUNAVAILABLE : MCPX_OK);
            cr_expect_eq(world.submissions[at].line, 0);
        }
        world_close();
        cr_expect_eq(world_count("stop", NULL, NULL), 0);
        cr_assert_not(world_open(NULL));
        world.sent = world.answered_count = 0;
        send_and_settle(5);
        world_close();
        cr_expect_eq(world_verify(true).damage, AUDIT_WHOLE);
    }
}
