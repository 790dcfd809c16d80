/*
 * records.h - the files in which an edge writes its calls down, when its terms ask for that.
 */
#ifndef MCPX_BRIDGE_EDGE_RECORDS_H
#define MCPX_BRIDGE_EDGE_RECORDS_H

#include "lib/edge/journal.h"
#include "tools/mcpx-bridge/terms.h"

/** `journal` is NULL: nothing is written down. */
struct records {
    struct mx_journal *journal;
};

/**
 * Opens the files, if these terms ask for any; NULL: no terms.
 *
 * verb   for complaints, which go to standard error; lent until records_close
 */
void records_open(struct records *records, const char *verb, const struct bridge_terms *terms);

/** Writes one line down, as a core gave it. */
void records_write(struct records *records, enum mcpx_record which, struct mcpx_slice line);

/** Closes them. */
void records_close(struct records *records);

#endif
