/* log.h - one line per event on stderr, for people or for machines; clients cannot forge lines. */
#ifndef EDGE_LOG_H
#define EDGE_LOG_H

#include "lib/base/bucket.h"
#include "router/policy/config/config.h"

/**
 * One `key=value` of an event. A text is borrowed for the call and may hold anything: control
 * characters, quotes and all bytes beyond ASCII are escaped. Never give it a token, a ticket, an
 * Authorization header or a query. A field without a key is left out.
 */
struct log_field {
    const char *key;
    struct mcpx_slice text;
    int64_t number;
    bool is_number;
};

/** A field made of a text. */
static inline struct log_field log_text(const char *key, struct mcpx_slice text)
{
    return (struct log_field){.key = key, .text = text};
}

/** A field made of a C string. */
static inline struct log_field log_string(const char *key, const char *text)
{
    return (struct log_field){.key = key, .text = mcpx_slice_of(text)};
}

/** A field made of a number. */
static inline struct log_field log_number(const char *key, int64_t number)
{
    return (struct log_field){.key = key, .number = number, .is_number = true};
}

/** A field made of a text; left out when the text is absent or empty. */
static inline struct log_field log_known(const char *key, struct mcpx_slice text)
{
    return (struct log_field){.key = text.len ? key : NULL, .text = text};
}

/**
 * Sets level and format, and makes writing non-blocking. Before: LOG_INFO and up, as text,
 * blocking.
 */
void log_open(enum log_level level, enum log_format format);

/** Sets both again. */
void log_set(enum log_level level, enum log_format format);

/** Waits a second at most until the kept lines are written, and frees the rest. */
void log_close(void);

/**
 * Tries again to write kept lines, and reports the number of lost ones. To be called in every loop
 * iteration; costs nothing without kept lines. Returns false while lines are kept.
 */
bool log_flush(void);

/** Lines lost since the beginning, because standard error was not read. */
uint64_t log_lost(void);

/** Would an event of this level be written? To be called before computing costly fields. */
bool log_wants(enum log_level level);

/** Writes one event with its fields. `event` is a fixed word, such as "admitted". */
void log_write(enum log_level level, const char *event, const struct log_field *fields,
               size_t count);

/** log_write with the fields as arguments; at least one. */
#define LOG(level, event, ...)                                                                \
    log_write((level), (event), (const struct log_field[]){__VA_ARGS__},                      \
              sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

/**
 * Limit of one kind of event, for events that any client can cause. Zeroed is ready; `about` may
 * name the event.
 */
struct log_limit {
    const char *about;
    int64_t since_ms;
    unsigned written;
    unsigned held_back;
};

/**
 * May the event be written now? At most 10 per second; after suppressed lines, a line with their
 * number precedes the next permitted one.
 */
bool log_permits(struct log_limit *limit, int64_t mono_ms);

/**
 * Writes the number of lines suppressed in the last such second, once it is over. To be called now
 * and then: else the last number is never written.
 */
void log_tell(struct log_limit *limit, int64_t mono_ms);

/**
 * Callback for the log of libwebsockets (lws_set_log_level): rate-limited and escaped. Its lines at
 * the used levels, errors and warnings, never quote a request.
 */
void log_lws(int level, const char *line);

/** Lines of one name at once, and per minute; below the limit of log_permits for all. */
enum { LOG_SHARE_BURST = 5, LOG_SHARE_PER_MINUTE = 12 };

/** One kind of line. Made by log_share_init. */
struct log_share {
    struct mx_buckets each;
    struct log_limit all;
};

/**
 * Makes it ready.
 *
 * about   the event, for the line with the number of suppressed lines; static
 * key     secret, so that a chosen name cannot use up another's quota
 */
void log_share_init(struct log_share *share, const char *about, struct mx_map_key key);

/**
 * May a line about this name be written now? When not, it is counted for log_tell. A name beyond
 * its own quota does not use up the common limit.
 */
bool log_share_permits(struct log_share *share, struct mcpx_slice name, int64_t mono_ms);

#endif
