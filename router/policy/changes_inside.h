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
 * to_look        so many of the first are still to be looked at by changes_tick
 * sets           so many were made since all were let go
 */
struct changes {
    struct changed **all;
    size_t count, room;
    struct mx_map places;
    size_t kept;
    int64_t next_end_ms;
    size_t to_look, sets;
    struct changes_figures figures;
};

/** Takes one more reference. */
struct change *change_ref(struct change *change);

/** Gives one back; the last frees it. */
void change_unref(struct change *change);

/** Makes a copy of the changes of one participant, or empty ones. NULL when memory runs out. */
struct changed *changed_copy(const struct changed *changed, const struct change_act *act);

/** Puts a change, which is taken, behind the last. False when memory runs out. */
bool changed_append(struct changed *changed, struct change *change);

/** Leaves out the change at `index`. */
void changed_drop(struct changed *changed, size_t index);

/**
 * Is there room for a draft, as far as it is more than what it takes the place of? Returns MCPX_OK;
 * MCPX_ESHARE when who has made it would have more than they leave for others: `why`, if it is
 * given, has what is full then, whose it is, and what makes room.
 */
enum mcpx_err changed_check_room(const struct changes *changes, const struct changed *draft,
                                 struct mcpx_slice by, struct mcpx_text *why);

#endif
