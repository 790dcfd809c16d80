/*
 * forwarded.c - reads X-Forwarded-For, Forwarded (RFC 7239) and the PROXY protocol. Headers are
 * read from the right, because a client's own entries stand on the left of those that proxies have
 * appended. A setting selects one of the two headers, because a proxy writes only one and forwards
 * the client's other one. The first bytes identify both versions of the PROXY protocol; requests
 * and TLS handshakes never begin with them. Extensions of version 2 are skipped.
 */
#include "router/http/forwarded.h"

#include "lib/base/digits.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>

/* ---- addresses ---- */

/* Limits per single IPv6 address are useless: a client has 2^64 of them. */

enum { SHARED_BYTES = 8, NETWORK_BYTES = 6, MAPPED_AT = 12 };

static const unsigned char mapped[MAPPED_AT] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/* A multicast address, never that of a client: marks clients of Unix sockets. */
static const unsigned char of_unix = 0xff;

static bool is_v4(const struct address *address)
{
    return memcmp(address->bytes, mapped, sizeof mapped) == 0;
}

static struct address of_v4(const void *bytes)
{
    struct address address;

    memcpy(address.bytes, mapped, sizeof mapped);
    memcpy(address.bytes + MAPPED_AT, bytes, ADDRESS_LEN - MAPPED_AT);
    return address;
}

struct address address_whole(const struct sockaddr *from)
{
    struct address address = {{0}};

    if (from->sa_family == AF_INET)
        return of_v4(&((const struct sockaddr_in *)(const void *)from)->sin_addr);
    if (from->sa_family == AF_INET6)
        memcpy(address.bytes, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr,
               sizeof address.bytes);
    else
        address.bytes[0] = of_unix;
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

    if (!config_read_address(text, address.bytes))
        return false;
    *out = address;
    return true;
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

/* ---- client addresses in the head of a request ---- */

static bool address_begins(struct address whole, const unsigned char *with, unsigned bits)
{
    unsigned rest = bits % 8;
    unsigned char mask = (unsigned char)(0xff00U >> rest);

    return memcmp(whole.bytes, with, bits / 8) == 0 &&
           (rest == 0 || ((whole.bytes[bits / 8] ^ with[bits / 8]) & mask) == 0);
}

bool forwarded_is_trusted(const struct config *config, struct address whole)
{
    for (size_t i = 0; i < config->proxy_count; i++)
        if (address_begins(whole, config->proxies[i].bytes, config->proxies[i].bits))
            return true;
    return false;
}

/* A quote, unless backslashes before it make it an ordinary character. RFC 9110 section 5.6.4. */
static bool is_quote(struct mcpx_slice text, size_t at)
{
    size_t backslashes = 0;

    if (text.text[at] != '"')
        return false;
    while (backslashes < at && text.text[at - backslashes - 1] == '\\')
        backslashes++;
    return backslashes % 2 == 0;
}

/*
 * Takes off the text after the last `mark` outside quotes, and the mark; absent when nothing is
 * left. Quoted text may be copied from a client, such as the host.
 */
static struct mcpx_slice take_last(struct mcpx_slice *list, char mark)
{
    size_t at = list->len;
    bool quoted = false;
    struct mcpx_slice last;

    for (; at > 0 && (quoted || list->text[at - 1] != mark); at--)
        quoted ^= is_quote(*list, at - 1);
    last = (struct mcpx_slice){list->text + at, list->len - at};
    *list = at > 0 ? (struct mcpx_slice){list->text, at - 1} : (struct mcpx_slice){NULL, 0};
    return mx_trim(last, " \t");
}

/* An address, perhaps with a port behind it; one of IPv6 then stands in brackets. */
static bool read_node(struct mcpx_slice node, struct address *out)
{
    bool bracketed = node.len && *node.text == '[';
    struct mcpx_slice rest = bracketed ? mx_behind(node, 1) : node;
    struct mcpx_slice host = mx_cut_at(&rest, bracketed ? ']' : ':');

    return (!bracketed && address_read(node, out)) || (rest.text && address_read(host, out));
}

/*
 * The value of `for=` in an element of Forwarded; absent when there is none or more than one. RFC
 * 7239 section 4 forbids a second one: the proxy's own cannot be told from the client's.
 */
static struct mcpx_slice find_for(struct mcpx_slice element)
{
    static const char name[] = "for=";
    struct mcpx_slice pair, found = {NULL, 0};

    while (element.text) {
        pair = take_last(&element, ';');
        if (pair.len < sizeof name - 1 || strncasecmp(pair.text, name, sizeof name - 1) != 0)
            continue;
        if (found.text)
            return (struct mcpx_slice){NULL, 0};
        found = (struct mcpx_slice){pair.text + sizeof name - 1, pair.len - sizeof name + 1};
        if (found.len >= 2 && *found.text == '"' && found.text[found.len - 1] == '"')
            found = (struct mcpx_slice){found.text + 1, found.len - 2};
    }
    return found;
}

/* Continues along one field; false at an element without an address. */
static bool go_back(const struct config *config, struct mcpx_slice list, struct address *at)
{
    while (list.text && forwarded_is_trusted(config, *at)) {
        struct mcpx_slice node = take_last(&list, ',');

        if (config->proxy_address == PROXY_FORWARDED)
            node = find_for(node);
        if (!read_node(node, at))
            return false;
    }
    return true;
}

struct address forwarded_find(const struct config *config, const struct mx_http_head *head,
                              struct address from)
{
    const char *name =
        config->proxy_address == PROXY_FORWARDED ? "forwarded" : "x-forwarded-for";

    for (size_t i = head->count; i > 0; i--) {
        const struct mx_http_field *field = &head->fields[i - 1];

        if (mx_same_word(field->name, name) && !go_back(config, field->value, &from))
            break;
    }
    return from;
}

/* ---- the PROXY protocol ---- */

/*
 * V1_MAX    of version 1, with its end
 * V2_HEAD     of version 2, before the addresses
 */
enum { V1_MAX = 107, V2_HEAD = 16, V4_PAIR = 12, V6_PAIR = 36, PORT_MAX = 65535 };

static const unsigned char signature[] = {0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D,
                                          0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A};

static const char begin[] = "PROXY ";

/* Do the bytes received so far begin like this? */
static bool is_like(struct mcpx_slice bytes, const void *with, size_t len)
{
    return bytes.len == 0 || memcmp(bytes.text, with, bytes.len < len ? bytes.len : len) == 0;
}

static bool has_colon(struct mcpx_slice word)
{
    return word.len && memchr(word.text, ':', word.len);
}

/* "TCP4 192.0.2.1 192.0.2.2 5000 80" */
static enum proxy_head read_line(struct mcpx_slice line, struct address *from)
{
    struct mcpx_slice sort = mx_cut_at(&line, ' '), words[4];
    bool v6 = mcpx_slice_equal(sort, MCPX_SLICE("TCP6"));
    struct address source, target;
    uint64_t port;

    if (mcpx_slice_equal(sort, MCPX_SLICE("UNKNOWN")))
        return PROXY_HEAD_OWN;
    if (!v6 && !mcpx_slice_equal(sort, MCPX_SLICE("TCP4")))
        return PROXY_HEAD_BAD;
    for (size_t i = 0; i < 4; i++)
        words[i] = mx_cut_at(&line, ' ');
    if (line.len || !address_read(words[0], &source) || !address_read(words[1], &target) ||
        has_colon(words[0]) != v6 || has_colon(words[1]) != v6 ||
        !mx_decimal_read(words[2], PORT_MAX, &port) ||
        !mx_decimal_read(words[3], PORT_MAX, &port))
        return PROXY_HEAD_BAD;
    *from = source;
    return PROXY_HEAD_FROM;
}

static enum proxy_head read_v1(struct mcpx_slice bytes, size_t *len, struct address *from)
{
    size_t most = bytes.len < V1_MAX ? bytes.len : V1_MAX;
    const char *end = memchr(bytes.text, '\n', most);
    struct mcpx_slice line = {bytes.text + sizeof begin - 1, 0};

    if (!end)
        return most == V1_MAX ? PROXY_HEAD_BAD : PROXY_HEAD_MORE;
    if (end - line.text < 1 || end[-1] != '\r')
        return PROXY_HEAD_BAD;
    line.len = (size_t)(end - line.text) - 1;
    *len = (size_t)(end - bytes.text) + 1;
    return read_line(line, from);
}

/* Reads the addresses of version 2; `family` is its byte. */
static enum proxy_head read_pair(struct mcpx_slice pair, unsigned family, struct address *from)
{
    if (family == 0x11 && pair.len >= V4_PAIR) {
        *from = of_v4(pair.text);
        return PROXY_HEAD_FROM;
    }
    if (family == 0x21 && pair.len >= V6_PAIR) {
        memcpy(from->bytes, pair.text, ADDRESS_LEN);
        return PROXY_HEAD_FROM;
    }
    return family == 0x11 || family == 0x21 ? PROXY_HEAD_BAD : PROXY_HEAD_OWN;
}

static enum proxy_head read_v2(struct mcpx_slice bytes, size_t *len, struct address *from)
{
    const unsigned char *at = (const unsigned char *)bytes.text;
    size_t more;

    if (bytes.len < V2_HEAD)
        return PROXY_HEAD_MORE;
    more = (size_t)at[14] << 8 | at[15];
    if ((at[12] != 0x20 && at[12] != 0x21) || V2_HEAD + more > PROXY_HEAD_MAX)
        return PROXY_HEAD_BAD;
    if (bytes.len < V2_HEAD + more)
        return PROXY_HEAD_MORE;
    *len = V2_HEAD + more;
    if (at[12] == 0x20)
        return PROXY_HEAD_OWN;
    return read_pair((struct mcpx_slice){bytes.text + V2_HEAD, more}, at[13], from);
}

enum proxy_head proxy_head_read(struct mcpx_slice bytes, size_t *len, struct address *from)
{
    if (is_like(bytes, signature, sizeof signature))
        return bytes.len < sizeof signature ? PROXY_HEAD_MORE : read_v2(bytes, len, from);
    if (is_like(bytes, begin, sizeof begin - 1))
        return bytes.len < sizeof begin - 1 ? PROXY_HEAD_MORE : read_v1(bytes, len, from);
    return PROXY_HEAD_BAD;
}
