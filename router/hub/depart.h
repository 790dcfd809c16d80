/*
 * depart.h - leaving, for the files that make participants leave.
 */
#ifndef HUB_DEPART_H
#define HUB_DEPART_H

#include <mcpx/error.h>

struct pending;
struct peer;
struct topic;

/** Takes a peer out of its topic, if it is there, and tells the others, or submits that. */
void depart_leave(struct peer *peer, enum mcpx_err err);

/** A leave or an update was committed: it is told. */
void depart_commit_leave(struct pending *leave);
void depart_commit_update(struct pending *update);

/** It was rejected: it is submitted again, as long as it means anything. */
void depart_reject_leave(struct pending *leave);
void depart_reject_update(struct pending *update);

/** Condemns everybody in a topic that memory has no room for. It is opened again later. */
void depart_lose(struct topic *topic);

#endif
