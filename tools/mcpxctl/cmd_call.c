/*
 * cmd_call.c - one request and its response: the user's own, or that of a proposal. On a terminal,
 * the answer's text is made visible. In a file or pipe it is unchanged, because another program may
 * read it.
 *
 * approve sends exactly the proposed request, after a person has seen all of it. The bytes shown
 * are the bytes sent. In between, only the state of the proposal is read again: it must still be
 * open.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/base/ident.h"
#include "tools/common/input.h"
#include "tools/common/proposal.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/chain.h"
#include "tools/mcpxctl/core/fetch.h"
#include "tools/mcpxctl/core/line.h"
#include "tools/mcpxctl/core/live.h"

#include <stdio.h>
#include <unistd.h>

/*
 * Prints the payload of a response: the result for people, or with --json the payload.
 *
 * Returns STATUS_OK; for a JSON-RPC error its exit code, having complained; STATUS_FAILED for a
 * tool's result that reports a failure.
 */
static int response_print(const struct arguments *arguments, struct mcpx_slice payload)
{
    struct mcpx_slice error = mcpx_json_get(payload, "error");
    struct mcpx_slice result = mcpx_json_get(payload, "result");
    mx_scoped_text out = {0}, sentence = {0};
    int status = result_is_error(result) ? STATUS_FAILED : STATUS_OK;

    if (error.text) {
        status = error_write(&sentence, error);
        complain("%s", sentence.text);
    }
    if (arguments_have(arguments, "--json")) {
        envelope_write_json(&out, payload);
        mcpx_text_puts(&out, "\n");
    } else if (!error.text) {
        result_write(&out, result, !isatty(STDOUT_FILENO));
    }
    if (status == STATUS_FAILED && !error.text)
        complain("the tool says that it failed");
    return output_print(&out, status);
}

/* ---- call ---- */

/* Validates a file by the contract of a request. Complains of the first error, with its place. */
static void check_request(const char *file, struct mcpx_slice text)
{
    MX_SCOPED(mcpx_schema_report_fini) struct mcpx_schema_report report = {.count = 0};
    const struct mcpx_schema_error *error = report.errors;
    mx_scoped_text reason = {0};

    if (contract_is_kept(MCPX_CONTRACT_REQUEST, text, &report))
        return;
    text_format(&reason, "%s%s%s", error->path, error->path.len > 0 ? ": " : "",
                error->message);
    end_with(STATUS_USAGE, "%s is not an mcp.request.v0.1: %s", input_name(file), reason.text);
}

static void operation_from_request(const struct arguments *arguments, struct operation *out)
{
    const char *file = arguments_value(arguments, "--request");
    mx_scoped_text input = {0};
    struct mcpx_slice request;

    if (arguments->operand_count > 0 || arguments_have(arguments, "--method") ||
        arguments_have(arguments, "--meta"))
        end_with(STATUS_USAGE, "--request excludes TOOL, JSON, --method and --meta");
    must(input_read(file, &input));
    check_request(file, mcpx_text_view(&input));
    mcpx_json_check(mcpx_text_view(&input), 0, &request, NULL);
    if (!request_read(request, out))
        end_with(STATUS_USAGE, "%s: /params/_meta: must be an object", input_name(file));
}

/* Servers use one of these codes for an unknown tool and for invalid arguments. */
static void hint(const struct arguments *arguments, struct mcpx_slice response)
{
    struct mcpx_slice code = mcpx_json_get(mcpx_json_get(response, "error"), "code");

    if (mcpx_slice_equal(code, MCPX_SLICE("-32602")) ||
        mcpx_slice_equal(code, MCPX_SLICE("-32601")))
        complain("mcpxctl list --tool %s --to %s shows what it takes, if it is there",
                 arguments->operands[0], arguments_value(arguments, "--to"));
}

/* Sends the operation to the addressee, and prints the response. */
static int call(const struct arguments *arguments, const struct address *address,
                struct operation *operation)
{
    mx_scoped_text payload = {0}, response = {0};
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
    return status;
}

static int cmd_call(const struct arguments *arguments)
{
    MX_SCOPED(operation_fini) struct operation operation;
    struct address address;

    must(address_read(arguments, &address));
    if (arguments_have(arguments, "--request"))
        operation_from_request(arguments, &operation);
    else
        operation_from(arguments, &operation);
    return call(arguments, &address, &operation);
}

/* ---- approve ---- */

enum { INDENT = 11, NAME_SHOWN = 100 };

/* METHOD:CONTEXT from the payload, because the kind may lack them. */
static void add_operation(struct mcpx_text *out, const struct entry *proposal)
{
    static struct mcpx_rpc rpc;

    if (mcpx_rpc_read(proposal->payload, &rpc, NULL) != MCPX_OK)
        return;
    text_visible_short(out, rpc.method, NAME_SHOWN);
    mcpx_text_puts(out, rpc.context.text ? ":" : "");
    text_visible_short(out, rpc.context, NAME_SHOWN);
}

/* A yes must be about all of it. */
static void show(const struct entry *proposal, struct mcpx_slice to)
{
    struct mcpx_slice params = mcpx_json_get(proposal->payload, "params");
    mx_scoped_text out = {0};

    text_format(&out, "proposal   %x\nby         %x at ", proposal->id, proposal->from);
    time_write(&out, proposal->at_ms);
    text_format(&out, "\nto be done %s by %x\nparams     ",
                mcpx_json_get(proposal->payload, "method"), to);
    if (params.text)
        text_pretty(&out, params, INDENT);
    else
        mcpx_text_puts(&out, "none");
    mcpx_text_puts(&out, "\n");
    if (fwrite(out.text, 1, text_whole(&out).len, stderr) != out.len)
        end_with(STATUS_FAILED, "the proposal cannot be shown");
}

/* The question repeats the operation: long params may have moved it off the screen. */
static void ask(const struct entry *proposal, struct mcpx_slice to)
{
    struct mcpx_slice params = mcpx_json_get(proposal->payload, "params");
    mx_scoped_text out = {0}, laid_out = {0};
    size_t lines = params.text ? 1 : 0;

    text_pretty(&laid_out, params, INDENT);
    for (size_t i = 0; i < laid_out.len; i++)
        lines += laid_out.text[i] == '\n';
    mcpx_text_puts(&out, "approve ");
    add_operation(&out, proposal);
    text_format(&out, " by %x, %s line%s of params? [y/N] ", to, lines, lines == 1 ? "" : "s");
    fputs(out.text, stderr);
    fflush(stderr);
}

/* The addressee of the request. */
static struct mcpx_slice choose(const struct entry *proposal, const struct address *address)
{
    struct mcpx_slice to;

    if (address->count == 0 && proposal->to_count == 1)
        return proposal->to[0];
    if (address->count != 1)
        end_of(STATUS_USAGE, proposal->id, " was proposed to %s: --to ID says who is to do it",
               proposal->to_count == 0 ? "everyone" : "several");
    to = address->to[0];
    if (proposal->to_count > 0 && !mx_id_is_among(to, proposal->to, proposal->to_count))
        end_of(STATUS_USAGE, proposal->id, " was not proposed to that participant, %.*s",
               (int)to.len, to.text);
    return to;
}

/*
 * The id may by now name another envelope than the person saw, and this command does not ask the
 * person again.
 */
_Noreturn static void refuse_unbound(const char *why, const char *bound)
{
    mx_scoped_text word = {0};

    text_format(&word, "%x", bound);
    end_with(STATUS_USAGE, "%s; for what is shown above, that is: mcpxctl approve %s --yes",
             why, word.text);
}

/* Ends the program without a yes. */
static void confirm(const struct arguments *arguments, const struct entry *proposal,
                    struct mcpx_slice to, const char *bound)
{
    bool is_bound = proposal_word_is_bound(arguments->operands[0]);
    char answer[16] = "";

    if (arguments_have(arguments, "--yes") && is_bound)
        return;
    if (arguments_have(arguments, "--yes"))
        refuse_unbound("--yes needs ID@DIGEST, as mcpxctl proposals lists it: an id alone may "
                       "name something else by now",
                       bound);
    if (!isatty(STDIN_FILENO))
        refuse_unbound("standard input is not a terminal: use ID@DIGEST with --yes", bound);
    ask(proposal, to);
    if (!fgets(answer, sizeof answer, stdin) ||
        (strcmp(answer, "y\n") != 0 && strcmp(answer, "Y\n") != 0 &&
         strcmp(answer, "yes\n") != 0))
        end_with(STATUS_REFUSED, "not approved");
}

static int decide(const struct arguments *arguments, const struct connection *where,
                  const struct entry *proposal, struct mcpx_slice to)
{
    struct snapshot now = {.count = 0};
    mx_scoped_text bound = {0}, payload = {0}, response = {0};
    char digest[PROPOSAL_DIGEST_LEN + 1];

    show(proposal, to);
    /* That proposal only, and no other one with the same id. */
    proposal_digest(proposal->text, digest);
    mx_format(&bound, "%s@%s", proposal->id, digest);
    confirm(arguments, proposal, to, bound.text);
    /* Another participant may have decided in the meantime. */
    proposal_find(where, bound.text, &now);
    snapshot_fini(&now); /* the call may take long */
    request_write_as_proposed(&payload, proposal->payload);
    must(live_call(arguments,
                   &(struct mcpx_draft){.type = "mcp/request",
                                        .to = &to,
                                        .to_count = 1,
                                        .payload = mcpx_text_view(&payload),
                                        .correlation_id = proposal->id,
                                        .timeout_ms = -1},
                   "the result", &response));
    return response_print(arguments, mcpx_text_view(&response));
}

static int cmd_approve(const struct arguments *arguments)
{
    MX_SCOPED(snapshot_fini) struct snapshot snapshot = {.count = 0};
    const struct entry *proposal;
    MX_SCOPED(connection_fini) struct connection where = {0};
    struct address address;

    must(address_read(arguments, &address));
    must(connection_read(arguments, 0, 0, &where));
    proposal = proposal_find(&where, arguments->operands[0], &snapshot);
    /* Receivers ignore a proposal whose kind contradicts its payload. */
    if (entry_fault(proposal))
        return fail_of(STATUS_FAILED, proposal->id, ": receivers ignore this proposal: %s",
                       entry_fault(proposal));
    return decide(arguments, &where, proposal, choose(proposal, &address));
}

#define RESPONSE_OPTIONS                                                                      \
    OPTION("--timeout", "S", VALUE_SECONDS, 0,                                                \
           "how long to wait for the response, 0 for ever; 60"),                              \
        JSON_OPTION("print the JSON-RPC response as it came")

const struct command call_verbs[] = {
    {"approve", "ID[@DIGEST]", 1, 1, false, "carry out a proposal, exactly as proposed",
     "Shows who proposes what, with all of its params, and asks. After a yes sends the "
     "request with the proposal's own params to whom it was proposed to, waits for the "
     "response and prints it. A proposal that is fulfilled, rejected or withdrawn already, or "
     "has expired, is left alone. ID may be the beginning of an id. The digest, as proposals "
     "lists it, makes sure that it is the proposal that was looked at: an id may be used "
     "again once its envelope is no longer retained. Exits 3 for a no.",
     OPTIONS(SWITCH("--yes", "do not ask; needed where standard input is no terminal. Needs "
                             "ID@DIGEST, as proposals lists it"),
             OPTION("--to", "ID", VALUE_PARTICIPANT, 0,
                    "who is to do it; needed when it was not proposed to exactly one"),
             RESPONSE_OPTIONS),
     connect_options, cmd_approve, "propose and decide"},
    {"call", "[TOOL] [JSON]", 0, 2, false, "call a tool, read a resource, get a prompt",
     "Sends a request and prints the result: text as text, images and other data as type and "
     "size, all else as JSON. Progress goes to standard error. JSON holds the arguments; a "
     "single dash reads them from standard input. Exits 1 when the answer is an error, 124 "
     "when there is none in time, 4 when the addressee is not there. An interrupted or late "
     "call is cancelled. When the connection breaks it is made again; when the addressee "
     "leaves, the call ends with 1.",
     OPTIONS(OPTION("--to", "ID", VALUE_PARTICIPANT, OPTION_REQUIRED, "who is to answer"),
             METHOD_OPTION,
             OPTION("--meta", "JSON", VALUE_TEXT, 0, "the _meta of the params, an object"),
             OPTION("--request", "FILE", VALUE_FILE, 0,
                    "send what this document of the contract mcp.request.v0.1 asks for, in "
                    "place of TOOL and JSON; a single dash is standard input"),
             RESPONSE_OPTIONS),
     connect_options, cmd_call, "most used"},
    {.name = NULL},
};
