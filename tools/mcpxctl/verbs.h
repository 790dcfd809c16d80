/*
 * verbs.h - the verbs of mcpxctl; each returns an exit code.
 * Includes command.h only.
 */
#ifndef MCPXCTL_VERBS_H
#define MCPXCTL_VERBS_H

#include "tools/common/command.h"

int cmd_can(const struct arguments *arguments);
int cmd_kind(const struct arguments *arguments);
int cmd_token(const struct arguments *arguments);

#endif
