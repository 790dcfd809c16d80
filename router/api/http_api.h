/*
 * http_api.h - from one HTTP request to its answer, without a socket.
 * Protocol: sections 7 and 8.
 */
#ifndef EDGE_HTTP_API_H
#define EDGE_HTTP_API_H

#include "router/http/http_reply.h"
#include "router/http/rate_limits.h"
#include "router/hub/hub.h"
#include "router/hub/topic/query.h"
#include "router/policy/config/config.h"
#include "router/policy/identity/change_plans.h"
#include "router/policy/identity/jwt.h"
#include "router/policy/identity/tickets.h"
#include "router/process/process.h"
#include "router/store/audit/audit_chain.h"
#include "router/store/store.h"

/** Largest request body accepted, in bytes. */
enum { HTTP_BODY_MAX = 65536 };

/** What is known of who asks, and is found out while the request is answered. */
struct http_caller {
    struct jwt_signature signature; /* of its token */
    /* The charge to its address for a check beyond the rate; 0 = none. */
    uint64_t looks;
    bool is_good; /* it has shown a good credential and may ask */
};

/** A request as it came in. All slices are borrowed for the call. */
struct http_request {
    struct mcpx_slice method; /* "GET", "HEAD", "POST", ... */
    struct mcpx_slice target; /* raw request target: path and query, still percent-encoded */
    /* Value of the Authorization header; absent when there was none. */
    struct mcpx_slice authorization;
    struct mcpx_slice origin; /* value of the Origin header, likewise */
    /* Whom its certificate stands for (struct credentials); `shown` are the names in it. */
    struct mcpx_slice named;
    struct mcpx_slice shown;
    struct mcpx_slice body; /* empty when there was none */
    /* It asks for a WebSocket, by GET: filled with how somebody comes in; NULL = it does
     * not. */
    struct admission *join;
    struct address from;        /* where it comes from */
    bool again;                 /* it has been asked and waited: it is not charged again */
    struct http_caller *caller; /* NULL = signatures are verified at once */
};

/** What the metrics say of TLS. */
struct tls_figures {
    int64_t until_s; /* when the certificate in force ends, in seconds since 1970 */
    bool stale;      /* the files on disk could not be used when they were read last */
    /* When all lists of the first authority of clients have ended; 0 = never. */
    int64_t crl_until_s;
    uint64_t handshakes; /* that succeeded */
    uint64_t failed;     /* handshakes and connections that TLS has ended */
};

/** Age at which a figure is not known any more: the disk does not answer. */
enum { DISK_KNOWN_MS = 60000 };

/**
 * Bytes that somebody without privileges may still write to the disk of the database and to that of
 * the audit; -1 = not known.
 */
struct disk_figures {
    int64_t store, audit;
    int64_t asked_ms; /* mono_ms when the disks were asked */
};

/** Where a connection comes from, and since when it is there: wall clock. */
struct connection_origin {
    struct address from;
    int64_t since_ms;
};

/** Whom to remove from which topics; `identity` is borrowed. */
struct removal {
    struct mcpx_slice identity;
    bool (*reaches)(void *reach, struct mcpx_slice topic);
    void *reach;
};

/** What became of reloads of the configuration. */
struct reload_report {
    /* `err`, `text`: of the last one: MCPX_OK and a JSON object; or why not, and lines with
     * faults. */
    enum mcpx_err err;
    struct mcpx_text text;
    int64_t since_ms;       /* mono_ms since when the configuration is in force */
    uint64_t done, refused; /* how many came into force; how many did not */
};

/** What the answers are made from; all borrowed. */
struct http_api {
    struct hub *hub;
    const struct config *config;
    struct tickets *tickets;
    struct changes *changes;
    struct rate_limits *rates; /* charges those who ask; NULL = nobody is charged */
    struct mcpx_now started;
    uint64_t log_lost; /* lines (log.h) */
    /* For the metrics, as `turns` of the loop; NULL = they say nothing of it. */
    struct process *process;
    const struct tls_figures *tls; /* NULL = no address has it */
    const struct mx_histogram *turns;
    const struct store *store;        /* what keeps messages; NULL = nothing does */
    const struct disk_figures *disks; /* that it writes on; NULL = not known */
    const char *store_why;            /* why it takes none now, or NULL */
    struct reload_report reloads;
    bool going; /* the router stops */
    /* The processor time of this thread; NULL = answers cost no more than a request. */
    uint64_t (*work_ns)(void);
    /* Is told what an administrator has done. */
    void (*tell)(void *context, const struct audit_note *note, struct mcpx_now now);
    /* Asks who gave `owner` to hub_admit. */
    void (*locate)(const void *owner, struct connection_origin *out);
    /* Ends those who wait to come in, and says how many. */
    size_t (*turn_away)(void *context, const struct removal *removal);
    void *context; /* for `tell` and `turn_away`; all three functions may be NULL */
};

/** Where rights come from, for change_plans.h. */
static inline struct realm api_realm(const struct http_api *api)
{
    return (struct realm){api->hub, api->config->tokens, api->changes};
}

/**
 * Who asks with a good token is charged for it (rate_limits.h): one request, and one more for each
 * HTTP_WORK_NS of processor time that the answer has taken.
 */
enum { HTTP_WORK_NS = 250000 };

/**
 * Fills the answer, for http_reply_write. It borrows from the request until it is written.
 *
 * Who asks for a WebSocket and may come in as reply->grant has MCPX_OK, or MCPX_EOPENING while the
 * topic is opened; `join` then borrows from reply->scratch. A ticket is spent by the attempt.
 *
 * Any other answer with MCPX_EOPENING is none: the request is to be asked again once the topic,
 * whose name is the reply's `detail`, has been opened (hub_open) for the reply's `grant`; or, where
 * the caller's signature is wanted, once that was verified. With `reload`, it is to be answered
 * when the configuration was read again; its `detail` says who asks for that.
 *
 * reply   zero-initialised; to be freed with http_reply_fini
 */
void http_answer(const struct http_api *api, const struct http_request *request,
                 struct mcpx_now now, struct http_reply *reply);

#endif
