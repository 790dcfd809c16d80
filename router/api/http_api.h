/*
 * http_api.h - from one HTTP request to its answer, without a socket. Protocol: sections 7 and 8.
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

/** Facts about the caller, found while the request is answered. */
struct http_caller {
    struct jwt_signature signature; /* of its token */
    /* The charge to its address for a check beyond the rate; 0 = none. */
    uint64_t looks;
    bool is_good; /* its credential is valid and its rate permits the request */
};

/** A request as received. All slices are borrowed for the call. */
struct http_request {
    struct mcpx_slice method; /* "GET", "HEAD", "POST", ... */
    struct mcpx_slice target; /* raw request target: path and query, still percent-encoded */
    /* Value of the Authorization header; absent when there was none. */
    struct mcpx_slice authorization;
    struct mcpx_slice origin; /* value of the Origin header, likewise */
    /* The participant of its certificate (struct credentials); `shown`: the names in it. */
    struct mcpx_slice named;
    struct mcpx_slice shown;
    struct mcpx_slice body; /* empty when there was none */
    /* Of a request for a WebSocket, by GET: filled with its admission; NULL = another request. */
    struct admission *join;
    struct address from;        /* client address */
    bool again;                 /* it has waited after a first call: it is not charged again */
    struct http_caller *caller; /* NULL = signatures are verified at once */
};

/** TLS figures for the metrics. */
struct tls_figures {
    int64_t until_s; /* when the active certificate ends, in seconds since 1970 */
    bool stale;      /* the last reading found unusable files */
    /* When some CA of clients first has no unexpired CRL; 0 = never. */
    int64_t crl_until_s;
    uint64_t handshakes; /* that succeeded */
    uint64_t failed;     /* handshakes and connections ended by an error of TLS */
};

/** Age at which a figure is not used any more: the disk does not answer. */
enum { DISK_KNOWN_MS = 60000 };

/**
 * Free bytes for an unprivileged user, on the disks of the database and of the audit; -1 = not
 * known.
 */
struct disk_figures {
    int64_t store, audit;
    int64_t asked_ms; /* mono_ms when the disks were asked */
};

/** The client address of a connection, and the time when it joined: wall clock. */
struct connection_origin {
    struct address from;
    int64_t since_ms;
};

/** A participant to be removed from topics; `identity` is borrowed. */
struct removal {
    struct mcpx_slice identity;
    bool (*reaches)(void *reach, struct mcpx_slice topic);
    void *reach;
};

/** Results of reloads of the configuration. */
struct reload_report {
    /* `err`, `text`: of the last one: MCPX_OK and a JSON object; or an error, and its lines. */
    enum mcpx_err err;
    struct mcpx_text text;
    int64_t since_ms;       /* mono_ms since when the configuration is active */
    uint64_t done, refused; /* successful ones; failed ones */
};

/** The sources of all answers; borrowed. */
struct http_api {
    struct hub *hub;
    const struct config *config;
    struct tickets *tickets;
    struct changes *changes;
    struct rate_limits *rates; /* charges callers; NULL = does not */
    struct mcpx_now started;
    uint64_t log_lost; /* lines (log.h) */
    /* For the metrics, as `turns` of the loop; NULL = not in them. */
    struct process *process;
    const struct tls_figures *tls; /* NULL = no listener has it */
    const struct mx_histogram *turns;
    const struct store *store;        /* store and audit; NULL = none */
    const struct disk_figures *disks; /* of `store`; NULL = not known */
    const char *store_why;            /* why it accepts nothing now, or NULL */
    struct reload_report reloads;
    bool going; /* the router stops */
    /* The processor time of this thread; NULL = answers cost no more than a request. */
    uint64_t (*work_ns)(void);
    /* Receives each act of an administrator. */
    void (*tell)(void *context, const struct audit_note *note);
    /* Finds the origin of a connection: `owner` was given to hub_admit. */
    void (*origin_of)(const void *owner, struct connection_origin *out);
    /* Refuses the pending connections of a removal; returns how many. */
    size_t (*turn_away)(void *context, const struct removal *removal);
    void *context; /* for `tell` and `turn_away`; all three functions may be NULL */
};

/** Returns the sources of grants, for change_plans.h. */
static inline struct realm api_realm(const struct http_api *api)
{
    return (struct realm){api->hub, api->config->tokens, api->changes};
}

/**
 * A caller with a valid token is charged (rate_limits.h): one request, and another for each
 * HTTP_WORK_NS of processor time of the answer.
 */
enum { HTTP_WORK_NS = 250000 };

/**
 * Fills the answer, for http_reply_write. It borrows from the request until it is written.
 *
 * A permitted request for a WebSocket has MCPX_OK, or MCPX_EOPENING while its topic is opened. Then
 * reply->grant is the participant's, and `join` borrows from reply->scratch. The attempt uses up a
 * ticket.
 *
 * Any other reply with MCPX_EOPENING is not an answer yet. Call again after the topic in `detail`
 * is open (hub_open) for the reply's `grant`; or after the caller's signature, if requested, is
 * verified. With `reload`, answer when the configuration has been read again; `detail` then has the
 * caller.
 *
 * reply   zero-initialised; to be freed with http_reply_fini
 */
void http_answer(const struct http_api *api, const struct http_request *request,
                 struct mcpx_now now, struct http_reply *reply);

#endif
