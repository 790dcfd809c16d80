/*
 * test_sqlite_power.c - the machine loses its power at any moment, and the disk has any part of
 * what was not synced. What breaks for whom: somebody acted on a message that nobody remembers; or
 * finds half of what was said in one moment; or is told that nothing is missing when something is.
 *
 * MCPX_SEEDS (40) is how many runs there are of each test; a failure names its seed.
 */
#include "tests/support/dice.h"
#include "tests/support/power_vfs.h"
#include "tests/unit/store/keeper.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

enum { TOPICS = 3, BATCH_MAX = 8, BATCHES = 40, SAID_MAX = 4000, LIVES = 3, EPOCH_ROOM = 33 };

/*
 * What was said in a topic.
 *
 * said      numbers of all messages, in order; their texts follow from them
 * count     of those that were stored, and behind them
 * maybe     those of the batch in which the power failed
 * epoch     as it was when it was looked at last
 */
struct talk {
    char name[4];
    size_t said[SAID_MAX];
    size_t count, maybe;
    char epoch[EPOCH_ROOM];
};

/* A run. `landed` is what became of the last batch, as far as it is known: 0, 1, or -1. */
struct run {
    unsigned long seed;
    struct dice dice;
    struct keeper keeper;
    struct talk talks[TOPICS];
    size_t next;
    int landed;
    unsigned lost, cut;
};

static const char first_epoch[] = "0123456789abcdef0123456789abcdef"; /* keeper_message */

/* One of a text's many sizes, and a filling, so that pages of others do not look like it. */
static char *text_of(size_t number)
{
    struct dice dice = dice_of_seed(number);
    size_t len = dice_hits(&dice, 8) ? dice_below(&dice, 30000) : dice_below(&dice, 300);
    char *text = malloc(len + 32);
    int head = snprintf(text, 32, "%zu:", number);

    for (size_t i = 0; i < len; i++)
        text[(size_t)head + i] = (char)('a' + (number + i / 7) % 26);
    text[(size_t)head + len] = '\0';
    return text;
}

/* ---- talking ---- */

static void store_batch(struct run *run)
{
    struct submission submissions[BATCH_MAX];
    struct talk *talks[BATCH_MAX];
    char *texts[BATCH_MAX];
    size_t count = 1 + dice_below(&run->dice, BATCH_MAX);

    for (size_t i = 0; i < count; i++) {
        talks[i] = &run->talks[dice_below(&run->dice, TOPICS)];
        texts[i] = text_of(run->next + i);
        submissions[i] = keeper_message(&run->keeper, talks[i]->name, texts[i]);
    }
    keeper_put(&run->keeper, submissions, count);
    for (size_t i = 0; i < count; i++) {
        struct rejection rejection = submissions[i].rejection;

        if (rejection.err == MCPX_OK || !rejection.certain)
            talks[i]->said[talks[i]->count + talks[i]->maybe++] = run->next + i;
        if (rejection.err == MCPX_OK) {
            cr_assert_eq(talks[i]->maybe, 1, "seed %lu: stored behind what is not known",
                         run->seed);
            talks[i]->maybe = 0;
            talks[i]->count++;
        }
        free(texts[i]);
    }
    run->next += count;
}

/* A router runs until its machine's power fails, or a little longer; the machine starts again. */
static void live(struct run *run, size_t steps, int batches)
{
    enum mcpx_err err;

    power_vfs_start(steps);
    err = keeper_open(&run->keeper);
    cr_assert(err == MCPX_OK || power_vfs_failed(), "seed %lu: %s", run->seed,
              run->keeper.errors.text);
    while (err == MCPX_OK && batches-- > 0 && !power_vfs_failed())
        store_batch(run);
    if (err == MCPX_OK)
        keeper_close(&run->keeper);
    run->cut += power_vfs_failed();
    power_vfs_fail(&run->dice);
    if (!run->keeper.config.full && access(run->keeper.file, F_OK) == 0)
        keeper_run(&run->keeper, "UPDATE meta SET value = 'another' WHERE key = 'boot_id'");
}

/* ---- looking ---- */

static void compare_texts(const struct run *run, const struct talk *talk,
                          const struct stored_topic_load *load)
{
    for (size_t i = 0; i < load->count; i++) {
        char *text = text_of(talk->said[load->topic.first - 1 + i]);

        cr_assert(mcpx_slice_equal(load->envelopes[i].text, mcpx_slice_of(text)),
                  "seed %lu, topic %s, serial %zu: another text", run->seed, talk->name,
                  (size_t)load->topic.first + i);
        free(text);
    }
}

/* A batch came whole or not at all, in whichever topics it has messages. */
static void judge_last_batch(struct run *run, const struct talk *talk, size_t last)
{
    int landed = last > talk->count;

    if (talk->maybe == 0 || last < talk->count)
        return;
    cr_assert(last == talk->count || last == talk->count + talk->maybe,
              "seed %lu, topic %s: half of a batch", run->seed, talk->name);
    cr_assert(run->landed < 0 || run->landed == landed,
              "seed %lu, topic %s: the batch is in one topic and not in another", run->seed,
              talk->name);
    run->landed = landed;
}

/* What the database has is what was said, in that order, up to `last`. */
static void look_at(struct run *run, struct talk *talk, const struct stored_topic_load *load)
{
    size_t last = load->is_known ? load->topic.first - 1 + load->count : 0;
    size_t kept = run->keeper.config.history_count;
    bool is_renewed = memcmp(load->epoch, talk->epoch, TOPIC_EPOCH_LEN) != 0;

    cr_assert_eq(load->rejection.err, MCPX_OK, "seed %lu, topic %s: %s", run->seed, talk->name,
                 load->reason);
    cr_assert_leq(last, talk->count + talk->maybe, "seed %lu: more than was said", run->seed);
    cr_assert_geq(load->count, last < kept ? last : kept, "seed %lu, topic %s: %zu", run->seed,
                  talk->name, load->count);
    compare_texts(run, talk, load);
    judge_last_batch(run, talk, last);
    if (run->keeper.config.full) {
        cr_assert_geq(last, talk->count, "seed %lu, topic %s: %zu of %zu", run->seed,
                      talk->name, last, talk->count);
        cr_assert(last == 0 || !is_renewed, "seed %lu: nothing was lost", run->seed);
    }
    if (last < talk->count) {
        run->lost++;
        cr_assert(last == 0 || is_renewed, "seed %lu: it is gone, and nobody is told",
                  run->seed);
    }
    memcpy(talk->epoch, last > 0 ? load->epoch : first_epoch, TOPIC_EPOCH_LEN);
    talk->count = last;
    talk->maybe = 0;
}

static void look(struct run *run)
{
    power_vfs_start(UINT64_MAX);
    cr_assert_eq(keeper_open(&run->keeper), MCPX_OK, "seed %lu: %s", run->seed,
                 run->keeper.errors.text);
    run->landed = -1;
    for (size_t i = 0; i < TOPICS; i++) {
        struct stored_topic_load *load = keeper_load(&run->keeper, run->talks[i].name);

        look_at(run, &run->talks[i], load);
    }
    keeper_close(&run->keeper);
}

/* ---- runs ---- */

static void run_one(unsigned long seed, bool full, unsigned *lost, unsigned *cut)
{
    struct run *run = calloc(1, sizeof *run);

    run->seed = seed;
    run->dice = dice_of_seed(seed);
    for (size_t i = 0; i < TOPICS; i++) {
        (void)snprintf(run->talks[i].name, sizeof run->talks[i].name, "t%zu", i);
        memcpy(run->talks[i].epoch, first_epoch, sizeof first_epoch);
    }
    keeper_init(&run->keeper);
    run->keeper.config.vfs = POWER_VFS;
    run->keeper.config.full = full;
    run->keeper.config.history_bytes = 1 << 30;
    run->keeper.config.history_count = dice_hits(&run->dice, 2) ? 20 : 10000;
    for (int i = 0; i < LIVES; i++) {
        live(run, dice_below(&run->dice, dice_hits(&run->dice, 4) ? 60 : 3000), BATCHES);
        while (dice_hits(&run->dice, 3)) /* and while it recovers */
            live(run, dice_below(&run->dice, 40), 0);
        look(run);
    }
    *lost += run->lost;
    *cut += run->cut;
    keeper_fini(&run->keeper);
    free(run);
}

static void run_all(bool full, unsigned *lost)
{
    uint64_t seeds = dice_number_of("MCPX_SEEDS", 40);
    unsigned cut = 0;

    power_vfs_register();
    *lost = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++)
        run_one(seed, full, lost, &cut);
    cr_expect_gt(cut, seeds, "the power fails while there is something to do");
}

Test(sqlite_power, with_full_nothing_that_was_stored_is_lost, .timeout = 3600)
{
    unsigned lost;

    run_all(true, &lost);
    cr_expect_eq(lost, 0);
}

Test(sqlite_power, without_it_what_is_lost_is_told, .timeout = 3600)
{
    unsigned lost;

    run_all(false, &lost);
    cr_expect_gt(lost, 0, "the disk loses what was not synced");
}
