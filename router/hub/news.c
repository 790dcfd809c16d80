/*
 * news.c - a list of sheets, and readers linked into the sheet they read next. Who has read all
 * waits in a list of its own, so that a sheet is freed when its last reader has read it, and a
 * quiet topic keeps none. Publishing visits every reader; that costs nothing beside the write
 * that each of them gets for it.
 *
 * One log for both would make presence a part of history: whoever may say nothing could still
 * push out what others said, by coming and going.
 */
#include "router/hub/news.h"

#include <stdlib.h>

static size_t memory_of(const struct sheet *sheet)
{
    return sizeof *sheet + sheet->frames.size;
}

static void sheet_free(struct sheet *sheet)
{
    mcpx_text_fini(&sheet->frames);
    free(sheet);
}

void news_init(struct news *news)
{
    *news = (struct news){.memory = 0};
    list_init(&news->waiting);
}

void news_fini(struct news *news)
{
    struct sheet *next;

    for (struct sheet *sheet = news->oldest; sheet; sheet = next) {
        next = sheet->next;
        sheet_free(sheet);
    }
    news_init(news);
}

/* ---- adding ---- */

/* Opens a sheet that holds this text. */
static bool open_with(struct news *news, struct mcpx_slice text, uint64_t at)
{
    struct sheet *sheet = calloc(1, sizeof *sheet);

    if (!sheet)
        return false;
    frame_add(&sheet->frames, text);
    if (sheet->frames.failed) {
        sheet_free(sheet);
        return false;
    }
    list_init(&sheet->readers);
    sheet->at = at;
    sheet->first = news->added++;
    if (news->newest)
        news->newest->next = sheet;
    else
        news->oldest = sheet;
    news->newest = news->open = sheet;
    news->memory += memory_of(sheet);
    return true;
}

bool news_add(struct news *news, struct mcpx_slice text, uint64_t at)
{
    struct sheet *sheet = news->open;
    bool has_room;

    if (!sheet)
        return open_with(news, text, at);
    news->memory -= memory_of(sheet);
    has_room = frame_reserve(&sheet->frames, FRAME_HEAD_MAX + text.len);
    if (has_room) {
        frame_add(&sheet->frames, text);
        news->added++;
    }
    news->memory += memory_of(sheet);
    return has_room;
}

/* ---- publishing ---- */

static void await(struct news *news, struct news_reader *reader)
{
    list_remove(&reader->link);
    list_append(&news->waiting, &reader->link);
    reader->sheet = NULL;
    reader->offset = 0;
    reader->next = news->open ? news->open->first : news->added;
}

/*
 * Who waits reads the sheet from its beginning; who came while it was open reads what was added
 * since, and is linked into it already.
 */
void news_publish(struct news *news)
{
    struct sheet *sheet = news->open;
    struct link *next;

    if (!sheet)
        return;
    news->open = NULL;
    list_splice(&sheet->readers, &news->waiting);
    for (struct link *link = sheet->readers.next; link != &sheet->readers; link = next) {
        struct news_reader *reader = LIST_ELEMENT(link, struct news_reader, link);

        next = link->next;
        reader->sheet = sheet;
        if (reader->offset == sheet->frames.len)
            await(news, reader);
    }
}

/* ---- reading ---- */

void news_reader_init(struct news_reader *reader)
{
    *reader = (struct news_reader){.sheet = NULL};
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

void news_reader_pass(struct news *news, struct news_reader *reader, struct sheet *sheet)
{
    struct sheet *behind = news_behind(news, sheet);

    await(news, reader);
    if (!behind)
        return;
    list_remove(&reader->link);
    list_append(&behind->readers, &reader->link);
    reader->sheet = behind;
    reader->next = behind->first;
}

void news_reader_leave(struct news_reader *reader)
{
    list_remove(&reader->link);
    reader->sheet = NULL;
}

struct mcpx_slice news_rest(const struct news *news, const struct news_reader *reader,
                            const struct sheet *sheet, size_t *count)
{
    bool is_next = sheet == reader->sheet;
    uint64_t end = sheet->next ? sheet->next->first : news->added;
    size_t offset = is_next ? reader->offset : 0;

    *count = (size_t)(end - (is_next ? reader->next : sheet->first));
    return (struct mcpx_slice){sheet->frames.text + offset, sheet->frames.len - offset};
}

/* ---- letting go ---- */

void news_drop(struct news *news)
{
    struct sheet *sheet;

    while ((sheet = news->oldest) && sheet != news->open && list_is_empty(&sheet->readers)) {
        news->oldest = sheet->next;
        if (!news->oldest)
            news->newest = NULL;
        news->memory -= memory_of(sheet);
        sheet_free(sheet);
    }
}

struct link *news_overdue(struct news *news, size_t backlog_bytes)
{
    const struct sheet *sheet = news->oldest;

    if (!backlog_bytes || !sheet || sheet == news->open ||
        news->memory - memory_of(sheet) <= backlog_bytes)
        return NULL;
    return &news->oldest->readers;
}
