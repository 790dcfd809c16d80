/*
 * records.h - the files in which an import writes its calls down, when its terms ask for that.
 */
#ifndef MCPX_BRIDGE_IMPORT_EDGE_RECORDS_H
#define MCPX_BRIDGE_IMPORT_EDGE_RECORDS_H

#include "lib/edge/journal.h"
#include "tools/mcpx-bridge/import/pool.h"

/** `journal` is NULL: nothing is written down. */
struct records {
    struct mx_journal *journal;
};

/** Opens the files, if these terms ask for any; NULL: no terms. Complaints go to standard error. */
void records_open(struct records *records, const struct bridge_terms *terms);

/** Writes what the pool has to write down. */
void records_write(struct records *records, struct import_pool *pool);

/** Closes them. */
void records_close(struct records *records);

#endif
