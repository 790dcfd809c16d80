/*
 * kind_typo.h - finds patterns that probably name a known kind with a typing error.
 */
#ifndef POLICY_KIND_TYPO_H
#define POLICY_KIND_TYPO_H

#include <mcpx/text.h>

/**
 * Appends a capability pattern with the typing errors in its type and method corrected: an
 * extra letter, a missing one, a wrong one, two exchanged ones, or the wrong case. It is
 * compared with the types of the protocol and the methods of MCP. A component that covers one
 * of them is right. A component with another number of segments, or one that is not similar to
 * any, is right too, because any kind is legal. In up to three letters only the case is
 * corrected; in four, also two exchanged letters; in up to eleven, one error of any sort; in
 * more, two. Components of more than 64 bytes are not changed.
 *
 * pattern   valid
 *
 * Returns whether what was appended differs from the pattern. Protocol: section 2.
 */
bool kind_typo_mend(struct mcpx_slice pattern, struct mcpx_text *out);

/** Appends a warning of a pattern with typing errors; `what` has it, "grant" or "denial". Returns
 * false when there are none. */
bool kind_typo_warn(const char *what, struct mcpx_slice pattern, struct mcpx_text *out);

#endif
