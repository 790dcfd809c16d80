/*
 * grammar.h - the one grammar of kinds and of capability patterns.
 */
#ifndef MX_GRAMMAR_H
#define MX_GRAMMAR_H

#include <mcpx/kind.h>

/**
 * Splits a text at its first two colons and checks every component.
 *
 * text    borrowed for as long as `out` is used
 * stars   "*" is allowed in type and method too: the text is a pattern, not a kind
 * out     filled; untouched on failure
 * fault   filled on failure; may be NULL
 *
 * Returns whether the text fits the grammar. Never allocates. Protocol: sections 2 and 3.
 */
bool mx_grammar_split(struct mcpx_slice text, bool stars, struct mcpx_kind *out,
                      struct mcpx_fault *fault);

#endif
