/*
 * authority.h - who may give what to whom: nobody gives what they do not have.
 * Protocol: section 8.
 */
#ifndef POLICY_AUTHORITY_H
#define POLICY_AUTHORITY_H

#include "lib/protocol/pattern.h"
#include <mcpx/capability.h>
#include <mcpx/text.h>

/** Does the set cover a kind that is only asked of grants, `admin/NAME`? */
bool authority_has(struct mcpx_capset *set, const char *kind, int64_t wall_ms);

/** Does the set cover all of `admin/`, without condition or end? */
bool authority_has_all(const struct mcpx_capset *set, int64_t wall_ms);

/** Does the pattern of a grant cover all of `admin/`? */
bool authority_is_all(const struct mx_pattern *pattern);

/** Does one of its grants cover all of `admin/` now, with whatever conditions and denials? */
bool authority_is_guarded(const struct mcpx_capset *set, int64_t wall_ms);

/** A denial of the set that may take something of a pattern away; absent when there is none. */
struct mcpx_slice authority_denial(const struct mcpx_capset *set,
                                   const struct mx_pattern *pattern);

/**
 * May somebody with this set give a grant away? Either it has all of `admin/`; or one grant of the
 * set covers all that is given, to all addressees, for at least as long, and nothing of it is
 * denied. What is unclear about patterns is refused.
 *
 * given   `expires_ms`: until when it is given; 0 = without end
 * why     on a refusal the reason is appended
 */
bool authority_may_give(const struct mcpx_capset *set, const struct mcpx_grant *given,
                        int64_t wall_ms, struct mcpx_text *why);

#endif
