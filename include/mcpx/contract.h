/*
 * contract.h - the contracts for documents of tool calls, by name, and the errors of a call that
 * breaks one. docs/contracts.md has the same tables for people.
 */
#ifndef MCPX_CONTRACT_H
#define MCPX_CONTRACT_H

#include <mcpx/schema.h>

MCPX_BEGIN_C

/*
 * The canonical codes. X(constant, name, HTTP status, JSON-RPC code, message)
 *
 * Programs branch on the name; the same numbers mean other things elsewhere.
 */
#define MCPX_CODES(X)                                                                         \
    X(MCPX_CODE_INVALID_INPUT, "INVALID_INPUT", 400, -32602, "Invalid params")                \
    X(MCPX_CODE_INVALID_OUTPUT, "INVALID_OUTPUT", 502, -32002, "Invalid tool output")         \
    X(MCPX_CODE_NOT_FOUND, "NOT_FOUND", 404, -32004, "Resource not found")                    \
    X(MCPX_CODE_UNAUTHORIZED, "UNAUTHORIZED", 401, -32001, "Unauthorized")                    \
    X(MCPX_CODE_INTERNAL_ERROR, "INTERNAL_ERROR", 500, -32603, "Internal error")

#define MCPX_CODE_CONSTANT(constant, name, status, rpc, message) constant,
enum mcpx_code { MCPX_CODES(MCPX_CODE_CONSTANT) MCPX_CODE_COUNT };
#undef MCPX_CODE_CONSTANT

/** The code's name; NULL outside the table. Static. */
MCPX_API const char *mcpx_code_name(enum mcpx_code code);

/** The code of that name. Returns false, and leaves `out`, when there is none. */
MCPX_API bool mcpx_code_find(struct mcpx_slice name, enum mcpx_code *out);

/** The status of an HTTP answer with this error; 0 outside the table. */
MCPX_API int mcpx_code_status(enum mcpx_code code);

/** The JSON-RPC code; 0 outside the table. */
MCPX_API int mcpx_code_rpc(enum mcpx_code code);

/** The message, the same in every error with this code; NULL outside the table. Static. */
MCPX_API const char *mcpx_code_message(enum mcpx_code code);

/**
 * The code of an error of JSON-RPC itself, by its number: INVALID_INPUT for -32700 and -32600,
 * NOT_FOUND for -32601. Returns false, and leaves `out`, for another number.
 */
MCPX_API bool mcpx_code_of_protocol(int64_t rpc, enum mcpx_code *out);

/** The code of a server's error, by its number; INTERNAL_ERROR for a number of no other code. */
MCPX_API enum mcpx_code mcpx_code_of_server(int64_t rpc);

/**
 * Appends the JSON-RPC error object of a code:
 *
 *     {"code":-32602,"message":"Invalid params","data":{"canonical_code":"INVALID_INPUT"}}
 *
 * Returns false and appends nothing for a code outside the table, which is an error of the caller.
 * Memory failure shows in `out`.
 */
MCPX_API bool mcpx_canonical_error(struct mcpx_text *out, enum mcpx_code code);

/*
 * Why a call has failed at an edge. X(constant, name, code, in mcp.envelope.v0.1, in response.v1)
 *
 * The last two are `errors[].code` and `error_code` of the envelopes. They are NULL for errors that
 * are never in an envelope, because they come before the tool is chosen. The `error_code` of FAILED
 * is used only when the failure itself suggests no other one.
 */
#define MCPX_CAUSES(X)                                                                        \
    X(MCPX_CAUSE_INVOCATION, "invocation", MCPX_CODE_INVALID_INPUT, NULL, NULL)               \
    X(MCPX_CAUSE_CONTEXT, "context", MCPX_CODE_INVALID_INPUT, NULL, NULL)                     \
    X(MCPX_CAUSE_TOOL_UNKNOWN, "tool_unknown", MCPX_CODE_NOT_FOUND, NULL, NULL)               \
    X(MCPX_CAUSE_DENIED, "denied", MCPX_CODE_UNAUTHORIZED, NULL, NULL)                        \
    X(MCPX_CAUSE_TIER, "tier", MCPX_CODE_UNAUTHORIZED, "ADAPTER.TIER.REQUIRED",               \
      "upgrade_required")                                                                     \
    X(MCPX_CAUSE_INPUT, "input", MCPX_CODE_INVALID_INPUT, "ADAPTER.INPUT.INVALID",            \
      "invalid_argument")                                                                     \
    X(MCPX_CAUSE_INPUT_SIZE, "input_size", MCPX_CODE_INVALID_INPUT,                           \
      "ADAPTER.INPUT.TOO_LARGE", "too_large")                                                 \
    X(MCPX_CAUSE_OUTPUT, "output", MCPX_CODE_INVALID_OUTPUT, "ADAPTER.OUTPUT.INVALID",        \
      "internal_error")                                                                       \
    X(MCPX_CAUSE_OUTPUT_SIZE, "output_size", MCPX_CODE_INVALID_OUTPUT,                        \
      "ADAPTER.OUTPUT.TOO_LARGE", "too_large")                                                \
    X(MCPX_CAUSE_FAILED, "failed", MCPX_CODE_INTERNAL_ERROR, "ADAPTER.EXECUTION.FAILED",      \
      "internal_error")                                                                       \
    X(MCPX_CAUSE_TIMEOUT, "timeout", MCPX_CODE_INTERNAL_ERROR, "ADAPTER.EXECUTION.TIMEOUT",   \
      "timeout")                                                                              \
    X(MCPX_CAUSE_UNAVAILABLE, "unavailable", MCPX_CODE_INTERNAL_ERROR,                        \
      "ADAPTER.EXECUTION.UNAVAILABLE", "dependency_unavailable")                              \
    X(MCPX_CAUSE_EXHAUSTED, "exhausted", MCPX_CODE_INTERNAL_ERROR,                            \
      "ADAPTER.EXECUTION.RESOURCES", "resource_exhausted")                                    \
    X(MCPX_CAUSE_SCHEMA, "schema", MCPX_CODE_INTERNAL_ERROR, "ADAPTER.INTERNAL",              \
      "internal_error")

#define MCPX_CAUSE_CONSTANT(constant, name, code, envelope, response) constant,
enum mcpx_cause { MCPX_CAUSES(MCPX_CAUSE_CONSTANT) MCPX_CAUSE_COUNT };
#undef MCPX_CAUSE_CONSTANT

/** The cause's name; NULL outside the table. Static. */
MCPX_API const char *mcpx_cause_name(enum mcpx_cause cause);

/** The code of a cause; MCPX_CODE_INTERNAL_ERROR outside the table. */
MCPX_API enum mcpx_code mcpx_cause_code(enum mcpx_cause cause);

/** `errors[].code` of an mcp.envelope.v0.1; NULL when it has none, or outside the table. Static. */
MCPX_API const char *mcpx_cause_in_envelope(enum mcpx_cause cause);

/** `error_code` of a response.v1; NULL when it has none, or outside the table. Static. */
MCPX_API const char *mcpx_cause_in_response(enum mcpx_cause cause);

/**
 * Appends the JSON-RPC error object of a cause as it goes on the wire:
 *
 *     {"code":-32602,"message":"Invalid params",
 *      "data":{"canonical_code":"INVALID_INPUT","cause":"input","errors":[...]}}
 *
 * errors   a JSON array, such as mcpx_schema_errors_add writes; absent: there is none
 * more     members of `data` that follow, such as "signal":9; absent: there are none
 *
 * Returns false and appends nothing for a cause outside the table.
 */
MCPX_API bool mcpx_cause_error(struct mcpx_text *out, enum mcpx_cause cause,
                               struct mcpx_slice errors, struct mcpx_slice more);

/** Appends the errors of a report: `[{"path":"/b","keyword":"required","message":"..."}]`. */
MCPX_API void mcpx_schema_errors_add(struct mcpx_text *out,
                                     const struct mcpx_schema_report *report);

/*
 * The contracts. X(constant, name, code of a breach)
 *
 * Each is a JSON Schema of one document. `tool` has one more rule, which no schema can express: see
 * mcpx_contracts_validate.
 */
#define MCPX_CONTRACTS(X)                                                                     \
    X(MCPX_CONTRACT_ENVELOPE, "mcp.envelope.v0.1", MCPX_CODE_INVALID_OUTPUT)                  \
    X(MCPX_CONTRACT_REQUEST, "mcp.request.v0.1", MCPX_CODE_INVALID_INPUT)                     \
    X(MCPX_CONTRACT_PROV_RECORD, "prov.record.v0.1", MCPX_CODE_INVALID_OUTPUT)                \
    X(MCPX_CONTRACT_ARTIFACT, "artifact.v0.1", MCPX_CODE_INVALID_OUTPUT)                      \
    X(MCPX_CONTRACT_ARTIFACT_REF, "artifact.ref.v0.1", MCPX_CODE_INVALID_INPUT)               \
    X(MCPX_CONTRACT_EVIDENCE, "evidence.v0.1", MCPX_CODE_INVALID_OUTPUT)                      \
    X(MCPX_CONTRACT_RESPONSE, "response.v1", MCPX_CODE_INVALID_OUTPUT)                        \
    X(MCPX_CONTRACT_INVOCATION, "invocation", MCPX_CODE_INVALID_INPUT)                        \
    X(MCPX_CONTRACT_TOOL, "tool", MCPX_CODE_INVALID_INPUT)                                    \
    X(MCPX_CONTRACT_CONTEXT, "context", MCPX_CODE_INVALID_INPUT)                              \
    X(MCPX_CONTRACT_CAPABILITIES, "capabilities", MCPX_CODE_INVALID_OUTPUT)                   \
    X(MCPX_CONTRACT_EVENT, "event", MCPX_CODE_INVALID_OUTPUT)                                 \
    X(MCPX_CONTRACT_TERMS, "terms", MCPX_CODE_INVALID_INPUT)

#define MCPX_CONTRACT_CONSTANT(constant, name, breach) constant,
enum mcpx_contract { MCPX_CONTRACTS(MCPX_CONTRACT_CONSTANT) MCPX_CONTRACT_COUNT };
#undef MCPX_CONTRACT_CONSTANT

/** The contract's name; NULL outside the table. Static. */
MCPX_API const char *mcpx_contract_name(enum mcpx_contract contract);

/** The contract of that name. Returns false, and leaves `out`, when there is none. */
MCPX_API bool mcpx_contract_find(struct mcpx_slice name, enum mcpx_contract *out);

/** The code of a document that breaks the contract; INTERNAL_ERROR outside the table. */
MCPX_API enum mcpx_code mcpx_contract_breach(enum mcpx_contract contract);

/**
 * The contract's JSON Schema (2020-12), complete by itself: what it refers to is under `$defs`.
 * Ends with a newline. Absent outside the table. Static.
 */
MCPX_API struct mcpx_slice mcpx_contract_schema(enum mcpx_contract contract);

/** The contracts, each compiled when it is first asked for. One thread at a time. */
struct mcpx_contracts;

/**
 * Makes the contracts.
 *
 * shelf   keeps the schemas, those of tools included; borrowed until mcpx_contracts_free
 *
 * Returns NULL when memory runs out.
 */
MCPX_API struct mcpx_contracts *mcpx_contracts_new(struct mcpx_shelf *shelf);

/** Frees the contracts. */
MCPX_API void mcpx_contracts_free(struct mcpx_contracts *contracts);

/**
 * Judges a document. A `tool` is valid only when its two schemas are usable, too; paths of their
 * errors lead from the document into the schema.
 *
 * text     borrowed
 * report   filled: verdict and errors, lent until `contracts` or the report is used again
 *
 * Returns MCPX_OK when it is valid; MCPX_EINVALID when it is not, or there is no such contract;
 * MCPX_ELIMIT when a bound was exceeded; MCPX_ENOMEM.
 */
MCPX_API enum mcpx_err mcpx_contracts_validate(struct mcpx_contracts *contracts,
                                               enum mcpx_contract contract,
                                               struct mcpx_slice text,
                                               struct mcpx_schema_report *report);

MCPX_END_C

#endif
