/*
 * ecma.h - a regular expression of ECMA-262 in the words of PCRE2.
 */
#ifndef MX_ECMA_H
#define MX_ECMA_H

#include <mcpx/text.h>

/**
 * Appends the pattern as PCRE2 has to be given it.
 *
 * reason   filled on failure: what would be right, static
 *
 * Returns false when the pattern uses what ECMA-262 does not have. What PCRE2 refuses by itself
 * is not looked for. Memory failure shows in `out`.
 */
bool mx_ecma_translate(struct mcpx_slice pattern, struct mcpx_text *out, const char **reason);

#endif
