/*
 * uri.c - wrapping is percent-encoding, so it can be undone for a URI that no list ever
 * showed: one expanded from a wrapped template. Matching a template is a glob, not RFC 6570 read
 * backwards: what the owner makes of the URI is the owner's affair, only the owner is looked for.
 */
#include "tools/mcpx-bridge/expose/uri.h"

#include "lib/core/percent.h"

#define SCHEME "mcpx://"

bool expose_uri_is_wrapped(struct mcpx_slice uri)
{
    return uri.len >= strlen(SCHEME) && memcmp(uri.text, SCHEME, strlen(SCHEME)) == 0;
}

/* Where the last expression of a template ends; 0 when none does. Sought once: braces are cheap. */
static size_t last_end(struct mcpx_slice template)
{
    size_t end = template.len;

    while (end > 0 && template.text[end - 1] != '}')
        end--;
    return end;
}

/* Length of the expression that begins here; 0 when none does. `end` is that of the last. */
static size_t expression(struct mcpx_slice template, size_t at, size_t end)
{
    const char *brace;

    if (at >= end || template.text[at] != '{')
        return 0;
    brace = memchr(template.text + at, '}', end - at);
    return (size_t)(brace - (template.text + at)) + 1;
}

static void encode(struct mcpx_text *out, struct mcpx_slice text, bool template)
{
    size_t end = template ? last_end(text) : 0;

    for (size_t i = 0; i < text.len; i++) {
        size_t kept = expression(text, i, end);

        if (kept) {
            mcpx_text_add(out, text.text + i, kept);
            i += kept - 1;
        } else {
            mx_percent_add(out, (struct mcpx_slice){text.text + i, 1});
        }
    }
}

void expose_uri_wrap(struct mcpx_text *out, struct mcpx_slice participant,
                     struct mcpx_slice uri, bool template)
{
    mcpx_text_puts(out, SCHEME);
    mx_percent_add(out, participant);
    mcpx_text_puts(out, "/");
    encode(out, uri, template);
}

static void decode(struct mcpx_text *out, struct mcpx_slice rest)
{
    while (rest.len > 0) {
        char byte;
        size_t taken = mx_percent_read(rest, &byte);

        mcpx_text_add(out, &byte, 1);
        rest = (struct mcpx_slice){rest.text + taken, rest.len - taken};
    }
}

bool expose_uri_unwrap(struct mcpx_text *out, struct mcpx_slice participant,
                       struct mcpx_slice wrapped)
{
    struct mcpx_text prefix = {0};
    bool fits;

    expose_uri_wrap(&prefix, participant, MCPX_SLICE(""), false);
    fits = !prefix.failed && wrapped.len > prefix.len &&
           memcmp(wrapped.text, prefix.text, prefix.len) == 0;
    if (fits)
        decode(out, (struct mcpx_slice){wrapped.text + prefix.len, wrapped.len - prefix.len});
    mcpx_text_fini(&prefix);
    return fits;
}

/* The classic glob with one point to return to: linear in practice, quadratic at worst. */
bool expose_uri_matches(struct mcpx_slice template, struct mcpx_slice uri)
{
    size_t t = 0, u = 0, back_t = SIZE_MAX, back_u = 0, end = last_end(template);

    while (u < uri.len) {
        size_t star = expression(template, t, end);

        if (star) {
            t += star;
            back_t = t;
            back_u = u;
        } else if (t < template.len && template.text[t] == uri.text[u]) {
            t++;
            u++;
        } else if (back_t != SIZE_MAX) {
            t = back_t;
            u = ++back_u;
        } else {
            return false;
        }
    }
    while (expression(template, t, end))
        t += expression(template, t, end);
    return t == template.len;
}

size_t expose_uri_literal(struct mcpx_slice template)
{
    size_t end = last_end(template), len = 0;

    while (len < template.len && !expression(template, len, end))
        len++;
    return len;
}

size_t expose_uri_common(struct mcpx_slice a, struct mcpx_slice b)
{
    size_t len = 0;

    while (len < a.len && len < b.len && a.text[len] == b.text[len])
        len++;
    return len;
}
