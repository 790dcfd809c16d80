/*
 * schema_state.h - a compiled schema, and how one is made.
 */
#ifndef MX_SCHEMA_STATE_H
#define MX_SCHEMA_STATE_H

#include "lib/schema/program.h"

#include "lib/base/holders.h"
#include <mcpx/digest.h>
#include <mcpx/schema.h>

struct mcpx_schema {
    struct mx_program program;
    size_t references;
    size_t bytes;
    enum mcpx_dialect dialect; /* of the options it was made with */
    char fingerprint[MCPX_SHA256_LEN + 1];
};

/**
 * What all tools of a shelf hold.
 *
 * held    bytes of compiled schemas, by participant
 * first   all sets of tools, the newest first
 * uses    schemas asked for so far
 */
struct mx_tools_share {
    struct mx_holders held;
    struct mcpx_tools *first;
    uint64_t uses;
};

/** Lent for as long as the shelf lives. */
struct mx_tools_share *mx_shelf_share(struct mcpx_shelf *shelf);

/** The compiled meta-schemas, by enum mcpx_dialect. */
struct mx_metas {
    struct mcpx_schema *schemas[2];
};

#endif
