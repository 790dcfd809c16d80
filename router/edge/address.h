/*
 * address.h - who shares a connection's limits, told by where it comes from.
 */
#ifndef EDGE_ADDRESS_H
#define EDGE_ADDRESS_H

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

/** Does a whole address begin with the first `bits` of another? */
bool address_begins(struct address whole, const unsigned char *with, unsigned bits);

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

#endif
