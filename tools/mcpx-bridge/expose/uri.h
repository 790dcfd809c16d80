/*
 * uri.h - URIs of several participants: wraps a URI so that it names its owner, and matches
 * URIs with templates.
 */
#ifndef MCPX_BRIDGE_EXPOSE_URI_H
#define MCPX_BRIDGE_EXPOSE_URI_H

#include <mcpx/text.h>

/** True for a URI of the scheme that only wrapping gives. */
bool expose_uri_is_wrapped(struct mcpx_slice uri);

/**
 * Appends `mcpx://PARTICIPANT/` and the URI, everything but unreserved characters
 * percent-encoded; with `template`, expressions in braces stay as they are.
 */
void expose_uri_wrap(struct mcpx_text *out, struct mcpx_slice participant,
                     struct mcpx_slice uri, bool template);

/**
 * Appends the URI that was wrapped for this participant. Returns false and appends nothing when it
 * was wrapped for somebody else, or not at all.
 */
bool expose_uri_unwrap(struct mcpx_text *out, struct mcpx_slice participant,
                       struct mcpx_slice wrapped);

/**
 * Whether the template (RFC 6570) could expand to this URI. An expression stands for any bytes.
 */
bool expose_uri_matches(struct mcpx_slice template, struct mcpx_slice uri);

/** Bytes of a template before its first expression. */
size_t expose_uri_literal(struct mcpx_slice template);

/** Bytes both begin with. */
size_t expose_uri_common(struct mcpx_slice a, struct mcpx_slice b);

#endif
