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
 * topic         absent = none was named
 */
struct inquiry {
    const char *file;
    struct mcpx_slice participant;
    struct mcpx_slice topic;
    struct mcpx_kind kind;
    struct address address;
};

/**
 * May the participant enter the topic, or any topic at all when none was named?
 *
 * err       MCPX_OK, or what the router would answer: MCPX_EFORBIDDEN, MCPX_ENOTOPIC
 * pattern   the one of its topics that covers the topic; absent when none does
 */
struct entrance {
    enum mcpx_err err;
    struct mcpx_slice pattern;
};

/** Reads it. Returns STATUS_OK or STATUS_USAGE, having complained. */
int inquiry_read(const struct arguments *arguments, struct inquiry *out);

/**
 * Prints the decision. Returns STATUS_OK when allowed, STATUS_REFUSED when not: allowed is what
 * the participant may send in a topic that it may enter.
 *
 * entrance   NULL = nobody looked at the topic
 */
int inquiry_answer(const struct inquiry *inquiry, const struct mcpx_decision *decision,
                   const struct entrance *entrance, bool json);

/** Asks the router. Returns as inquiry_answer, or an exit code, having complained. */
int can_live(const struct arguments *arguments, const struct inquiry *inquiry);

#endif
