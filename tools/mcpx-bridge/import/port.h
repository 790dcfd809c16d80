/*
 * port.h - what an import is told when it is made, and what it can do: its settings, which server
 * it is, and the port through which everything leaves.
 */
#ifndef MCPX_BRIDGE_IMPORT_PORT_H
#define MCPX_BRIDGE_IMPORT_PORT_H

#include "tools/mcpx-bridge/import/probe.h"
#include "tools/mcpx-bridge/import/who.h"

#include <mcpx/child.h>
#include <mcpx/session.h>

struct import;

/** What is declared to the server unless told otherwise. */
#define IMPORT_CAPABILITIES "{\"elicitation\":{},\"sampling\":{}}"

/**
 * Settings; 0 and NULL mean the default.
 *
 * topics         in how many topics we are; 1
 * isolate_max    how many processes of their own participants may have together; 0: none, one
 *                server serves all. One identity may have a quarter of them, one at least
 * isolate_idle_ms  how long such a process lives without anything to do; 600000
 * capabilities   the client capabilities declared to the server, a JSON object; copied.
 *                IMPORT_CAPABILITIES
 * roots          what roots/list is answered with, a JSON array of roots; copied. It is then declared
 *                to a server that is initialised. NULL: there are none, and no participant is
 *                ever asked, because what a server may touch is not a guest's to say
 * ask_newest     a question of the server goes to the newest call, also while several
 *                participants have one under way; false: it is refused then
 * protocol       how the server is greeted
 * once           the end of the server is final; else it comes back. The end of a process that was
 *                greeted in a way it did not bear is none, once
 * request_ms     how long the server may take for a request, counted anew from each progress
 *                notification, and a participant for a question of the server; 300000
 * probe_ms       how long to wait for the answer to server/discover before initialize; 2000
 * handshake_ms   how long the server may take until it is initialised; 120000
 * wait_ms        how long a request waits for a server that is not ready; 30000
 * calls_max      requests under way at one time; 10000. Of this, wait_bytes and subscriptions nobody
 *                may have more than is left free (import_who_may_have)
 * wait_bytes     how many bytes of requests may wait for a server that is not ready; 64 MiB
 */
struct import_config {
    size_t topics;
    size_t isolate_max;
    int64_t isolate_idle_ms;
    const char *capabilities;
    const char *roots;
    bool ask_newest;
    enum import_protocol protocol;
    bool once;
    int64_t request_ms;
    int64_t probe_ms;
    int64_t handshake_ms;
    int64_t wait_ms;
    size_t calls_max;
    size_t wait_bytes;
};

/**
 * Where it all goes. Slices are borrowed during the call. Called only from inside the functions
 * below and those of pool.h, and may not call them. `server` and `topic` are numbers.
 *
 * write         one line for the child; as mcpx_child_write
 * kill          the child hangs, or cannot be used; as mcpx_child_kill
 * start         one more process is wanted, for `owner` alone; an error is told to who waits. For a
 *               pool that isolates; a number comes again only after STOPPED or FAILED
 * stop          it is not wanted any more; as mcpx_child_stop
 * respond       as mcpx_client_respond
 * drop          as mcpx_session_drop
 * send          as mcpx_client_send
 * forget        as mcpx_session_forget
 * may           may we send this kind to everybody?
 * self          our participant id; absent before the first welcome
 * message_max   longest envelope the router takes, in bytes; 0 = not known
 * log           a sentence for people, without newline and control characters
 */
struct import_port {
    enum mcpx_err (*write)(void *user, size_t server, struct mcpx_slice line);
    void (*kill)(void *user, size_t server);
    enum mcpx_err (*start)(void *user, size_t server, struct import_who owner);
    void (*stop)(void *user, size_t server);
    enum mcpx_err (*respond)(void *user, size_t topic, struct mcpx_slice request,
                             struct mcpx_slice payload);
    void (*drop)(void *user, size_t topic, struct mcpx_slice request);
    enum mcpx_err (*send)(void *user, size_t topic, const struct mcpx_draft *draft,
                          struct mcpx_slice *id);
    void (*forget)(void *user, size_t topic, struct mcpx_slice id);
    bool (*may)(void *user, size_t topic, struct mcpx_slice kind);
    struct mcpx_slice (*self)(void *user, size_t topic);
    size_t (*message_max)(void *user, size_t topic);
    void (*log)(void *user, const char *text);
    void *user;
};

/**
 * What all servers of one command share; zero at the beginning.
 *
 * probe    how its processes are greeted
 * serial   tag of the latest question, so that no two servers' have the same
 */
struct import_facts {
    struct import_probe probe;
    uintptr_t serial;
};

/**
 * What one server is.
 *
 * number   of the server, for the port
 * owner    the one participant it serves, kept as long as the import; without an id: everybody
 * facts    kept as long
 */
struct import_setup {
    size_t number;
    struct import_who owner;
    struct import_facts *facts;
};

#endif
