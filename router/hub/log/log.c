/*
 * log.c - why a topic is a log: fan-out, coalescing, history, resume, slow consumers and memory
 * bounds are then all questions about positions in one sequence.
 *
 * Segments start small, so ten thousand quiet topics cost little, and double up to a bound. In a
 * segment frames grow from the front, so any run of them is one write. Notes (id, kind, addressees)
 * grow from the back, so an append allocates nothing in the steady state. Rejected: a ring mapped
 * twice makes every run contiguous, but needs the operating system. Rejected: a list of frames
 * needs a gather per reader.
 *
 * A reader is linked into the segment of its next entry. So the search for a segment's readers and
 * for slow consumers costs nothing until a segment is about to be freed.
 */
#include "router/hub/log/log.h"

#include <assert.h>
#include <stdlib.h>

enum { SEGMENT_FIRST = 4096, SEGMENT_MAX = 262144 };

/* ---- notes: lengths, then seats, id, kind, and each addressee behind its length ---- */

struct note {
    uint16_t seats_len;
    uint16_t id_len;
    uint16_t kind_len;
};

static size_t note_size(const struct log_message *message)
{
    size_t size =
        sizeof(struct note) + message->seats.len + message->id.len + message->kind.len;

    for (size_t i = 0; i < message->to_count; i++)
        size += sizeof(uint16_t) + message->to[i].len;
    return size;
}

static char *put(char *at, const void *bytes, size_t len)
{
    if (len)
        memcpy(at, bytes, len);
    return at + len;
}

static void note_write(char *at, const struct log_message *message)
{
    struct note note = {(uint16_t)message->seats.len, (uint16_t)message->id.len,
                        (uint16_t)message->kind.len};

    at = put(at, &note, sizeof note);
    at = put(at, message->seats.text, message->seats.len);
    at = put(at, message->id.text, message->id.len);
    at = put(at, message->kind.text, message->kind.len);
    for (size_t i = 0; i < message->to_count; i++) {
        uint16_t len = (uint16_t)message->to[i].len;

        at = put(at, &len, sizeof len);
        at = put(at, message->to[i].text, len);
    }
}

static struct note note_of(const struct entry *entry)
{
    struct note note;

    memcpy(&note, entry->segment->bytes + entry->note, sizeof note);
    return note;
}

static struct mcpx_slice entry_seats(const struct entry *entry)
{
    return (struct mcpx_slice){entry->segment->bytes + entry->note + sizeof(struct note),
                               note_of(entry).seats_len};
}

struct mcpx_slice entry_frame(const struct entry *entry)
{
    return (struct mcpx_slice){entry->segment->bytes + entry->offset, entry->len};
}

struct mcpx_slice entry_text(const struct entry *entry)
{
    return (struct mcpx_slice){entry->segment->bytes + entry->offset + entry->head,
                               entry->len - entry->head};
}

struct mcpx_slice entry_id(const struct entry *entry)
{
    struct mcpx_slice seats = entry_seats(entry);

    return (struct mcpx_slice){seats.text + seats.len, note_of(entry).id_len};
}

struct mcpx_slice entry_kind(const struct entry *entry)
{
    struct mcpx_slice id = entry_id(entry);

    return (struct mcpx_slice){id.text + id.len, note_of(entry).kind_len};
}

bool entry_is_for(const struct entry *entry, struct mcpx_slice participant)
{
    struct mcpx_slice kind = entry_kind(entry);
    const char *at = kind.text + kind.len;

    for (size_t i = 0; i < entry->to_count; i++) {
        uint16_t len;

        memcpy(&len, at, sizeof len);
        at += sizeof len;
        if (mcpx_slice_equal((struct mcpx_slice){at, len}, participant))
            return true;
        at += len;
    }
    return entry->to_count == 0;
}

bool entry_is_for_seat(const struct entry *entry, size_t seat)
{
    struct mcpx_slice seats = entry_seats(entry);

    return entry->to_count == 0 ||
           (seat / 8 < seats.len && ((unsigned char)seats.text[seat / 8] >> seat % 8 & 1));
}

/* Bytes of an entry in its segment: its frame and its note. */
static size_t entry_cost(const struct entry *entry)
{
    return (size_t)entry->len + entry->note_len;
}

/* ---- life ---- */

void log_init(struct log *log, struct mx_map_key key, const struct log_bounds *bounds)
{
    *log = (struct log){.key = key, .bounds = *bounds};
    list_init(&log->waiting);
    list_init(&log->used_ids.shares);
}

void log_fini(struct log *log)
{
    struct segment *next;

    for (struct segment *segment = log->oldest; segment; segment = next) {
        next = segment->next;
        free(segment);
    }
    free(log->ring);
    used_ids_fini(&log->used_ids);
    mx_map_fini(&log->ids);
}

/* ---- the retained window ---- */

/* Moves the start of the window past its oldest entry. */
static void forget_oldest(struct log *log)
{
    const struct entry *entry = log_entry(log, log->history);
    struct mx_map_slot retained = {entry->id_hash, log->history + 1};

    used_ids_note(&log->used_ids, &log->ids, entry->sender, retained);
    log->retained_bytes -= entry_cost(entry);
    log->history++;
}

void log_forget(struct log *log, uint64_t until)
{
    while (log->history < until)
        forget_oldest(log);
}

static void forget_beyond_bounds(struct log *log)
{
    const struct log_bounds *bounds = &log->bounds;

    while (log->history < log->head &&
           (log->retained_bytes > bounds->bytes ||
            (bounds->count && log->head - log->history > bounds->count)))
        forget_oldest(log);
}

void log_forget_old(struct log *log, int64_t mono_ms)
{
    while (log->bounds.age_ms && log->history < log->head &&
           mono_ms - log_entry(log, log->history)->mono_ms > log->bounds.age_ms)
        forget_oldest(log);
}

void log_order_times(struct log *log)
{
    int64_t behind_ms = INT64_MAX;

    for (uint64_t serial = log->head; serial-- > log->history;) {
        struct entry *entry = &log->ring[(size_t)serial & (log->ring_size - 1)];

        if (entry->mono_ms > behind_ms)
            entry->mono_ms = behind_ms;
        behind_ms = entry->mono_ms;
    }
}

/* The index's value for an id, 0 when there is none; a used id matches by its hash alone. */
static uint64_t value_of(const struct log *log, struct mcpx_slice id, bool used_too)
{
    uint64_t hash = mx_map_hash(log->key, id), value;
    size_t at = 0;

    while ((value = mx_map_next(&log->ids, hash, &at)))
        if (value == USED_VALUE ? used_too
                                : mcpx_slice_equal(entry_id(log_entry(log, value - 1)), id))
            return value;
    return 0;
}

bool log_find(const struct log *log, struct mcpx_slice id, uint64_t *serial)
{
    uint64_t value = value_of(log, id, false);

    if (value)
        *serial = value - 1;
    return value != 0;
}

bool log_knows(const struct log *log, struct mcpx_slice id)
{
    return value_of(log, id, true) != 0;
}

/* ---- appending ---- */

static bool ring_reserve(struct log *log)
{
    size_t held = (size_t)(log->head - log->tail);
    size_t size = log->ring_size ? log->ring_size * 2 : LOG_RING_FIRST;
    struct entry *ring;

    if (held < log->ring_size)
        return true;
    ring = malloc(size * sizeof *ring);
    if (!ring)
        return false;
    for (uint64_t serial = log->tail; serial < log->head; serial++)
        ring[(size_t)serial & (size - 1)] = *log_entry(log, serial);
    free(log->ring);
    log->ring = ring;
    log->ring_size = size;
    return true;
}

/*
 * Memory goes a segment at a time, so a small log has small ones: none over an eighth of its
 * bounds. Large messages lie four to a segment where the bounds allow it, else alone, because
 * the rest of a full segment is lost.
 */
static size_t segment_size(const struct log *log, size_t needed)
{
    size_t most = log->bounds.bytes / 8 + log->bounds.backlog_bytes / 8;
    size_t max;
    size_t size = log->newest ? log->newest->size * 2 : SEGMENT_FIRST;

    if (log->bounds.share && most > log->bounds.share / 4)
        most = log->bounds.share / 4;
    max = most < SEGMENT_MAX ? most : SEGMENT_MAX;
    if (max < SEGMENT_FIRST)
        max = SEGMENT_FIRST;
    if (needed > max / 4)
        return needed * 4 <= most ? needed * 4 : needed;
    if (size < 4 * needed)
        size = 4 * needed;
    return size < max ? size : max;
}

/* Makes room for a frame and its note in the newest segment, which may be a new one. */
static bool segment_reserve(struct log *log, size_t needed)
{
    struct segment *newest = log->newest, *segment;
    size_t size;

    if (newest && newest->notes - newest->frames >= needed)
        return true;
    size = segment_size(log, needed);
    segment = malloc(sizeof *segment + size);
    if (!segment)
        return false;
    *segment = (struct segment){.first = log->head, .size = size, .notes = size};
    list_init(&segment->readers);
    list_splice(&segment->readers, &log->waiting);
    if (newest)
        newest->next = segment;
    else
        log->oldest = segment;
    log->newest = segment;
    log->memory += sizeof *segment + size;
    return true;
}

static size_t text_len(const struct log_message *message)
{
    size_t len = 0;

    for (size_t i = 0; i < message->piece_count; i++)
        len += message->pieces[i].len;
    return len;
}

size_t log_growth(const struct log *log, const struct log_message *message)
{
    size_t len = text_len(message);
    size_t needed = mx_frame_head_len(len) + len + note_size(message);
    size_t growth = 0;

    if (!log->newest || log->newest->notes - log->newest->frames < needed)
        growth += sizeof *log->newest + segment_size(log, needed);
    if (log->head - log->tail >= log->ring_size)
        growth += (log->ring_size ? log->ring_size : LOG_RING_FIRST) * sizeof *log->ring;
    return growth + mx_map_growth(&log->ids);
}

/* Writes frame and note where segment_reserve made room, and counts the entry in. */
static void entry_add(struct log *log, const struct log_message *message, size_t len)
{
    struct segment *segment = log->newest;
    size_t head = mx_frame_head_len(len);
    char *at = segment->bytes + segment->frames;
    struct entry *entry = &log->ring[(size_t)log->head & (log->ring_size - 1)];

    segment->notes -= note_size(message);
    *entry = (struct entry){
        .segment = segment,
        .id_hash = mx_map_hash(log->key, message->id),
        .mono_ms = message->mono_ms,
        .offset = (uint32_t)segment->frames,
        .len = (uint32_t)(head + len),
        .note = (uint32_t)segment->notes,
        .note_len = (uint32_t)note_size(message),
        .to_count = (uint16_t)message->to_count,
        .head = (uint8_t)head,
        .sender = message->sender,
    };
    mx_frame_head_write(at, MX_TEXT, len);
    at += head;
    for (size_t i = 0; i < message->piece_count; i++)
        at = put(at, message->pieces[i].text, message->pieces[i].len);
    note_write(segment->bytes + segment->notes, message);
    segment->frames += head + len;
    mx_map_put(&log->ids, entry->id_hash, log->head + 1);
    log->head++;
    log->retained_bytes += entry_cost(entry);
}

enum mcpx_err log_append(struct log *log, const struct log_message *message)
{
    size_t len = text_len(message);
    size_t needed = mx_frame_head_len(len) + len + note_size(message);

    assert(needed < UINT32_MAX);
    if (!ring_reserve(log) || !mx_map_reserve(&log->ids) ||
        !used_ids_reserve(&log->used_ids, &log->ids, message->sender) ||
        !segment_reserve(log, needed))
        return MCPX_ENOMEM;
    entry_add(log, message, len);
    log_forget_old(log, message->mono_ms);
    forget_beyond_bounds(log);
    return MCPX_OK;
}

/* ---- readers ---- */

void log_reader_place(struct log *log, struct reader *reader, uint64_t serial)
{
    struct segment *home = serial < log->head ? log_entry(log, serial)->segment : log->newest;

    reader->next = serial;
    if (home && home == reader->home)
        return;
    list_remove(&reader->link);
    list_append(home ? &home->readers : &log->waiting, &reader->link);
    reader->home = home;
}

/*
 * The least number of bytes behind the oldest segment that its readers have not read. Free room in
 * the newest segment does not count.
 */
static size_t bytes_behind_oldest(const struct log *log)
{
    return log->memory - log->oldest->size - sizeof *log->oldest -
           (log->newest->notes - log->newest->frames);
}

/* True when the retained window lies behind the oldest segment. */
static bool oldest_is_past(const struct log *log)
{
    const struct segment *segment = log->oldest;

    return segment && segment->next && segment->next->first <= log->history;
}

bool log_drop(struct log *log)
{
    struct segment *segment = log->oldest;

    if (!oldest_is_past(log) || !list_is_empty(&segment->readers))
        return false;
    log->oldest = segment->next;
    log->tail = segment->next->first;
    log->memory -= sizeof *segment + segment->size;
    free(segment);
    return true;
}

/* Moves the readers at the end of a segment to the next one. */
static void move_waiting(struct segment *segment)
{
    struct segment *behind = segment->next;

    LIST_EACH(link, &segment->readers) {
        struct reader *reader = LIST_ELEMENT(link, struct reader, link);

        if (reader->next < behind->first)
            continue;
        list_remove(link);
        list_append(&behind->readers, link);
        reader->home = behind;
    }
}

struct link *log_oldest_readers(struct log *log)
{
    if (!log->oldest)
        return NULL;
    if (log->oldest->next)
        move_waiting(log->oldest);
    return &log->oldest->readers;
}

struct link *log_overdue(struct log *log)
{
    bool overdue = log->bounds.backlog_bytes && oldest_is_past(log) &&
                   bytes_behind_oldest(log) > log->bounds.backlog_bytes;

    return overdue ? log_oldest_readers(log) : NULL;
}

static struct log_run longest_run(const struct log *log, uint64_t serial, uint64_t end)
{
    const struct entry *first = log_entry(log, serial);
    struct log_run run = {.bytes = first->segment->bytes + first->offset, .next = serial};

    do {
        const struct entry *entry = log_entry(log, run.next);

        if (entry->segment != first->segment ||
            (run.next > serial && run.len + entry->len > LOG_RUN_MAX))
            break;
        run.len += entry->len;
        run.count++;
        run.next++;
    } while (run.next < end);
    return run;
}

/* An answer stays true: entries do not change, and a reader at `serial` keeps its memory. */
struct log_run log_run_from(struct log *log, uint64_t serial, uint64_t end)
{
    struct log_answer *answer = log->answers;

    if (answer->from == serial && answer->end == end)
        return answer->run;
    answer++;
    if (answer->from == serial && answer->end == end)
        return answer->run;
    answer = &log->answers[log->answered];
    *answer = (struct log_answer){serial, end, longest_run(log, serial, end)};
    log->answered = !log->answered;
    return answer->run;
}
