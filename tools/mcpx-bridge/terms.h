/*
 * terms.h - the terms of a command line: the options --terms and --deterministic-ids of the verbs
 * that are an edge.
 */
#ifndef MCPX_BRIDGE_TERMS_H
#define MCPX_BRIDGE_TERMS_H

#include "tools/common/command.h"

#include <mcpx/terms.h>

/** The rows of both options. */
#define BRIDGE_TERMS_OPTIONS                                                                  \
    OPTION(                                                                                   \
        "--terms", "FILE|JSON", VALUE_FILE, 0,                                                \
        "what calls of tools have to keep here, and what is done about it: a file, or the "   \
        "JSON itself, which begins with {. {} checks arguments and results against the "      \
        "schemas of the tools. Without it nothing is looked at"),                             \
        OPTION("--deterministic-ids", NULL, VALUE_NONE, 0,                                    \
               "with --terms: ids that this program makes are the same whenever the same is " \
               "asked in the same order, instead of random")

/**
 * Terms, and what judging by them takes. Zero-initialised: there are none.
 *
 * terms           NULL: none
 * deterministic   ids are
 */
struct bridge_terms {
    struct mcpx_shelf *shelf;
    struct mcpx_contracts *contracts;
    struct mcpx_terms *terms;
    bool deterministic;
};

/**
 * Reads the terms that a command line names, if it does.
 *
 * out   filled; the caller ends it with bridge_terms_fini, on failure too
 *
 * Returns STATUS_OK, also without terms; STATUS_USAGE, having complained of every fault with its
 * path, when they cannot be read or are not valid.
 */
int bridge_terms_read(const char *verb, const struct arguments *arguments,
                      struct bridge_terms *out);

/** Frees what was read. */
void bridge_terms_fini(struct bridge_terms *terms);

#endif
