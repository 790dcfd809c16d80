/*
 * output.h - is there anything to write to a peer? What it is, peer_peek of hub.h says.
 */
#ifndef HUB_OUTPUT_H
#define HUB_OUTPUT_H

#include "router/hub/peer.h"

/** True when peer_peek would find something. Moves the cursor past what is not for the peer. */
bool peer_has_output(struct peer *peer);

#endif
