/*
 * news.h - who came, who left, whose grants changed: the presence of one topic. It is no part of
 * history, so it stands beside the log, and is kept only until everybody who is there has read it.
 *
 * News is gathered in a batch that nobody reads before it is published, so that many who come at
 * once are told in one write. All that a batch tells stands at one place between the envelopes:
 *
 *     log     ... e7  e8             e9 ...
 *     news               [ p3 p4 ]              a batch at 9: behind e8, before e9
 */
#ifndef HUB_NEWS_H
#define HUB_NEWS_H

#include "router/hub/log/list.h"
#include "router/hub/log/log.h"
#include <mcpx/text.h>

/** A batch with so many bytes should be published; the next frame begins another. */
enum { NEWS_BATCH_MAX = 262144 };

/** Frames that are told together. */
struct batch {
    struct batch *next;
    struct link readers; /* readers who have to read it next (see struct news_reader) */
    uint64_t at;         /* envelopes accepted before them */
    uint64_t first;      /* frames added to the news before them */
    struct mcpx_text frames;
};

/**
 * The news of one topic.
 *
 * open      the newest batch while it is gathered; NULL = none is
 */
struct news {
    struct batch *oldest, *newest, *open;
    struct link waiting; /* readers who have read all that is published */
    uint64_t added;      /* frames added so far */
    size_t memory;       /* bytes of all batches */
};

/** A place in the news. Prepared by news_reader_init. */
struct news_reader {
    struct link link;
    struct batch *batch; /* published, to be read next; NULL = there is nothing to read */
    /* Bytes at the beginning of that batch, or of the open one, that are not for it. */
    size_t offset;
    uint64_t next; /* frames added before the one it reads next */
};

/** Prepares news of nothing. */
void news_init(struct news *news);

/** Frees all batches; no reader may be left. */
void news_fini(struct news *news);

/**
 * Adds one text, framed, to the open batch; opens one at `at` if there is none. Returns false,
 * with nothing changed, when memory runs out.
 */
bool news_add(struct news *news, struct mcpx_slice text, uint64_t at);

/** Publishes the open batch; harmless when there is none. Takes time for each reader. */
void news_publish(struct news *news);

/** Prepares a reader that is nowhere. */
void news_reader_init(struct news_reader *reader);

/** Places a reader behind everything that was added so far, published or not. */
void news_reader_join(struct news *news, struct news_reader *reader);

/** The reader has read all batches up to this one, which is published. */
void news_reader_pass(struct news *news, struct news_reader *reader, struct batch *batch);

/** Takes a reader away; harmless when it is nowhere. */
void news_reader_leave(struct news_reader *reader);

/** What is on a published batch for this reader, and how many frames that is. */
struct mcpx_slice news_rest(const struct news *news, const struct news_reader *reader,
                            const struct batch *batch, size_t *count);

/** The published batch behind a published one; NULL when there is none yet. */
static inline struct batch *news_behind(const struct news *news, const struct batch *batch)
{
    return batch->next == news->open ? NULL : batch->next;
}

/** Frees the batches that nobody has to read any more. */
void news_drop(struct news *news);

/**
 * The readers of the oldest batch when more than `backlog_bytes` (0 = no bound) have come after
 * it: the head of a list, lent until a reader moves. NULL when nobody is overdue.
 */
struct link *news_overdue(struct news *news, size_t backlog_bytes);

#endif
