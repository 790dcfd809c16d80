/*
 * paths.h - for --check: could what the settings name be opened, here and by this user? Nothing is
 * opened for writing, made or changed.
 */
#ifndef EDGE_PATHS_H
#define EDGE_PATHS_H

#include "router/policy/config/config.h"

/**
 * Looks at the files and folders of TLS, store and audit.
 *
 * errors   a line is appended for each that cannot be used: setting, path, what was found; and one
 *          for a certificate or key that can be used and is surely not meant
 * found    a line is appended for a certificate: its names, and when it ends
 *
 * Returns true when all can.
 */
bool paths_check(const struct config *config, struct mcpx_text *errors,
                 struct mcpx_text *found);

#endif
