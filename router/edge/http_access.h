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

/** True when there is no Origin header, or a configured pattern covers it. */
bool http_origin_is_allowed(const struct config *config, struct mcpx_slice origin);

#endif
