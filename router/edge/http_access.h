/*
 * http_access.h - what a request's head says about who asks: bearer token and origin.
 * Protocol: sections 7 and 8.
 */
#ifndef EDGE_HTTP_ACCESS_H
#define EDGE_HTTP_ACCESS_H

#include "router/edge/http_api.h"

/**
 * Takes the token out of `Authorization: Bearer TOKEN` (RFC 6750; the scheme in any letter case,
 * as RFC 9110 section 11.1 says).
 *
 * bearer   borrows from `authorization`; absent when there is no Authorization, or one of another
 *          scheme (a proxy's own, say); untouched on failure
 *
 * Returns MCPX_OK, or MCPX_ETOKEN when "Bearer" is followed by nothing or by anything but visible
 * ASCII.
 */
enum mcpx_err http_bearer(struct mcpx_slice authorization, struct mcpx_slice *bearer);

/** Who asks, by what the head and the certificate show. Returns as http_bearer. */
enum mcpx_err http_claimant(const struct http_request *request, struct claimant *out);

/**
 * The request's participant is known: it is charged, and its caller is good (gate_knows). Returns
 * 0, or the milliseconds until it may ask again.
 */
int64_t http_wait_ms(const struct http_api *api, const struct http_request *request,
                     struct mcpx_slice participant, struct mcpx_now now);

/** True when there is no Origin header, or a configured pattern covers it. */
bool http_origin_is_allowed(const struct config *config, struct mcpx_slice origin);

#endif
