/*
 * output.h - the actions of a server that are not done yet, in the order in which it wanted them.
 */
#ifndef MCPX_BRIDGE_EXPOSE_OUTPUT_H
#define MCPX_BRIDGE_EXPOSE_OUTPUT_H

#include "tools/mcpx-bridge/expose/action.h"

#include <mcpx/text.h>

/**
 * An action with the texts that it points to.
 *
 * to              SEND: the addressee
 * is_substitute   RESPOND: it stands for an answer that was too big
 */
struct expose_row {
    struct expose_row *next;
    struct expose_action action;
    struct mcpx_text about, text, to;
    struct mcpx_slice addressee; /* private */
    bool is_substitute;
};

/**
 * The list; zero-initialised is empty.
 *
 * lost   how many rows found no memory and are still to be told of, by `note`
 */
struct expose_output {
    struct expose_row *first, *last;
    size_t lost;
    struct expose_action note;
};

/** Frees the content. */
void expose_output_fini(struct expose_output *output);

/**
 * Adds a row; takes its texts. Of its action, type and what of the draft is no text are read. Returns
 * false when it is lost: a text has failed, all are empty, or memory ran out.
 */
bool expose_output_add(struct expose_output *output, struct expose_row row);

/**
 * The first action; NULL when there is none. After all of them comes a NOTE for each that was lost:
 * it needs no memory.
 */
const struct expose_action *expose_output_next(struct expose_output *output);

/** Takes out the row of that action, for expose_row_free; NULL for the NOTE of a loss. */
struct expose_row *expose_output_take(struct expose_output *output);

/** Frees a row that was taken out. NULL is allowed. */
void expose_row_free(struct expose_row *row);

#endif
