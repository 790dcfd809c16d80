/*
 * forwarded.h - whom a request is from, as proxies write it into its head.
 */
#ifndef EDGE_FORWARDED_H
#define EDGE_FORWARDED_H

#include "lib/core/http_head.h"
#include "router/edge/address.h"
#include "router/policy/config.h"

/** Is a whole address that of a trusted proxy? */
bool forwarded_is_trusted(const struct config *config, struct address whole);

/**
 * Goes back along the proxies of a request, from the nearest on, as long as they are trusted: each
 * has appended the address that it was asked from. Stops at what is no address.
 *
 * from   the whole address of the socket, of a trusted proxy
 *
 * Returns the first address that is not such a proxy's, or the last one that is known.
 */
struct address forwarded_find(const struct config *config, const struct mx_http_head *head,
                              struct address from);

#endif
