/*
 * forwarded.h - the address of a client as a proxy states it: in the head of a request, or before
 * its first byte by the PROXY protocol, versions 1 and 2.
 */
#ifndef EDGE_FORWARDED_H
#define EDGE_FORWARDED_H

#include "lib/wire/http_head.h"
#include "router/policy/config/config.h"

#include <mcpx/base.h>

struct sockaddr;

enum { ADDRESS_LEN = 16 };

/**
 * The part of an address that one household or machine chooses from freely: all of an IPv4
 * address, the first 64 bits of an IPv6 one. IPv4 stands as an IPv4-mapped address. Everybody on a
 * socket without addresses has the one of all zeros.
 */
struct address {
    unsigned char bytes[ADDRESS_LEN];
};

/** The address of a peer's socket, whole. `from` is borrowed. */
struct address address_whole(const struct sockaddr *from);

/** The part of a whole address that limits count by: see struct address. */
struct address address_shared(struct address whole);

/**
 * Reads an address as people write it, without port or brackets, whole. False when it is none;
 * `out` is untouched then.
 */
bool address_read(struct mcpx_slice text, struct address *out);

/**
 * What one customer of a network may hold many addresses of: the first 48 bits of an IPv6 address.
 * An IPv4 address is its own.
 */
struct address address_network(struct address address);

/** Room for an address as text. */
enum { ADDRESS_TEXT_SIZE = 46 };

/** It as text, for the log: of an IPv6 address what is kept of it, or "unix". Returns `text`. */
const char *address_text(struct address address, char text[ADDRESS_TEXT_SIZE]);

/** The bytes as a slice, lent as long as the address. */
static inline struct mcpx_slice address_slice(const struct address *address)
{
    return (struct mcpx_slice){(const char *)address->bytes, ADDRESS_LEN};
}

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
