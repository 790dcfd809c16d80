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

void keeper_init(struct keeper *keeper)
{
    *keeper = (struct keeper){.ticket = 0};
    strcpy(keeper->folder, "/tmp/mcpx-store-XXXXXX");
    cr_assert_not_null(mkdtemp(keeper->folder));
    (void)snprintf(keeper->file, sizeof keeper->file, "%s/messages.db", keeper->folder);
    keeper->config = (struct store_config){.file = keeper->file,
                                           .full = true,
                                           .history_count = 1000,
                                           .history_bytes = 32 << 20,
                                           .history_age_ms = 86400000};
    cr_assert_eq(sem_init(&keeper->woken, 0, 0), 0);
}

static void wake(void *context)
{
    (void)sem_post(context);
}

static void wait_for_wake(struct keeper *keeper)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += DEADLINE_S;
    while (sem_timedwait(&keeper->woken, &until) != 0)
        cr_assert_eq(errno, EINTR, "nothing was answered in time");
}

enum mcpx_err keeper_open(struct keeper *keeper)
{
    mcpx_text_reset(&keeper->errors);
    return sqlite_new(&keeper->config, wake, &keeper->woken, &keeper->errors, &keeper->sqlite);
}

void keeper_close(struct keeper *keeper)
{
    sqlite_free(keeper->sqlite);
    keeper->sqlite = NULL;
}

void keeper_fini(struct keeper *keeper)
{
    keeper_close(keeper);
    mcpx_text_fini(&keeper->errors);
    (void)sem_destroy(&keeper->woken);
    folder_remove(keeper->folder);
}

struct submission keeper_message(struct keeper *keeper, const char *topic, const char *text)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_REALTIME, &at);
    return (struct submission){
        .what = SUBMIT_MESSAGE,
        .ticket = ++keeper->ticket,
        .topic = mcpx_slice_of(topic),
        .epoch = MCPX_SLICE("0123456789abcdef0123456789abcdef"),
        .text = mcpx_slice_of(text),
        .wall_ms = (int64_t)at.tv_sec * 1000,
    };
}

void keeper_put(struct keeper *keeper, struct submission *submissions, size_t count)
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
    sqlite_put(keeper->sqlite, &out, count);
    while (answered < count) {
        sqlite_answers(keeper->sqlite, &answers, &keeper->report);
        if (list_is_empty(&answers))
            wait_for_wake(keeper);
        while (!list_is_empty(&answers)) {
            struct link *first = answers.next;

            cr_assert_eq(LIST_ELEMENT(first, struct submission, link),
                         &submissions[answered++], "answers come in order");
            list_remove(first);
        }
    }
}

struct rejection keeper_store(struct keeper *keeper, const char *topic, const char *text)
{
    struct submission submission = keeper_message(keeper, topic, text);

    keeper_put(keeper, &submission, 1);
    return submission.rejection;
}

void keeper_wait_for(struct keeper *keeper, enum stage_state state)
{
    struct link none;

    list_init(&none);
    for (;;) {
        sqlite_answers(keeper->sqlite, &none, &keeper->report);
        if (keeper->report.state == state)
            return;
        wait_for_wake(keeper);
    }
}

struct stored_opening *keeper_load(struct keeper *keeper, const char *topic)
{
    struct task task = {TASK_OPEN, ++keeper->ticket, mcpx_slice_of(topic), NULL};
    struct link openings;

    list_init(&openings);
    cr_assert_eq(sqlite_pass(keeper->sqlite, &task), MCPX_OK);
    for (;;) {
        sqlite_openings(keeper->sqlite, &openings);
        if (!list_is_empty(&openings))
            break;
        wait_for_wake(keeper);
    }
    return LIST_ELEMENT(LIST_ELEMENT(openings.next, struct oneway, link),
                        struct stored_opening, oneway);
}

char *keeper_texts(struct keeper *keeper, const char *topic)
{
    struct stored_opening *opening = keeper_load(keeper, topic);
    struct mcpx_text texts = {0};

    cr_assert_eq(opening->rejection.err, MCPX_OK, "%s", opening->reason);
    mcpx_text_puts(&texts, "");
    for (size_t i = 0; i < opening->count; i++) {
        if (i > 0)
            mcpx_text_puts(&texts, " ");
        mcpx_text_slice(&texts, opening->envelopes[i].text);
    }
    stored_opening_free(opening);
    return texts.text;
}

void keeper_let_go(struct keeper *keeper, const char *topic)
{
    struct task task = {TASK_CLOSE, 0, mcpx_slice_of(topic), NULL};

    cr_assert_eq(sqlite_pass(keeper->sqlite, &task), MCPX_OK);
}

static sqlite3 *connect_to(const struct keeper *keeper)
{
    sqlite3 *db = NULL;

    cr_assert_eq(sqlite3_open_v2(keeper->file, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_busy_timeout(db, DEADLINE_S * 1000), SQLITE_OK);
    return db;
}

long long keeper_ask(const struct keeper *keeper, const char *question)
{
    sqlite3 *db = connect_to(keeper);
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

void keeper_run(const struct keeper *keeper, const char *statements)
{
    sqlite3 *db = connect_to(keeper);

    cr_assert_eq(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(db));
    (void)sqlite3_close(db);
}

long long keeper_size(const struct keeper *keeper, const char *behind)
{
    struct stat about;
    char path[128];

    (void)snprintf(path, sizeof path, "%s%s", keeper->file, behind);
    return stat(path, &about) == 0 ? (long long)about.st_size : -1;
}
