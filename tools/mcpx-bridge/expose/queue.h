/*
 * queue.h - what the server has to say to the world: lines for the client and sentences for the log
 * wait here, in the order in which they were said, until they are fetched.
 */
#ifndef MCPX_BRIDGE_EXPOSE_QUEUE_H
#define MCPX_BRIDGE_EXPOSE_QUEUE_H

#include <mcpx/text.h>

/** A message for the client, or a sentence for the log; that may hold what others sent. */
enum expose_output_type { EXPOSE_LINE, EXPOSE_NOTE };

/** One of them, without newline. */
struct expose_output {
    enum expose_output_type type;
    struct mcpx_slice text;
};

struct expose_queued;

/**
 * A queue; zero-initialised is empty and ready.
 *
 * lent   the one handed out last
 * lost   how many found no memory and are still to be told of
 */
struct expose_queue {
    struct expose_queued *first, *last, *lent;
    size_t lost;
};

/** Frees the content. */
void expose_queue_fini(struct expose_queue *queue);

/** Takes a text. One that failed, or is empty, is lost. */
void expose_queue_put(struct expose_queue *queue, enum expose_output_type type,
                      struct mcpx_text text);

/**
 * The next one, lent until the next call. After all of them comes a note for each that was lost: it
 * needs no memory. Returns false when there is none.
 */
bool expose_queue_next(struct expose_queue *queue, struct expose_output *out);

#endif
