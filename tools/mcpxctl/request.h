/*
 * request.h - a document of the contract mcp.request.v0.1 as an operation that can be sent.
 */
#ifndef MCPXCTL_REQUEST_H
#define MCPXCTL_REQUEST_H

#include "tools/mcpxctl/message.h"

/** What an operation made from a request lends; zero-initialised is empty. */
struct request_parts {
    struct mcpx_text name;
    struct mcpx_text arguments;
    struct mcpx_text meta;
};

/** Frees what it holds. */
void request_parts_fini(struct request_parts *parts);

/**
 * Makes a call of a tool from a request: `tool.name` is its name; `params` without `_meta` are its
 * arguments; `_meta` of params with `request_id`, `io.mcpx/artifacts` and `io.mcpx/preferences` of
 * the request is the call's. Values keep their bytes.
 *
 * request   a document that keeps the contract
 * parts     filled; finished by the caller in every case
 * out       filled on success; lent by `request` and `parts`
 *
 * Returns MCPX_OK; MCPX_EINVALID when `_meta` is there and no object; MCPX_ENOMEM.
 */
enum mcpx_err request_read(struct mcpx_slice request, struct request_parts *parts,
                           struct operation *out);

#endif
