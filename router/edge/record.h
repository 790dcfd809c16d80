/*
 * record.h - what the audit is told of refusals; of what is accepted it hears from the hub. Without
 * an audit nothing happens.
 */
#ifndef EDGE_RECORD_H
#define EDGE_RECORD_H

#include "router/edge/connection.h"

struct audit_note; /* router/store/audit_note.h */

/** A member's message of `bytes` bytes was refused. */
void record_message(struct connection *connection, const struct verdict *verdict,
                    size_t bytes);

/**
 * Somebody who is in no topic was refused.
 *
 * address        where the attempt came from
 * from           who it is, if that is certain
 * topic          what was asked for
 * err, reason    why; a reason of NULL is the error's text
 */
struct turned_away {
    struct address address;
    struct mcpx_slice from, topic;
    enum mcpx_err err;
    const char *reason;
};
void record_turned_away(struct edge *edge, const struct turned_away *who);

/** Keys of files are others now; `setting` names the file, or the section of its files. */
void record_keys(struct edge *edge, const char *setting);

/** What an administrator has done, as `note` says, for log and audit; `edge` is a struct edge. */
void record_change(void *edge, const struct audit_note *note, struct mcpx_now now);

/** Another configuration is in force: the line says by which policy what follows is decided. */
void record_reload(struct edge *edge, struct audit_note *note);

/** Is anything written down? Ask before working out costly fields. */
static inline bool record_is_kept(const struct edge *edge)
{
    return edge->config->hub.audited;
}

#endif
