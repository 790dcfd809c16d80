/*
 * grammar.h - the one grammar of kinds and of capability patterns, and control characters: names
 * cannot hold them, because they change how a screen shows a name.
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

/**
 * Finds the first control character of a text, in the sense of protocol section 1: C0, DEL, C1
 * (U+0080 to U+009F), marks of text direction (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to
 * U+2069), line separators (U+2028, U+2029) and invisible characters (U+200B, U+2060 to U+206F,
 * U+FEFF). The joiners of scripts and emoji (U+200C, U+200D) and variation selectors are allowed.
 *
 * text   invalid UTF-8 does not count as a control character
 *
 * Returns its offset; text.len when there is none.
 */
size_t mx_control_find(struct mcpx_slice text);

#endif
