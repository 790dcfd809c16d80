/*
 * log.h - one topic's envelopes, in order, framed once. Presence is elsewhere: see presence.h.
 *
 * Entries have serials that only grow. Three of them matter:
 *
 *        tail           history              head
 *         |  for readers   |  retained window  |  next entry
 *         v  that lag      v                   v
 *     ....[................[..................)
 *
 * [history, head) is retained in the sense of the protocol: derived kinds, resume and pages of
 * history look only there. [tail, history) is kept for lagging readers. Ids that have left the
 * window stay refused for a while, so a sender cannot push an id out of history and reuse it.
 */
#ifndef HUB_LOG_H
#define HUB_LOG_H

#include "lib/base/map.h"
#include "lib/wire/frame_head.h"
#include "router/hub/log/list.h"
#include <mcpx/envelope.h>
#include <mcpx/text.h>

/* ---- used ids: gone from the window and still refused, for a while (used_ids.c) ---- */

/** Used ids per sender, and senders with used ids, in one topic. Protocol: section 5. */
enum { USED_IDS_MAX = 256, USED_SENDERS_MAX = 1024 };

/** The value of a used id in the log's index; the value of a retained id is its serial + 1. */
#define USED_VALUE UINT64_MAX

/**
 * The used ids of one topic. Each sender has a quota, so a flood cannot evict the ids of others.
 * The index is the log's.
 */
struct used_ids {
    struct mx_map senders;
    struct link shares; /* the longest silent sender's first */
    size_t bytes;       /* what the shares take */
};

/** Frees it. Zeroed but for an empty list it is empty. */
void used_ids_fini(struct used_ids *used_ids);

/**
 * Makes room in a sender's share for its next id, so that used_ids_note cannot fail. At
 * USED_SENDERS_MAX a new share replaces that of the longest silent sender, and its ids leave the
 * index. False when memory runs out (nothing has changed).
 */
bool used_ids_reserve(struct used_ids *used_ids, struct mx_map *ids, uint32_t sender);

/**
 * Turns a retained id into a used one: its value in the index becomes USED_VALUE, and the sender's
 * oldest beyond USED_IDS_MAX goes. Without a share the id is forgotten at once.
 */
void used_ids_note(struct used_ids *used_ids, struct mx_map *ids, uint32_t sender,
                   struct mx_map_slot retained);

/**
 * Forgets the share of the longest silent sender, to save memory. False when there is none. The
 * log then accepts those ids again.
 */
bool used_ids_forget(struct used_ids *used_ids, struct mx_map *ids);

/* ---- the log ---- */

/**
 * LOG_RUN_MAX      the largest run lent to a reader at once, unless one frame is larger
 * LOG_RING_FIRST   entries a log has room for at first
 */
enum { LOG_RUN_MAX = 262144, LOG_RING_FIRST = 16 };

/** A piece of the log's memory: frames from the front, notes about them from the back. */
struct segment {
    struct segment *next;
    struct link readers; /* readers whose next entry is here (see log_reader_place) */
    uint64_t first;      /* serial of its first entry */
    size_t size;         /* of `bytes` */
    size_t frames;       /* bytes used by frames */
    size_t notes;        /* offset of the lowest note */
    char bytes[];
};

/**
 * One entry of the index by serial. Its note holds id, kind and addressees, unescaped,
 * and the addressed seats.
 */
struct entry {
    struct segment *segment;
    uint64_t id_hash;
    int64_t mono_ms; /* when it was accepted */
    uint32_t offset; /* of the frame in the segment */
    uint32_t len;    /* of the frame, head included */
    uint32_t note;   /* offset of the note in the segment */
    uint32_t note_len;
    uint16_t to_count; /* addressees; 0 = everyone */
    uint8_t head;      /* bytes of frame head */
    uint32_t sender;   /* log_sender of the sender's id */
};

/** A cursor's hold on the memory it reads next. Prepared by log_reader_init. */
struct reader {
    /* In the readers of `home`, in the log's waiting list, or in the hub's list `slow`. */
    struct link link;
    struct segment *home; /* the segment it was last placed in; NULL = none */
    uint64_t next;        /* serial of the entry it reads next */
};

/** A contiguous run of frames. */
struct log_run {
    /* `bytes`, `len`: lent until the segment is dropped. */
    const char *bytes;
    size_t len;
    size_t count;  /* frames in it */
    uint64_t next; /* serial of the entry after the run */
};

/**
 * Bounds of the retained window; 0 = no bound, but for `bytes`. `share` bounds nothing, but a log
 * takes memory in pieces of at most a quarter of it.
 */
struct log_bounds {
    size_t count;
    size_t bytes;
    int64_t age_ms;
    size_t backlog_bytes;
    size_t share;
};

/** A cached answer of log_run_from and its arguments. Empty while `from` and `end` are equal. */
struct log_answer {
    uint64_t from, end;
    struct log_run run;
};

/** A log. Prepared by log_init, released by log_fini. */
struct log {
    struct segment *oldest, *newest;
    struct link waiting; /* readers of an empty log */
    struct entry *ring;
    size_t ring_size; /* a power of two, or 0 */
    uint64_t tail, history, head;
    size_t retained_bytes; /* frames and notes in the window */
    size_t memory;         /* bytes of all segments */
    struct mx_map ids;     /* by hash: serial + 1, or USED_VALUE */
    struct used_ids used_ids;
    struct mx_map_key key;
    struct log_bounds bounds;
    struct log_answer answers[2]; /* the last of log_run_from */
    unsigned answered;            /* index of the older one */
};

/** Prepares an empty log. */
void log_init(struct log *log, struct mx_map_key key, const struct log_bounds *bounds);

/** Sets the next serial of an empty log without readers. */
static inline void log_start(struct log *log, uint64_t serial)
{
    log->tail = log->history = log->head = serial;
}

/** Frees all memory; no reader may be left. */
void log_fini(struct log *log);

/** The maximum of pieces of a message: text around two splices, and the splices. */
enum { LOG_PIECES_MAX = 8 };

/** A message to append: its text in pieces, and the data for its note. All borrowed. */
struct log_message {
    struct mcpx_slice pieces[LOG_PIECES_MAX];
    size_t piece_count;
    struct mcpx_slice id;
    struct mcpx_slice kind;
    uint32_t sender; /* log_sender of the sender's id */
    const struct mcpx_slice *to;
    size_t to_count;
    /* A bit for each seat: is that reader among the addressees? Absent when entry_is_for_seat
     * will not be called. */
    struct mcpx_slice seats;
    int64_t mono_ms;
};

/**
 * Appends one message, framed. Moves the retained window along its bounds, but frees nothing:
 * see log_drop. Returns MCPX_OK, or MCPX_ENOMEM (nothing has changed).
 */
enum mcpx_err log_append(struct log *log, const struct log_message *message);

/** Bytes that appending this message would add to log_memory. */
size_t log_growth(const struct log *log, const struct log_message *message);

/** Bytes of everything the log holds: segments, entries, index. */
size_t log_memory(const struct log *log);

/** Moves the start of the retained window to `until`, which is not behind head. */
void log_forget(struct log *log, uint64_t until);

/**
 * Frees the oldest segment with its history, and shrinks entries and index; without segments it
 * frees the used ids of the longest silent sender. False when a reader still needs the segment, or
 * nothing is left; then nothing has changed.
 */
bool log_shorten(struct log *log);

/** The entry with this serial, which lies in [tail, head). Lent until the next append. */
static inline const struct entry *log_entry(const struct log *log, uint64_t serial)
{
    return &log->ring[(size_t)serial & (log->ring_size - 1)];
}

/** The whole frame of an entry; lent until its segment is dropped. */
struct mcpx_slice entry_frame(const struct entry *entry);

/** The text of an entry, without frame head; lent until its segment is dropped. */
struct mcpx_slice entry_text(const struct entry *entry);

/** The id of an entry; lent likewise. */
struct mcpx_slice entry_id(const struct entry *entry);

/** The kind of an entry; lent likewise. */
struct mcpx_slice entry_kind(const struct entry *entry);

/** True when the entry is addressed to everyone, or to this participant. */
bool entry_is_for(const struct entry *entry, struct mcpx_slice participant);

/** As entry_is_for, by the seat's bit in the note instead of names. */
bool entry_is_for_seat(const struct entry *entry, size_t seat);

/** Finds a retained entry by id. False leaves `serial` untouched. */
bool log_find(const struct log *log, struct mcpx_slice id, uint64_t *serial);

/** True when a retained entry has the id, or it is a used id (used_ids.c). */
bool log_knows(const struct log *log, struct mcpx_slice id);

/** A keyed hash of a sender: a participant cannot choose a name with another's hash. */
static inline uint32_t log_sender(const struct log *log, struct mcpx_slice participant)
{
    return (uint32_t)mx_map_hash(log->key, participant);
}

/** Bytes of the log beside `memory`: its index, used ids included. */
size_t log_index_bytes(const struct log *log);

/** Moves the start of the retained window past everything older than its age bound. */
void log_forget_old(struct log *log, int64_t mono_ms);

/**
 * Makes the times of the window ascend: some loaded entries may have been stored while a clock was
 * wrong.
 */
void log_order_times(struct log *log);

/** Prepares a reader that holds nothing. */
static inline void log_reader_init(struct reader *reader)
{
    list_init(&reader->link);
    reader->home = NULL;
    reader->next = 0;
}

/** Ties a reader whose next entry is `serial` (tail..head) to the memory it needs. */
void log_reader_place(struct log *log, struct reader *reader, uint64_t serial);

/** Lets go of the log's memory. */
static inline void log_reader_release(struct reader *reader)
{
    list_remove(&reader->link);
    reader->home = NULL;
}

/**
 * Frees the oldest segment if the retained window lies behind it and it has no readers.
 * Returns false when there was nothing to free. Call it until then.
 */
bool log_drop(struct log *log);

/**
 * The readers of the oldest segment. In a log with a single segment they include readers at the
 * head. NULL when there is none; lent until a reader moves.
 */
struct link *log_oldest_readers(struct log *log);

/**
 * The readers that alone keep the oldest segment although more than backlog_bytes have come after
 * it: the head of a list of struct reader, lent until a reader moves. Readers at the end of the
 * segment move to the next one first. NULL when none are overdue.
 */
struct link *log_overdue(struct log *log);

/**
 * The longest run that starts at `serial` (tail..head-1) and ends before `end` (<= head). The
 * last two answers are cached: most readers of a topic are at the same serial, and one read may
 * span two segments.
 */
struct log_run log_run_from(struct log *log, uint64_t serial, uint64_t end);

/* ---- unmasked WebSocket frames, as a server sends them. RFC 6455 section 5.2. ---- */

/** The longest frame head, in bytes. */
enum { FRAME_HEAD_MAX = 10 };

/** Appends the frame of a whole text message. */
void frame_add(struct mcpx_text *out, struct mcpx_slice text);

/**
 * Reserves `more` bytes for frames, or leaves the text unchanged: a `failed` text would silently
 * drop every later frame. False when memory runs out.
 */
bool frame_reserve(struct mcpx_text *out, size_t more);

/** Begins a text message of unknown length: the caller appends it to `out`. Returns `out`. */
struct mcpx_text *frame_begin(struct mcpx_text *out);

/** Ends it. `frame` is lent until `out` changes. False when memory ran out. */
bool frame_end(struct mcpx_text *out, struct mcpx_slice *frame);

#endif
