/*
 * forwarded.c - X-Forwarded-For, and Forwarded as in RFC 7239. Read from the right: what a client
 * has written itself stands on the left of what the proxies have appended. Which of the two headers
 * counts is a setting, because a proxy that writes the one passes the other on as it came.
 */
#include "router/edge/forwarded.h"

#include <strings.h>

bool forwarded_is_trusted(const struct config *config, struct address whole)
{
    for (size_t i = 0; i < config->proxy_count; i++)
        if (address_begins(whole, config->proxies[i].bytes, config->proxies[i].bits))
            return true;
    return false;
}

static struct mcpx_slice trim(struct mcpx_slice text)
{
    for (; text.len > 0 && (*text.text == ' ' || *text.text == '\t'); text.len--)
        text.text++;
    while (text.len > 0 && (text.text[text.len - 1] == ' ' || text.text[text.len - 1] == '\t'))
        text.len--;
    return text;
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
 * Takes off what follows the last `mark` outside quotes, which goes too; absent when nothing is
 * left. Between quotes stands what a proxy has copied from a client, the host for one.
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
    return trim(last);
}

/* An address, perhaps with a port behind it; one of IPv6 then stands in brackets. */
static bool read_node(struct mcpx_slice node, struct address *out)
{
    const char *close = node.len ? memchr(node.text, ']', node.len) : NULL;
    const char *colon = node.len ? memchr(node.text, ':', node.len) : NULL;

    if (node.len && *node.text == '[')
        return close &&
               address_read(
                   (struct mcpx_slice){node.text + 1, (size_t)(close - node.text) - 1}, out);
    if (address_read(node, out))
        return true;
    return colon &&
           address_read((struct mcpx_slice){node.text, (size_t)(colon - node.text)}, out);
}

/*
 * `for=` among the pairs of an element of Forwarded; absent when there is none, and when there are
 * two, which RFC 7239 section 4 forbids: nothing says which of them the proxy has written.
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

/* Goes on along one field; false when what stands there is no address. */
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

        if (field->name.len == strlen(name) &&
            strncasecmp(field->name.text, name, field->name.len) == 0 &&
            !go_back(config, field->value, &from))
            break;
    }
    return from;
}
