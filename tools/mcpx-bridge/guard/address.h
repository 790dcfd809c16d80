/*
 * address.h - addresses from the guard's command line.
 */
#ifndef MCPX_BRIDGE_GUARD_ADDRESS_H
#define MCPX_BRIDGE_GUARD_ADDRESS_H

#include <mcpx/base.h>

/**
 * An address to listen on or to connect to.
 *
 * host   a name or address, without the brackets of IPv6
 * port   0..65535
 * path   of a URL, with its "/", or empty
 */
struct guard_address {
    char host[256];
    int port;
    char path[256];
};

/**
 * Reads ws://HOST[:PORT][/PATH], or the same with http. Returns NULL with `out` filled, or a
 * sentence that says what is wrong; wss and https are wrong, because the guard must read the
 * messages.
 */
const char *guard_address_url(const char *url, struct guard_address *out);

/** Reads HOST:PORT. Returns NULL with `out` filled, or a sentence that says what is wrong. */
const char *guard_address_listen(const char *text, struct guard_address *out);

#endif
