/*
 * changes_inside.h - the parts of `struct changes`, for the files named change*.c alone.
 */
#ifndef POLICY_CHANGES_INSIDE_H
#define POLICY_CHANGES_INSIDE_H

#include "lib/core/map.h"
#include "router/policy/changes.h"

/**
 * all, count     the changes by participant and topic; `room` for so many
 * places         1 + index in `all`, by participant and topic
 * kept           changes, those that have ended included
 * next_end_ms    the earliest instant at which one of them ends; INT64_MAX = none
 */
struct changes {
    struct changed **all;
    size_t count, room;
    struct mx_map places;
    size_t kept;
    int64_t next_end_ms;
    struct changes_figures figures;
};

/** Takes one more reference. */
struct change *change_ref(struct change *change);

/** Gives one back; the last frees it. */
void change_unref(struct change *change);

/** Makes a copy of the changes of one participant, or empty ones. NULL when memory runs out. */
struct changed *changed_copy(const struct changed *changed, const struct change_place *place);

/** Leaves out the change at `index`. */
void changed_drop(struct changed *changed, size_t index);

#endif
