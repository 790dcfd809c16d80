/*
 * forwarded.h - the client address reported by a proxy: in the head of a request, or before its
 * first byte by the PROXY protocol, versions 1 and 2.
 */
#ifndef EDGE_FORWARDED_H
#define EDGE_FORWARDED_H

#include "lib/wire/http_head.h"
#include "router/policy/config/config.h"

#include <mcpx/base.h>

struct sockaddr;

enum { ADDRESS_LEN = 16 };

/**
 * An address, whole or shared. A shared address is the part that identifies one household or
 * machine: all of an IPv4 address, the first 64 bits of an IPv6 address. IPv4 is stored as an
 * IPv4-mapped address. All clients of Unix sockets have the address ff00::.
 */
struct address {
    unsigned char bytes[ADDRESS_LEN];
};

/** The address of a peer's socket, whole. `from` is borrowed. */
struct address address_whole(const struct sockaddr *from);

/** The shared address, for limits: see struct address. */
struct address address_shared(struct address whole);

/**
 * Reads a whole address from text without port or brackets. Returns false, `out` untouched, for
 * other text.
 */
bool address_read(struct mcpx_slice text, struct address *out);

/**
 * The network of one customer, with many addresses: the first 48 bits of an IPv6 address; an IPv4
 * address itself.
 */
struct address address_network(struct address address);

/** Room for an address as text. */
enum { ADDRESS_TEXT_SIZE = 46 };

/** Writes it as text for the log, or "unix". Returns `text`. */
const char *address_text(struct address address, char text[ADDRESS_TEXT_SIZE]);

/** The bytes as a slice, lent as long as the address. */
static inline struct mcpx_slice address_slice(const struct address *address)
{
    return (struct mcpx_slice){(const char *)address->bytes, ADDRESS_LEN};
}

/** Is a whole address that of a trusted proxy? */
bool forwarded_is_trusted(const struct config *config, struct address whole);

/**
 * Walks back along the proxies of a request, from the nearest on, as long as they are trusted: each
 * has appended the address of its own client. Stops at text without an address.
 *
 * from   the whole address of the socket, of a trusted proxy
 *
 * Returns the first address that is not a trusted proxy's, or the last known one.
 */
struct address forwarded_find(const struct config *config, const struct mx_http_head *head,
                              struct address from);

/** Limit of a PROXY head in bytes; heads with many extensions are refused. */
enum { PROXY_HEAD_MAX = 4096 };

/**
 * PROXY_HEAD_MORE    it is incomplete
 * PROXY_HEAD_FROM    it has the client address
 * PROXY_HEAD_OWN     the connection is the proxy's own, or of an unknown client
 * PROXY_HEAD_BAD     it is malformed or too long
 */
enum proxy_head { PROXY_HEAD_MORE, PROXY_HEAD_FROM, PROXY_HEAD_OWN, PROXY_HEAD_BAD };

/**
 * Reads a PROXY head.
 *
 * bytes   all bytes received so far
 * len     filled with its length, unless there is more to come or it is bad
 * from    filled with the whole address when there is one
 */
enum proxy_head proxy_head_read(struct mcpx_slice bytes, size_t *len, struct address *from);

#endif
