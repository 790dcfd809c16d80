/*
 * fuzz_proxies.c - any bytes, as a PROXY head and as what a client writes where proxies tell its
 * address: a head is found byte by byte where it is found in one piece, and no client has a word in
 * whom its request is from.
 */
#include "lib/base/scoped.h"
#include "router/http/forwarded.h"
#include "tests/fuzz/fuzz.h"

#include <mcpx/text.h>

static struct address read_address(const char *text)
{
    struct address address;

    must(address_read(mcpx_slice_of(text), &address));
    return address;
}

static bool is_same(struct address one, struct address other)
{
    return memcmp(one.bytes, other.bytes, sizeof one.bytes) == 0;
}

static void check_head(struct mcpx_slice bytes)
{
    struct address from = read_address("::"), again = from;
    enum proxy_head found, step = PROXY_HEAD_MORE;
    size_t len = 0, at = 0, had;

    found = proxy_head_read(bytes, &len, &from);
    must(found == PROXY_HEAD_FROM || is_same(from, again));
    must(found != PROXY_HEAD_MORE || bytes.len < PROXY_HEAD_MAX);
    for (had = 1; had <= bytes.len && step == PROXY_HEAD_MORE; had++)
        step = proxy_head_read((struct mcpx_slice){bytes.text, had}, &at, &again);
    must(step == found && is_same(from, again));
    must(at == len && (found == PROXY_HEAD_BAD || len < had));
}

static void check_field(enum proxy_address how, const struct mcpx_text *value)
{
    struct config_network trusted = {.bits = 128};
    const struct config config = {.proxies = &trusted, .proxy_count = 1, .proxy_address = how};
    struct mx_http_head head = {.count = 1};
    struct address from = read_address("10.0.0.1");

    memcpy(trusted.bytes, from.bytes, sizeof trusted.bytes);
    head.fields[0].name =
        how == PROXY_FORWARDED ? MCPX_SLICE("Forwarded") : MCPX_SLICE("X-Forwarded-For");
    head.fields[0].value = mcpx_text_view(value);
    from = forwarded_find(&config, &head, from);
    must(is_same(from, read_address("192.0.2.1")));
}

/* Its own header stands before what the proxy appends. */
static void check_before(enum proxy_address how, struct mcpx_slice bytes, const char *appended)
{
    mx_scoped_text value = {0};

    mcpx_text_slice(&value, bytes);
    mcpx_text_puts(&value, appended);
    check_field(how, &value);
}

/* The host that it asks for is copied, as RFC 9110 section 5.6.4 wants it. */
static void check_quoted(struct mcpx_slice bytes)
{
    mx_scoped_text value = {0};

    mcpx_text_puts(&value, "for=192.0.2.1;host=\"");
    for (size_t i = 0; i < bytes.len; i++) {
        if (bytes.text[i] == '"' || bytes.text[i] == '\\')
            mcpx_text_puts(&value, "\\");
        mcpx_text_add(&value, bytes.text + i, 1);
    }
    mcpx_text_puts(&value, "\"");
    check_field(PROXY_FORWARDED, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mcpx_slice bytes = {(const char *)data, size};

    if (size == 0)
        return 0;
    check_head(bytes);
    check_before(PROXY_X_FORWARDED_FOR, bytes, ", 192.0.2.1");
    check_before(PROXY_FORWARDED, bytes, ", for=192.0.2.1");
    check_quoted(bytes);
    return 0;
}
