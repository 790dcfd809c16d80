/*
 * news.c - a list of batches, and readers linked into the batch they read next. Who has read all
 * waits in a list of its own, so that a batch is freed when its last reader has read it, and a
 * quiet topic keeps none. Publishing visits every reader; that costs nothing beside the write
 * that each of them gets for it.
 *
 * One log for both would make presence a part of history: whoever may say nothing could still
 * push out what others said, by coming and going.
 */
#include "router/hub/log/news.h"

#include <stdlib.h>

static size_t memory_of(const struct batch *batch)
{
    return sizeof *batch + batch->frames.size;
}

static void batch_free(struct batch *batch)
{
    mcpx_text_fini(&batch->frames);
    free(batch);
}

void news_init(struct news *news)
{
    *news = (struct news){.memory = 0};
    list_init(&news->waiting);
}

void news_fini(struct news *news)
{
    struct batch *next;

    for (struct batch *batch = news->oldest; batch; batch = next) {
        next = batch->next;
        batch_free(batch);
    }
    news_init(news);
}

/* ---- adding ---- */

/* Opens a batch that holds this text. */
static bool open_with(struct news *news, struct mcpx_slice text, uint64_t at)
{
    struct batch *batch = calloc(1, sizeof *batch);

    if (!batch)
        return false;
    frame_add(&batch->frames, text);
    if (batch->frames.failed) {
        batch_free(batch);
        return false;
    }
    list_init(&batch->readers);
    batch->at = at;
    batch->first = news->added++;
    if (news->newest)
        news->newest->next = batch;
    else
        news->oldest = batch;
    news->newest = news->open = batch;
    news->memory += memory_of(batch);
    return true;
}

bool news_add(struct news *news, struct mcpx_slice text, uint64_t at)
{
    struct batch *batch = news->open;
    bool has_room;

    if (!batch)
        return open_with(news, text, at);
    news->memory -= memory_of(batch);
    has_room = frame_reserve(&batch->frames, FRAME_HEAD_MAX + text.len);
    if (has_room) {
        frame_add(&batch->frames, text);
        news->added++;
    }
    news->memory += memory_of(batch);
    return has_room;
}

/* ---- publishing ---- */

static void await(struct news *news, struct news_reader *reader)
{
    list_remove(&reader->link);
    list_append(&news->waiting, &reader->link);
    reader->batch = NULL;
    reader->offset = 0;
    reader->next = news->open ? news->open->first : news->added;
}

/*
 * Who waits reads the batch from its beginning; who came while it was open reads what was added
 * since, and is linked into it already.
 */
void news_publish(struct news *news)
{
    struct batch *batch = news->open;

    if (!batch)
        return;
    news->open = NULL;
    list_splice(&batch->readers, &news->waiting);
    LIST_EACH(link, &batch->readers) {
        struct news_reader *reader = LIST_ELEMENT(link, struct news_reader, link);

        reader->batch = batch;
        if (reader->offset == batch->frames.len)
            await(news, reader);
    }
}

/* ---- reading ---- */

void news_reader_init(struct news_reader *reader)
{
    *reader = (struct news_reader){.batch = NULL};
    list_init(&reader->link);
}

void news_reader_join(struct news *news, struct news_reader *reader)
{
    await(news, reader);
    if (!news->open)
        return;
    list_remove(&reader->link);
    list_append(&news->open->readers, &reader->link);
    reader->offset = news->open->frames.len;
    reader->next = news->added;
}

void news_reader_pass(struct news *news, struct news_reader *reader, struct batch *batch)
{
    struct batch *behind = news_behind(news, batch);

    await(news, reader);
    if (!behind)
        return;
    list_remove(&reader->link);
    list_append(&behind->readers, &reader->link);
    reader->batch = behind;
    reader->next = behind->first;
}

void news_reader_leave(struct news_reader *reader)
{
    list_remove(&reader->link);
    reader->batch = NULL;
}

struct mcpx_slice news_rest(const struct news *news, const struct news_reader *reader,
                            const struct batch *batch, size_t *count)
{
    bool is_next = batch == reader->batch;
    uint64_t end = batch->next ? batch->next->first : news->added;
    size_t offset = is_next ? reader->offset : 0;

    *count = (size_t)(end - (is_next ? reader->next : batch->first));
    return (struct mcpx_slice){batch->frames.text + offset, batch->frames.len - offset};
}

/* ---- letting go ---- */

void news_drop(struct news *news)
{
    struct batch *batch;

    while ((batch = news->oldest) && batch != news->open && list_is_empty(&batch->readers)) {
        news->oldest = batch->next;
        if (!news->oldest)
            news->newest = NULL;
        news->memory -= memory_of(batch);
        batch_free(batch);
    }
}

struct link *news_overdue(struct news *news, size_t backlog_bytes)
{
    const struct batch *batch = news->oldest;

    if (!backlog_bytes || !batch || batch == news->open ||
        news->memory - memory_of(batch) <= backlog_bytes)
        return NULL;
    return &news->oldest->readers;
}

/*
 * ---- frames: the same bytes for every reader, because a server does not mask. That is what lets
 * one encoded message serve a whole topic.
 */

void frame_add(struct mcpx_text *out, struct mcpx_slice text)
{
    char head[FRAME_HEAD_MAX];

    mx_frame_head_write(head, MX_TEXT, text.len);
    mcpx_text_add(out, head, mx_frame_head_len(text.len));
    mcpx_text_slice(out, text);
}

bool frame_reserve(struct mcpx_text *out, size_t more)
{
    bool has_room = mcpx_text_reserve(out, more);

    out->failed = false;
    return has_room;
}

struct mcpx_text *frame_begin(struct mcpx_text *out)
{
    static const char room[FRAME_HEAD_MAX];

    mcpx_text_reset(out);
    mcpx_text_add(out, room, sizeof room);
    return out;
}

bool frame_end(struct mcpx_text *out, struct mcpx_slice *frame)
{
    size_t len, head;

    if (out->failed)
        return false;
    len = out->len - FRAME_HEAD_MAX;
    head = mx_frame_head_len(len);
    mx_frame_head_write(out->text + FRAME_HEAD_MAX - head, MX_TEXT, len);
    *frame = (struct mcpx_slice){out->text + FRAME_HEAD_MAX - head, head + len};
    return true;
}
