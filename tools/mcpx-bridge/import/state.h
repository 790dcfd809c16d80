/*
 * state.h - the insides of an import, shared by the files it is made of.
 */
#ifndef MCPX_BRIDGE_IMPORT_STATE_H
#define MCPX_BRIDGE_IMPORT_STATE_H

#include "tools/mcpx-bridge/import/ask.h"
#include "tools/mcpx-bridge/import/calls.h"
#include "tools/mcpx-bridge/import/config.h"
#include "tools/mcpx-bridge/import/shared.h"
#include "tools/mcpx-bridge/import/subs.h"
#include "tools/mcpx-bridge/import/tools.h"

/*
 *   DOWN --started--> PROBING --not of 2026--> INITIALIZING ----> LEGACY
 *      \                 |                      ^ | a late answer to the probe
 *       \                +----------------------|-+-------------> MODERN
 *        +--started, it does not bear the probe-+
 *
 * Every death leads back to DOWN.
 */
enum import_era {
    IMPORT_DOWN,
    IMPORT_PROBING,
    IMPORT_INITIALIZING,
    IMPORT_LEGACY,
    IMPORT_MODERN
};

/**
 * era_at         mono_ms at which the probe ends without an answer, INT64_MAX when none runs
 * handshake_at   mono_ms at which a server that is not ready is killed, INT64_MAX when it is
 * version        protocol version spoken with the server
 * setup          its number and its owner
 * kill           the action of that name
 * probed         this process was asked server/discover
 * unready        it was started and is not ready yet
 * again          it ended or will be ended, and the next one is greeted in another way
 * retried        the version was already taken from the server's own list
 * greeting       raw result for participants' initialize
 * starts         how often the server became ready
 * over           there will be no server any more
 * outage        why there is no server now; outage_data is the raw object that goes with it
 * failure        see import_failure; empty = none
 * notice_err     the error of the last notification; the same error is not logged twice
 * line, text     scratch: a line for the child, a text for the topic
 */
struct import {
    struct import_config config;
    struct import_calls calls;
    struct import_asks asks;
    struct import_subs subs;
    struct import_tools tools;
    enum import_era era;
    int64_t era_at;
    int64_t handshake_at;
    struct import_setup setup;
    struct bridge_row kill;
    bool probed, unready, again;
    char version[32];
    bool retried;
    struct mcpx_text greeting;
    size_t starts;
    bool over;
    struct mcpx_text outage;
    struct mcpx_text outage_data;
    char failure[320];
    enum mcpx_err notice_err;
    struct mcpx_text line;
    struct mcpx_text text;
};

/** True when the server takes requests. */
static inline bool import_is_ready(const struct import *import)
{
    return import->era == IMPORT_LEGACY || import->era == IMPORT_MODERN;
}

#endif
