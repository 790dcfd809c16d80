/*
 * entry.h - a copy of an envelope: the text and its header members.
 */
#ifndef MCPXCTL_ENTRY_H
#define MCPXCTL_ENTRY_H

#include <mcpx/envelope.h>

/**
 * A copy of an envelope. Slices point into memory of the entry.
 *
 * at_ms   `ts` in milliseconds since 1970; -1 when it is absent or no RFC 3339 time
 * index   position in its ledger, oldest first
 */
struct entry {
    struct mcpx_slice text;
    struct mcpx_slice id, ts, from, correlation_id, payload;
    struct mcpx_slice *to;
    size_t to_count;
    struct mcpx_kind kind;
    int64_t at_ms;
    size_t index;
};

/**
 * Copies an envelope. Returns MCPX_OK; what mcpx_envelope_parse returns, with `fault` filled;
 * MCPX_ENOMEM.
 */
enum mcpx_err entry_new(struct mcpx_slice text, struct mcpx_fault *fault, struct entry **out);

/** The same from an envelope that was read already. Returns MCPX_OK or MCPX_ENOMEM. */
enum mcpx_err entry_copy(const struct mcpx_envelope *envelope, struct entry **out);

/** Frees it. NULL is allowed. */
void entry_free(struct entry *entry);

/** True when the kind is of this type. */
bool entry_is(const struct entry *entry, const char *type);

/**
 * Why receivers ignore it, as a static sentence: the kind contradicts the payload, or the
 * payload should be a JSON-RPC message and is none. NULL when they accept it.
 */
const char *entry_fault(const struct entry *entry);

/** RFC 3339 ("2026-11-22T03:10:00.125Z", any offset) in ms since 1970; -1 for other text. */
int64_t time_read(struct mcpx_slice text);

#endif
