/*
 * output.h - the actions of a core that are not done yet.
 */
#ifndef MCPX_BRIDGE_OUTPUT_H
#define MCPX_BRIDGE_OUTPUT_H

#include "tools/mcpx-bridge/action.h"

#include <mcpx/text.h>

/**
 * An action, and what is needed once it is known what came of it.
 *
 * call            WRITE: the request in it; 0 = none
 * who, method     RESPOND: whose answer it is, and to what
 * is_substitute   RESPOND: it stands for an answer that could not be sent
 * is_notice       SEND: a notification of the server
 * is_again        SEND: one by which receivers are to look again, at a list or a resource
 * is_given_up     a message for which there was no room: it is not sent
 * taken           a text of the action that is the row's own; private
 * is_kept         memory of somebody else's
 * is_waiting      is_kept, and in a list
 */
struct bridge_row {
    struct bridge_row *next;
    struct bridge_action action;
    int64_t call;
    struct mcpx_slice who, method;
    struct mcpx_text taken;
    bool is_substitute, is_notice, is_again, is_given_up, is_kept, is_waiting;
};

/** The list. Zero-initialised is empty. `lost`: says that a row could not be added. */
struct bridge_output {
    struct bridge_row *first, *last;
    struct bridge_row lost;
};

/** Frees all rows. */
void bridge_output_fini(struct bridge_output *output);

/**
 * Adds a copy of a row with everything that it points to. Returns false when memory ran out; the
 * log is then told so.
 */
bool bridge_output_add(struct bridge_output *output, const struct bridge_row *row);

/**
 * The same with `text`, which is taken: as the payload of a SEND, else as the action's text. One
 * that failed, or is empty, is not added.
 */
bool bridge_output_put(struct bridge_output *output, struct bridge_row row,
                       struct mcpx_text text);

/** The log is told that something found no memory. */
void bridge_output_lose(struct bridge_output *output);

/**
 * Adds a row that needs no memory: what must not fail. It is kept until it is taken out again, and
 * not added while it waits. What it points to has to live as long.
 */
void bridge_output_keep(struct bridge_output *output, struct bridge_row *row);

/** Adds a row that was taken out of another list. */
void bridge_output_append(struct bridge_output *output, struct bridge_row *row);

/** Takes out the first row, for bridge_row_free. There is one. */
struct bridge_row *bridge_output_take(struct bridge_output *output);

/** Frees a row that was taken out. */
void bridge_row_free(struct bridge_row *row);

#endif
