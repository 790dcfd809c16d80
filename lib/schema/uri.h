/*
 * uri.h - references resolved against a base, as RFC 3986 section 5 says. Nothing is looked up.
 */
#ifndef MX_URI_H
#define MX_URI_H

#include <mcpx/text.h>

/** Appends the URI that a reference stands for, its fragment included. */
void mx_uri_resolve(struct mcpx_slice base, struct mcpx_slice reference,
                    struct mcpx_text *out);

/** Cuts a URI at its "#". The fragment is absent when there is none. Both are parts of `uri`. */
void mx_uri_split(struct mcpx_slice uri, struct mcpx_slice *document,
                  struct mcpx_slice *fragment);

/** Appends a text with its percent escapes undone. What is no escape stays. */
void mx_uri_decode(struct mcpx_slice text, struct mcpx_text *out);

#endif
