/*
 * shown.c - names with marks. Rejected: marks of 32 bits. In seconds an attacker found a name for
 * its tool that was shown like another participant's tool, already allowed by a user.
 * Rejected: a key of the bridge, because names would change with each run or need a file.
 *
 * Wrapping a URI is percent-encoding, so it can be undone for a URI that was never listed: one
 * expanded from a wrapped template. A template is matched as a glob, not by RFC 6570 in reverse:
 * only the owner must be found, and the owner reads the URI itself.
 */
#define _GNU_SOURCE /* memmem */
#include "tools/mcpx-bridge/expose/servers/names.h"

#include "lib/base/digits.h"
#include "lib/base/match.h"
#include "lib/json/digest.h"
#include "lib/json/json_write.h"
#include "tools/common/command.h"

/* Bytes of a mark, "_" included. */
enum { MARK_LEN = 21 };

static const char mark_digits[] = "abcdefghijklmnopqrstuvwxyz234567";

bool expose_shown_may_hold(char byte)
{
    return mx_percent_is_unreserved(byte) && byte != '~';
}

/* Appends the text with "_" for bytes that a name may not hold; true: it has such bytes. */
static bool add_clean(struct mcpx_text *out, struct mcpx_slice text)
{
    bool changed = false;

    for (size_t i = 0; i < text.len; i++) {
        bool fits = expose_shown_may_hold(text.text[i]);

        mcpx_text_add(out, fits ? text.text + i : "_", 1);
        changed |= !fits;
    }
    return changed;
}

static bool is_marked(struct mcpx_slice name)
{
    const char *mark = name.text + name.len - MARK_LEN;

    if (name.len < MARK_LEN || mark[0] != '_')
        return false;
    for (size_t i = 1; i < MARK_LEN; i++)
        if (!memchr(mark_digits, mark[i], strlen(mark_digits)))
            return false;
    return true;
}

bool expose_shown_may_be_plain(struct mcpx_slice name)
{
    return !is_marked(name) && !memmem(name.text, name.len, "__", 2);
}

static void add_mark(struct mcpx_text *out, const struct expose_item *item)
{
    mx_scoped_text pair = mx_formatted("mcpx name 1:%s:%s%s", item->participant.len,
                                       item->participant, item->own);
    unsigned char hash[MX_SHA256_BYTES];
    char mark[MARK_LEN] = "_";

    memory_checked(mx_sha256(mcpx_text_view(&pair), hash) ? MCPX_OK : MCPX_ENOMEM);
    for (size_t i = 1; i < MARK_LEN; i++) {
        size_t bit = (i - 1) * 5;
        unsigned two_bytes = (unsigned)hash[bit / 8] << 8 | hash[bit / 8 + 1];

        mark[i] = mark_digits[two_bytes >> (11 - bit % 8) & 31];
    }
    mcpx_text_add(out, mark, MARK_LEN);
}

void expose_shown_write(struct mcpx_text *out, const struct expose_item *item, bool marked)
{
    struct mcpx_slice id = item->participant;
    size_t start = out->len;

    /* The first "__" of its names must be the end of the id. */
    marked |= !id.len || id.text[id.len - 1] == '_' || memmem(id.text, id.len, "__", 2);
    marked |= add_clean(out, id);
    mcpx_text_puts(out, "__");
    marked |= add_clean(out, item->own);
    marked |= out->len - start > EXPOSE_NAME_MAX || is_marked(mcpx_text_view(out));
    if (!marked)
        return;
    if (out->len - start > EXPOSE_NAME_MAX - MARK_LEN)
        out->len = start + EXPOSE_NAME_MAX - MARK_LEN;
    add_mark(out, item);
}

/* ---- URIs ---- */

#define SCHEME "mcpx://"

bool expose_uri_is_wrapped(struct mcpx_slice uri)
{
    return uri.len >= strlen(SCHEME) && memcmp(uri.text, SCHEME, strlen(SCHEME)) == 0;
}

/* The end of the last expression; 0: none. Found once, so that many braces cost little. */
static size_t last_end(struct mcpx_slice template)
{
    size_t end = template.len;

    while (end > 0 && template.text[end - 1] != '}')
        end--;
    return end;
}

/* Length of the expression at `at`; 0: none. `end`: the end of the last expression. */
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

bool expose_uri_unwrap(struct mcpx_text *out, struct mcpx_slice participant,
                       struct mcpx_slice wrapped)
{
    mx_scoped_text prefix = {0};
    bool fits;

    expose_uri_wrap(&prefix, participant, MCPX_SLICE(""), false);
    fits = wrapped.len > prefix.len && memcmp(wrapped.text, prefix.text, prefix.len) == 0;
    if (fits)
        mx_percent_decode(out, mx_behind(wrapped, prefix.len));
    return fits;
}

bool expose_uri_matches(struct mcpx_slice template, struct mcpx_slice uri)
{
    mx_scoped_text glob = {0};
    size_t end = last_end(template), len = expose_uri_literal(template);

    if (mx_common_len(template, uri) < len)
        return false;
    for (size_t i = 0; i < template.len; i += len ? len : 1) {
        len = expression(template, i, end);
        mcpx_text_add(&glob, len ? "*" : template.text + i, 1);
    }
    return mx_glob_matches(mcpx_text_view(&glob), uri);
}

/* A star of the template itself matches anything, too. */
size_t expose_uri_literal(struct mcpx_slice template)
{
    size_t end = last_end(template), len = 0;

    while (len < template.len && template.text[len] != '*' && !expression(template, len, end))
        len++;
    return len;
}
