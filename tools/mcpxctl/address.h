/*
 * address.h - the participants that a command line names with --to.
 */
#ifndef MCPXCTL_ADDRESS_H
#define MCPXCTL_ADDRESS_H

#include "tools/common/command.h"

#include <mcpx/envelope.h>

/** Addressees, lent by the command line; none = everyone. */
struct address {
    struct mcpx_slice to[MCPX_TO_MAX];
    size_t count;
};

/** Reads them. Returns STATUS_OK or STATUS_USAGE, having complained. */
int address_read(const struct arguments *arguments, struct address *out);

#endif
