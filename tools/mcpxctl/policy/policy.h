/*
 * policy.h - the words behind the verb policy. Each returns an exit code, having complained.
 */
#ifndef MCPXCTL_POLICY_H
#define MCPXCTL_POLICY_H

#include "router/policy/config.h"
#include "tools/common/command.h"

/** Prints what the running router permits whom: as configured, and as changed since. */
int policy_show(const struct arguments *arguments);

/**
 * Prints who gains and loses what when `after` takes the place of `before`, as a reload would tell
 * it, and the settings that are different. STATUS_FAILED when anything is.
 */
int policy_compare(const struct config *before, const struct config *after, bool json);

#endif
