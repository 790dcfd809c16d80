/*
 * sim_draft.h - a message in the making: what it says, as members in random order, and the two
 * texts made of them: as it is said, and as everybody has to hear it.
 */
#ifndef SUPPORT_SIM_DRAFT_H
#define SUPPORT_SIM_DRAFT_H

#include "tests/support/sim_state.h"

enum call_error {
    SOUND,
    FLAW_JSON,
    FLAW_UTF8,
    FLAW_SIZE,
    FLAW_PROTOCOL,
    FLAW_KIND,
    FLAW_FROM
};

enum { MEMBERS = 9 };

/* `kind_at` is the member that holds the kind; `kind` is what it says, completed or not. */
struct draft {
    enum call_error call_error;
    char id[80], kind[80], correlation[80], completed[80];
    unsigned to;
    bool has_from, has_ts;
    size_t payload;
    struct mcpx_text members[MEMBERS];
    size_t member_count, kind_at;
    struct mcpx_text said, heard;
};

/** Draws a message for a peer to say, with or without an error, and writes `said`. */
void draft_draw(struct sim *sim, const struct sim_peer *peer, struct draft *draft);

/** Writes `heard`: stamped, and with the completed kind if there is one. */
void draft_hear(const struct sim *sim, const struct sim_peer *peer, struct draft *draft);

/** Frees the texts. */
void draft_fini(struct draft *draft);

#endif
