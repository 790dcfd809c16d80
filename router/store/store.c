/*
 * store.c - the loop's end of all work queues. Submissions go to the audit, then to the database;
 * after the last stage they are committed, in order. Loaded topics go to the hub in portions: a
 * large topic must not stop the loop.
 *
 *     hub_next_task ──► audit ──► sqlite ──► hub_commit
 *                         │          │
 *                         └──────────┴─────► hub_reject
 */
#include "router/store/store.h"

#include "lib/base/map.h"
#include "lib/edge/timer.h"
#include "lib/json/json_write.h"
#include "router/store/audit/audit.h"
#include "router/store/sqlite/sqlite.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* Limits of a portion, in bytes and envelopes; limit of the hashes in `damaged`. */
enum { PORTION_BYTES = 2 << 20, PORTION_COUNT = 4000, DAMAGED_MAX = 10000 };

/* A stage, the number of its unanswered submissions, and the beginning of its silence. */
struct stage_queue {
    struct work_queue *queue; /* NULL = it is off */
    size_t count;
    int64_t since_ms;
};

struct store {
    /* `audit`, `sqlite`: NULL when off. */
    struct audit *audit;
    struct sqlite *sqlite;
    struct stage_queue at_audit, at_sqlite; /* the state of these stages */
    bool blocks;                            /* ON_FULL_BLOCK: submissions wait for the audit */
    int64_t slow_ms;
    void (*wake)(void *context);
    void *context;
    struct link loads;      /* loads that the hub does not have completely, the oldest first */
    size_t loaded;          /* envelopes of the first load handed to the hub so far */
    bool begun;             /* the topic of the first load, if known, was handed to the hub */
    struct mcpx_text lines; /* for the log, each with a line end */
    struct mx_map damaged;  /* hashes of the damaged topics that were logged */
    struct store_figures figures;
};

/* ---- beginning and end ---- */

enum mcpx_err store_new(const struct store_config *config, void (*wake)(void *context),
                        void *context, struct mcpx_text *errors, struct store **out)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct store *store = calloc(1, sizeof *store);
    enum mcpx_err err = MCPX_OK;

    if (!store)
        return MCPX_ENOMEM;
    (void)sigaction(SIGXFSZ, &ignore, NULL);
    store->wake = wake;
    store->context = context;
    store->slow_ms = config->slow_ms;
    list_init(&store->loads);
    if (config->file)
        err = sqlite_new(config, wake, context, errors, &store->sqlite);
    if (err == MCPX_OK && config->audit)
        err = audit_new(config->audit, wake, context, errors, &store->audit);
    if (err != MCPX_OK) {
        store_free(store);
        return err;
    }
    if (config->file)
        store->at_sqlite.queue = sqlite_queue(store->sqlite);
    if (config->audit) {
        store->at_audit.queue = audit_queue(store->audit);
        store->blocks = config->audit->on_full == ON_FULL_BLOCK;
    }
    *out = store;
    return MCPX_OK;
}

static struct stored_topic_load *first_load(const struct store *store)
{
    return LIST_FIRST(&store->loads, struct stored_topic_load, kept.link);
}

static void drop_first_load(struct store *store)
{
    struct stored_topic_load *load = first_load(store);

    list_remove(&load->kept.link);
    stored_topic_load_free(load);
    store->loaded = 0;
    store->begun = false;
}

void store_free(struct store *store)
{
    if (!store)
        return;
    audit_free(store->audit);
    sqlite_free(store->sqlite);
    while (first_load(store))
        drop_first_load(store);
    mcpx_text_fini(&store->lines);
    mx_map_fini(&store->damaged);
    free(store);
}

/* ---- answers ---- */

static void reject(struct store *store, struct hub *hub, const struct submission *submission,
                   struct mcpx_now now)
{
    struct rejection rejection = submission->rejection;
    bool full =
        store->figures.sqlite.state == STAGE_FULL || store->figures.audit.state == STAGE_FULL;

    if (rejection.err != MCPX_ESHARE) /* a quota, not a failure of ours */
        *(full ? &store->figures.refused_full : &store->figures.refused_failed) += 1;
    hub_reject(hub, submission->ticket, &rejection, now);
}

/* Corrects the audit if it has a line that allows the submission. */
static void tell_undelivered(struct store *store, const struct submission *submission,
                             struct mcpx_now now)
{
    const struct rejection *rejection = &submission->rejection;
    struct audit_note note = {.what = AUDIT_UNDELIVERED,
                              .wall_ms = now.wall_ms,
                              .topic = submission->topic,
                              .id = submission->id,
                              .error = mcpx_slice_of(mcpx_error_wire(rejection->err)),
                              .reason =
                                  mcpx_slice_of(rejection->certain ? "refused" : "unknown"),
                              .of = submission->line};

    if (submission->line)
        store_note(store, &note);
}

static void give(struct stage_queue *stage, struct link *submissions, size_t count,
                 struct mcpx_now now)
{
    if (count == 0)
        return;
    if (stage->count == 0)
        stage->since_ms = now.mono_ms;
    stage->count += count;
    work_queue_put(stage->queue, submissions, count);
}

/* Takes a stage's answers. A disk that hangs reports nothing, so SLOW is set here. */
static void take_back(const struct store *store, struct stage_queue *stage,
                      struct link *answers, struct stage_report *report, struct mcpx_now now)
{
    int64_t silent_ms;

    list_init(answers);
    work_queue_answers(stage->queue, answers, report);
    for (const struct link *at = answers->next; at != answers; at = at->next) {
        stage->count--;
        stage->since_ms = now.mono_ms;
    }
    silent_ms = now.mono_ms - stage->since_ms;
    if (store->slow_ms == 0 || silent_ms < store->slow_ms || stage->count == 0 ||
        report->state != STAGE_READY)
        return;
    report->state = STAGE_SLOW;
    (void)snprintf(report->reason, sizeof report->reason,
                   "nothing was answered for %" PRId64 " s", silent_ms / 1000);
}

/* Passes submissions on to the next stage, or commits them after the last; rejects failed ones. */
static void pass_on(struct store *store, struct hub *hub, struct link *answers,
                    struct stage_queue *next, struct mcpx_now now)
{
    struct link onward;
    size_t count = 0;

    list_init(&onward);
    LIST_EACH(at, answers) {
        struct submission *submission = LIST_ELEMENT(at, struct submission, link);

        list_remove(at);
        if (submission->rejection.err) {
            tell_undelivered(store, submission, now);
            reject(store, hub, submission, now);
        } else if (next->queue) {
            list_append(&onward, at);
            count++;
        } else {
            hub_commit(hub, submission->ticket, now);
        }
    }
    give(next, &onward, count, now);
}

static void take_answers(struct store *store, struct hub *hub, struct mcpx_now now)
{
    struct stage_queue no_stage = {NULL, 0, 0};
    struct link answers;

    if (store->sqlite) {
        take_back(store, &store->at_sqlite, &answers, &store->figures.sqlite, now);
        pass_on(store, hub, &answers, &no_stage, now);
    }
    if (store->audit) {
        take_back(store, &store->at_audit, &answers, &store->figures.audit, now);
        pass_on(store, hub, &answers, &store->at_sqlite, now);
    }
}

/* ---- loads of topics ---- */

static void tell_of_damage(struct store *store, const struct stored_topic_load *load)
{
    uint64_t hash = mx_map_hash((struct mx_map_key){{0, 0}}, load->name);
    size_t at = 0;

    if (load->reason[0] == '\0' || mx_map_next(&store->damaged, hash, &at))
        return;
    if (store->damaged.count < DAMAGED_MAX && mx_map_reserve(&store->damaged))
        mx_map_put(&store->damaged, hash, 1);
    mx_format(&store->lines, "topic %q cannot be read: %s\n", load->name, load->reason);
    if (store->lines.failed)
        mcpx_text_reset(&store->lines);
}

static void end_load(struct store *store, struct hub *hub, enum mcpx_err err,
                     struct mcpx_now now)
{
    struct stored_topic_load *load = first_load(store);
    struct rejection rejection = {err, 0, true};

    mx_histogram_add(&store->figures.open, &stage_times, 1, mx_clock_us() - load->begun_us);
    if (err == MCPX_OK) {
        hub_commit(hub, load->ticket, now);
    } else {
        tell_of_damage(store, load);
        hub_reject(hub, load->ticket, &rejection, now);
    }
    drop_first_load(store);
}

/* Says why the hub refuses a stored text: the router stores only envelopes of participants. */
static enum mcpx_err explain_refusal(struct stored_topic_load *load, uint64_t serial,
                                     enum mcpx_err err)
{
    if (err != MCPX_EINVALID)
        return err;
    (void)snprintf(load->reason, sizeof load->reason,
                   "the stored envelope is not one of a participant, at serial %" PRIu64,
                   serial);
    return MCPX_EUNAVAILABLE;
}

/* Hands over a portion of a load. Returns false when the load has more. */
static bool hand_over(struct store *store, struct hub *hub, size_t *bytes, size_t *count,
                      enum mcpx_err *err)
{
    struct stored_topic_load *load = first_load(store);

    *err = load->rejection.err;
    if (*err == MCPX_OK && load->is_known && !store->begun)
        *err = hub_load_topic(hub, load->ticket, &load->topic);
    store->begun = true;
    while (*err == MCPX_OK && store->loaded < load->count) {
        const struct stored_envelope *envelope = &load->envelopes[store->loaded];

        if (*bytes >= PORTION_BYTES || *count >= PORTION_COUNT)
            return false;
        *bytes += envelope->text.len;
        *count += 1;
        *err = hub_load(hub, load->ticket, envelope);
        *err = explain_refusal(load, load->topic.first + store->loaded++, *err);
    }
    return true;
}

static void take_loads(struct store *store, struct hub *hub, struct mcpx_now now)
{
    size_t bytes = 0;
    size_t count = 0;
    enum mcpx_err err;

    sqlite_loads(store->sqlite, &store->loads);
    while (first_load(store)) {
        if (!hand_over(store, hub, &bytes, &count, &err)) {
            store->wake(store->context);
            return;
        }
        end_load(store, hub, err, now);
    }
}

/* ---- tasks ---- */

static void pass_topic(struct store *store, struct hub *hub, const struct task *task,
                       struct mcpx_now now)
{
    struct rejection no_memory = {MCPX_ENOMEM, 0, true};
    enum mcpx_err err = store->sqlite ? sqlite_pass(store->sqlite, task) : MCPX_OK;

    if (task->kind == TASK_OPEN && err != MCPX_OK)
        hub_reject(hub, task->ticket, &no_memory, now);
}

static void take_tasks(struct store *store, struct hub *hub, struct mcpx_now now)
{
    struct link submissions;
    struct task task;
    size_t count = 0;

    list_init(&submissions);
    while (hub_next_task(hub, &task)) {
        if (task.kind != TASK_STORE) {
            pass_topic(store, hub, &task, now);
            continue;
        }
        list_init(&task.submission->link);
        list_append(&submissions, &task.submission->link);
        count++;
    }
    give(store->audit ? &store->at_audit : &store->at_sqlite, &submissions, count, now);
}

void store_turn(struct store *store, struct hub *hub, struct mcpx_now now)
{
    take_answers(store, hub, now);
    if (store->sqlite)
        take_loads(store, hub, now);
    take_tasks(store, hub, now);
}

/* ---- state, for the rest of the router ---- */

void store_note(struct store *store, const struct audit_note *note)
{
    if (store->audit)
        audit_tell(store->audit, note);
}

const char *store_why(const struct store *store)
{
    static const char *const sqlite_why[] = {NULL, "store full", "store failed", "store slow",
                                             "store locked"};
    static const char *const audit_why[] = {NULL, "audit full", "audit failed", "audit slow"};
    const char *found = sqlite_why[store->figures.sqlite.state];

    return found ? found : audit_why[store->figures.audit.state];
}

struct mcpx_text store_take_lines(struct store *store)
{
    struct mcpx_text lines = store->lines;

    store->lines = (struct mcpx_text){0};
    return lines;
}

const struct store_figures *store_figures(const struct store *store)
{
    return &store->figures;
}

bool store_is_blocked(const struct store *store)
{
    enum stage_state state = store->figures.audit.state;

    return store->blocks && (state == STAGE_FULL || state == STAGE_FAILED);
}
