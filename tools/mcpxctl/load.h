/*
 * load.h - a router's configuration, as the router would read it.
 */
#ifndef MCPXCTL_LOAD_H
#define MCPXCTL_LOAD_H

#include "router/policy/config.h"

/**
 * Reads a configuration from a file and the environment.
 *
 * out   filled on success, to be released with config_fini
 *
 * Returns STATUS_OK; STATUS_USAGE or STATUS_FAILED, having complained.
 */
int load_config(const char *verb, const char *file, struct config *out);

#endif
