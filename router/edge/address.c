/*
 * address.c - counting single IPv6 addresses would count nothing: whoever has one has 2^64 of
 * them.
 */
#include "router/edge/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { SHARED_BYTES = 8, NETWORK_BYTES = 6, MAPPED_AT = 12 };

static const unsigned char mapped[MAPPED_AT] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/* Multicast, which nobody connects from: all who come by a Unix socket. */
static const unsigned char of_unix = 0xff;

static bool is_v4(const struct address *address)
{
    return memcmp(address->bytes, mapped, sizeof mapped) == 0;
}

struct address address_whole(const struct sockaddr *from)
{
    struct address address = {{0}};

    if (from->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)from;

        memcpy(address.bytes, mapped, sizeof mapped);
        memcpy(address.bytes + MAPPED_AT, &v4->sin_addr, sizeof v4->sin_addr);
    } else if (from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)from;

        memcpy(address.bytes, &v6->sin6_addr, sizeof address.bytes);
    } else {
        address.bytes[0] = of_unix;
    }
    return address;
}

struct address address_shared(struct address whole)
{
    if (!is_v4(&whole))
        memset(whole.bytes + SHARED_BYTES, 0, ADDRESS_LEN - SHARED_BYTES);
    return whole;
}

bool address_read(struct mcpx_slice text, struct address *out)
{
    struct address address;
    char name[ADDRESS_TEXT_SIZE];

    if (text.len == 0 || text.len >= sizeof name || memchr(text.text, '\0', text.len))
        return false;
    memcpy(name, text.text, text.len);
    name[text.len] = '\0';
    memcpy(address.bytes, mapped, sizeof mapped);
    if (inet_pton(AF_INET, name, address.bytes + MAPPED_AT) != 1 &&
        inet_pton(AF_INET6, name, address.bytes) != 1)
        return false;
    *out = address;
    return true;
}

bool address_begins(struct address whole, const unsigned char *with, unsigned bits)
{
    unsigned rest = bits % 8;
    unsigned char mask = (unsigned char)(0xff00U >> rest);

    return memcmp(whole.bytes, with, bits / 8) == 0 &&
           (rest == 0 || ((whole.bytes[bits / 8] ^ with[bits / 8]) & mask) == 0);
}

struct address address_network(struct address address)
{
    if (!is_v4(&address))
        memset(address.bytes + NETWORK_BYTES, 0, ADDRESS_LEN - NETWORK_BYTES);
    return address;
}

const char *address_text(struct address address, char text[ADDRESS_TEXT_SIZE])
{
    const bool v4 = is_v4(&address);

    if (address.bytes[0] == of_unix)
        return memcpy(text, "unix", sizeof "unix");
    text[0] = '\0';
    inet_ntop(v4 ? AF_INET : AF_INET6, address.bytes + (v4 ? MAPPED_AT : 0), text,
              ADDRESS_TEXT_SIZE);
    return text;
}
