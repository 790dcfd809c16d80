/*
 * bridge.h - shared by the programs of mcpx-bridge: the codes of their own JSON-RPC errors,
 * functions that write JSON-RPC messages, quotas of a common limit, and the rate limit of log
 * lines.
 */
#ifndef MCPX_BRIDGE_BRIDGE_H
#define MCPX_BRIDGE_BRIDGE_H

#include "lib/base/bucket.h"
#include "lib/base/rows.h"

#include <mcpx/base.h>
#include <mcpx/json.h>

#include <stdlib.h>

/**
 * Codes of the JSON-RPC errors a bridge makes; those of a server pass unchanged. MCP 2026-07-28
 * forbids meanings of one's own in -32768 to -32000, so ours are outside.
 */
enum bridge_code {
    BRIDGE_UNAVAILABLE =
        -31000,                /* the server is gone, not ready, or its answer does not fit */
    BRIDGE_TIMED_OUT = -31001, /* no answer in time */
    BRIDGE_NOT_ALLOWED = -31002,   /* policy refuses, and no proposal is possible */
    BRIDGE_REJECTED = -31003,      /* a person rejected it */
    BRIDGE_KIND = -31020,          /* the kind does not fit the payload */
    BRIDGE_BAD_REQUEST = -32600,   /* JSON-RPC: not a valid request */
    BRIDGE_NO_METHOD = -32601,     /* JSON-RPC: unknown method */
    BRIDGE_BAD_PARAMS = -32602,    /* JSON-RPC: params are not usable */
    BRIDGE_INTERNAL = -32603,      /* JSON-RPC: internal error */
    BRIDGE_NO_CAPABILITY = -32021, /* MCP 2026-07-28: the client must declare a capability */
    BRIDGE_BAD_VERSION = -32022    /* MCP 2026-07-28: protocol version not supported */
};

/**
 * Appends a JSON-RPC error object as one message.
 *
 * id        raw JSON; absent = null
 * message   a sentence for people, UTF-8, not escaped
 * data      JSON; NULL or empty = no such member
 */
void bridge_add_error(struct mcpx_text *out, struct mcpx_slice id, int code,
                      struct mcpx_slice message, const struct mcpx_text *data);

/** Appends a JSON-RPC result as one message. `id` and `result` are raw JSON. */
void bridge_add_result(struct mcpx_text *out, struct mcpx_slice id, struct mcpx_slice result);

/** Appends a JSON-RPC notification as one message. `params` is JSON, or empty for none. */
void bridge_add_notice(struct mcpx_text *out, const char *method,
                       const struct mcpx_text *params);

/** Appends an object with one member changed, or added: `value` is JSON text. */
void bridge_add_with(struct mcpx_text *out, struct mcpx_slice object, const char *name,
                     const struct mcpx_text *value);

/** The same with a text that becomes a JSON string. */
void bridge_add_with_string(struct mcpx_text *out, struct mcpx_slice object, const char *name,
                            struct mcpx_slice value);

/** The same with a member of its `_meta`. */
void bridge_add_meta(struct mcpx_text *out, struct mcpx_slice object, const char *name,
                     const struct mcpx_text *value);

/**
 * Appends a received message for another receiver: with this `id` (raw JSON; absent = none), with
 * "jsonrpc", and with `value` as its member `name`. An absent `value` leaves the member as it is.
 */
void bridge_add_message(struct mcpx_text *out, struct mcpx_slice message, struct mcpx_slice id,
                        const char *name, struct mcpx_slice value);

/** Makes a message one line: white space between tokens may hold newlines, strings hold none. */
void bridge_flatten(struct mcpx_text *message);

/**
 * Reads a JSON number that is a plain non-negative integer of at most 18 digits: how a bridge
 * writes ids and progress tokens of its own. Some programs give them back as text ("5"), or with a
 * point (5.0): that is the same number. Returns false, `out` untouched, for anything else.
 */
bool bridge_number(struct mcpx_slice value, int64_t *out);

/**
 * Appends the sentence about a message too long for the router, with size, limit and setting.
 *
 * data    the same is appended as an object; NULL: it is not
 * what    "the answer"
 * bytes   of the JSON-RPC message; its envelope comes on top
 * limit   what the router's limits.message_bytes is
 */
void bridge_add_too_big(struct mcpx_text *out, struct mcpx_text *data, const char *what,
                        size_t bytes, size_t limit);

/**
 * Repairs a line that is not JSON: removes a byte order mark, and replaces each invalid byte in
 * UTF-8 by U+FFFD. False when the result is not JSON either, or when it replaces bytes of a
 * member's name or of a decisive value.
 */
bool bridge_mend(struct mcpx_slice line, struct mcpx_text *out);

/**
 * The level of log messages in a raw JSON value, from 1 "debug" to 8 "emergency"; 0: another value.
 */
unsigned bridge_log_level(struct mcpx_slice raw);

/** The name of such a level. */
const char *bridge_log_name(unsigned level);

/** True when who wants log messages of a level (0: none) gets this one; 0: its level is unknown. */
static inline bool bridge_log_passes(unsigned wanted, unsigned level)
{
    return wanted && (!level || level >= wanted);
}

/** The value, when it can be an id or a token: a string or a number; else absent. */
static inline struct mcpx_slice bridge_id(struct mcpx_slice value)
{
    enum mcpx_json_type type = mcpx_json_type(value);

    return type == MCPX_JSON_STRING || type == MCPX_JSON_NUMBER ? value
                                                                : (struct mcpx_slice){0};
}

/** The earlier of two times. */
static inline int64_t bridge_sooner(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/** True when the text is that word. */
static inline bool bridge_is(struct mcpx_slice text, const char *word)
{
    return mcpx_slice_equal(text, mcpx_slice_of(word));
}

/** True when the text is one of these words. */
#define bridge_is_any(text, ...)                                                              \
    bridge_is_among((text), (const char *const[]){__VA_ARGS__, NULL})
bool bridge_is_among(struct mcpx_slice text, const char *const *words);

/**
 * Reads id and type from the beginning of a JSON-RPC message that is too long to be kept.
 *
 * id         filled with its raw id, lent as long as `beginning`; absent when it does not show
 * is_answer  filled: it is a result or an error
 */
void bridge_read_beginning(struct mcpx_slice beginning, struct mcpx_slice *id,
                           bool *is_answer);

/**
 * The quota of requests under way, which cannot give way: one owner may have a quarter of a limit.
 *
 * own   of this owner, all   of all owners; both include the new request
 */
static inline bool bridge_may_have(size_t own, size_t all, size_t max)
{
    return all <= max && own <= max / 4;
}

/** Zeroed but for `alike.key`, which is secret, it is ready. */
struct bridge_limit {
    struct mx_buckets alike; /* lines that begin alike: ten a second, a hundred at once */
    struct mx_bucket all;    /* all lines: fifty a second, five hundred at once */
    struct mx_bucket counts; /* lines that say how many are missing: one a second */
    uint64_t left;           /* lines that were left out and are not reported yet */
};

/** True when the line may be shown. False counts it. */
bool bridge_limit_allows(struct bridge_limit *limit, struct mcpx_slice line, int64_t now_ms);

/** How many were left out, once, when it is time to say so; else 0. */
uint64_t bridge_limit_take_left(struct bridge_limit *limit, int64_t now_ms);

/** Zeroed memory for an object of `size` bytes, and `len` bytes for texts behind it: *at. */
static inline void *bridge_room(size_t size, size_t len, char **at)
{
    char *room = calloc(1, size + len);

    *at = room + size;
    return room;
}

#endif
