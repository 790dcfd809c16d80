/*
 * sqlite_holdings.h - how many bytes of the database each participant holds, all its instances
 * together, and in which topics.
 */
#ifndef STORE_SQLITE_HOLDINGS_H
#define STORE_SQLITE_HOLDINGS_H

#include "lib/core/holders.h"
#include <mcpx/text.h>

struct sqlite3;
struct sqlite3_stmt;

/**
 * Bytes of texts by participant. Zero-initialised is empty.
 *
 * all       with what the transaction at hand has added; what it has deleted is still there
 * changes   of that transaction; private
 */
struct holdings {
    struct mx_holders all;
    struct mcpx_text changes;
    struct sqlite3_stmt *topic;
};

/**
 * Reads what the database has. `cap` is what a participant may hold; 0 = no bound. The statement
 * is freed by statements_free. Returns SQLite's code.
 */
int holdings_init(struct holdings *holdings, struct sqlite3 *db, uint64_t cap);

/** Frees the memory. */
void holdings_fini(struct holdings *holdings);

/** The transaction at hand has stored a text of this participant. Returns SQLite's code. */
int holdings_add(struct holdings *holdings, struct mcpx_slice owner, uint64_t bytes);

/**
 * Runs a deletion that returns owner and bytes of each row.
 *
 * bytes   added to: of all rows
 *
 * Returns SQLite's code.
 */
int holdings_delete(struct holdings *holdings, struct sqlite3_stmt *deletion, uint64_t *bytes);

/** The transaction has ended: committed, or all is again as it was. */
void holdings_settle(struct holdings *holdings, bool committed);

/**
 * Finds the topic in which the largest holder has most.
 *
 * topic   filled: its row; 0 = nobody holds anything
 *
 * Returns SQLite's code.
 */
int holdings_largest(struct holdings *holdings, int64_t *topic);

#endif
