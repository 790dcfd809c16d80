/*
 * policy.h - what the words behind the verb policy do. Each returns an exit code, having complained.
 */
#ifndef MCPXCTL_POLICY_H
#define MCPXCTL_POLICY_H

#include "tools/common/command.h"

/** Prints what the running router permits whom: as configured, and as changed since. */
int policy_show(const struct arguments *arguments);

#endif
