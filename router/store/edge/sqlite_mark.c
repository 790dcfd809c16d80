/*
 * sqlite_mark.c - a mark is a random word in the database and in FILE.lock, a new one at each start
 * and each clean end. A file that was put back from a copy has another mark than its lock.
 *
 * Both files cannot change at once: the lock holds the old mark and the new one while the database
 * changes, and either will do.
 */
#include "router/store/edge/sqlite_mark.h"

#include "lib/core/ident.h"
#include "router/store/edge/sqlite_lock.h"
#include "router/store/edge/sqlite_schema.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MARK_LEN = 32, BOOT_LEN = 36 };

/* What meta says of the last time the database was used. */
struct last {
    char mark[MARK_LEN + 1]; /* "" = never */
    char boot_id[BOOT_LEN + 1];
    bool clean; /* it was ended */
    bool full;  /* every batch was synced */
    bool renew; /* it is a copy */
};

/* The row's value is copied to `out`; "" when there is none. */
static bool read_value(struct sqlite3 *db, const char *key, char *out, size_t size)
{
    sqlite3_stmt *statement = NULL;
    bool known = false;

    out[0] = '\0';
    if (sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE key = ?1", -1, &statement,
                           NULL) != SQLITE_OK)
        return false;
    if (sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0)) {
        (void)snprintf(out, size, "%s", (const char *)sqlite3_column_text(statement, 0));
        known = true;
    }
    (void)sqlite3_finalize(statement);
    return known;
}

static bool read_flag(struct sqlite3 *db, const char *key)
{
    char value[2];

    return read_value(db, key, value, sizeof value) && value[0] == '1';
}

static struct last read_last(struct sqlite3 *db)
{
    struct last last = {.clean = read_flag(db, "clean"),
                        .full = read_flag(db, "full"),
                        .renew = read_flag(db, "renew")};

    (void)read_value(db, "mark", last.mark, sizeof last.mark);
    (void)read_value(db, "boot_id", last.boot_id, sizeof last.boot_id);
    return last;
}

/* The kernel's name of the time since the machine was started; "" when it has none. */
static void read_boot_id(char out[BOOT_LEN + 1])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, out, BOOT_LEN) : 0;

    out[len > 0 ? len : 0] = '\0';
    if (fd >= 0)
        (void)close(fd);
}

static void make_mark(char out[MARK_LEN + 1])
{
    unsigned char bytes[MARK_LEN / 2];

    sqlite3_randomness(sizeof bytes, bytes);
    mx_hex_format(bytes, sizeof bytes, out);
}

/* One transaction: what is known of the file from now on, and its epochs if they are renewed. */
static bool write_database(struct sqlite3 *db, const struct last *now)
{
    static const char form[] =
        "BEGIN IMMEDIATE;"
        "INSERT OR REPLACE INTO meta VALUES ('mark', %Q), ('boot_id', %Q), ('clean', %d),"
        " ('full', %d), ('renew', 0);"
        "UPDATE topic SET epoch = lower(hex(randomblob(16))) WHERE %d;"
        "COMMIT";
    char *statements =
        sqlite3_mprintf(form, now->mark, now->boot_id, now->clean, now->full, now->renew);
    bool done = statements && schema_run(db, statements) == SQLITE_OK;

    if (!done)
        (void)schema_run(db, "ROLLBACK");
    sqlite3_free(statements);
    return done;
}

static bool change(struct sqlite3 *db, int lock, const char *before, struct last *now)
{
    char both[2 * MARK_LEN + 2];

    make_mark(now->mark);
    read_boot_id(now->boot_id);
    (void)snprintf(both, sizeof both, "%s\n%s", before, now->mark);
    return lock_write(lock, both) && write_database(db, now) && lock_write(lock, now->mark);
}

bool mark_begin(struct sqlite3 *db, int lock, bool full)
{
    struct last last = read_last(db);
    struct last now = {.full = full};
    char boot_id[BOOT_LEN + 1];
    char marks[2 * MARK_LEN + 2];

    read_boot_id(boot_id);
    lock_read(lock, marks, sizeof marks);
    now.renew = last.renew || (last.mark[0] != '\0' && !strstr(marks, last.mark)) ||
                (!last.clean && !last.full &&
                 (boot_id[0] == '\0' || strcmp(boot_id, last.boot_id) != 0));
    return change(db, lock, last.mark, &now);
}

bool mark_end(struct sqlite3 *db, int lock)
{
    struct last last = read_last(db);
    struct last now = {.clean = true, .full = last.full};

    return change(db, lock, last.mark, &now);
}
