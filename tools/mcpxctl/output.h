/*
 * output.h - what a verb has composed goes to standard output.
 */
#ifndef MCPXCTL_OUTPUT_H
#define MCPXCTL_OUTPUT_H

#include <mcpx/text.h>

/**
 * Writes and frees the text; for a terminal as text_shown has it. Returns `status`; STATUS_FAILED, having complained, when memory was
 * short.
 */
int output_print(struct mcpx_text *text, const char *verb, int status);

#endif
