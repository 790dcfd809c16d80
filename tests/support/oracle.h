/*
 * oracle.h - what a capability pattern covers, worked out a second time and in another way, for
 * tests to compare the library with.
 */
#ifndef SUPPORT_ORACLE_H
#define SUPPORT_ORACLE_H

#include <mcpx/base.h>

/**
 * Does the pattern cover the kind? Both are valid by their grammars.
 *
 * denies   the pattern is a denial, so rule 6 does not hold it back
 *
 * Protocol: section 3.
 */
bool oracle_covers(struct mcpx_slice pattern, struct mcpx_slice kind, bool denies);

/** Does the kind's context hold a dot segment? Protocol: section 3 rule 6. */
bool oracle_is_dotted(struct mcpx_slice kind);

/** Is the kind of a type that is the router's own? Protocol: section 2. */
bool oracle_is_reserved(struct mcpx_slice kind);

#endif
