/*
 * accepted.c - a message is said from the moment it was accepted, though nobody has read it yet:
 * its id is taken, and its answer is completed from it.
 */
#include "router/hub/accepted.h"

#include "router/hub/pending.h"
#include "router/hub/topic_state.h"

bool accepted_find(const struct topic *topic, struct mcpx_slice id, struct accepted *out)
{
    const struct pending *pending;
    uint64_t serial;

    if (log_find(&topic->log, id, &serial)) {
        const struct entry *entry = log_entry(&topic->log, serial);

        *out = (struct accepted){
            .kind = entry_kind(entry), .sender = entry->sender, .entry = entry};
        return true;
    }
    pending = pending_find(topic, id);
    if (!pending)
        return false;
    *out = (struct accepted){
        .kind = pending->submission.kind, .sender = pending->sender, .pending = pending};
    return true;
}

bool accepted_knows(const struct topic *topic, struct mcpx_slice id)
{
    return log_knows(&topic->log, id) || pending_find(topic, id);
}

bool accepted_is_for(const struct accepted *accepted, struct mcpx_slice participant)
{
    const struct submission *submission;

    if (accepted->entry)
        return entry_is_for(accepted->entry, participant);
    submission = &accepted->pending->submission;
    for (size_t i = 0; i < submission->to_count; i++)
        if (mcpx_slice_equal(submission->to[i], participant))
            return true;
    return submission->to_count == 0;
}
