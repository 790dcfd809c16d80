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
 * [history, head) is what the protocol calls retained: derived kinds, resume and pages of history
 * look only there. [tail, history) is kept for readers that still need it. Ids that have left the
 * window stay refused for a while: who pushes an id out of history cannot use it again at once.
 */
#ifndef HUB_LOG_H
#define HUB_LOG_H

#include "lib/base/map.h"
#include "lib/wire/frame_head.h"
#include "router/hub/log/list.h"
#include <mcpx/envelope.h>
#include <mcpx/text.h>

/* ---- spent ids: said and gone from the window, refused for a while (used_ids.c) ---- */

/** Ids remembered of one sender, and senders remembered, in one topic. Protocol: section 5. */
enum { USED_IDS_MAX = 256, USED_SENDERS_MAX = 1024 };

/** The value of a spent id in the log's index; a retained id has its serial there. */
#define USED_VALUE UINT64_MAX

/**
 * The spent ids of one topic, a share for each sender, so that no flood makes the topic forget
 * those of others. The index is the log's.
 */
struct used_ids {
    struct mx_map senders;
    struct link shares; /* who said something longest ago first */
    size_t bytes;       /* what the shares take */
};

/** Frees it. Zeroed but for an empty list it is empty. */
void used_ids_fini(struct used_ids *used_ids);

/**
 * Makes room in a sender's share for what it is about to say, so that used_ids_note cannot fail.
 * The share of one sender too many is made in place of the one that was silent longest, whose ids
 * go out of the index. False when memory runs out (nothing has changed).
 */
bool used_ids_reserve(struct used_ids *used_ids, struct mx_map *ids, uint32_t sender);

/**
 * A retained id is spent: in the index its value becomes USED_VALUE, and the sender's oldest
 * beyond USED_IDS_MAX goes. Without a share it is forgotten at once.
 */
void used_ids_note(struct used_ids *used_ids, struct mx_map *ids, uint32_t sender,
                   struct mx_map_slot retained);

/**
 * Forgets the share of who was silent longest, for want of memory. False when there is none. What
 * these say again under a spent id is then let pass.
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
 * What is known of one entry without reading its text. The note behind `note` holds its id, its
 * kind and its addressees, unescaped, and the seats that were addressed.
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
    uint32_t sender;   /* who said it: log_sender of its id */
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

/** What log_run_from was asked, and its answer. Nothing while `from` and `end` are equal. */
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

/** An empty log without readers goes on as if so many entries had been in it. */
static inline void log_start(struct log *log, uint64_t serial)
{
    log->tail = log->history = log->head = serial;
}

/** Frees all memory; no reader may be left. */
void log_fini(struct log *log);

/** The most pieces a message is made of: text around two splices, and the splices. */
enum { LOG_PIECES_MAX = 8 };

/**
 * A message to append: its text in pieces, and what the log should remember of it. All borrowed.
 */
struct log_message {
    struct mcpx_slice pieces[LOG_PIECES_MAX];
    size_t piece_count;
    struct mcpx_slice id;
    struct mcpx_slice kind;
    uint32_t sender; /* log_sender of who says it */
    const struct mcpx_slice *to;
    size_t to_count;
    /* A bit for each number of a reader: is it among the addressees? Absent when nobody is
     * going to ask entry_is_for_seat. */
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
 * Gives up the oldest segment, with the history in it, and what is no longer needed of entries and
 * index; without segments, the spent ids of who was silent longest. False when somebody has still
 * to read in it, or nothing is left; then nothing has changed.
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

/** True when the entry is addressed to nobody in particular, or to this participant. */
bool entry_is_for(const struct entry *entry, struct mcpx_slice participant);

/** The same question by the bit the entry was appended with, without a look at names. */
bool entry_is_for_seat(const struct entry *entry, size_t seat);

/** Finds a retained entry by id. False leaves `serial` untouched. */
bool log_find(const struct log *log, struct mcpx_slice id, uint64_t *serial);

/** True when the id is taken: by a retained entry, or spent not long ago (used_ids.c). */
bool log_knows(const struct log *log, struct mcpx_slice id);

/** What the log remembers of a sender: nobody can choose a name that comes down to another's. */
static inline uint32_t log_sender(const struct log *log, struct mcpx_slice participant)
{
    return (uint32_t)mx_map_hash(log->key, participant);
}

/** What the log takes beside `memory`: its index, the spent ids included. */
size_t log_index_bytes(const struct log *log);

/** Moves the start of the retained window past everything older than its age bound. */
void log_forget_old(struct log *log, int64_t mono_ms);

/**
 * Lets no entry of the window be younger than the one behind it: of those that were loaded, some
 * may have been stored while a clock was wrong.
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
 * Frees the oldest segment if the retained window lies behind it and nobody reads it any more.
 * Returns false when there was nothing to free. Call it until then.
 */
bool log_drop(struct log *log);

/**
 * Who has still to read in the oldest segment, and of a single one who has read it, too; NULL when
 * there is none; lent until a reader moves.
 */
struct link *log_oldest_readers(struct log *log);

/**
 * The readers that alone keep the oldest segment although more than backlog_bytes have come after
 * it: the head of a list of struct reader, lent until a reader moves. Who had read all of the
 * segment is not among them, but goes on with the one after it. NULL when none are overdue.
 */
struct link *log_overdue(struct log *log);

/**
 * The longest run that starts at `serial` (tail..head-1) and ends before `end` (<= head). The
 * last two answers are kept: most readers of a topic stand at the same place, and what they read in
 * one turn may lie in two pieces of memory.
 */
struct log_run log_run_from(struct log *log, uint64_t serial, uint64_t end);

/* ---- unmasked WebSocket frames, as a server sends them. RFC 6455 section 5.2. ---- */

/** The longest head of them. */
enum { FRAME_HEAD_MAX = 10 };

/** Appends the frame of a whole text message. */
void frame_add(struct mcpx_text *out, struct mcpx_slice text);

/**
 * Makes room for so many bytes of frames, or leaves the text as it was: one that stayed `failed`
 * would swallow every later frame without a word. False when memory runs out.
 */
bool frame_reserve(struct mcpx_text *out, size_t more);

/** Begins a text message whose length is known last: what is added to `out`, which it returns. */
struct mcpx_text *frame_begin(struct mcpx_text *out);

/** Ends it. `frame` is lent until `out` changes. False when memory ran out. */
bool frame_end(struct mcpx_text *out, struct mcpx_slice *frame);

#endif
