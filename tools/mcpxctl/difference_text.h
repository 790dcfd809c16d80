/*
 * difference_text.h - who gains and loses what between two configurations, for people.
 */
#ifndef MCPXCTL_DIFFERENCE_TEXT_H
#define MCPXCTL_DIFFERENCE_TEXT_H

#include <mcpx/text.h>

/**
 * Appends rows as difference_write has them, a JSON array: a line for each participant and profile,
 * below it one for each thing that was gained (+) or lost (-).
 */
void difference_tell(struct mcpx_text *out, struct mcpx_slice rows);

#endif
