/*
 * transcript.h - a message a participant read, as one line that can be read against the protocol.
 */
#ifndef SUPPORT_TRANSCRIPT_H
#define SUPPORT_TRANSCRIPT_H

#include <mcpx/text.h>

#include <jansson.h>

/** Appends the line, without its end. transcript.c shows one of each kind. */
void transcript_put(struct mcpx_text *out, const json_t *envelope);

#endif
