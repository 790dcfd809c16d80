/* verbs.h - the verbs of mcpx-bridge: the parts of each verb in the table of main.c. */
#ifndef MCPX_BRIDGE_VERBS_H
#define MCPX_BRIDGE_VERBS_H

#include "tools/common/command.h"

/** Options of each verb, besides those with which every participant connects. */
extern const struct option_row import_option_rows[];
extern const struct option_row expose_option_rows[];
extern const struct option_row guard_option_rows[];

/** Description of each verb, for `--help` and the manual. */
extern const char import_help[];
extern const char expose_help[];
extern const char guard_help[];

/** Each runs its verb; returns its exit code. */
int cmd_import(const struct arguments *arguments);
int cmd_expose(const struct arguments *arguments);
int cmd_guard(const struct arguments *arguments);

#endif
