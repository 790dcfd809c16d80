/*
 * log_memory.c - how much memory a log takes, and how it takes less. History goes a segment at a
 * time: memory comes in segments, so forgetting less would free nothing. When even the newest
 * segment may go, the log is as it was before its first entry, but for its serials.
 */
#include "router/hub/log/log.h"

#include <stdlib.h>

size_t log_index_bytes(const struct log *log)
{
    return log->ring_size * sizeof *log->ring + log->ids.size * sizeof *log->ids.slots +
           log->used_ids.senders.size * sizeof *log->used_ids.senders.slots +
           log->used_ids.bytes;
}

size_t log_memory(const struct log *log)
{
    return log->memory + log_index_bytes(log);
}

/* A smaller ring, if the entries fit in a quarter of it. Without memory it stays as it is. */
static void shrink_ring(struct log *log)
{
    size_t held = (size_t)(log->head - log->tail), size = log->ring_size;
    struct entry *ring;

    while (size > LOG_RING_FIRST && held * 4 <= size)
        size /= 2;
    ring = size < log->ring_size ? malloc(size * sizeof *ring) : NULL;
    if (!ring)
        return;
    for (uint64_t serial = log->tail; serial < log->head; serial++)
        ring[(size_t)serial & (size - 1)] = *log_entry(log, serial);
    free(log->ring);
    log->ring = ring;
    log->ring_size = size;
}

/*
 * True when all readers have read the only segment. A reader that has not is moved to the front,
 * so the next check is cheap.
 */
static bool all_have_read(struct log *log)
{
    struct link *readers = &log->newest->readers;

    for (struct link *link = readers->next; link != readers; link = link->next) {
        if (LIST_ELEMENT(link, struct reader, link)->next == log->head)
            continue;
        list_remove(link);
        list_append(readers->next, link);
        return false;
    }
    return true;
}

/* Nothing is left but the serials. */
static bool clear(struct log *log)
{
    if (!log->newest || !all_have_read(log))
        return false;
    log_forget(log, log->head);
    LIST_EACH(link, &log->newest->readers)
        LIST_ELEMENT(link, struct reader, link)->home = NULL;
    list_splice(&log->waiting, &log->newest->readers);
    free(log->newest);
    free(log->ring);
    log->oldest = log->newest = NULL;
    log->ring = NULL;
    log->ring_size = log->memory = 0;
    log->tail = log->head;
    return true;
}

static bool shorten(struct log *log)
{
    struct segment *oldest = log->oldest;

    if (!oldest)
        return used_ids_forget(&log->used_ids, &log->ids);
    if (!oldest->next)
        return clear(log);
    if (!list_is_empty(log_oldest_readers(log)))
        return false;
    if (log->history < oldest->next->first)
        log_forget(log, oldest->next->first);
    log_drop(log);
    shrink_ring(log);
    return true;
}

bool log_shorten(struct log *log)
{
    bool shorter = shorten(log);

    if (shorter)
        mx_map_fit(&log->ids);
    return shorter;
}
