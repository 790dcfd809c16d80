/*
 * bounds.c - the bounds that a person wants to see before a program is started: what everybody
 * together may take, and what one participant or address may.
 */
#include "router/edge/bounds.h"

#include "lib/core/format.h"
#include "router/edge/edge.h"

/*
 * Descriptors beside connections (listeners, the loop's own, log, files being read, connections
 * that were cut in this turn and are not gone yet); what is prepared for when connections are not
 * limited; memory of an idle connection, as docs/performance.md has measured it, and some more.
 */
enum { SPARE_DESCRIPTORS = 256, CONNECTIONS_UNLIMITED = 65536, CONNECTION_BYTES = 12 << 10 };

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

static void write_number(uint64_t number, struct mcpx_text *out)
{
    if (number == 0)
        mcpx_text_puts(out, "no limit");
    else
        mcpx_text_number(out, (int64_t)number);
}

/* `each` is UINT64_MAX where one of them has no share of its own. */
static void write_bound(const char *what, uint64_t all, const char *one, uint64_t each,
                        struct mcpx_text *out)
{
    mx_format(out, "bound: %s: ", what);
    write_number(all, out);
    if (each != UINT64_MAX) {
        mx_format(out, ", of one %s: ", one);
        write_number(each, out);
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
                    "participant", hub->pending_bytes / 2, out);
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

static uint64_t memory_of(const struct config *config)
{
    const struct hub_config *hub = &config->hub;
    uint64_t connections = hub->connections_max ? hub->connections_max : CONNECTIONS_UNLIMITED;
    uint64_t each = CONNECTION_BYTES + (config->tls.wanted ? TLS_BYTES : 0);

    return hub->log_bytes + 2 * bounds_buffers(config) + DEFERRED_MAX +
           (hub->gated ? hub->pending_bytes : 0) + connections * each;
}

static void write_need(const char *what, uint64_t need, uint64_t there, const char *advice,
                       struct mcpx_text *out)
{
    mx_format(out, "need: %s: %s at most", what, need);
    if (there)
        mx_format(out, ", there are %s", there);
    if (there && there < need)
        mx_format(out, ": too few, %s", advice);
    mcpx_text_puts(out, "\n");
}

void bounds_write_needs(const struct config *config, uint64_t memory, uint64_t descriptors,
                        struct mcpx_text *out)
{
    write_need("bytes of memory", memory_of(config), memory, "lower limits.log_bytes", out);
    write_need("file descriptors", bounds_descriptors(config), descriptors,
               "raise LimitNOFILE= or ulimit -n, or lower limits.connections", out);
}
