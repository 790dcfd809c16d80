/*
 * who.h - a participant as an import knows it: its id and its topic.
 */
#ifndef MCPX_BRIDGE_IMPORT_WHO_H
#define MCPX_BRIDGE_IMPORT_WHO_H

#include <mcpx/base.h>

/** `topic` is the number of one of our topics, from 0. */
struct import_who {
    size_t topic;
    struct mcpx_slice id;
};

/**
 * True when both are the same participant in the same topic: two topics may have a participant of
 * the same name, who need not be the same.
 */
static inline bool import_who_is(struct import_who one, struct import_who other)
{
    return one.topic == other.topic && mcpx_slice_equal(one.id, other.id);
}

#endif
