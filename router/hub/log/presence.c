/*
 * presence.c - a list of batches, and readers linked into the batch they read next. Readers that
 * have read all wait in a list of their own, so a batch is freed after its last reader, and a
 * quiet topic keeps none. Publishing visits every reader; each of them then gets a write, which
 * costs far more.
 *
 * Rejected: one log for both. Presence would be part of history, and a participant without grants
 * could push out the messages of others by joining and leaving.
 */
#include "router/hub/log/presence.h"

#include <stdlib.h>

static size_t memory_of(const struct presence_batch *batch)
{
    return sizeof *batch + batch->frames.size;
}

static void batch_free(struct presence_batch *batch)
{
    mcpx_text_fini(&batch->frames);
    free(batch);
}

void presence_init(struct presence *presence)
{
    *presence = (struct presence){.memory = 0};
    list_init(&presence->waiting);
}

void presence_fini(struct presence *presence)
{
    struct presence_batch *next;

    for (struct presence_batch *batch = presence->oldest; batch; batch = next) {
        next = batch->next;
        batch_free(batch);
    }
    presence_init(presence);
}

/* ---- adding ---- */

/* Opens a batch that holds this text. */
static bool open_with(struct presence *presence, struct mcpx_slice text, uint64_t at)
{
    struct presence_batch *batch = calloc(1, sizeof *batch);

    if (!batch)
        return false;
    frame_add(&batch->frames, text);
    if (batch->frames.failed) {
        batch_free(batch);
        return false;
    }
    list_init(&batch->readers);
    batch->at = at;
    batch->first = presence->added++;
    if (presence->newest)
        presence->newest->next = batch;
    else
        presence->oldest = batch;
    presence->newest = presence->open = batch;
    presence->memory += memory_of(batch);
    return true;
}

bool presence_add(struct presence *presence, struct mcpx_slice text, uint64_t at)
{
    struct presence_batch *batch = presence->open;
    bool has_room;

    if (!batch)
        return open_with(presence, text, at);
    presence->memory -= memory_of(batch);
    has_room = frame_reserve(&batch->frames, FRAME_HEAD_MAX + text.len);
    if (has_room) {
        frame_add(&batch->frames, text);
        presence->added++;
    }
    presence->memory += memory_of(batch);
    return has_room;
}

/* ---- publishing ---- */

static void await(struct presence *presence, struct presence_reader *reader)
{
    list_remove(&reader->link);
    list_append(&presence->waiting, &reader->link);
    reader->batch = NULL;
    reader->offset = 0;
    reader->next = presence->open ? presence->open->first : presence->added;
}

/*
 * Waiting readers read the batch from its beginning. Readers that joined while it was open are
 * linked into it already, and read only later frames.
 */
void presence_publish(struct presence *presence)
{
    struct presence_batch *batch = presence->open;

    if (!batch)
        return;
    presence->open = NULL;
    list_splice(&batch->readers, &presence->waiting);
    LIST_EACH(link, &batch->readers) {
        struct presence_reader *reader = LIST_ELEMENT(link, struct presence_reader, link);

        reader->batch = batch;
        if (reader->offset == batch->frames.len)
            await(presence, reader);
    }
}

/* ---- reading ---- */

void presence_reader_init(struct presence_reader *reader)
{
    *reader = (struct presence_reader){.batch = NULL};
    list_init(&reader->link);
}

void presence_reader_join(struct presence *presence, struct presence_reader *reader)
{
    await(presence, reader);
    if (!presence->open)
        return;
    list_remove(&reader->link);
    list_append(&presence->open->readers, &reader->link);
    reader->offset = presence->open->frames.len;
    reader->next = presence->added;
}

void presence_reader_pass(struct presence *presence, struct presence_reader *reader,
                          struct presence_batch *batch)
{
    struct presence_batch *behind = presence_behind(presence, batch);

    await(presence, reader);
    if (!behind)
        return;
    list_remove(&reader->link);
    list_append(&behind->readers, &reader->link);
    reader->batch = behind;
    reader->next = behind->first;
}

void presence_reader_leave(struct presence_reader *reader)
{
    list_remove(&reader->link);
    reader->batch = NULL;
}

struct mcpx_slice presence_rest(const struct presence *presence,
                                const struct presence_reader *reader,
                                const struct presence_batch *batch, size_t *count)
{
    bool is_next = batch == reader->batch;
    uint64_t end = batch->next ? batch->next->first : presence->added;
    size_t offset = is_next ? reader->offset : 0;

    *count = (size_t)(end - (is_next ? reader->next : batch->first));
    return (struct mcpx_slice){batch->frames.text + offset, batch->frames.len - offset};
}

/* ---- freeing ---- */

void presence_drop(struct presence *presence)
{
    struct presence_batch *batch;

    while ((batch = presence->oldest) && batch != presence->open &&
           list_is_empty(&batch->readers)) {
        presence->oldest = batch->next;
        if (!presence->oldest)
            presence->newest = NULL;
        presence->memory -= memory_of(batch);
        batch_free(batch);
    }
}

struct link *presence_overdue(struct presence *presence, size_t backlog_bytes)
{
    const struct presence_batch *batch = presence->oldest;

    if (!backlog_bytes || !batch || batch == presence->open ||
        presence->memory - memory_of(batch) <= backlog_bytes)
        return NULL;
    return &presence->oldest->readers;
}

/*
 * ---- frames: the same bytes for every reader, because a server does not mask. So one encoded
 * message serves a whole topic.
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
