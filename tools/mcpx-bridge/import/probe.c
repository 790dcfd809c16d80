/*
 * probe.c - some servers take any first message but initialize for the end of the
 * conversation and exit, or answer it and never recover. Whether that was the cause of an end,
 * nobody can know, so the next process is greeted the other way, in turns, until one becomes
 * ready; then it stays so. A list of known servers was refused: it would be out of date at once.
 */
#include "tools/mcpx-bridge/import/probe.h"

bool import_probe_is_wanted(const struct import_probe *probe, enum import_protocol protocol)
{
    return protocol == IMPORT_PROTOCOL_MODERN ||
           (protocol == IMPORT_PROTOCOL_AUTO && !probe->plain);
}

void import_probe_succeeded(struct import_probe *probe)
{
    probe->proven = true;
}

bool import_probe_ended(struct import_probe *probe, bool probed)
{
    if (probe->proven)
        return false;
    probe->plain = probed;
    probe->changes++;
    return true;
}

bool import_probe_refused(struct import_probe *probe, bool probed)
{
    probe->refused[probed] = true;
    return !probe->refused[!probed] && import_probe_ended(probe, probed);
}
