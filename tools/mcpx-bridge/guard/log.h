/*
 * log.h - log lines about messages that the guard has left out.
 */
#ifndef MCPX_BRIDGE_GUARD_LOG_H
#define MCPX_BRIDGE_GUARD_LOG_H

#include "tools/mcpx-bridge/guard/judge.h"

/** How often each verdict was given. */
struct guard_counts {
    size_t of[GUARD_VERDICT_COUNT];
};

/**
 * Appends one line, newline included, about a message left out. What the message says of itself
 * comes from its sender: for people it is quoted, cut and made visible, in JSON it is escaped.
 *
 * json   one JSON object instead of a sentence: event "left_out", reason, text, and, when they
 *        are known, detail, from, kind, id
 */
void guard_log_left_out(struct mcpx_text *out, bool json, enum guard_verdict verdict,
                        const struct guard_judge *judge);

/**
 * Appends one line, newline included, with all counts that are not zero. JSON: event "summary",
 * left_out: an object from reason to count.
 */
void guard_log_summary(struct mcpx_text *out, bool json, const struct guard_counts *counts);

/**
 * Appends one line about any other event, newline included. JSON: the given event, and text.
 */
void guard_log_note(struct mcpx_text *out, bool json, const char *event, const char *text);

#endif
