/*
 * probe.h - decides whether a server is asked server/discover first, from what earlier
 * processes of its command did.
 */
#ifndef MCPX_BRIDGE_IMPORT_PROBE_H
#define MCPX_BRIDGE_IMPORT_PROBE_H

#include <stdbool.h>

/** How a server is greeted. */
enum import_protocol {
    IMPORT_PROTOCOL_AUTO,   /* server/discover first, initialize when that fails */
    IMPORT_PROTOCOL_LEGACY, /* initialize, version 2025-11-25 */
    IMPORT_PROTOCOL_MODERN  /* server/discover, version 2026-07-28, and nothing else */
};

/**
 * What is known of a command. Zero-initialised: nothing, its next process is probed.
 *
 * plain     the next process gets initialize at once
 * proven    a process became ready, so the greeting stays as it is
 * changes   how often the greeting was changed
 * refused   initialize was refused: [1] after the probe, [0] without one
 */
struct import_probe {
    bool plain;
    bool proven;
    unsigned changes;
    bool refused[2];
};

/** Whether the next process is asked server/discover first. */
bool import_probe_is_wanted(const struct import_probe *probe, enum import_protocol protocol);

/** A process became ready. */
void import_probe_succeeded(struct import_probe *probe);

/**
 * A process ended before it was ready. `probed`: it had been asked server/discover. Returns true
 * when the next one is greeted the other way.
 */
bool import_probe_ended(struct import_probe *probe, bool probed);

/** A process refused initialize. Returns true when another one is to be greeted the other way. */
bool import_probe_refused(struct import_probe *probe, bool probed);

#endif
