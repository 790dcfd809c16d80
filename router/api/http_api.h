/*
 * http_api.h - from one HTTP request to its answer, without a socket.
 * Protocol: sections 7 and 8.
 */
#ifndef EDGE_HTTP_API_H
#define EDGE_HTTP_API_H

#include "router/http/gate.h"
#include "router/http/http_reply.h"
#include "router/hub/hub.h"
#include "router/hub/topic/query.h"
#include "router/policy/config/config.h"
#include "router/policy/identity/jwt_keys.h"
#include "router/policy/identity/orders.h"
#include "router/policy/identity/tickets.h"
#include "router/process/process.h"
#include "router/store/audit/audit_line.h"
#include "router/store/store.h"

/** Largest request body accepted, in bytes. */
enum { HTTP_BODY_MAX = 65536 };

/**
 * What is known of who asks, and is found out while the request is answered.
 *
 * signature   of its token
 * looks       what its address was charged for looking at it, being over its rate; 0 = is not
 * is_good     it has shown a good credential and may ask
 */
struct http_caller {
    struct jwt_signature signature;
    uint64_t looks;
    bool is_good;
};

/**
 * A request as it came in. All slices are borrowed for the call.
 *
 * method          "GET", "HEAD", "POST", ...
 * target          raw request target: path and query, still percent-encoded
 * authorization   value of the Authorization header; absent when there was none
 * origin          likewise
 * content_type    likewise
 * named           whom its certificate stands for (struct claimant); `shown` are the names in it
 * body            empty when there was none
 * from            where it comes from
 * again           it has been asked and waited: it is not charged again
 * caller          NULL = signatures are verified at once
 */
struct http_request {
    struct mcpx_slice method;
    struct mcpx_slice target;
    struct mcpx_slice authorization;
    struct mcpx_slice origin;
    struct mcpx_slice content_type;
    struct mcpx_slice named, shown;
    struct mcpx_slice body;
    struct address from;
    bool again;
    struct http_caller *caller;
};

/**
 * What the metrics say of TLS.
 *
 * until_s      when the certificate in force ends, in seconds since 1970
 * stale        the files on disk could not be used when they were read last
 * crl_until_s  when all lists of the first authority of clients have ended; 0 = never
 * handshakes   that succeeded
 * failed       handshakes and connections that TLS has ended
 */
struct tls_figures {
    int64_t until_s;
    bool stale;
    int64_t crl_until_s;
    uint64_t handshakes, failed;
};

/** Age at which a figure is not known any more: the disk does not answer. */
enum { DISK_KNOWN_MS = 60000 };

/**
 * Bytes that somebody without privileges may still write to the disk of the database and to that of
 * the audit; -1 = not known.
 *
 * asked_ms   mono_ms when the disks were asked
 */
struct disk_figures {
    int64_t store, audit;
    int64_t asked_ms;
};

/** Where a connection comes from, and since when it is there: wall clock. */
struct whereabouts {
    struct address from;
    int64_t since_ms;
};

/** Whom to remove from which topics; `identity` is borrowed. */
struct removal {
    struct mcpx_slice identity;
    bool (*reaches)(void *reach, struct mcpx_slice topic);
    void *reach;
};

/**
 * What became of reloads of the configuration.
 *
 * err, text        of the last one: MCPX_OK and a JSON object; or why not, and lines with faults
 * since_ms         mono_ms since when the configuration is in force
 * done, refused    how many came into force; how many did not
 */
struct reload_report {
    enum mcpx_err err;
    struct mcpx_text text;
    int64_t since_ms;
    uint64_t done, refused;
};

/**
 * What the answers are made from; all borrowed.
 *
 * gate        charges those who ask; NULL = nobody is charged
 * log_lost    lines (log.h)
 * process     for the metrics, as `turns` of the loop; NULL = they say nothing of it
 * tls         NULL = no address has it
 * store       what keeps messages; NULL = nothing does
 * disks       that it writes on; NULL = not known
 * store_why   why it takes none now, or NULL
 * going       the router stops
 * work_ns     the processor time of this thread; NULL = answers cost no more than a request
 * tell        is told what an administrator has done
 * locate      asks who gave `owner` to hub_admit
 * turn_away   ends those who wait to come in, and says how many
 * context     for `tell` and `turn_away`; all three functions may be NULL
 */
struct http_api {
    struct hub *hub;
    const struct config *config;
    struct tickets *tickets;
    struct changes *changes;
    struct gate *gate;
    struct mcpx_now started;
    uint64_t log_lost;
    struct process *process;
    const struct tls_figures *tls;
    const struct figure *turns;
    const struct store *store;
    const struct disk_figures *disks;
    const char *store_why;
    struct reload_report reloads;
    bool going;
    uint64_t (*work_ns)(void);
    void (*tell)(void *context, const struct audit_note *note, struct mcpx_now now);
    void (*locate)(const void *owner, struct whereabouts *out);
    size_t (*turn_away)(void *context, const struct removal *removal);
    void *context;
};

/** Where rights come from, for orders.h. */
static inline struct realm api_realm(const struct http_api *api)
{
    return (struct realm){api->hub, api->config->tokens, api->changes};
}

/**
 * Who asks with a good token is charged for it (gate.h): one request, and one more for each
 * HTTP_WORK_NS of processor time that the answer has taken.
 */
enum { HTTP_WORK_NS = 250000 };

/**
 * Fills the answer, for http_reply_write. It borrows from the request until it is written.
 *
 * An answer with MCPX_EOPENING is none: the request is to be asked again once the topic, whose name
 * is the reply's `detail`, has been opened (hub_open) for the reply's `grant`; or, where the
 * caller's signature is wanted, once that was verified. With `reload`, it is to be answered when
 * the configuration was read again; its `detail` says who asks for that.
 *
 * reply   zero-initialised; to be freed with http_reply_fini
 */
void http_answer(const struct http_api *api, const struct http_request *request,
                 struct mcpx_now now, struct http_reply *reply);

#endif
