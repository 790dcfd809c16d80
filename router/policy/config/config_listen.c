/*
 * config_listen.c - takes "127.0.0.1:8080" and "192.0.2.0/24" apart. Host names to listen on are
 * not resolved, and names of proxies are refused: neither a valid configuration nor trust in a
 * proxy may depend on a name server.
 */
#include "lib/base/digits.h"
#include "lib/json/json_write.h"
#include "router/policy/config/settings.h"

#include <arpa/inet.h>
#include <stdlib.h>

enum { V4_AT = 12, V4_BITS = 32, V6_BITS = 128 };

static const char host_bytes[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

static const char expected[] =
    "expected HOST:PORT, such as \"127.0.0.1:8080\", \"[::1]:8080\" or \"*:80\"";
static const char expected_scheme[] =
    "expected HOST:PORT, or tls://HOST:PORT, such as \"tls://*:443\"";

static const char tls_prefix[] = "tls://";

static bool host_is_valid(const char *host, bool bracketed)
{
    struct in6_addr address;

    if (bracketed)
        return inet_pton(AF_INET6, host, &address) == 1;
    return strcmp(host, "*") == 0 || (*host && host[strspn(host, host_bytes)] == '\0');
}

/* False when the text is not [tls://]HOST:PORT; lost memory shows as NULL members. */
static bool split(const char *whole, struct config_listen *out)
{
    const bool tls = strncmp(whole, tls_prefix, sizeof tls_prefix - 1) == 0;
    const char *text = tls ? whole + sizeof tls_prefix - 1 : whole;
    const char *colon = strrchr(text, ':');
    bool bracketed = *text == '[' && colon && colon > text + 1 && colon[-1] == ']';
    struct mcpx_slice host = {text + bracketed, 0};

    if (!colon || !mx_port_is_valid(mcpx_slice_of(colon + 1)))
        return false;
    host.len = (size_t)(colon - text) - 2 * (size_t)bracketed;
    out->host = strndup(host.text, host.len);
    out->port = strdup(colon + 1);
    out->tls = tls;
    if (!out->host || host_is_valid(out->host, bracketed))
        return true;
    free(out->host);
    free(out->port);
    *out = (struct config_listen){0};
    return false;
}

static bool is_loopback(const char *host)
{
    unsigned char bytes[16];

    if (!config_read_address(mcpx_slice_of(host), bytes))
        return strcmp(host, "localhost") == 0;
    return strchr(host, ':') ? memcmp(bytes, &in6addr_loopback, sizeof bytes) == 0
                             : bytes[V4_AT] == 127;
}

/* Reports a wrong entry of a list. In the file it has a pointer of its own. */
static void refuse(struct loading *loading, const char *setting, size_t index,
                   const char *text, const char *why)
{
    json_auto_t *found = json_string(text);
    struct mcpx_text *line;

    pointer_pop(loading, 0);
    pointer_push(loading, setting + 1);
    pointer_push_index(loading, index);
    line = report_begin_setting(loading, REPORT_ERROR, setting, pointer_text(loading));
    found_write(found, false, line);
    mx_format(line, ", %s\n", why);
    loading->no_memory |= !found;
}

static void take_flags(struct loading *loading)
{
    const struct config_sources *sources = loading->sources;
    const struct setting *row = settings_find("/listen");
    json_auto_t *list = json_array();

    for (size_t i = 0; list && i < sources->listen_count; i++) {
        if (json_array_append_new(list, json_string(sources->listen[i])) != 0)
            report_line(loading, REPORT_ERROR, "--listen", "", expected);
    }
    if (list && !setting_fits(row, list))
        report_line(loading, REPORT_ERROR, "--listen", "", "expected at most 16 of them");
    else if (!list || setting_store(row, list, FROM_FLAGS, &loading->settings))
        loading->no_memory = true;
}

void load_listen(struct loading *loading)
{
    struct config *config = &loading->settings.config;
    struct names *names = &loading->settings.listen;

    if (loading->sources->listen_count > 0)
        take_flags(loading);
    config->listen_default = settings_source(&loading->settings, "/listen") == FROM_DEFAULT;
    config->connections_default =
        settings_source(&loading->settings, "/limits/connections") == FROM_DEFAULT;
    config->listen = calloc(names->count + 1, sizeof *config->listen);
    if (!config->listen) {
        loading->no_memory = true;
        return;
    }
    for (size_t i = 0; i < names->count; i++) {
        struct config_listen *listen = &config->listen[config->listen_count];

        if (!split(names->text[i], listen)) {
            refuse(loading, "/listen", i, names->text[i],
                   strstr(names->text[i], "://") ? expected_scheme : expected);
            continue;
        }
        config->listen_count++;
        config->tls.wanted |= listen->tls;
        if (!listen->host || !listen->port)
            loading->no_memory = true;
        else if (loading->sources->dev && !is_loopback(listen->host))
            refuse(loading, "/listen", i, names->text[i],
                   "expected a loopback address, because --dev hands out tokens to everyone");
    }
}

bool config_read_address(struct mcpx_slice text, unsigned char bytes[16])
{
    static const unsigned char mapped[V4_AT] = {[10] = 0xff, [11] = 0xff};
    char name[INET6_ADDRSTRLEN];

    if (text.len == 0 || text.len >= sizeof name || memchr(text.text, '\0', text.len))
        return false;
    memcpy(name, text.text, text.len);
    name[text.len] = '\0';
    memcpy(bytes, mapped, sizeof mapped);
    return inet_pton(AF_INET, name, bytes + V4_AT) == 1 ||
           inet_pton(AF_INET6, name, bytes) == 1;
}

/* Bits beyond the prefix are a typing error: another network may have been meant. */
static bool is_clean(const struct config_network *network)
{
    for (unsigned i = network->bits; i < V6_BITS; i++)
        if (network->bytes[i / 8] & (0x80U >> i % 8))
            return false;
    return true;
}

static bool read_network(const char *text, struct config_network *out)
{
    struct mcpx_slice rest = mcpx_slice_of(text), host = mx_cut_at(&rest, '/');
    uint64_t bits = strchr(text, ':') ? V6_BITS : V4_BITS;
    unsigned before = V6_BITS - (unsigned)bits;

    if (!config_read_address(host, out->bytes) ||
        (rest.text && !mx_decimal_read(rest, bits, &bits)))
        return false;
    out->bits = before + (unsigned)bits;
    return is_clean(out);
}

void load_proxies(struct loading *loading)
{
    const struct names *names = &loading->settings.proxies;
    struct config *config = &loading->settings.config;

    config->proxies = calloc(names->count + 1, sizeof *config->proxies);
    if (!config->proxies) {
        loading->no_memory = true;
        return;
    }
    for (size_t i = 0; i < names->count; i++) {
        if (read_network(names->text[i], &config->proxies[config->proxy_count]))
            config->proxy_count++;
        else
            refuse(loading, "/trusted_proxies", i, names->text[i],
                   "expected an address or a network without bits beyond its prefix, such as "
                   "\"192.0.2.7\", \"10.0.0.0/8\" or \"2001:db8::/32\"");
    }
}
