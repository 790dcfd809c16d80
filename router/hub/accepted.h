/*
 * accepted.h - an envelope that was accepted in a topic: it is retained in the log, or it is still
 * pending. Whoever asks for an id asks here.
 */
#ifndef HUB_ACCEPTED_H
#define HUB_ACCEPTED_H

#include <mcpx/base.h>

struct entry;
struct pending;
struct topic;

/**
 * What is known of it. Lent until the hub is changed.
 *
 * sender    log_sender of who said it
 * entry     in the log; NULL = it is pending
 * pending   NULL = it is in the log
 */
struct accepted {
    struct mcpx_slice kind;
    uint32_t sender;
    const struct entry *entry;
    const struct pending *pending;
};

/** Finds it by id: in the log first. False leaves `out` untouched. */
bool accepted_find(const struct topic *topic, struct mcpx_slice id, struct accepted *out);

/** True when the id is taken: by such an envelope, or spent not long ago (spent.h). */
bool accepted_knows(const struct topic *topic, struct mcpx_slice id);

/** True when it is addressed to nobody in particular, or to this participant. */
bool accepted_is_for(const struct accepted *accepted, struct mcpx_slice participant);

#endif
