/*
 * ws_wire.h - one WebSocket connection after the other to one router: texts go in and out, and
 * the end has a code. It knows nothing of envelopes.
 */
#ifndef EDGE_WS_WIRE_H
#define EDGE_WS_WIRE_H

#include "lib/json/digest.h"
#include "lib/wire/http_head.h"
#include <mcpx/client.h>

#include <uv.h>

enum { MX_HOST_MAX = 100, MX_PATH_MAX = 255 };

struct mx_address {
    bool tls;
    bool v6; /* the host is an IPv6 address */
    int port;
    char host[MX_HOST_MAX + 1]; /* name or address, without the brackets of an IPv6 address */
    char path[MX_PATH_MAX + sizeof "/ws"]; /* begins with a slash */
};

/**
 * Reads ws://HOST[:PORT][/PATH]; wss, http and https too. The port follows from the scheme when it
 * is not named, the path is /ws when it is absent or a lone slash.
 *
 * out     untouched on failure
 * fault   filled on failure (reason, field "url", offset); may be NULL
 *
 * Returns MCPX_OK or MCPX_EINVALID: another scheme, user or token before the host, a query or
 * fragment, a host that is empty or too long, a port out of range, a path with blanks or controls.
 */
enum mcpx_err mx_url_read(const char *url, struct mx_address *out, struct mcpx_fault *fault);

/** Appends HOST:PORT as a Host header has it. */
void mx_url_add_host(struct mcpx_text *out, const struct mx_address *address);

/** A request to join a topic. Protocol: sections 5 and 7. */
struct mx_join {
    struct mcpx_slice topic; /* not percent-encoded */
    const char *routing;     /* NULL = not asked */
    int history;             /* -1 = not asked */
    struct mcpx_place place; /* where to go on; epoch absent = not asked */
    /* `instance`, `instance_key`: absent = not asked. */
    struct mcpx_slice instance;
    struct mcpx_slice instance_key;
};

/** Appends the request target: path and query, percent-encoded. Failure shows in `out`. */
void mx_url_add_target(struct mcpx_text *out, const struct mx_address *address,
                       const struct mx_join *join);

/** A WebSocket that is asked for, without a socket. Zero-initialised is ready. */
struct mx_upgrade {
    int status;              /* of an answer that refuses it, once its head has come */
    bool is_foreign;         /* no router gave that answer, but something before it */
    struct mcpx_text reason; /* why it is REFUSED, or the answer BAD */
    /* Bytes behind a GRANTED answer, lent until mx_upgrade_fini. */
    struct mcpx_slice left;

    /* private */
    char accept[MX_ACCEPT_LEN + 1]; /* expected in the answer */
    struct mx_http_scan scan;
    struct mx_http_chunks chunks;
    struct mcpx_text in, body;
};

enum mx_upgrade_step {
    MX_UPGRADE_MORE,
    MX_UPGRADE_GRANTED,
    MX_UPGRADE_REFUSED,
    MX_UPGRADE_BAD
};

/** Appends the request. `token` is a whole header line, or empty. */
void mx_upgrade_ask(struct mx_upgrade *upgrade, const struct mcpx_text *target,
                    const struct mcpx_text *host, const struct mcpx_text *token,
                    struct mcpx_text *out);

/** Takes the next bytes of the answer; no bytes: the answer has ended. */
enum mx_upgrade_step mx_upgrade_take(struct mx_upgrade *upgrade, struct mcpx_slice bytes);

/** Frees it, and makes it ready for the next. */
void mx_upgrade_fini(struct mx_upgrade *upgrade);

struct mx_wire;

/** Longest message taken until mx_wire_allow; a longer one ends the connection with 1009. */
enum { MX_MESSAGE_MAX = 64 << 20 };

/**
 * The events of a connection.
 *
 *   OPENED     the connection is established
 *   TEXT       a whole text message came
 *   ALIVE      something else came
 *   WRITABLE   mx_wire_write may be called again
 *   ENDED      the connection is gone, or could not be made; mx_wire_connect may be called. `code`
 *              is a close code, or the HTTP status of a refused upgrade, or 0; less than 0 is such
 *              a status from something before the router. `text` is the reason
 */
enum mx_input_type {
    MX_INPUT_OPENED,
    MX_INPUT_TEXT,
    MX_INPUT_ALIVE,
    MX_INPUT_WRITABLE,
    MX_INPUT_ENDED
};

/** One thing that happened; `text` is lent. */
struct mx_input {
    enum mx_input_type type;
    int code;
    struct mcpx_slice text;
};

/**
 * Makes one that connects to `address` with the token and the files of `config`. Everything is
 * copied but `loop`, which is borrowed until mx_wire_free. Returns MCPX_OK, MCPX_ENOMEM, or
 * MCPX_ESYSTEM when no context for TLS can be made.
 *
 * tell   called from the loop
 */
enum mcpx_err mx_wire_new(uv_loop_t *loop, const struct mx_address *address,
                          const struct mcpx_client_config *config,
                          void (*tell)(void *user, struct mx_input input), void *user,
                          struct mx_wire **out);

/**
 * Connects; `target` is borrowed until there is an answer. Names are looked up without holding up
 * the loop, and each address found is tried in turn. ENDED may be told at once. To be called only
 * without a connection, and not from within `tell`.
 */
void mx_wire_connect(struct mx_wire *wire, const struct mcpx_text *target);

/**
 * Writes one text message, with the next mx_wire_flush. Returns false, and takes nothing, without a
 * connection or while its output buffer is full.
 */
bool mx_wire_write(struct mx_wire *wire, struct mcpx_slice text);

/**
 * Writes what was taken since the last time, at once.
 *
 * more   there is more: WRITABLE is told when the loop has served all other connections
 */
void mx_wire_flush(struct mx_wire *wire, bool more);

/** Sends a ping; its answer is told as ALIVE. */
void mx_wire_ping(struct mx_wire *wire);

/** Writes a close frame with 1000 at the end; ENDED follows when the other side has answered. */
void mx_wire_finish(struct mx_wire *wire);

/** Stops or goes on reading. */
void mx_wire_pause(struct mx_wire *wire, bool pause);

/** Copies the token for the next connection. False when memory runs out: it keeps the old one. */
bool mx_wire_renew(struct mx_wire *wire, const char *token);

/**
 * True when the next connection will show another certificate than the refused one. `told` gets a
 * sentence for people: the file with another certificate, or the faulty file and its remedy.
 */
bool mx_wire_shows_other(const struct mx_wire *wire, struct mcpx_text *told);

/**
 * Takes messages as long as the router lets others write them, with what it splices in.
 *
 * limit   its limits.message_bytes; 0 = none: then as much as that setting could be. Less than
 *         MX_MESSAGE_MAX changes nothing
 */
void mx_wire_allow(struct mx_wire *wire, size_t limit);

/** Breaks the connection or the attempt at one, if any; ENDED is not told. */
void mx_wire_drop(struct mx_wire *wire);

/**
 * Frees it; nothing is told any more. Its handles close in the next turn of the loop. Not from
 * within `tell`. NULL is allowed.
 */
void mx_wire_free(struct mx_wire *wire);

#endif
