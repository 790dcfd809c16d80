/*
 * can.h - a question about a grant: may this be sent?
 */
#ifndef MCPXCTL_CAN_H
#define MCPXCTL_CAN_H

#include "tools/mcpxctl/address.h"

#include <mcpx/capability.h>

/**
 * What is asked, all of it borrowed from the command line.
 *
 * file          of the configuration; NULL = none was named
 * participant   absent = who asks
 */
struct inquiry {
    const char *file;
    struct mcpx_slice participant;
    struct mcpx_kind kind;
    struct address address;
};

/** Reads it. Returns STATUS_OK or STATUS_USAGE, having complained. */
int inquiry_read(const struct arguments *arguments, struct inquiry *out);

/** Prints the decision. Returns STATUS_OK when allowed, STATUS_REFUSED when not. */
int inquiry_answer(const struct inquiry *inquiry, const struct mcpx_decision *decision,
                   bool json);

/** Asks the router. Returns as inquiry_answer, or an exit code, having complained. */
int can_live(const struct arguments *arguments, const struct inquiry *inquiry);

#endif
