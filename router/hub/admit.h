/*
 * admit.h - what becomes of a join that was submitted.
 */
#ifndef HUB_ADMIT_H
#define HUB_ADMIT_H

struct pending;

/**
 * It is committed: the joiner comes in as it would have without a gate. If its connection is gone
 * or condemned meanwhile, it is told all the same, and leaves.
 */
void admit_commit(struct pending *pending);

/** It is rejected: the joiner is condemned, and whom it was to replace stays. */
void admit_reject(struct pending *pending);

#endif
