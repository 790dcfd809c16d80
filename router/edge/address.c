/*
 * address.c - counting single IPv6 addresses would count nothing: whoever has one has 2^64 of
 * them.
 */
#include "router/edge/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

enum { HOUSE_BYTES = 8, NETWORK_BYTES = 6, MAPPED_AT = 12 };

static const unsigned char mapped[MAPPED_AT] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static bool is_v4(const struct address *address)
{
    return memcmp(address->bytes, mapped, sizeof mapped) == 0;
}

struct address address_of(const struct sockaddr *from)
{
    struct address address = {{0}};

    if (from->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)from;

        memcpy(address.bytes, mapped, sizeof mapped);
        memcpy(address.bytes + MAPPED_AT, &v4->sin_addr, sizeof v4->sin_addr);
    } else if (from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const void *)from;

        memcpy(address.bytes, &v6->sin6_addr, sizeof address.bytes);
        if (!is_v4(&address))
            memset(address.bytes + HOUSE_BYTES, 0, ADDRESS_LEN - HOUSE_BYTES);
    }
    return address;
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

    text[0] = '\0';
    inet_ntop(v4 ? AF_INET : AF_INET6, address.bytes + (v4 ? MAPPED_AT : 0), text,
              ADDRESS_TEXT_SIZE);
    return text;
}
