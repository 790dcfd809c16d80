/*
 * terms.h - contract settings of a command line: the options --contracts and --deterministic-ids of
 * import and expose, and the two checks of each tool call under them. lib/contract decides; this
 * file reports what became of a call, and puts the answer into a message. Without contract settings
 * nothing of it is called.
 */
#ifndef MCPX_BRIDGE_TERMS_H
#define MCPX_BRIDGE_TERMS_H

#include "tools/common/command.h"

#include <mcpx/terms.h>

/** The rows of both options. */
#define BRIDGE_TERMS_OPTIONS                                                                  \
    OPTION("--contracts", "FILE|JSON", VALUE_FILE, 0,                                         \
           "contract settings: what is checked of tool calls, and what is done about it. A "  \
           "file, or the JSON itself, which begins with {. {} checks arguments and results "  \
           "against the schemas of the tools. Without it nothing is checked. --terms is its " \
           "old name"),                                                                       \
        SWITCH("--deterministic-ids",                                                         \
               "with --contracts: ids that this program makes are the same whenever the "     \
               "same is asked in the same order, instead of random")

/** Contract settings, with their schemas and contracts. Zero-initialised: none. */
struct bridge_terms {
    struct mcpx_shelf *shelf;
    struct mcpx_contracts *contracts;
    struct mcpx_terms *terms; /* NULL: none */
    bool deterministic;       /* ids are */
};

/**
 * Reads the contract settings of a command line, if any; bridge_terms_fini frees them, on failure
 * too. Returns STATUS_OK, also without settings; STATUS_USAGE, having reported every error with its
 * path, when they cannot be read or are not valid.
 */
int bridge_terms_read(const struct arguments *arguments, struct bridge_terms *out);
void bridge_terms_fini(struct bridge_terms *terms);

/** A core's calls under contract settings. Zero-initialised: no settings. */
struct bridge_doors {
    const struct bridge_terms *terms; /* kept as long; NULL: none */
    const void *user;                 /* for both functions */
    /* The clocks at this moment: finer than what an input is told. */
    struct mcpx_instant (*now)(const void *user);
    /* Random bytes; not asked with deterministic ids. */
    void (*chance)(const void *user, void *bytes, size_t len);
    struct mcpx_calls *calls; /* NULL before the first one */
};

/** Frees the calls. */
void bridge_doors_fini(struct bridge_doors *doors);

/** True when contract settings apply to the method: it is tools/call, and settings are given. */
bool bridge_doors_are_for(const struct bridge_doors *doors, struct mcpx_slice method);

/**
 * Admission, as mcpx_calls_admit.
 *
 * options   used for the first call only; settings and ids are filled in
 * request   all but its time, random bytes and version
 * hello     the server's answer to initialize, raw; it says the version
 */
void bridge_doors_admit(struct bridge_doors *doors, const struct mcpx_calls_options *options,
                        struct mcpx_call_request *request, struct mcpx_slice hello,
                        struct mcpx_admission *out);

/**
 * Completion, as mcpx_calls_answer. The time of `end` is filled in, *admitted becomes NULL.
 */
void bridge_doors_end(struct bridge_doors *doors, struct mcpx_call **admitted,
                      struct mcpx_call_end *end, struct mcpx_call_answer *answer);

/** Completes a call without an answer, unless it is complete: its requester stopped waiting. */
void bridge_doors_abandon(struct bridge_doors *doors, struct mcpx_call **admitted);

/** The JSON-RPC error code for a cause, for calls without contract settings. */
int bridge_code_of(enum mcpx_cause cause);

/** Appends the message that answers a request with this id (raw). */
void bridge_add_answer(struct mcpx_text *out, struct mcpx_slice id,
                       const struct mcpx_call_answer *answer);

#endif
