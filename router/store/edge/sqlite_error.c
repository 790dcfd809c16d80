/*
 * sqlite_error.c - "refused" is said only when it is certain. In front of COMMIT it always is. A
 * COMMIT writes frames, the last of which makes the transaction count, then syncs, then changes the
 * index that is in memory: an error of writing means that the last frame is not whole, any other
 * error may come after it.
 *
 * After a sync has failed, the kernel may have dropped what was to be written and say nothing the
 * next time. So everything is refused until a restart writes all of it anew.
 */
#include "router/store/edge/sqlite_error.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* When trying again may help, in milliseconds. */
enum { RETRY_MS = 1000 };

/* What the system said. SQLite keeps it, but not of a COMMIT. */
static int cause_of(struct sqlite3 *db)
{
    int cause = errno;

    return cause ? cause : sqlite3_system_errno(db);
}

bool error_is_at_bound(int code)
{
    return (code & 0xff) == SQLITE_FULL && errno != ENOSPC && errno != EDQUOT;
}

bool error_is_full(struct sqlite3 *db, int code)
{
    int cause = cause_of(db);

    return (code & 0xff) == SQLITE_FULL ||
           (code == SQLITE_IOERR_WRITE &&
            (cause == ENOSPC || cause == EFBIG || cause == EDQUOT));
}

bool error_is_damage(int code)
{
    return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_CONSTRAINT;
}

bool error_is_of_disk(int code)
{
    return (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
}

static void say(struct sqlite3 *db, int code, struct stage_report *report)
{
    bool of_disk = error_is_of_disk(code);
    const char *cause = of_disk && cause_of(db) ? strerror(cause_of(db)) : "";

    (void)snprintf(report->reason, sizeof report->reason, "%s (%d%s%s)",
                   of_disk ? sqlite3_errstr(code) : sqlite3_errmsg(db), code,
                   *cause ? ": " : "", cause);
}

struct rejection error_judge(struct sqlite3 *db, int code, bool committing,
                             struct stage_report *report)
{
    struct rejection rejection = {MCPX_EUNAVAILABLE, RETRY_MS, true};
    bool full = error_is_full(db, code);

    say(db, code, report);
    if (full) {
        report->state = STAGE_FULL;
    } else if ((code & 0xff) == SQLITE_BUSY ||
               (!committing && (code & 0xff) == SQLITE_NOMEM)) {
        report->state = STAGE_READY;
    } else if (!committing && error_is_damage(code)) {
        report->state = STAGE_READY;
        rejection.retry_ms = 0;
    } else {
        report->state = STAGE_FAILED;
        rejection = (struct rejection){MCPX_EUNAVAILABLE, 0, !committing};
    }
    return rejection;
}

struct rejection error_refusal(void)
{
    return (struct rejection){MCPX_EUNAVAILABLE, 0, true};
}
