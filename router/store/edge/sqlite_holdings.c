/*
 * sqlite_holdings.c - sums for each participant are in memory, for the question at each message.
 * Sums for each participant and topic are a table that triggers of the database keep
 * (sqlite_schema.c): so they are as true as the messages themselves, after a crash and after
 * `mcpxctl store erase`. Rejected: adding up all messages at the start; a large file would start
 * slowly.
 */
#include "router/store/edge/sqlite_holdings.h"

#include "router/store/edge/sqlite_statement.h"

#include <sqlite3.h>

/* In `changes`, before the owner's name. */
struct change {
    bool is_deletion;
    uint64_t bytes;
    size_t owner_len;
};

static int read_sums(struct holdings *holdings, sqlite3_stmt *sums)
{
    int code;

    while ((code = sqlite3_step(sums)) == SQLITE_ROW)
        if (!mx_holders_add(&holdings->all, statement_text(sums, 0),
                            (uint64_t)sqlite3_column_int64(sums, 1)))
            return SQLITE_NOMEM;
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

int holdings_init(struct holdings *holdings, struct sqlite3 *db, uint64_t cap)
{
    sqlite3_stmt *sums = NULL;
    const struct statement rows[] = {
        {"SELECT owner, sum(bytes) FROM held GROUP BY owner", &sums},
        {"SELECT topic FROM held WHERE owner = ?1 ORDER BY bytes DESC LIMIT 1",
         &holdings->topic},
    };
    int code = statements_make(db, rows, sizeof rows / sizeof *rows);

    holdings->all.cap = cap;
    sqlite3_randomness(sizeof holdings->all.key, &holdings->all.key);
    if (code == SQLITE_OK)
        code = read_sums(holdings, sums);
    (void)sqlite3_finalize(sums);
    return code;
}

void holdings_fini(struct holdings *holdings)
{
    mx_holders_fini(&holdings->all);
    mcpx_text_fini(&holdings->changes);
}

static int note(struct holdings *holdings, struct mcpx_slice owner, struct change change)
{
    size_t len = holdings->changes.len;

    mcpx_text_add(&holdings->changes, (const char *)&change, sizeof change);
    mcpx_text_slice(&holdings->changes, owner);
    if (!holdings->changes.failed)
        return SQLITE_OK;
    holdings->changes.len = len;
    return SQLITE_NOMEM;
}

int holdings_add(struct holdings *holdings, struct mcpx_slice owner, uint64_t bytes)
{
    int code;

    if (!mx_holders_add(&holdings->all, owner, bytes))
        return SQLITE_NOMEM;
    code = note(holdings, owner, (struct change){false, bytes, owner.len});
    if (code != SQLITE_OK)
        mx_holders_remove(&holdings->all, owner, bytes);
    return code;
}

int holdings_delete(struct holdings *holdings, struct sqlite3_stmt *deletion, uint64_t *bytes)
{
    int code;

    while ((code = sqlite3_step(deletion)) == SQLITE_ROW) {
        struct mcpx_slice owner = statement_text(deletion, 0);
        struct change change = {true, (uint64_t)sqlite3_column_int64(deletion, 1), owner.len};

        *bytes += change.bytes;
        code = note(holdings, owner, change);
        if (code != SQLITE_OK)
            break;
    }
    (void)sqlite3_reset(deletion);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

void holdings_settle(struct holdings *holdings, bool committed)
{
    const char *at = holdings->changes.text;
    const char *end = at + holdings->changes.len;
    struct change change;

    for (; at < end; at += change.owner_len) {
        memcpy(&change, at, sizeof change);
        at += sizeof change;
        if (change.is_deletion == committed)
            mx_holders_remove(&holdings->all, (struct mcpx_slice){at, change.owner_len},
                              change.bytes);
    }
    mcpx_text_reset(&holdings->changes);
}

int holdings_largest(struct holdings *holdings, int64_t *topic)
{
    struct mcpx_slice owner = mx_holders_largest(&holdings->all);
    int code = statement_say_text(holdings->topic, 1, owner);

    *topic = 0;
    if (code == SQLITE_OK && owner.text &&
        (code = sqlite3_step(holdings->topic)) == SQLITE_ROW)
        *topic = sqlite3_column_int64(holdings->topic, 0);
    (void)sqlite3_reset(holdings->topic);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}
