/*
 * deliver.h - sends one envelope and waits only until it has its place in the topic.
 */
#ifndef MCPXCTL_DELIVER_H
#define MCPXCTL_DELIVER_H

#include "tools/common/command.h"

#include <mcpx/session.h>

/**
 * Joins, sends the draft, waits until it is delivered or refused, for as long as --timeout says or
 * 15 s, leaves, and prints its id: alone, or with --json as {"id": ID}.
 *
 * author   the only participant that may send this; absent = anybody
 *
 * Returns STATUS_OK or an exit code, having complained.
 */
int deliver(const struct arguments *arguments, const struct mcpx_draft *draft,
            struct mcpx_slice author);

#endif
