/*
 * http_admission.h - may a connection be upgraded, and as whom? Protocol: section 7.
 */
#ifndef EDGE_HTTP_ADMISSION_H
#define EDGE_HTTP_ADMISSION_H

#include "router/api/http_api.h"

/**
 * Would this admission succeed now, and if its topic is not open, is it being opened? Begins that.
 *
 * Returns MCPX_OK; MCPX_EOPENING: ask again when hub_waits has changed; or whatever hub_may_admit
 * and hub_open say, with MCPX_ENOTNOW for a topic that cannot be opened.
 */
enum mcpx_err http_admission_ask(struct hub *hub, const struct grant *grant,
                                 const struct admission *admission, struct mcpx_now now);

/**
 * Judges a connection attempt.
 *
 * request     its head; `target` holds topic, routing, history, after, instance,
 *             instance_key, ticket and token
 * admission   filled on success, and with MCPX_EOPENING; its slices point into `scratch`
 * scratch     caller's buffer for decoded query values; reset here
 * grant       likewise, with a reference the caller owns; untouched on failure
 * detail      filled on failure with a static sentence for the problem's `detail`
 *
 * Returns MCPX_OK or the error to answer with: MCPX_ETOPIC (topic missing, malformed or given
 * twice), MCPX_EREQUEST (another parameter is malformed), MCPX_ETOKEN, MCPX_EFORBIDDEN,
 * MCPX_EORIGIN, MCPX_EREQUESTS, or whatever changes_admit and http_admission_ask say. A ticket is
 * spent by the attempt.
 */
enum mcpx_err http_admission(const struct http_api *api, const struct http_request *request,
                             struct mcpx_now now, struct admission *admission,
                             struct mcpx_text *scratch, struct grant **grant,
                             const char **detail);

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
