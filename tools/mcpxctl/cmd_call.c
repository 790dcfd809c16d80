/*
 * cmd_call.c - one request and its response.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/common/input.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/address.h"
#include "tools/mcpxctl/live.h"
#include "tools/mcpxctl/operation.h"
#include "tools/mcpxctl/request.h"
#include <mcpx/contract.h>

static const char verb[] = "call";

/* Where and why a file is no request, as far as the first error says it. */
static int complain_of_request(const char *file, const struct mcpx_schema_report *report)
{
    const struct mcpx_schema_error *error = report->errors;
    struct mcpx_text reason = {0};
    int status = STATUS_USAGE;

    text_format(&reason, "is no mcp.request.v0.1: %s%s%s", error->path,
                error->path.len > 0 ? ": " : "", error->message);
    if (reason.failed)
        status = complain_of_memory(verb);
    else
        complain(verb, "%s %s", input_name(file), reason.text);
    mcpx_text_fini(&reason);
    return status;
}

/* Judges a file by the contract of a request. Returns STATUS_OK when it keeps it. */
static int check_request(const char *file, struct mcpx_slice text)
{
    struct mcpx_shelf *shelf = mcpx_shelf_new();
    struct mcpx_contracts *contracts = shelf ? mcpx_contracts_new(shelf) : NULL;
    struct mcpx_schema_report report = {.count = 0};
    int status = STATUS_OK;
    enum mcpx_err err =
        contracts ? mcpx_contracts_validate(contracts, MCPX_CONTRACT_REQUEST, text, &report)
                  : MCPX_ENOMEM;

    if (err && report.count > 0)
        status = complain_of_request(file, &report);
    else if (err)
        status = complain_of_memory(verb);
    mcpx_schema_report_fini(&report);
    mcpx_contracts_free(contracts);
    mcpx_shelf_free(shelf);
    return status;
}

static int operation_from_request(const struct arguments *arguments, struct mcpx_text *input,
                                  struct request_parts *parts, struct operation *out)
{
    const char *file = arguments_value(arguments, "--request");
    struct mcpx_slice request;
    enum mcpx_err err;
    int status;

    if (arguments->operand_count > 0 || arguments_have(arguments, "--method") ||
        arguments_have(arguments, "--meta"))
        return fail_with(STATUS_USAGE, verb,
                         "--request says it all: TOOL, JSON, --method and --meta exclude it");
    status = input_read(verb, file, input);
    if (status == STATUS_OK)
        status = check_request(file, mcpx_text_view(input));
    if (status != STATUS_OK)
        return status;
    mcpx_json_check(mcpx_text_view(input), 0, &request, NULL);
    err = request_read(request, parts, out);
    if (err == MCPX_EINVALID)
        return fail_with(STATUS_USAGE, verb, "%s: /params/_meta: must be an object",
                         input_name(file));
    return err ? complain_of_memory(verb) : STATUS_OK;
}

/* Servers answer both an unknown tool and arguments that it does not take with one of these. */
static void hint(const struct arguments *arguments, struct mcpx_slice response)
{
    struct mcpx_slice code = mcpx_json_get(mcpx_json_get(response, "error"), "code");

    if (mcpx_slice_equal(code, MCPX_SLICE("-32602")) ||
        mcpx_slice_equal(code, MCPX_SLICE("-32601")))
        complain(verb, "mcpxctl list --tool %s --to %s shows what it takes, if it is there",
                 arguments->operands[0], arguments_value(arguments, "--to"));
}

/* Sends the operation to the addressee, and prints what comes back. */
static int call(const struct arguments *arguments, const struct address *address,
                struct operation *operation)
{
    struct mcpx_text payload = {0}, response = {0};
    int status;

    if (mcpx_slice_equal(operation->method, MCPX_SLICE("tools/call")))
        operation->token = MCPX_SLICE("mcpxctl");
    operation_write_request(&payload, operation);
    status = live_call(arguments,
                       &(struct mcpx_draft){.type = "mcp/request",
                                            .to = address->to,
                                            .to_count = address->count,
                                            .payload = mcpx_text_view(&payload),
                                            .timeout_ms = -1},
                       arguments_value(arguments, "--to"), &response);
    if (status == STATUS_OK)
        status = response_print(arguments, mcpx_text_view(&response));
    if (operation->token.text && arguments->operand_count > 0)
        hint(arguments, mcpx_text_view(&response));
    mcpx_text_fini(&response);
    mcpx_text_fini(&payload);
    return status;
}

int cmd_call(const struct arguments *arguments)
{
    struct mcpx_text input = {0};
    struct request_parts parts = {.name = {.len = 0}};
    struct operation operation = {.method = {NULL, 0}};
    struct address address;
    int status = address_read(arguments, &address);

    if (status == STATUS_OK && arguments_have(arguments, "--request"))
        status = operation_from_request(arguments, &input, &parts, &operation);
    else if (status == STATUS_OK)
        status = operation_from(arguments, &input, &operation);
    if (status == STATUS_OK)
        status = call(arguments, &address, &operation);
    request_parts_fini(&parts);
    mcpx_text_fini(&input);
    return status;
}
