/*
 * difference.h - where two documents differ.
 */
#ifndef MCPXCTL_GATE_DIFFERENCE_H
#define MCPXCTL_GATE_DIFFERENCE_H

#include <mcpx/json.h>

/** What a comparison of two documents came to. */
enum difference { DIFFERENCE_NONE, DIFFERENCE_FOUND, DIFFERENCE_UNKNOWN };

/**
 * Compares two documents by value: the order of members and the way in which a number is written do
 * not count.
 *
 * path   the JSON Pointer of what differs first is appended; "" is the whole text
 *
 * Returns DIFFERENCE_UNKNOWN when one is no JSON or ambiguous, or memory runs out.
 */
enum difference gate_difference_find(struct mcpx_text *path, struct mcpx_slice was,
                                     struct mcpx_slice is);

#endif
