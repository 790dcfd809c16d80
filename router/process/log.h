/*
 * log.h - one line per event on stderr, for people or for machines, that nobody can forge.
 */
#ifndef EDGE_LOG_H
#define EDGE_LOG_H

#include "lib/base/bucket.h"
#include "router/policy/config/config.h"

/**
 * One `key=value` of an event. A text is borrowed for the call and may hold anything: control
 * characters, quotes, all that is not ASCII and bytes that are not UTF-8 are escaped. Never give it
 * a token, a ticket, an Authorization header or a query. Without a key it is left out.
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

/** A field made of a text that may be absent or empty, and is left out then. */
static inline struct log_field log_known(const char *key, struct mcpx_slice text)
{
    return (struct log_field){.key = text.len ? key : NULL, .text = text};
}

/**
 * Says what is to be written from now on, without waiting for who reads standard error. Before:
 * LOG_INFO and up, as text, waiting.
 */
void log_open(enum log_level level, enum log_format format);

/** Says so again, without waiting. */
void log_set(enum log_level level, enum log_format format);

/** Waits a second at most until what was kept is written, and frees the rest. */
void log_close(void);

/**
 * Tries again to write what standard error did not take, and says how many lines were lost. To be
 * called in every turn of the loop; costs nothing when nothing waits. Returns false while something
 * waits still.
 */
bool log_flush(void);

/** Lines lost since the beginning, because standard error was not read. */
uint64_t log_lost(void);

/** Would an event of this level be written? Ask before working out costly fields. */
bool log_wants(enum log_level level);

/** Writes one event with its fields. `event` is a word of ours, such as "admitted". */
void log_write(enum log_level level, const char *event, const struct log_field *fields,
               size_t count);

/** log_write with the fields as arguments; at least one. */
#define LOG(level, event, ...)                                                                \
    log_write((level), (event), (const struct log_field[]){__VA_ARGS__},                      \
              sizeof((const struct log_field[]){__VA_ARGS__}) / sizeof(struct log_field))

/**
 * How often one kind of event may be written, for events that anybody can cause. Zeroed is
 * ready; `about` may name the event.
 */
struct log_limit {
    const char *about;
    int64_t since_ms;
    unsigned written;
    unsigned held_back;
};

/**
 * May the event be written now? At most 10 per second; when lines were held back, a line with
 * their number comes before the next one that is permitted.
 */
bool log_permits(struct log_limit *limit, int64_t mono_ms);

/**
 * Writes how many lines were held back in the last second that had any, once it is over. To be
 * called now and then, or nobody would hear of the last ones.
 */
void log_tell(struct log_limit *limit, int64_t mono_ms);

/**
 * What libwebsockets is given to log with (lws_set_log_level): rate-limited and escaped. At the
 * levels asked for, errors and warnings, no line of it quotes a request.
 */
void log_lws(int level, const char *line);

/** Lines of one name at once, and per minute. Less than log_permits lets all together have. */
enum { LOG_SHARE_BURST = 5, LOG_SHARE_PER_MINUTE = 12 };

/** One kind of line. Made by log_share_init. */
struct log_share {
    struct mx_buckets each;
    struct log_limit all;
};

/**
 * Makes it ready.
 *
 * about   the event, for the line that says how many were left out; static
 * key     a secret one: nobody can choose a name that takes another's share
 */
void log_share_init(struct log_share *share, const char *about, struct mx_map_key key);

/**
 * May a line about this name be written now? When not, it is counted; log_tell says how many
 * were. Who has used up its own share takes nothing from the share of all.
 */
bool log_share_permits(struct log_share *share, struct mcpx_slice name, int64_t mono_ms);

#endif
