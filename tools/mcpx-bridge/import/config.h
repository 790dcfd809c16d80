/*
 * config.h - the settings of an import.
 */
#ifndef MCPX_BRIDGE_IMPORT_CONFIG_H
#define MCPX_BRIDGE_IMPORT_CONFIG_H

#include "tools/mcpx-bridge/import/probe.h"
#include "tools/mcpx-bridge/import/view.h"

#include <stddef.h>
#include <stdint.h>

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
 * roots          what roots/list is answered with, a JSON array of roots; copied. It is then
 *                declared to a server that is initialised. NULL: there are none, and no participant
 *                is ever asked, because what a server may touch is not a guest's to say
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
 * calls_max      requests under way at one time; 10000. Of this, wait_bytes and subscriptions
 *                nobody may have more than is left free (bridge_may_have)
 * wait_bytes     how many bytes of requests may wait for a server that is not ready; 64 MiB
 * answers_max    how many bytes may wait to be sent to one participant, four times that to all of a
 *                topic; 16 MiB
 * terms          what calls of tools have to keep, kept as long as the pool; NULL: nothing
 * view           what that takes
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
    size_t answers_max;
    const struct bridge_terms *terms;
    struct import_view view;
};

#endif
