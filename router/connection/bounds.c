/*
 * bounds.c - the bounds that a person wants to see before a program is started: what everybody
 * together may take, and what one participant or address may.
 */
#include "router/connection/bounds.h"

#include "lib/json/json_write.h"
#include "router/connection/edge.h"
#include "router/policy/identity/jwt.h"
#include "router/policy/identity/tokens_make.h"
#include "router/store/audit/audit.h"
#include "router/store/commit/belt.h"
#include "router/store/sqlite/sqlite_file.h"

/*
 * Descriptors beside connections (listeners, the loop's own, log, files being read, connections
 * that were cut in this turn and are not gone yet); what is prepared for when connections are not
 * limited; memory of an idle connection, as docs/performance.md has measured it, and some more; of
 * the grants that a signed token brings along, where they are eight patterns that nobody else has;
 * and what takes memory.
 */
enum {
    SPARE_DESCRIPTORS = 256,
    CONNECTIONS_UNLIMITED = 65536,
    CONNECTION_BYTES = 12 << 10,
    GRANTS_BYTES = 8 << 10,
    PARTS = 8
};

void bounds_settle(struct config *config, uint64_t memory)
{
    uint64_t quarter = memory / 4;

    if (config->hub.log_bytes != 0)
        return;
    if (memory == 0)
        quarter = BOUNDS_LOG_BYTES;
    else if (quarter < BOUNDS_LOG_BYTES_MIN)
        quarter = BOUNDS_LOG_BYTES_MIN;
    config->hub.log_bytes = (size_t)quarter;
}

size_t bounds_message(const struct config *config)
{
    size_t limit = config->hub.message_bytes;

    return limit && limit < MESSAGE_MOST ? limit : MESSAGE_MOST;
}

size_t bounds_buffers(const struct config *config)
{
    size_t most = 4 * bounds_message(config);

    return most > BUFFERS_MAX ? most : BUFFERS_MAX;
}

uint64_t bounds_descriptors(const struct config *config)
{
    size_t connections = config->hub.connections_max;

    return (connections ? connections : CONNECTIONS_UNLIMITED) + UNAUTHENTICATED_MAX +
           SPARE_DESCRIPTORS;
}

size_t bounds_room(uint64_t descriptors)
{
    return descriptors < 2 * SPARE_DESCRIPTORS ? descriptors / 2
                                               : descriptors - SPARE_DESCRIPTORS;
}

/* The sign for a number of it: "bytes of ..." are for people to read. */
static const char *sign_of(const char *what)
{
    return strncmp(what, "bytes ", 6) == 0 ? "%b" : "%s";
}

static void write_limit(const char *what, uint64_t limit, struct mcpx_text *out)
{
    if (limit == 0)
        mcpx_text_puts(out, "no limit");
    else
        mx_format(out, sign_of(what), limit);
}

/* `each` is UINT64_MAX where one of them has no share of its own. */
static void write_bound(const char *what, uint64_t all, const char *one, uint64_t each,
                        struct mcpx_text *out)
{
    mx_format(out, "bound: %s: ", what);
    write_limit(what, all, out);
    if (each != UINT64_MAX) {
        mx_format(out, ", of one %s: ", one);
        write_limit(what, each, out);
    }
    mcpx_text_puts(out, "\n");
}

void bounds_write(const struct config *config, struct mcpx_text *out)
{
    const struct hub_config *hub = &config->hub;
    uint64_t larger = hub->history_bytes;

    if (hub->backlog_bytes == 0 || hub->backlog_bytes > larger)
        larger = hub->backlog_bytes; /* 0: a lagging reader may have all there is */
    write_bound("bytes of logs", hub->log_bytes, "topic", larger, out);
    write_bound("bytes of messages that have not arrived whole", bounds_buffers(config), "",
                UINT64_MAX, out);
    write_bound("bytes that sockets have not taken", bounds_buffers(config), "", UINT64_MAX,
                out);
    write_bound("bytes that were read and wait for their turn", DEFERRED_MAX, "", UINT64_MAX,
                out);
    if (hub->gated)
        write_bound("bytes of messages that wait to be stored or audited", hub->pending_bytes,
                    "participant", hub->pending_bytes / PENDING_OWNERS, out);
    write_bound("topics", hub->topics_max, "participant", hub->topics_each, out);
    write_bound("connections", hub->connections_max, "participant", hub->connections_each,
                out);
    write_bound("connections without a token yet", UNAUTHENTICATED_MAX, "", UINT64_MAX, out);
    if (config->tls.wanted)
        write_bound("bytes that TLS takes of one connection", TLS_BYTES, "", UINT64_MAX, out);
    write_bound("unused tickets", TICKETS_MAX, "participant", config->tickets_each, out);
    write_bound("connection attempts per second", config->connects_per_s * GATE_ALL_SHARES,
                "address", config->connects_per_s, out);
    write_bound("requests per minute of one participant", config->requests_per_minute, "",
                UINT64_MAX, out);
}

/* Something that takes memory. */
struct part {
    const char *what;
    uint64_t bytes;
};

/* Two connections, and two topics that are being loaded: one is read, one is taken over. */
static uint64_t bytes_of_store(const struct hub_config *hub)
{
    return 2 * ((uint64_t)SCHEMA_CACHE_KIB << 10) + 2 * hub->history_bytes;
}

/* Refusals that wait, and the lines of a batch: text that is quoted grows, and so does
 * its buffer. */
static uint64_t bytes_of_audit(const struct config *config)
{
    uint64_t batch = config->audit.payloads ? bounds_message(config) : 0;

    return AUDIT_WAITING_MAX + 4 * (batch > BATCH_BYTES_MAX ? batch : BATCH_BYTES_MAX);
}

static void list_parts(const struct config *config, uint64_t taken, struct part parts[PARTS])
{
    const struct hub_config *hub = &config->hub;
    uint64_t connections = hub->connections_max ? hub->connections_max : CONNECTIONS_UNLIMITED;
    bool is_signed = config->tokens && jwt_ring_count(tokens_ring(config->tokens)) > 0;
    const struct part all[PARTS] = {
        {"the program and its configuration", taken},
        {"logs", hub->log_bytes},
        {"messages on their way",
         2 * bounds_buffers(config) + DEFERRED_MAX + (hub->gated ? hub->pending_bytes : 0)},
        {"connections", connections * CONNECTION_BYTES},
        {"TLS", config->tls.wanted ? connections * TLS_BYTES : 0},
        {"grants of signed tokens", is_signed ? connections * GRANTS_BYTES : 0},
        {"the store", hub->stored ? bytes_of_store(hub) : 0},
        {"the audit", hub->audited ? bytes_of_audit(config) : 0},
    };

    memcpy(parts, all, sizeof all);
}

static void write_parts(const struct part parts[PARTS], struct mcpx_text *out)
{
    const char *before = "";

    mcpx_text_puts(out, "need: of the memory: ");
    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].bytes == 0)
            continue;
        mx_format(out, "%s%b for %s", before, parts[i].bytes, parts[i].what);
        before = ", ";
    }
    mcpx_text_puts(out, "\n");
}

static void write_need(const char *what, uint64_t need, uint64_t there, const char *advice,
                       struct mcpx_text *out)
{
    mx_format(out, "need: %s: ", what);
    mx_format(out, sign_of(what), need);
    mcpx_text_puts(out, there ? " at most, there are " : " at most");
    if (there)
        mx_format(out, sign_of(what), there);
    if (there && there < need)
        mx_format(out, ": too few, %s", advice);
    mcpx_text_puts(out, "\n");
}

void bounds_write_needs(const struct config *config, const struct means *means,
                        struct mcpx_text *out)
{
    struct part parts[PARTS];
    uint64_t memory = 0;

    list_parts(config, means->taken, parts);
    for (size_t i = 0; i < PARTS; i++)
        memory += parts[i].bytes;
    write_need("bytes of memory", memory, means->memory, "lower limits.log_bytes", out);
    write_parts(parts, out);
    write_need("file descriptors", bounds_descriptors(config), means->descriptors,
               "raise LimitNOFILE= or ulimit -n, or lower limits.connections", out);
}
