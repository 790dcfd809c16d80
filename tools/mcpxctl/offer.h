/*
 * offer.h - live words for completion: contexts, topics, participants, envelopes, open proposals.
 */
#ifndef MCPXCTL_OFFER_H
#define MCPXCTL_OFFER_H

#include "tools/common/command.h"

#include <mcpx/text.h>

/**
 * Appends what there is of a type, a line each: the word, a tab, and what it is. Asks the router
 * that the line, the environment and the context name, for a second at most each time; what cannot
 * be found out is missing.
 */
void offer_live(const struct arguments *line, enum value_type type, struct mcpx_text *out);

#endif
