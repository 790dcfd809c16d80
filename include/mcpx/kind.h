/* kind.h - "mcp/request:tools/call:read_file" taken apart: type, method, context. */
#ifndef MCPX_KIND_H
#define MCPX_KIND_H

#include <mcpx/base.h>
#include <mcpx/error.h>

MCPX_BEGIN_C

/** The longest kind or capability pattern, in bytes. Protocol section 2. */
#define MCPX_KIND_MAX 2048

/** A kind, split at its first two colons. Slices of one text; `text` is the whole. */
struct mcpx_kind {
    struct mcpx_slice text;
    /* 1.. bytes: mcp/request, chat, reasoning/start. */
    struct mcpx_slice type;
    /* Absent, or 1.. bytes: tools/call, notifications/progress. */
    struct mcpx_slice method;
    /* Absent, or 1.. bytes: read_file, file:///etc/hosts. */
    struct mcpx_slice context;
};

/**
 * Splits a kind and checks its grammar.
 *
 * text    borrowed for as long as `out` is used; UTF-8, unescaped
 * out     filled; untouched on failure
 * fault   filled on failure: reason, field ("type", "method", "context" or "kind"), offset;
 *         may be NULL
 *
 * Returns MCPX_OK; MCPX_EKIND when the text is empty, longer than MCPX_KIND_MAX, has an empty
 * component or segment, a "." or ".." segment, a byte other than ALPHA DIGIT _ . - $ in type or
 * method, or a control character (protocol section 1) in context. Never allocates.
 *
 * Protocol: section 2.
 */
MCPX_API enum mcpx_err mcpx_kind_parse(struct mcpx_slice text, struct mcpx_kind *out,
                                       struct mcpx_fault *fault);

/**
 * True for the kinds that only the router may send: the first segment of the type is `system`
 * or `presence`, in upper or lower case. Protocol: section 2.
 */
MCPX_API bool mcpx_kind_is_reserved(const struct mcpx_kind *kind);

/**
 * True when the context holds a dot segment: "." or ".." between slashes or at an end, with "." and
 * "/" literal or percent-encoded in either case. A backslash counts as a slash, and "?" and "#" end
 * a segment, because URL parsers read file:///srv/..\x and file:///srv/..?x like that. When a
 * pattern's CONTEXT holds a "*" among other bytes, the "*" does not cover such a context.
 *
 * Protocol: section 3 rule 6.
 */
MCPX_API bool mcpx_kind_has_dot_segment(const struct mcpx_kind *kind);

MCPX_END_C

#endif
