/*
 * offer.h - live words for completion: contexts, topics, participants, envelopes, open proposals.
 */
#ifndef MCPXCTL_OFFER_H
#define MCPXCTL_OFFER_H

#include "tools/common/command.h"

#include <mcpx/text.h>

/**
 * Appends all words of a type, one per line: the word, a tab, and a description. Asks the
 * router that the line, the environment and the context name, for one second at most each time.
 * Words that cannot be found out are missing.
 */
void offer_live(const struct arguments *line, enum value_type type, struct mcpx_text *out);

#endif
