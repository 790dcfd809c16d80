/*
 * verbs.h - the verbs of mcpx-bridge; each returns an exit code.
 * Includes command.h only.
 */
#ifndef MCPX_BRIDGE_VERBS_H
#define MCPX_BRIDGE_VERBS_H

#include "tools/common/command.h"

int cmd_expose(const struct arguments *arguments);
int cmd_import(const struct arguments *arguments);

#endif
