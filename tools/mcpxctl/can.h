/*
 * can.h - the question of "mcpxctl can": whether a participant may send something.
 */
#ifndef MCPXCTL_CAN_H
#define MCPXCTL_CAN_H

#include "tools/mcpxctl/address.h"

#include <mcpx/capability.h>

/**
 * The question. All of it is borrowed from the command line.
 *
 * file          of the configuration; NULL = none was named
 * participant   absent = the one that asks
 * profile       it is about who has a token with this profile; absent = about a participant
 * topic         absent = none was named
 */
struct inquiry {
    const char *file;
    struct mcpx_slice participant, profile;
    struct mcpx_slice topic;
    struct mcpx_kind kind;
    struct address address;
};

/**
 * Whether the participant may enter the topic, or any topic when none was named.
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
 * Prints the decision. Returns STATUS_OK when the participant may enter the topic and may send
 * this there; STATUS_REFUSED otherwise.
 *
 * entrance   NULL = the topic was not checked
 */
int inquiry_answer(const struct inquiry *inquiry, const struct mcpx_decision *decision,
                   const struct entrance *entrance, bool json);

/** Asks the router. Returns as inquiry_answer, or an exit code, having complained. */
int can_live(const struct arguments *arguments, const struct inquiry *inquiry);

#endif
