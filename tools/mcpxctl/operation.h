/*
 * operation.h - reads "TOOL [JSON] [--method M] [--meta JSON]" for several verbs.
 */
#ifndef MCPXCTL_OPERATION_H
#define MCPXCTL_OPERATION_H

#include "tools/common/command.h"
#include "tools/mcpxctl/message.h"

#include <mcpx/text.h>

/**
 * Reads the operands, --method (else tools/call) and --meta. "-" is JSON from standard input.
 *
 * input   zero-initialised; holds what was read; finished by the caller in every case
 *
 * Returns STATUS_OK or STATUS_USAGE, having complained.
 */
int operation_from(const struct arguments *arguments, struct mcpx_text *input,
                   struct operation *out);

/**
 * Prints the payload of a response: the result for people, or with --json the payload.
 *
 * Returns STATUS_OK; for a JSON-RPC error its exit code, having complained; STATUS_FAILED for a
 * tool's result that says it failed.
 */
int response_print(const struct arguments *arguments, struct mcpx_slice payload);

#endif
