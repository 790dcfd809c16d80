/*
 * api_body.h - a request's JSON body and its members, with answers for those who get it wrong.
 */
#ifndef EDGE_API_BODY_H
#define EDGE_API_BODY_H

#include "router/api/http_api.h"
#include "router/http/http_reply.h"

#include <jansson.h>

/**
 * Reads a body as one JSON object without duplicate members, whatever its Content-Type.
 *
 * Returns the object, owned by the caller (json_decref), or NULL: `reply` then says where and
 * why, with MCPX_EREQUEST.
 */
json_t *api_body_read(struct mcpx_slice body, struct http_reply *reply);

/**
 * Reads a string member. `out` borrows from `body`; it is absent when the member is. Returns
 * false, with MCPX_EREQUEST naming the member in `reply`, when it is not a string.
 */
bool api_body_string(const json_t *body, const char *name, struct mcpx_slice *out,
                     struct http_reply *reply);

/**
 * Reads an array member as JSON text.
 *
 * out    filled with compact text that the caller frees with free(); NULL when there is no such
 *        member
 *
 * Returns false, with MCPX_EREQUEST or MCPX_ENOMEM in `reply`, when it is not an array.
 */
bool api_body_array(const json_t *body, const char *name, char **out,
                    struct http_reply *reply);

/**
 * Answers that a text member was refused: "NAME: reason (field, byte OFFSET)".
 *
 * fault   its reason and field may be NULL or empty
 */
void api_body_fault(enum mcpx_err err, const char *name, const struct mcpx_fault *fault,
                    struct http_reply *reply);

#endif
