/*
 * listen.c - an address is read, not looked up: what a name leads to can change, and everybody who
 * reaches the socket acts as the participant.
 */
#include "tools/mcpx-bridge/expose/edge/run.h"

#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "tools/mcpx-bridge/expose/edge/post.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

enum { BACKLOG = 128, HOST_MAX = 16 };

static void set_four(struct sockaddr_storage *out, const char *host, uint16_t port)
{
    struct sockaddr_in *four = (struct sockaddr_in *)out;

    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    if (inet_pton(AF_INET, host, &four->sin_addr) != 1)
        four->sin_addr.s_addr = htonl(INADDR_LOOPBACK); /* localhost */
}

static void set_six(struct sockaddr_storage *out, uint16_t port)
{
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;

    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    six->sin6_addr = in6addr_loopback;
}

bool expose_listen_read(const char *text, struct sockaddr_storage *out)
{
    const char *colon = strrchr(text, ':');
    char host[HOST_MAX] = "";
    uint64_t port;

    memset(out, 0, sizeof *out);
    if (!colon || !expose_post_is_loopback(mcpx_slice_of(text)) || colon[-1] == ':' ||
        !mx_decimal_read(mcpx_slice_of(colon + 1), UINT16_MAX, &port))
        return false;
    if (*text == '[') {
        set_six(out, (uint16_t)port);
        return true;
    }
    memcpy(host, text, (size_t)(colon - text));
    set_four(out, host, (uint16_t)port);
    return true;
}

static socklen_t size_of(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in);
}

int expose_listen_open(const struct sockaddr_storage *address)
{
    int on = 1, error;
    int listener = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (listener < 0)
        return -errno;
    if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(listener, (const struct sockaddr *)address, size_of(address)) == 0 &&
        listen(listener, BACKLOG) == 0)
        return listener;
    error = errno;
    close(listener);
    return -error;
}

void expose_listen_add_url(int listener, struct mcpx_text *out)
{
    struct sockaddr_storage name = {0};
    socklen_t len = sizeof name;
    char host[INET_ADDRSTRLEN] = "";

    getsockname(listener, (struct sockaddr *)&name, &len);
    if (name.ss_family == AF_INET6) {
        mx_format(out, "http://[::1]:%s/mcp",
                  (int)ntohs(((struct sockaddr_in6 *)&name)->sin6_port));
    } else {
        inet_ntop(AF_INET, &((struct sockaddr_in *)&name)->sin_addr, host, sizeof host);
        mx_format(out, "http://%s:%s/mcp", host,
                  (int)ntohs(((struct sockaddr_in *)&name)->sin_port));
    }
}
