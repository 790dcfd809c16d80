/*
 * follow.h - the lines that belong to one envelope: what it answers, what answers it, and what
 * became of all these.
 */
#ifndef MCPXCTL_AUDIT_FOLLOW_H
#define MCPXCTL_AUDIT_FOLLOW_H

#include "lib/core/map.h"
#include "router/store/audit_line.h"

/** How many times all lines are shown at most: an envelope so many answers back is not found. */
enum { FOLLOW_PASSES = 64 };

/**
 * What belongs together. Zero-initialised is ready for follow_add.
 *
 * ids      hashes of envelopes' ids
 * lines    hashes of the numbers of their lines
 * grown    something was added since this was last set to false
 * failed   memory ran out
 */
struct follow {
    struct mx_map ids, lines;
    bool grown, failed;
};

/** Adds an envelope by its id. */
void follow_add(struct follow *follow, struct mcpx_slice id);

/** Learns from a line which other envelopes belong to those that are known. */
void follow_learn(struct follow *follow, const struct audit_line *line);

/** Another folder begins, whose lines have numbers of their own. */
void follow_next_folder(struct follow *follow);

/** True when the line belongs to one of the envelopes. Lines are shown in order. */
bool follow_takes(struct follow *follow, const struct audit_line *line);

/** Frees what it holds. */
void follow_fini(struct follow *follow);

#endif
