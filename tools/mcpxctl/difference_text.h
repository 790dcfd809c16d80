/*
 * difference_text.h - who gains and loses what between two configurations, for people.
 */
#ifndef MCPXCTL_DIFFERENCE_TEXT_H
#define MCPXCTL_DIFFERENCE_TEXT_H

#include <mcpx/text.h>

/**
 * Appends what difference_write_answer has written, in an object: sums, then a line for each
 * participant and profile, below it one for each thing that was gained (+) or lost (-), then
 * settings. The lines of a member `restart`, if any, are settings too.
 */
void difference_tell(struct mcpx_text *out, struct mcpx_slice answer);

#endif
