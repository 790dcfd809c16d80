/*
 * output.h - the actions of an import that are not done yet.
 */
#ifndef MCPX_BRIDGE_IMPORT_OUTPUT_H
#define MCPX_BRIDGE_IMPORT_OUTPUT_H

#include "tools/mcpx-bridge/import/action.h"

/**
 * An action, and what is needed once it is known what came of it.
 *
 * call            WRITE: the request in that line; 0 = none
 * who, method     RESPOND: whose answer it is, and to what
 * is_substitute   RESPOND: it stands for an answer that could not be sent
 * is_notice       SEND: a notification of the server
 * is_kept         memory of somebody else's
 * is_waiting      is_kept, and in a list
 */
struct import_row {
    struct import_row *next;
    struct import_action action;
    int64_t call;
    struct mcpx_slice who, method;
    bool is_substitute, is_notice, is_kept, is_waiting;
};

/** The list. Zero-initialised is empty. `lost`: says that a row could not be added. */
struct import_output {
    struct import_row *first, *last;
    struct import_row lost;
};

/** Frees all rows. */
void import_output_fini(struct import_output *output);

/**
 * Adds a copy of a row with everything that it points to. Returns false when memory ran out; the
 * log is then told so.
 */
bool import_output_add(struct import_output *output, const struct import_row *row);

/** The log is told that something found no memory. */
void import_output_lose(struct import_output *output);

/**
 * Adds a row that needs no memory: what must not fail. It is kept until it is taken out again, and
 * not added while it waits. What it points to has to live as long.
 */
void import_output_keep(struct import_output *output, struct import_row *row);

/** Takes out the first row, for import_row_free. There is one. */
struct import_row *import_output_take(struct import_output *output);

/** Frees a row that was taken out. */
void import_row_free(struct import_row *row);

#endif
