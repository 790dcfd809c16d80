/*
 * proxy_head.h - the PROXY protocol, versions 1 and 2: what a proxy says of a connection before its
 * first byte.
 */
#ifndef EDGE_PROXY_HEAD_H
#define EDGE_PROXY_HEAD_H

#include "router/edge/address.h"

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
