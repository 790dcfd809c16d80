/*
 * forwarded.h - whom a connection is from, as proxies say it: in the head of a request, or by the
 * PROXY protocol, versions 1 and 2, before its first byte.
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

/** The longest head that is read; heads with many extensions are refused. */
enum { PROXY_HEAD_MAX = 4096 };

/**
 * PROXY_HEAD_MORE    it is not whole yet
 * PROXY_HEAD_FROM    it says whom the connection is from
 * PROXY_HEAD_OWN     the proxy speaks for itself, or does not know
 * PROXY_HEAD_BAD     it is no such head, or too long
 */
enum proxy_head { PROXY_HEAD_MORE, PROXY_HEAD_FROM, PROXY_HEAD_OWN, PROXY_HEAD_BAD };

/**
 * Reads a head.
 *
 * bytes   all that has come so far
 * len     filled with its length, unless there is more to come or it is bad
 * from    filled with the whole address when there is one
 */
enum proxy_head proxy_head_read(struct mcpx_slice bytes, size_t *len, struct address *from);

#endif
