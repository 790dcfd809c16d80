/*
 * config_proxies.c - "192.0.2.0/24" taken apart. Names are refused: whom to believe must not depend
 * on a name server.
 */
#include "lib/core/decimal.h"
#include "lib/core/format.h"
#include "router/policy/loading.h"

#include <arpa/inet.h>
#include <stdlib.h>

enum { V4_AT = 12, V4_BITS = 32, V6_BITS = 128, TEXT_MAX = 64 };

static const unsigned char mapped[V4_AT] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

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
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : strlen(text);
    char host[TEXT_MAX];
    unsigned before = 0;
    uint64_t bits = V6_BITS;

    if (len >= sizeof host)
        return false;
    memcpy(host, text, len);
    host[len] = '\0';
    memcpy(out->bytes, mapped, sizeof mapped);
    if (inet_pton(AF_INET, host, out->bytes + V4_AT) == 1)
        before = V6_BITS - V4_BITS;
    else if (inet_pton(AF_INET6, host, out->bytes) != 1)
        return false;
    if (slash && !mx_decimal_read(mcpx_slice_of(slash + 1), V6_BITS - before, &bits))
        return false;
    out->bits = slash ? before + (unsigned)bits : V6_BITS;
    return is_clean(out);
}

static void refuse(struct loading *loading, size_t index, const char *text)
{
    struct mcpx_text sentence = {0};

    mx_format(
        &sentence,
        "found %q, expected an address or a network without bits beyond its prefix, such "
        "as \"192.0.2.7\", \"10.0.0.0/8\" or \"2001:db8::/32\"",
        text);
    pointer_pop(loading, 0);
    pointer_push(loading, "trusted_proxies");
    pointer_push_index(loading, index);
    if (sentence.failed)
        loading->no_memory = true;
    else if (settings_source(&loading->settings, "/trusted_proxies") == FROM_FILE)
        error_here(loading, sentence.text);
    else
        setting_line(loading, "/trusted_proxies", sentence.text, error_line);
    mcpx_text_fini(&sentence);
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
            refuse(loading, i, names->text[i]);
    }
}
