/*
 * config.h - the settings of an import, and what it takes of the outside world besides its inputs.
 */
#ifndef MCPX_BRIDGE_IMPORT_CONFIG_H
#define MCPX_BRIDGE_IMPORT_CONFIG_H

#include "lib/base/map.h"
#include "tools/mcpx-bridge/calls.h"
#include "tools/mcpx-bridge/output.h"
#include "tools/mcpx-bridge/terms.h"

#include <mcpx/base.h>
#include <mcpx/kind.h>

#include <stddef.h>
#include <stdint.h>

/**
 * Questions only, so they are called, and nothing else is. Without terms `could` and `now` are not
 * needed.
 */
struct import_view {
    const void *user;
    /* Whether that participant of a topic could send this kind, by the capabilities that the
     * router shows. */
    bool (*could)(const void *user, size_t topic, struct mcpx_slice participant,
                  const struct mcpx_kind *kind);
    /* The clocks, asked at this moment: finer than what an input is told. */
    struct mcpx_instant (*now)(const void *user);
    /* Random bytes; not asked with deterministic ids. NULL: there are none. */
    void (*chance)(const void *user, void *bytes, size_t len);
    /* What a topic's session has not sent yet: how many messages, of how many bytes together.
     * False: it ends, so answers that wait are given to it now. NULL: nothing ever. */
    bool (*unsent)(const void *user, size_t topic, size_t *count, size_t *bytes);
};

/** How a server is greeted. */
enum import_protocol {
    IMPORT_PROTOCOL_AUTO,   /* server/discover first, initialize when that fails */
    IMPORT_PROTOCOL_LEGACY, /* initialize, version 2025-11-25 */
    IMPORT_PROTOCOL_MODERN  /* server/discover, version 2026-07-28, and nothing else */
};

/** What is declared to the server unless told otherwise. */
#define IMPORT_CAPABILITIES "{\"elicitation\":{},\"sampling\":{}}"

/** Settings; 0 and NULL mean the default. Texts are kept as long as the pool. */
struct import_config {
    size_t topics; /* in how many topics we are; 1 */
    /* How many processes of their own participants may have together; 0: none, one server
     * serves all. One identity may have a quarter of them, one at least. */
    size_t isolate_max;
    int64_t isolate_idle_ms; /* how long such a process lives without anything to do; 600000 */
    /* The client capabilities declared to the server, a JSON object. IMPORT_CAPABILITIES. */
    const char *capabilities;
    /* What roots/list is answered with, a JSON array of roots. It is then declared to a server
     * that is initialised. NULL: there are none, and no participant is ever asked, because what
     * a server may touch is not a guest's to say. */
    const char *roots;
    /* A question of the server goes to the newest call, also while several participants have
     * one under way; false: it is refused then. */
    bool ask_newest;
    enum import_protocol protocol; /* how the server is greeted */
    /* The end of the server is final; else it comes back. The end of a process that was greeted
     * in a way it did not bear is none, once. */
    bool once;
    /* How long the server may take for a request, counted anew from each progress notification
     * and from the answer to each question of the server; 300000. */
    int64_t request_ms;
    int64_t question_ms; /* how long a participant may take for such a question; 3600000 */
    /* How long to wait for the answer to server/discover before initialize; 2000. */
    int64_t probe_ms;
    int64_t handshake_ms; /* how long the server may take until it is initialised; 120000 */
    int64_t wait_ms;      /* how long a request waits for a server that is not ready; 30000 */
    /* Requests under way at one time; 10000. Of this, wait_bytes and subscriptions a
     * participant may have a quarter (bridge_may_have). */
    size_t calls_max;
    /* How many bytes of requests may wait for a server that is not ready; 64 MiB. */
    size_t wait_bytes;
    /* How many bytes may wait to be sent to one participant, four times that to all of a topic;
     * 16 MiB. */
    size_t answers_max;
    /* What calls of tools have to keep, kept as long as the pool; NULL: nothing. */
    const struct bridge_terms *terms;
    struct import_view view; /* what that takes */
};

/* ---- what all servers of one command share, and what one of them is. ---- */

/** What is known of a command. Zero-initialised: nothing, its next process is probed. */
struct import_probe {
    bool plain;       /* the next process gets initialize at once */
    bool proven;      /* a process became ready, so the greeting stays as it is */
    unsigned changes; /* how often the greeting was changed */
    bool refused[2];  /* initialize was refused: [1] after the probe, [0] without one */
};

/** What is known of one of our topics. */
struct import_topic {
    char self[MCPX_ID_MAX]; /* our participant id there; empty before the first welcome */
    size_t self_len;
    size_t message_max; /* longest envelope the router takes, in bytes; 0 = not known */
};

/**
 * Zero at the beginning, except for `topics`, which has a row for each.
 *
 * last_ask number of the latest question, so that no two servers' have the same
 */
struct import_shared {
    struct mx_map_key key;     /* of hash tables: random, and told to nobody */
    struct import_probe probe; /* how the processes of the command are greeted */
    int64_t last_ask;
    struct import_topic *topics;
    struct bridge_output output; /* what they want done */
    struct import_view view;     /* questions */
    struct bridge_doors doors;   /* of calls of tools under terms */
    /* Who we were at that time in the first topic we had joined: whose calls they are. */
    struct import_topic edge;
};

/** What one server is. */
struct import_setup {
    size_t number; /* of the server, for its actions */
    /* The one participant it serves, kept as long as the import; without an id: everybody. */
    struct bridge_who owner;
    struct import_shared *shared; /* kept as long */
};

/* ---- the whole, with its sockets and its processes, on one loop: edge/run.c. ---- */

struct connection;
struct mcpx_client_config;

/** What to run. Everything is borrowed during import_run. */
struct import_job {
    /* Where to connect, `topic_count` of them; loop, on_event and user are filled in. */
    const struct mcpx_client_config *topics;
    size_t topic_count;
    struct connection *where;    /* a row for each topic: where another token comes from */
    struct import_config import; /* settings of the core */
    char *const *argv;           /* the server's command line, ended by NULL */
    const char *name;            /* precedes the lines of its standard error */
    size_t line_max;
};

/**
 * Runs until a signal of loop.h, or an end that is final: of server 0, or of the last topic.
 * Complains on standard error.
 *
 * Returns an exit code: STATUS_OK after a signal, STATUS_UNREACHABLE when the router cannot be
 * reached or refuses us, STATUS_USAGE when the settings are at fault, else STATUS_FAILED.
 */
int import_run(const struct import_job *job);

#endif
