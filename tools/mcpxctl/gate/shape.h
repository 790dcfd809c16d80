/*
 * shape.h - what a JSON value looks like when its values are taken away.
 */
#ifndef MCPXCTL_GATE_SHAPE_H
#define MCPXCTL_GATE_SHAPE_H

#include <mcpx/json.h>

/**
 * Appends the shape of a value, as JSON: of an object the names of its members with the shapes of
 * their values, in the order of the names; of an array the set of its items' shapes; of anything
 * else the name of its type. Two values have the same shape when these texts are equal.
 *
 * value   well-formed
 *
 * Returns MCPX_OK; MCPX_EINVALID for what has no shape: nested more than 128 deep, or with a name
 * that stands twice; MCPX_ENOMEM. On failure `out` keeps its content.
 */
enum mcpx_err shape_add(struct mcpx_text *out, struct mcpx_slice value);

#endif
