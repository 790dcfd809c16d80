/*
 * audit.c - the audit's thread, between a work queue and a writer. One mutex protects what loop and
 * thread share: the quotas, the count of unwritten notes and the size of the waiting ones.
 */
#include "router/store/audit/audit.h"

#include "lib/base/bucket.h"
#include "lib/edge/timer.h"
#include "router/store/audit/audit_writer.h"
#include "router/store/commit/submission.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

enum { RETRY_MS = 1000, BLOCKED_MS = 200, TOLD_AFTER_MS = 10000 };

/* Lines about refusals per participant or address: the hub does not limit the rate of refusals. */
static const struct mx_rate refusals = {.per_minute = 6, .burst = 100};

/* Notes left out: count and times; `name` of the participant or address while there is only one. */
struct unwritten {
    uint64_t count;
    int64_t since, until, since_ms;
    char name[256];
    size_t len;
};

/* An audit: constants, then the members that `lock` protects, then those of the thread. */
struct audit {
    struct work_queue *queue;
    enum on_full on_full; /* never changes */

    pthread_mutex_t lock;
    struct mx_buckets quotas;
    struct unwritten unwritten;
    size_t waiting;

    struct audit_writer writer;
};

/* ---- the thread ---- */

/* Counts a note as not written. `name` is absent unless the quota of that name is the reason. */
static void lose(struct unwritten *lost, struct mcpx_slice name, struct mcpx_now now)
{
    if (lost->count++ == 0) {
        lost->since = now.wall_ms;
        lost->since_ms = now.mono_ms;
        lost->len = name.text && name.len <= sizeof lost->name ? name.len : 0;
        memcpy(lost->name, name.text ? name.text : "", lost->len);
    } else if (!mcpx_slice_equal((struct mcpx_slice){lost->name, lost->len}, name)) {
        lost->len = 0;
    }
    lost->until = now.wall_ms;
}

/* Appends a note about the unwritten ones once they are TOLD_AFTER_MS old; at once for `all`. */
static void add_unwritten(struct audit *audit, struct batch *batch, bool all)
{
    struct unwritten *lost = &audit->unwritten;
    struct audit_note note = {.what = AUDIT_LOST, .reason = MCPX_SLICE("share")};
    struct audit_note_copy *told = NULL;

    (void)pthread_mutex_lock(&audit->lock);
    note.wall_ms = note.until = lost->until;
    note.since = lost->since;
    note.count = lost->count;
    note.from = (struct mcpx_slice){lost->len > 0 ? lost->name : NULL, lost->len};
    if (lost->count > 0 && (all || mx_clock_now().mono_ms - lost->since_ms >= TOLD_AFTER_MS))
        told = audit_note_copy_new(&note);
    if (told) {
        lost->count = 0;
        told->kept.behind = batch->first + batch->count;
        list_append(&batch->kept_items, &told->kept.link);
        audit->waiting += told->size;
    }
    (void)pthread_mutex_unlock(&audit->lock);
}

static void free_kept(struct audit *audit, struct batch *batch)
{
    size_t bytes = 0;

    LIST_EACH(at, &batch->kept_items) {
        struct audit_note_copy *told = LIST_ELEMENT(at, struct audit_note_copy, kept.link);

        bytes += told->size;
        free(told);
    }
    list_init(&batch->kept_items);
    (void)pthread_mutex_lock(&audit->lock);
    audit->waiting -= bytes;
    (void)pthread_mutex_unlock(&audit->lock);
}

/* With ON_FULL_BLOCK, repeats until the queue ends, and reports each failure to the loop. */
static bool write_somehow(struct audit *audit, struct batch *batch)
{
    bool blocks = audit->on_full == ON_FULL_BLOCK && batch->count > 0;
    struct link none;

    list_init(&none);
    while (!audit_writer_write(&audit->writer, batch, false)) {
        if (!blocks)
            return false;
        work_queue_answer(audit->queue, &none, &audit->writer.report);
        if (!work_queue_pause(audit->queue, BLOCKED_MS))
            return false;
    }
    return true;
}

static void handle(struct audit *audit, struct batch *batch)
{
    static const struct rejection no_room = {MCPX_EUNAVAILABLE, RETRY_MS, true};
    struct stage_report *report = &audit->writer.report;
    uint64_t begun_us = mx_clock_us();
    enum stage_state before = report->state;
    bool dropping = audit->on_full == ON_FULL_DROP;
    bool written;

    add_unwritten(audit, batch, false);
    written = write_somehow(audit, batch);
    if (!written) {
        audit_writer_lose(&audit->writer, batch, dropping);
    } else if (batch->count > 0) {
        mx_histogram_add(&report->work, &stage_times, 1, mx_clock_us() - begun_us);
        mx_histogram_add(&report->sizes, &stage_sizes, 1, batch->count);
    }
    free_kept(audit, batch);
    LIST_EACH(at, &batch->items)
        LIST_ELEMENT(at, struct submission, link)->rejection =
            written || dropping ? (struct rejection){0} : no_room;
    if (batch->count > 0 || report->lines || report->checkpoints || report->state != before)
        work_queue_answer(audit->queue, &batch->items, report);
}

static void run(void *context)
{
    struct audit *audit = context;
    struct batch batch = {.first = 0};

    while (work_queue_take(audit->queue, audit_writer_wait_ms(&audit->writer), &batch))
        handle(audit, &batch);
    add_unwritten(audit, &batch, true);
    (void)audit_writer_write(&audit->writer, &batch, true);
    free_kept(audit, &batch);
}

/* ---- the loop ---- */

enum mcpx_err audit_new(const struct audit_config *config, void (*wake)(void *context),
                        void *context, struct mcpx_text *errors, struct audit **out)
{
    struct audit *audit = calloc(1, sizeof *audit);
    struct work_queue_config queue = {run, audit, submission_weight, wake, context};
    enum mcpx_err err;

    if (!audit)
        return MCPX_ENOMEM;
    if (pthread_mutex_init(&audit->lock, NULL) != 0) {
        free(audit);
        return MCPX_ENOMEM;
    }
    audit->on_full = config->on_full;
    audit->quotas.rate = refusals;
    err =
        getrandom(&audit->quotas.key, sizeof audit->quotas.key, 0) == sizeof audit->quotas.key
            ? audit_writer_open(config, errors, &audit->writer)
            : MCPX_EUNAVAILABLE;
    if (!err)
        err = work_queue_new(&queue, &audit->queue);
    if (!err)
        err = work_queue_start(audit->queue);
    if (err)
        audit_free(audit);
    else
        *out = audit;
    return err;
}

struct work_queue *audit_queue(struct audit *audit)
{
    return audit->queue;
}

/* Reserves `size` bytes for a note that waits, or counts it as lost; 0 = it could not be copied. */
static bool admit(struct audit *audit, const struct audit_note *note, size_t size)
{
    bool away = note->what == AUDIT_TURNED_AWAY;
    bool has_quota = away || note->what == AUDIT_REFUSE;
    struct mcpx_now now = {mx_clock_now().mono_ms, note->wall_ms};
    struct mcpx_slice name = away ? note->address : note->from;
    bool admitted;

    (void)pthread_mutex_lock(&audit->lock);
    admitted = size > 0 && (!has_quota || audit->waiting + size <= AUDIT_WAITING_MAX);
    if (!admitted)
        name = (struct mcpx_slice){0};
    else if (has_quota)
        admitted = mx_buckets_wait_ms(&audit->quotas, name, 1, now.mono_ms) == 0;
    if (!admitted)
        lose(&audit->unwritten, name, now);
    else if (has_quota)
        mx_buckets_spend(&audit->quotas, name, 1, now.mono_ms);
    audit->waiting += admitted ? size : 0;
    (void)pthread_mutex_unlock(&audit->lock);
    return admitted;
}

void audit_tell(struct audit *audit, const struct audit_note *note)
{
    struct audit_note_copy *told = audit_note_copy_new(note);

    if (admit(audit, note, told ? told->size : 0))
        work_queue_put_kept(audit->queue, &told->kept);
    else
        free(told);
}

void audit_free(struct audit *audit)
{
    if (!audit)
        return;
    work_queue_free(audit->queue);
    audit_writer_close(&audit->writer);
    (void)pthread_mutex_destroy(&audit->lock);
    free(audit);
}
