/*
 * request.h - the head of an HTTP request as libwebsockets has it, turned into ours.
 * Includes http_api.h.
 */
#ifndef EDGE_REQUEST_H
#define EDGE_REQUEST_H

#include "router/edge/http_api.h"

struct lws;

/**
 * A request that owns its texts. Zeroed is empty.
 *
 * http    slices into the buffers; the body is the caller's to fill in
 */
struct request {
    struct mcpx_text target, authorization, origin, content_type;
    struct http_request http;
};

/**
 * Reads method, target and headers while libwebsockets still has them (HTTP and CONFIRM_UPGRADE
 * callbacks).
 *
 * The target is written anew: libwebsockets hands out a path it has decoded and normalised and a
 * query split at '&' and ';'. Path and fragments are percent-encoded again, so "%2F" in a path
 * has become "/", "a;b=1" two parameters, and "+" everywhere "%20"; all else means what was sent.
 *
 * Returns false when there is no method or memory ran out. `out` needs request_fini either way.
 */
bool request_read(struct lws *wsi, struct request *out);

/** Frees the texts. */
void request_fini(struct request *request);

/**
 * Appends the value of a header (an enum lws_token_indexes); one that came several times is
 * joined with ", ". Returns false when it did not come.
 */
bool request_header(struct lws *wsi, int token, struct mcpx_text *out);

/** True when the header's value is `text`, in any letter case. */
bool request_header_is(struct lws *wsi, int token, const char *text);

/** True when the header is a comma-separated list that holds `word`, in any letter case. */
bool request_header_lists(struct lws *wsi, int token, const char *word);

#endif
