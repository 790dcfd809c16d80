/*
 * fold.h - the name of a JSON member compared the way readers do that ignore letter case.
 */
#ifndef MX_FOLD_H
#define MX_FOLD_H

#include <mcpx/base.h>

/**
 *   UNLIKE   no reader takes the one for the other
 *   LIKE     some readers do, others do not: whoever decides by the name has to refuse it
 *   SAME     the same name
 */
enum mx_likeness { MX_UNLIKE, MX_LIKE, MX_SAME };

/**
 * Compares the inside of a string, unescaped, with a name.
 *
 * raw    as mx_scan accepted it, between its quotes
 * name   ASCII, NUL-terminated, not empty
 *
 * Letters are like each other when Unicode's simple case folding, or its simple mapping to upper or
 * to lower case, makes them the same: beside A to Z these are U+017F (s), U+212A (k), U+0130 and
 * U+0131 (i). A name is also like one that goes on behind a U+0000, where C programs see its end.
 * Ends at the first byte that differs; never allocates. Protocol: sections 1 and 9.
 */
enum mx_likeness mx_fold_compare(struct mcpx_slice raw, const char *name);

#endif
