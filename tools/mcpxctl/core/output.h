/*
 * output.h - what a verb has composed goes to standard output.
 */
#ifndef MCPXCTL_OUTPUT_H
#define MCPXCTL_OUTPUT_H

#include "tools/common/connect.h"

#include <mcpx/text.h>

/**
 * Writes and frees the text; for a terminal as text_shown has it. Returns `status`.
 */
int output_print(struct mcpx_text *text, int status);

/** True when a person looks on: standard output is a terminal, and --json was not given. */
bool output_is_looked_at(const struct arguments *arguments);

/**
 * As output_print for a list. When it is empty and a person looks on, complains of that: `nothing`,
 * such as "no proposal is open", and the topic.
 */
int output_print_list(const struct arguments *arguments, const struct connection *where,
                      struct mcpx_text *text, const char *nothing);

/**
 * Writes an answer of the router: with --json as it is, without white space, else as `tell` appends
 * it for people. Returns STATUS_OK; STATUS_FAILED, having complained, when it is not JSON.
 */
int output_answer(const struct arguments *arguments, const struct mcpx_text *answer,
                  void (*tell)(struct mcpx_text *out, struct mcpx_slice answer));

#endif
