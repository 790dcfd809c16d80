/*
 * words.h - what a command line names: addressees, a kind, a contract, an operation, a
 * configuration.
 */
#ifndef MCPXCTL_WORDS_H
#define MCPXCTL_WORDS_H

#include "tools/common/command.h"
#include "tools/mcpxctl/core/message.h"
#include <mcpx/contract.h>
#include <mcpx/envelope.h>
#include <mcpx/kind.h>

struct config;

/** Addressees, lent by the command line; none = everyone. */
struct address {
    struct mcpx_slice to[MCPX_TO_MAX];
    size_t count;
};

/** Reads them. Returns STATUS_OK or STATUS_USAGE, having complained. */
int address_read(const struct arguments *arguments, struct address *out);

/**
 * Reads a kind like mcpx_kind_parse, and checks that it is UTF-8.
 *
 * word    borrowed for as long as `out` is used
 * out     filled; untouched on failure
 * fault   filled on failure
 */
bool kind_word_read(const char *word, struct mcpx_kind *out, struct mcpx_fault *fault);

/**
 * Reads a name. Complains, with the name that may have been meant, and returns false when there is
 * no such contract.
 */
bool contract_word_read(const char *verb, const char *word, enum mcpx_contract *out);

/**
 * Reads what several verbs take: "TOOL [JSON]", --method (else tools/call) and --meta. "-" is JSON
 * from standard input.
 *
 * input   zero-initialised; holds what was read; finished by the caller in every case
 *
 * Returns STATUS_OK or STATUS_USAGE, having complained.
 */
int operation_from(const struct arguments *arguments, struct mcpx_text *input,
                   struct operation *out);

/**
 * Reads a configuration from a file and the environment.
 *
 * out   filled on success, to be released with config_fini
 *
 * Returns STATUS_OK; STATUS_USAGE or STATUS_FAILED, having complained.
 */
int load_config(const char *verb, const char *file, struct config *out);

#endif
