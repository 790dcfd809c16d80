/*
 * kind_word.h - a kind from the command line.
 */
#ifndef MCPXCTL_KIND_WORD_H
#define MCPXCTL_KIND_WORD_H

#include <mcpx/kind.h>

/**
 * Reads a kind like mcpx_kind_parse, and checks that it is UTF-8.
 *
 * word    borrowed for as long as `out` is used
 * out     filled; untouched on failure
 * fault   filled on failure
 */
bool kind_word_read(const char *word, struct mcpx_kind *out, struct mcpx_fault *fault);

#endif
