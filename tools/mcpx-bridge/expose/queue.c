/*
 * queue.c - a list of texts. A text is moved in, not copied: an answer may have megabytes. Nothing
 * bounds the list but that it is emptied after every input; what one input makes is bounded by the
 * calls, questions and lists that are kept. A second list for notes was refused: the log would tell
 * of a message before the client has it, or long after.
 */
#include "tools/mcpx-bridge/expose/queue.h"

#include <stdlib.h>

struct expose_queued {
    struct expose_queued *next;
    enum expose_output_type type;
    struct mcpx_text text;
};

static void queued_free(struct expose_queued *queued)
{
    if (queued)
        mcpx_text_fini(&queued->text);
    free(queued);
}

void expose_queue_fini(struct expose_queue *queue)
{
    struct expose_output out;

    while (expose_queue_next(queue, &out))
        ;
}

void expose_queue_put(struct expose_queue *queue, enum expose_output_type type,
                      struct mcpx_text text)
{
    struct expose_queued *queued = text.failed || !text.len ? NULL : calloc(1, sizeof *queued);

    if (!queued) {
        mcpx_text_fini(&text);
        queue->lost++;
        return;
    }
    queued->type = type;
    queued->text = text;
    if (queue->last)
        queue->last->next = queued;
    else
        queue->first = queued;
    queue->last = queued;
}

bool expose_queue_next(struct expose_queue *queue, struct expose_output *out)
{
    queued_free(queue->lent);
    queue->lent = queue->first;
    if (queue->lent) {
        queue->first = queue->lent->next;
        queue->last = queue->first ? queue->last : NULL;
        *out = (struct expose_output){queue->lent->type, mcpx_text_view(&queue->lent->text)};
        return true;
    }
    if (!queue->lost)
        return false;
    queue->lost--;
    *out =
        (struct expose_output){EXPOSE_NOTE, MCPX_SLICE("out of memory: a message was lost")};
    return true;
}
