/*
 * uri.c - splits a URI into its five parts, and resolves a reference against its base. URIs are
 * names here and compared byte by byte: upper case stays upper case, "%7e" is not "~".
 */
#include "lib/schema/library.h"

#include "lib/base/digits.h"
#include "lib/base/scoped.h"

/* Absent parts have no text. `path` is never absent. */
struct parts {
    struct mcpx_slice scheme;
    struct mcpx_slice authority;
    struct mcpx_slice path;
    struct mcpx_slice query;
    struct mcpx_slice fragment;
};

static size_t find_byte(struct mcpx_slice text, char byte)
{
    return mx_cut_at(&text, byte).len;
}

static struct mcpx_slice head(struct mcpx_slice text, size_t len)
{
    return (struct mcpx_slice){text.text, len};
}

/* Cuts off the part after the first such byte; absent when there is none. */
static struct mcpx_slice cut_after(struct mcpx_slice *text, char byte)
{
    struct mcpx_slice rest = *text;

    *text = mx_cut_at(&rest, byte);
    return rest;
}

struct mcpx_slice mx_uri_cut(struct mcpx_slice *uri)
{
    return cut_after(uri, '#');
}

static bool is_scheme(struct mcpx_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!mx_is_letter(text.text[i]) &&
            (i == 0 || !memchr("0123456789+-.", text.text[i], 13)))
            return false;
    }
    return text.len > 0;
}

static struct parts take_apart(struct mcpx_slice uri)
{
    struct parts parts = {.fragment = cut_after(&uri, '#')};
    size_t colon;

    parts.query = cut_after(&uri, '?');
    colon = find_byte(uri, ':');
    if (colon < uri.len && is_scheme(head(uri, colon))) {
        parts.scheme = head(uri, colon);
        uri = mx_behind(uri, colon + 1);
    }
    if (uri.len >= 2 && memcmp(uri.text, "//", 2) == 0) {
        struct mcpx_slice rest = mx_behind(uri, 2);
        size_t slash = find_byte(rest, '/');

        parts.authority = head(rest, slash);
        uri = mx_behind(rest, slash);
    }
    parts.path = uri;
    return parts;
}

/* Removes the last segment, and the slash before it, of the text appended from `floor` on. */
static void drop_segment(struct mcpx_text *out, size_t floor)
{
    while (out->len > floor && out->text[out->len - 1] != '/')
        out->len--;
    if (out->len > floor)
        out->len--;
}

/* Appends a path without "." and ".." segments. RFC 3986 section 5.2.4. */
static void add_path(struct mcpx_text *out, struct mcpx_slice path)
{
    size_t floor = out->len, at = 0;

    while (at < path.len) {
        bool slash = path.text[at] == '/';
        struct mcpx_slice segment = mx_behind(path, at + slash);
        bool last;

        segment.len = find_byte(segment, '/');
        last = at + slash + segment.len == path.len;
        at += slash + segment.len;
        if (mcpx_slice_equal(segment, MCPX_SLICE(".."))) {
            drop_segment(out, floor);
        } else if (!mcpx_slice_equal(segment, MCPX_SLICE("."))) {
            mcpx_text_add(out, "/", slash);
            mcpx_text_slice(out, segment);
            continue;
        }
        if (last)
            mcpx_text_add(out, "/", 1);
    }
}

/* Appends the path of a reference with a relative one. */
static void add_merged(struct mcpx_text *out, const struct parts *base, struct mcpx_slice path)
{
    mx_scoped_text merged = {0};
    size_t keep = base->path.len;

    while (keep > 0 && base->path.text[keep - 1] != '/')
        keep--;
    if (base->authority.text && base->path.len == 0)
        mcpx_text_puts(&merged, "/");
    else if (keep > 0)
        mcpx_text_add(&merged, base->path.text, keep);
    mcpx_text_slice(&merged, path);
    add_path(out, mcpx_text_view(&merged));
    out->failed = out->failed || merged.failed;
}

static void add_part(struct mcpx_text *out, const char *before, struct mcpx_slice part,
                     const char *after)
{
    if (!part.text)
        return;
    mcpx_text_puts(out, before);
    mcpx_text_slice(out, part);
    mcpx_text_puts(out, after);
}

void mx_uri_resolve(struct mcpx_slice base_text, struct mcpx_slice reference,
                    struct mcpx_text *out)
{
    struct parts base = take_apart(base_text), own = take_apart(reference);
    struct mcpx_slice scheme = own.scheme.text ? own.scheme : base.scheme;
    bool has_own = own.scheme.text || own.authority.text;
    struct mcpx_slice query = own.query;

    add_part(out, "", scheme, ":");
    add_part(out, "//", has_own ? own.authority : base.authority, "");
    if (has_own || (own.path.len && own.path.text[0] == '/')) {
        add_path(out, own.path);
    } else if (own.path.len == 0) {
        mcpx_text_slice(out, base.path);
        query = own.query.text ? own.query : base.query;
    } else {
        add_merged(out, &base, own.path);
    }
    add_part(out, "?", query, "");
    add_part(out, "#", own.fragment, "");
}
