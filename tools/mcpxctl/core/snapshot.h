/*
 * snapshot.h - copies of envelopes, and a stretch of a topic's log, with lookups by id and by
 * correlation_id.
 */
#ifndef MCPXCTL_SNAPSHOT_H
#define MCPXCTL_SNAPSHOT_H

#include <mcpx/envelope.h>

/** A copy of an envelope, to be freed with free. Slices point into memory of the entry. */
struct entry {
    struct mcpx_slice text;
    struct mcpx_slice id, from, correlation_id, payload;
    struct mcpx_slice *to;
    size_t to_count;
    struct mcpx_kind kind;
    /* Its `ts` in milliseconds since 1970; -1 when it is absent or not an RFC 3339 time. */
    int64_t at_ms;
    size_t index; /* position in its snapshot, oldest first */
    /* It goes on with the call whose id is `correlation_id`: that call made again after the
     * server's questions, a request about its task, or news of that. */
    bool goes_on;
};

/**
 * Copies an envelope. Returns MCPX_OK, or what mcpx_envelope_parse returns, with `fault` filled.
 */
enum mcpx_err entry_new(struct mcpx_slice text, struct mcpx_fault *fault, struct entry **out);

/** The same from an envelope that was read already. */
struct entry *entry_copy(const struct mcpx_envelope *envelope);

/** True when the kind is of this type. */
bool entry_is(const struct entry *entry, const char *type);

/** True when the sender of the request accepts it as an answer, if it is a response. */
bool entry_answers(const struct entry *entry, const struct entry *request);

/** True for a response with questions (input_required): the call is made again. */
bool entry_asks(const struct entry *entry);

/**
 * True when it is about a task: a request or notification with its id; a response to `request`,
 * which may be NULL, that says how it is. `task` has its `taskId` and `status`, if it names them.
 */
bool entry_task(const struct entry *entry, const struct entry *request,
                struct mcpx_slice *task);

/**
 * The reason why receivers ignore it, a static sentence: the kind contradicts the payload, or the
 * payload is not a JSON-RPC message and should be one. NULL when they accept it.
 */
const char *entry_fault(const struct entry *entry);

/** RFC 3339 ("2026-11-22T03:10:00.125Z", any offset) in ms since 1970; -1 for other text. */
int64_t time_read(struct mcpx_slice text);

/** Entries, oldest first. Zero-initialised is empty. */
struct snapshot {
    struct entry **entries;
    size_t count, size;
    struct entry **sorted, **related; /* private: by id; by correlation_id, then in order */
    int64_t now_ms; /* time of the reading, in ms since 1970; older proposals have expired */
};

/** Leaves an empty snapshot. */
void snapshot_fini(struct snapshot *snapshot);

/** Appends an entry, and owns it. */
void snapshot_add(struct snapshot *snapshot, struct entry *entry);

/** Reverses the order: pages of history come newest first. */
void snapshot_reverse(struct snapshot *snapshot);

/** Makes the snapshot ready for lookups; nothing is added afterwards. */
void snapshot_seal(struct snapshot *snapshot);

/**
 * The entry with that id, NULL when there is none. Only for sealed snapshots, like all functions
 * below.
 */
const struct entry *snapshot_get(const struct snapshot *snapshot, struct mcpx_slice id);

/**
 * The entry with the id `word`, or else the only one with an id that begins so.
 *
 * Returns MCPX_OK; MCPX_ENOTFOUND; MCPX_EDUPLICATE when several begin so.
 */
enum mcpx_err snapshot_find(const struct snapshot *snapshot, struct mcpx_slice word,
                            const struct entry **out);

/** The entries with ids that begin with `word`, by id: `*count`, lent. All for an empty word. */
struct entry *const *snapshot_beginning(const struct snapshot *snapshot,
                                        struct mcpx_slice word, size_t *count);

/** The entries whose correlation_id is `id`, in order: `*count` of them, lent. */
struct entry *const *snapshot_about(const struct snapshot *snapshot, struct mcpx_slice id,
                                    size_t *count);

/**
 * The shortest beginning of an entry's id that finds it, at least `least` bytes, never cutting a
 * character.
 */
struct mcpx_slice snapshot_brief(const struct snapshot *snapshot, const struct entry *entry,
                                 size_t least);

#endif
