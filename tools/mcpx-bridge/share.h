/*
 * share.h - how a bound is shared by those who come.
 */
#ifndef MCPX_BRIDGE_SHARE_H
#define MCPX_BRIDGE_SHARE_H

#include <mcpx/base.h>

/**
 * The rule of every bound that others than us share: none may have more than is left free. The
 * first may take a half, the next a quarter, so a newcomer always gets a part.
 *
 * own   what the one has, all   what everybody has; both with what is asked for
 */
static inline bool bridge_may_have(size_t own, size_t all, size_t max)
{
    return all <= max && own <= max - all;
}

#endif
