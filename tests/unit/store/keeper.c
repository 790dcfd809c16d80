/*
 * keeper.c - waits for answers as the router's loop does: it is woken, then takes them.
 */
#include "tests/unit/store/keeper.h"
#include "tests/support/outside.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DEADLINE_S = 120 };

struct keeper keeper;

void keeper_init(struct keeper *one)
{
    *one = (struct keeper){.ticket = 0};
    strcpy(one->folder, "/tmp/mcpx-store-XXXXXX");
    cr_assert_not_null(mkdtemp(one->folder));
    (void)snprintf(one->file, sizeof one->file, "%s/messages.db", one->folder);
    one->config = (struct store_config){.file = one->file,
                                        .full = true,
                                        .history_count = 1000,
                                        .history_bytes = 32 << 20,
                                        .history_age_ms = 86400000};
    cr_assert_eq(sem_init(&one->woken, 0, 0), 0);
}

static void wake(void *context)
{
    (void)sem_post(context);
}

static void wait_for_wake(struct keeper *one)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DEADLINE_S;
    while (sem_timedwait(&one->woken, &until) != 0)
        cr_assert_eq(errno, EINTR, "nothing was answered in time");
}

enum mcpx_err keeper_open(struct keeper *one)
{
    mcpx_text_reset(&one->errors);
    return sqlite_new(&one->config, wake, &one->woken, &one->errors, &one->sqlite);
}

void keeper_close(struct keeper *one)
{
    sqlite_free(one->sqlite);
    one->sqlite = NULL;
}

void keeper_fini(struct keeper *one)
{
    keeper_close(one);
    stored_topic_load_free(one->load);
    mcpx_text_fini(&one->texts);
    mcpx_text_fini(&one->errors);
    (void)sem_destroy(&one->woken);
    folder_remove(one->folder);
}

struct submission keeper_message(struct keeper *one, const char *topic, const char *text)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_REALTIME, &at);
    return (struct submission){
        .what = SUBMIT_MESSAGE,
        .ticket = ++one->ticket,
        .topic = mcpx_slice_of(topic),
        .epoch = MCPX_SLICE("0123456789abcdef0123456789abcdef"),
        .text = mcpx_slice_of(text),
        .wall_ms = (int64_t)at.tv_sec * 1000,
    };
}

void keeper_put(struct keeper *one, struct submission *submissions, size_t count)
{
    struct link out;
    struct link answers;
    size_t answered = 0;

    list_init(&out);
    list_init(&answers);
    for (size_t i = 0; i < count; i++) {
        list_init(&submissions[i].link);
        list_append(&out, &submissions[i].link);
    }
    work_queue_put(sqlite_queue(one->sqlite), &out, count);
    while (answered < count) {
        work_queue_answers(sqlite_queue(one->sqlite), &answers, &one->report);
        if (list_is_empty(&answers))
            wait_for_wake(one);
        while (!list_is_empty(&answers)) {
            struct link *first = answers.next;

            cr_assert_eq(LIST_ELEMENT(first, struct submission, link),
                         &submissions[answered++], "answers come in order");
            list_remove(first);
        }
    }
}

struct rejection keeper_store(struct keeper *one, const char *topic, const char *text)
{
    struct submission submission = keeper_message(one, topic, text);

    keeper_put(one, &submission, 1);
    return submission.rejection;
}

void keeper_wait_for(struct keeper *one, enum stage_state state)
{
    struct link none;

    list_init(&none);
    for (;;) {
        work_queue_answers(sqlite_queue(one->sqlite), &none, &one->report);
        if (one->report.state == state)
            return;
        wait_for_wake(one);
    }
}

struct stored_topic_load *keeper_load(struct keeper *one, const char *topic)
{
    struct task task = {TASK_OPEN, ++one->ticket, mcpx_slice_of(topic), NULL};
    struct link loads;

    list_init(&loads);
    cr_assert_eq(sqlite_pass(one->sqlite, &task), MCPX_OK);
    for (;;) {
        sqlite_loads(one->sqlite, &loads);
        if (!list_is_empty(&loads))
            break;
        wait_for_wake(one);
    }
    stored_topic_load_free(one->load);
    one->load = LIST_ELEMENT(LIST_ELEMENT(loads.next, struct kept_item, link),
                             struct stored_topic_load, kept);
    return one->load;
}

const char *keeper_texts(struct keeper *one, const char *topic)
{
    struct stored_topic_load *load = keeper_load(one, topic);

    cr_assert_eq(load->rejection.err, MCPX_OK, "%s", load->reason);
    mcpx_text_reset(&one->texts);
    mcpx_text_puts(&one->texts, "");
    for (size_t i = 0; i < load->count; i++) {
        if (i > 0)
            mcpx_text_puts(&one->texts, " ");
        mcpx_text_slice(&one->texts, load->envelopes[i].text);
    }
    return one->texts.text;
}

void keeper_let_go(struct keeper *one, const char *topic)
{
    struct task task = {TASK_CLOSE, 0, mcpx_slice_of(topic), NULL};

    cr_assert_eq(sqlite_pass(one->sqlite, &task), MCPX_OK);
}

static sqlite3 *connect_to(const struct keeper *one)
{
    sqlite3 *db = NULL;

    cr_assert_eq(sqlite3_open_v2(one->file, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_busy_timeout(db, DEADLINE_S * 1000), SQLITE_OK);
    return db;
}

long long keeper_ask(const struct keeper *one, const char *question)
{
    sqlite3 *db = connect_to(one);
    sqlite3_stmt *statement = NULL;
    long long answer;

    cr_assert_eq(sqlite3_prepare_v2(db, question, -1, &statement, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    answer = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return answer;
}

void keeper_run(const struct keeper *one, const char *statements)
{
    sqlite3 *db = connect_to(one);

    cr_assert_eq(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(db));
    (void)sqlite3_close(db);
}

long long keeper_size(const struct keeper *one, const char *behind)
{
    struct stat about;
    char path[128];

    (void)snprintf(path, sizeof path, "%s%s", one->file, behind);
    return stat(path, &about) == 0 ? (long long)about.st_size : -1;
}

/* ---- the one of the suite ---- */

void keeper_begin(void)
{
    keeper_init(&keeper);
}

void keeper_end(void)
{
    keeper_fini(&keeper);
}

void keeper_start(void)
{
    cr_assert_eq(keeper_open(&keeper), MCPX_OK, "%s", keeper.errors.text);
}

void keeper_expect_refusal(const char *words)
{
    cr_expect_neq(keeper_open(&keeper), MCPX_OK, "%s", words);
    cr_assert_not_null(keeper.errors.text, "%s", words);
    cr_expect_not_null(strstr(keeper.errors.text, words), "%s", keeper.errors.text);
}

void keeper_says(const char *topic, const char *text)
{
    cr_assert_eq(keeper_store(&keeper, topic, text).err, MCPX_OK, "%s", keeper.report.reason);
}

void keeper_expect(const char *topic, const char *expected, const char *name)
{
    const char *texts = keeper_texts(&keeper, topic);

    cr_expect_str_eq(texts, expected, "%s: %.200s", name, texts);
}
