/*
 * ledger.h - a stretch of a topic's log, with lookups by id and by correlation_id.
 */
#ifndef MCPXCTL_LEDGER_H
#define MCPXCTL_LEDGER_H

#include "tools/mcpxctl/entry.h"

/**
 * Entries, oldest first. Zero-initialised is empty.
 *
 * now_ms            when it was read, in ms since 1970: proposals up to then have expired
 * sorted, related   private: by id; by correlation_id, then in order
 */
struct ledger {
    struct entry **entries;
    size_t count, size;
    struct entry **sorted, **related;
    int64_t now_ms;
};

/** Frees the entries and leaves an empty ledger. */
void ledger_fini(struct ledger *ledger);

/** Takes an entry and puts it at the end. Returns MCPX_OK or MCPX_ENOMEM (then it is freed). */
enum mcpx_err ledger_add(struct ledger *ledger, struct entry *entry);

/** Reverses the order: pages of history come newest first. */
void ledger_reverse(struct ledger *ledger);

/** Makes the ledger ready for lookups; nothing is added afterwards. MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err ledger_seal(struct ledger *ledger);

/**
 * The entry with that id, NULL when there is none. Only for sealed ledgers, like all functions
 * below.
 */
const struct entry *ledger_get(const struct ledger *ledger, struct mcpx_slice id);

/**
 * The entry whose id is `word`, or else the only one whose id begins with it.
 *
 * Returns MCPX_OK; MCPX_ENOTFOUND; MCPX_EDUPLICATE when several begin so.
 */
enum mcpx_err ledger_find(const struct ledger *ledger, struct mcpx_slice word,
                          const struct entry **out);

/**
 * The entries whose id begins with `word`, by id: `*count` of them, lent. All for an empty word.
 */
struct entry *const *ledger_beginning(const struct ledger *ledger, struct mcpx_slice word,
                                      size_t *count);

/**
 * The entries whose correlation_id is `id`, in order: `*count` of them, lent.
 */
struct entry *const *ledger_about(const struct ledger *ledger, struct mcpx_slice id,
                                  size_t *count);

/**
 * The shortest beginning of an entry's id that finds it, at least `least` bytes, never cutting a
 * character.
 */
struct mcpx_slice ledger_brief(const struct ledger *ledger, const struct entry *entry,
                               size_t least);

#endif
