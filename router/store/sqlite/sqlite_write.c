/*
 * sqlite_write.c - a batch is a transaction: all of it is stored or none. The rows of `topic` that
 * it changes are kept in memory and written once, at its end. After a failed transaction they are
 * read again (open_topics_settle).
 *
 * One damaged page would refuse a whole batch, so a batch that meets one is repeated message by
 * message. So is a batch when a full file cannot be cut enough for all of it.
 */
#include "router/store/sqlite/sqlite.h"

#include "lib/edge/timer.h"
#include "router/store/sqlite/sqlite_retain.h"
#include "router/store/sqlite/sqlite_schema.h"

#include <errno.h>
#include <mcpx/envelope.h>
#include <sqlite3.h>
#include <stdlib.h>

/*
 * Sizes of the WAL, in pages, for a checkpoint and for emptying it; pauses between deletions, and
 * between attempts on a full disk.
 */
enum {
    AHEAD_PAGES = 1000,
    LARGE_PAGES = 4000,
    AGE_PAUSE_MS = 60000,
    AGE_PAUSE_IDLE_MS = 100,
    ROOM_PAUSE_MS = 1000
};

/*
 * A full file is cut by more than a batch needs, so that few batches cut: by 1/CUT_PART of the
 * file, at most CUT_MAX bytes. A batch cuts at most CUTS_MAX times: several cuts may be needed,
 * because deleted entries may lie scattered.
 */
enum { CUT_PART = 32, CUT_MAX = 16 << 20, CUTS_MAX = 4 };

struct writer {
    struct sqlite3 *db;
    struct retain retain;
    struct open_topics topics;
    sqlite3_stmt *find, *make, *add, *save;
    enum stage_state state;
    int ahead;        /* pages of the WAL, as of the last commit */
    int ahead_max;    /* that many start a checkpoint */
    uint64_t aged_us; /* when old entries were deleted last */
    size_t counted;   /* messages that the current transaction has added */
    /* Bound of the file; `is_at_bound`: the last transaction did not fit into it. */
    uint64_t file_bytes;
    bool is_at_bound;
    /* To be called with `context` before the first transaction; NULL = done. */
    int (*prepare)(void *context);
    void *context;
};

/* ---- beginning and end ---- */

static int note_ahead(void *context, struct sqlite3 *db, const char *name, int pages)
{
    struct writer *writer = context;

    (void)db;
    (void)name;
    writer->ahead = pages;
    return SQLITE_OK;
}

static int prepare_all(struct writer *writer, const struct store_config *config)
{
    const struct statement rows[] = {
        {"SELECT " EXTENT_COLUMNS " FROM topic WHERE name = ?1", &writer->find},
        {"INSERT INTO topic (name, epoch, first_serial, last_serial, bytes) "
         "VALUES (?1, CAST(?2 AS TEXT), 1, 0, 0)",
         &writer->make},
        {"INSERT INTO entry (seq, topic, serial, wall_ms, sum, text, owner) "
         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
         &writer->add},
        {"UPDATE topic SET first_serial = ?2, last_serial = ?3, bytes = ?4,"
         " counted_serial = ?5 WHERE topic = ?1",
         &writer->save},
    };
    int code = retain_init(&writer->retain, writer->db, config);

    return code == SQLITE_OK ? statements_make(writer->db, rows, sizeof rows / sizeof *rows)
                             : code;
}

enum mcpx_err writer_new(struct sqlite3 *db, const struct store_config *config,
                         struct writer **out)
{
    struct writer *writer = calloc(1, sizeof *writer);
    int code;

    if (!writer)
        return MCPX_ENOMEM;
    writer->db = db;
    writer->ahead_max = AHEAD_PAGES;
    writer->file_bytes = config->file_bytes;
    open_topics_init(&writer->topics);
    (void)sqlite3_wal_hook(db, note_ahead, writer);
    code = prepare_all(writer, config);
    if (code != SQLITE_OK) {
        writer_free(writer);
        return code == SQLITE_NOMEM ? MCPX_ENOMEM : MCPX_ECONFIG;
    }
    *out = writer;
    return MCPX_OK;
}

void writer_await(struct writer *writer, int (*prepare)(void *context), void *context)
{
    writer->state = STAGE_FULL;
    writer->prepare = prepare;
    writer->context = context;
}

void writer_free(struct writer *writer)
{
    if (!writer)
        return;
    (void)sqlite3_wal_hook(writer->db, NULL, NULL);
    statements_free(writer->db);
    open_topics_fini(&writer->topics);
    mx_holders_fini(&writer->retain.holders);
    mx_holders_fini(&writer->retain.gone);
    free(writer);
}

/* ---- topics ---- */

static int refresh(struct writer *writer, struct open_topic *topic)
{
    int code;

    if (!topic->stale)
        return SQLITE_OK;
    code = statement_say_text(writer->find, 1, topic->name);
    if (code != SQLITE_OK)
        return code;
    code = sqlite3_step(writer->find);
    topic->now = (struct extent){.first = 1};
    if (code == SQLITE_ROW)
        topic->now = extent_of(writer->find);
    (void)sqlite3_reset(writer->find);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return code;
    topic->stale = false;
    mx_holders_fini(&topic->added);
    topic->added_count = 0;
    return SQLITE_OK;
}

static int make_topic(struct writer *writer, struct open_topic *topic, struct mcpx_slice epoch)
{
    struct mcpx_slice texts[] = {topic->name, epoch};
    int code = statement_run(writer->make, NULL, 0, texts, 2);

    if (code == SQLITE_OK)
        topic->now.row = sqlite3_last_insert_rowid(writer->db);
    return code;
}

bool writer_open(struct writer *writer, struct mcpx_slice name)
{
    struct open_topic *topic = open_topics_get(&writer->topics, name);

    if (!topic)
        return false;
    if (refresh(writer, topic) == SQLITE_OK && topic->now.row == 0)
        open_topics_drop(&writer->topics, topic);
    return true;
}

void writer_close(struct writer *writer, struct mcpx_slice name)
{
    struct open_topic *topic = open_topics_find(&writer->topics, name);

    if (!topic)
        return;
    if (writer->state == STAGE_READY && refresh(writer, topic) == SQLITE_OK &&
        topic->now.row != 0 && topic->now.first > topic->now.last)
        (void)retain_remove(&writer->retain, topic->now.row);
    open_topics_drop(&writer->topics, topic);
}

/* ---- a batch ---- */

static struct mcpx_slice owner_of(const struct submission *submission)
{
    return mcpx_identity_of(submission->from);
}

/* True when it is within its participant's quota; else it is rejected. */
static bool is_within_cap(const struct writer *writer, struct submission *submission)
{
    bool fits = mx_holders_ask(&writer->retain.holders, owner_of(submission),
                               submission->text.len) == MX_SHARING_FITS;

    submission->rejection = (struct rejection){fits ? MCPX_OK : MCPX_ESHARE, 0, true};
    return fits;
}

static int add(struct writer *writer, const struct submission *submission)
{
    struct open_topic *topic = open_topics_get(&writer->topics, submission->topic);
    int code = topic ? refresh(writer, topic) : SQLITE_NOMEM;

    if (code != SQLITE_OK)
        return code;
    if (list_is_empty(&topic->changed))
        list_append(&writer->topics.changed, &topic->changed);
    if (topic->now.row == 0)
        code = make_topic(writer, topic, submission->epoch);
    if (code == SQLITE_OK) {
        uint64_t serial = topic->now.last + 1;
        int64_t numbers[] = {++writer->retain.last, topic->now.row, (int64_t)serial,
                             submission->wall_ms,
                             schema_sum(submission->topic, serial, submission->text)};
        struct mcpx_slice texts[] = {submission->text, owner_of(submission)};

        code = statement_run(writer->add, numbers, 5, texts, 2);
    }
    if (code == SQLITE_OK)
        code = retain_add(&writer->retain, topic, owner_of(submission), submission->text.len);
    writer->counted += code == SQLITE_OK;
    topic->now.last++;
    topic->now.bytes += submission->text.len;
    return code;
}

/* Writes the row of a changed topic, after the entries beyond its bounds are deleted. */
static int save(struct writer *writer, struct open_topic *topic)
{
    const struct extent *now = &topic->now;
    int code = retain_newest(&writer->retain, topic);
    int64_t numbers[] = {now->row, (int64_t)now->first, (int64_t)now->last,
                         (int64_t)now->bytes, (int64_t)now->counted};

    return code == SQLITE_OK ? statement_run(writer->save, numbers, 5, NULL, 0) : code;
}

static struct submission *submission_of(struct link *link)
{
    return LIST_ELEMENT(link, struct submission, link);
}

static int begin(struct writer *writer)
{
    int code;

    errno = 0;
    code = writer->prepare ? writer->prepare(writer->context) : SQLITE_OK;
    if (code != SQLITE_OK)
        return code;
    writer->prepare = NULL;
    (void)sqlite3_reset(writer->retain.oldest); /* a deletion may have failed half way */
    writer->retain.took = false;
    writer->counted = 0;
    code = schema_run(writer->db, "BEGIN IMMEDIATE");
    return code == SQLITE_OK ? retain_count(&writer->retain) : code;
}

/* Does all work between BEGIN and COMMIT for the messages from `link` on, up to `end`. */
static int add_all(struct writer *writer, struct link *link, const struct link *end)
{
    struct link *changed = &writer->topics.changed;
    int code = SQLITE_OK;

    for (; code == SQLITE_OK && link != end; link = link->next)
        if (submission_of(link)->what == SUBMIT_MESSAGE &&
            is_within_cap(writer, submission_of(link)))
            code = add(writer, submission_of(link));
    for (struct link *at = changed->next; code == SQLITE_OK && at != changed; at = at->next)
        code = save(writer, LIST_ELEMENT(at, struct open_topic, changed));
    return code;
}

/* Ends a transaction: commits it if `code` is SQLITE_OK. Returns the rejection of its messages. */
static struct rejection conclude(struct writer *writer, int code, struct stage_report *report)
{
    struct rejection rejection = {0};
    bool committing = code == SQLITE_OK;

    if (committing) {
        errno = 0;
        code = schema_run(writer->db, "COMMIT");
    }
    writer->is_at_bound = writer->file_bytes > 0 && error_is_at_bound(code);
    if (code != SQLITE_OK) {
        rejection = error_judge(writer->db, code, committing, report);
        if (!sqlite3_get_autocommit(writer->db))
            (void)schema_run(writer->db, "ROLLBACK");
    } else {
        report->state = STAGE_READY;
    }
    writer->state = report->state;
    open_topics_settle(&writer->topics, code == SQLITE_OK);
    writer->retain.recount |=
        code != SQLITE_OK && (writer->retain.took || code == SQLITE_NOMEM);
    return rejection;
}

/* Runs a transaction for the messages from `link` on, up to `end`. Returns SQLite's code. */
static int transact(struct writer *writer, struct link *link, const struct link *end,
                    struct stage_report *report)
{
    struct rejection rejection;
    int code = begin(writer);

    if (code == SQLITE_OK)
        code = add_all(writer, link, end);
    rejection = conclude(writer, code, report);
    for (; link != end; link = link->next) {
        struct submission *submission = submission_of(link);

        if (submission->what != SUBMIT_MESSAGE || submission->rejection.err == MCPX_ESHARE)
            continue;
        if (rejection.err && writer->counted > 0) {
            writer->counted--;
            mx_holders_remove(&writer->retain.holders, owner_of(submission),
                              submission->text.len);
        }
        submission->rejection = rejection;
    }
    return code;
}

/* Rejects nothing, but an error of the disk makes the writer fail. */
static void note_error(struct writer *writer, int code, struct stage_report *report)
{
    if (code == SQLITE_OK || !error_is_of_disk(code) || error_is_full(writer->db, code))
        return;
    (void)error_judge(writer->db, code, true, report);
    writer->state = report->state;
}

/*
 * Deletes entries above the maximum age; or, when `cut` is not 0, about `cut` bytes in the topics
 * of the largest holder. False when nothing has changed.
 */
static bool delete_some(struct writer *writer, uint64_t cut, struct stage_report *report)
{
    struct retain *retain = &writer->retain;
    size_t deleted = 0;
    int code = begin(writer);

    if (code == SQLITE_OK)
        code = cut ? retain_cut(retain, &writer->topics, cut)
                   : retain_young(retain, &writer->topics, mx_clock_now(), &deleted);
    if (code == SQLITE_OK)
        code = schema_run(writer->db, "COMMIT");
    note_error(writer, code, report);
    if (!sqlite3_get_autocommit(writer->db))
        (void)schema_run(writer->db, "ROLLBACK");
    retain->recount |= code != SQLITE_OK;
    return code == SQLITE_OK;
}

/* As transact. In a full file it cuts the largest holder's topics and tries again. */
static int transact_in_full(struct writer *writer, struct link *link, const struct link *end,
                            struct stage_report *report)
{
    uint64_t spare = writer->file_bytes / CUT_PART;
    uint64_t bytes = spare < CUT_MAX ? spare : CUT_MAX;
    int code = transact(writer, link, end, report);

    for (const struct link *at = link; at != end; at = at->next)
        bytes += submission_weight(at);
    for (int i = 0; i < CUTS_MAX && writer->is_at_bound; i++) {
        if (!delete_some(writer, bytes, report))
            break;
        code = transact(writer, link, end, report);
    }
    return code;
}

static void store(struct writer *writer, struct batch *batch, struct stage_report *report)
{
    struct link *end = &batch->items;
    int code = transact_in_full(writer, end->next, end, report);

    if (!error_is_damage(code) && !writer->is_at_bound)
        return;
    for (struct link *at = end->next; at != end && writer->state != STAGE_FAILED;
         at = at->next)
        if (submission_of(at)->what == SUBMIT_MESSAGE)
            (void)transact_in_full(writer, at, at->next, report);
}

void writer_store(struct writer *writer, struct batch *batch, struct stage_report *report)
{
    static const struct rejection refused = {MCPX_EUNAVAILABLE, 0, true};
    uint64_t begun_us = mx_clock_us();
    struct link *end = &batch->items;
    size_t messages = 0;

    report->state = writer->state;
    for (struct link *at = end->next; at != end; at = at->next) {
        bool is_message = submission_of(at)->what == SUBMIT_MESSAGE;

        submission_of(at)->rejection = is_message ? refused : (struct rejection){0};
        messages += is_message;
    }
    if (messages == 0 || writer->state == STAGE_FAILED)
        return;
    store(writer, batch, report);
    mx_histogram_add(&report->work, &stage_times, 1, mx_clock_us() - begun_us);
    mx_histogram_add(&report->sizes, &stage_sizes, 1, messages);
}

/* ---- upkeep ---- */

/*
 * Runs a checkpoint without waiting for readers: pages that they still need stay for the next one.
 * When no pages stay, a WAL that has become large is emptied, unless a reader is active again.
 */
static void bring_in(struct writer *writer, struct stage_report *report)
{
    int pages = 0;
    int done = 0;
    int code =
        sqlite3_wal_checkpoint_v2(writer->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &done);

    writer->ahead_max = AHEAD_PAGES + (done < pages ? pages : 0);
    writer->ahead = done < pages ? pages : 0;
    note_error(writer, code, report);
    if (code != SQLITE_OK || done < pages || pages < LARGE_PAGES)
        return;
    (void)sqlite3_busy_timeout(writer->db, 0);
    (void)schema_checkpoint(writer->db);
    (void)sqlite3_busy_timeout(writer->db, SCHEMA_BUSY_MS);
}

/* Tries a write without a batch: the senders may have left while nothing could be written. */
static void look_for_room(struct writer *writer, struct stage_report *report)
{
    int code = begin(writer);

    if (code == SQLITE_OK)
        code = schema_run(writer->db, "INSERT INTO entry (topic, serial, wall_ms, sum, text)"
                                      " VALUES (0, 0, 0, 0, zeroblob(16384));"
                                      "DELETE FROM entry WHERE topic = 0");
    (void)conclude(writer, code, report);
}

int64_t writer_upkeep(struct writer *writer, bool idle, struct stage_report *report)
{
    int64_t pause_ms = idle && writer->retain.more ? AGE_PAUSE_IDLE_MS : AGE_PAUSE_MS;
    int64_t since_ms = (int64_t)((mx_clock_us() - writer->aged_us) / 1000);
    bool waits = writer->state == STAGE_FULL || writer->state == STAGE_LOCKED;

    report->state = writer->state;
    if (writer->state == STAGE_FAILED)
        return AGE_PAUSE_MS;
    if (writer->ahead >= writer->ahead_max || waits)
        bring_in(writer, report);
    if (writer->retain.age_ms > 0 && since_ms >= pause_ms) {
        (void)delete_some(writer, 0, report);
        writer->aged_us = mx_clock_us();
        since_ms = 0;
    }
    if (waits && idle)
        look_for_room(writer, report);
    if (waits && writer->state != STAGE_READY)
        return ROOM_PAUSE_MS;
    pause_ms = writer->retain.more ? AGE_PAUSE_IDLE_MS : AGE_PAUSE_MS;
    return since_ms < pause_ms ? pause_ms - since_ms : 0;
}
