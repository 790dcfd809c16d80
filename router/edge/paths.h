/*
 * paths.h - for --check: could what the settings name be opened, here and by this user? Nothing is
 * opened for writing, made or changed.
 */
#ifndef EDGE_PATHS_H
#define EDGE_PATHS_H

#include "router/policy/config.h"

/**
 * Looks at the files and folders of TLS, store and audit.
 *
 * errors   a line is appended for each that cannot be used: setting, path, what was found; and one
 *          for a certificate or key that can be used and is surely not meant
 *
 * Returns true when all can.
 */
bool paths_check(const struct config *config, struct mcpx_text *errors);

#endif
