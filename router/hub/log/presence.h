/*
 * presence.h - the presence of one topic: joins, leaves and changes of grants. Presence is not part
 * of history, so it is kept beside the log, only until all connected participants have read it.
 *
 * Presence is gathered in a batch. Readers see the batch when it is published, so many joins at
 * once take one write. All frames of a batch have one place between the envelopes:
 *
 *     log     ... e7  e8             e9 ...
 *     presence               [ p3 p4 ]              a batch at 9: behind e8, before e9
 */
#ifndef HUB_PRESENCE_H
#define HUB_PRESENCE_H

#include "router/hub/log/list.h"
#include "router/hub/log/log.h"
#include <mcpx/text.h>

/** A batch of this many bytes should be published; the next frame begins another. */
enum { PRESENCE_BATCH_MAX = 262144 };

/** Frames that are published together. */
struct presence_batch {
    struct presence_batch *next;
    struct link readers; /* its next readers (see struct presence_reader) */
    uint64_t at;         /* envelopes accepted before them */
    uint64_t first;      /* frames added to the presence before them */
    struct mcpx_text frames;
};

/**
 * The presence of one topic.
 *
 * open      the newest batch while it is gathered; NULL = none is
 */
struct presence {
    struct presence_batch *oldest, *newest, *open;
    struct link waiting; /* readers that have read all published batches */
    uint64_t added;      /* frames added so far */
    size_t memory;       /* bytes of all batches */
};

/** A place in the presence. Prepared by presence_reader_init. */
struct presence_reader {
    struct link link;
    struct presence_batch *batch; /* published, to be read next; NULL = none */
    /* Bytes at the beginning of that batch, or of the open one, from before it joined. */
    size_t offset;
    uint64_t next; /* frames added before the one it reads next */
};

/** Prepares an empty presence. */
void presence_init(struct presence *presence);

/** Frees all batches; no reader may be left. */
void presence_fini(struct presence *presence);

/**
 * Adds one text, framed, to the open batch; opens one at `at` if there is none. Returns false,
 * with nothing changed, when memory runs out.
 */
bool presence_add(struct presence *presence, struct mcpx_slice text, uint64_t at);

/** Publishes the open batch; harmless when there is none. Takes time for each reader. */
void presence_publish(struct presence *presence);

/** Prepares a reader without a place. */
void presence_reader_init(struct presence_reader *reader);

/** Places a reader behind everything that was added so far, published or not. */
void presence_reader_join(struct presence *presence, struct presence_reader *reader);

/** The reader has read all batches up to this one, which is published. */
void presence_reader_pass(struct presence *presence, struct presence_reader *reader,
                          struct presence_batch *batch);

/** Removes a reader; harmless when it has no place. */
void presence_reader_leave(struct presence_reader *reader);

/** The frames of a published batch for this reader, and their number. */
struct mcpx_slice presence_rest(const struct presence *presence,
                                const struct presence_reader *reader,
                                const struct presence_batch *batch, size_t *count);

/** The published batch behind a published one; NULL when there is none yet. */
static inline struct presence_batch *presence_behind(const struct presence *presence,
                                                     const struct presence_batch *batch)
{
    return batch->next == presence->open ? NULL : batch->next;
}

/** Frees the batches without further readers. */
void presence_drop(struct presence *presence);

/**
 * The readers of the oldest batch when more than `backlog_bytes` (0 = no bound) have come after
 * it: the head of a list, lent until a reader moves. NULL when none is overdue.
 */
struct link *presence_overdue(struct presence *presence, size_t backlog_bytes);

#endif
