/*
 * kind_typo.h - patterns that surely name a known kind with a typing error.
 */
#ifndef POLICY_KIND_TYPO_H
#define POLICY_KIND_TYPO_H

#include <mcpx/text.h>

/**
 * Appends a capability pattern with the typing errors in its type and method put right: a letter
 * too many, one that is missing, another one, two that changed places, or the wrong case. What it
 * is compared with are the types of the protocol and the methods of MCP. A component that covers
 * one of them is right. So is one that has another number of segments, or is far from all, because
 * any kind is legal: in up to three letters only the case is put right, in four also two letters
 * that changed places, in up to eleven one error of any sort, in more than that two. Components of
 * more than 64 bytes are left as they are.
 *
 * pattern   valid
 *
 * Returns whether what was appended differs from the pattern. Protocol: section 2.
 */
bool kind_typo_mend(struct mcpx_slice pattern, struct mcpx_text *out);

#endif
