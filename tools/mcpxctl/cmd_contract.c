/*
 * cmd_contract.c - four verbs for documents, without a router. `contract` prints the contracts for
 * other validators, `digest` prints the digest of a document. `parity` lists the differences of two
 * logs, line by line; a line of only one log is a difference, too. `wrap` puts the output of a
 * program into the envelope of tool results. It is for programs other than MCP servers: a bridge
 * wraps the answers of a server.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/contract/wrap.h"
#include "lib/json/escape.h"
#include "lib/json/json_write.h"
#include "tools/common/input.h"
#include "tools/common/visible.h"
#include <mcpx/digest.h>
#include <mcpx/json.h>
#include <mcpx/record.h>
#include <mcpx/wrap.h>

/* ---- contract ---- */

static int print_names(bool json)
{
    struct mcpx_text out = {0};

    for (int i = 0; i < MCPX_CONTRACT_COUNT; i++) {
        enum mcpx_contract contract = (enum mcpx_contract)i;
        const char *name = mcpx_contract_name(contract);

        if (json)
            mx_format(&out, "{\"contract\":%q,\"code\":%q}\n", name,
                      mcpx_code_name(mcpx_contract_breach(contract)));
        else
            mx_format(&out, "%s\n", name);
    }
    return output_print(&out, STATUS_OK);
}

/* Writes a schema on one line. Newlines, and the blanks behind them, are between tokens. */
static void write_flat(struct mcpx_text *out, struct mcpx_slice schema)
{
    bool indented = false;

    for (size_t i = 0; i < schema.len; i++) {
        indented = schema.text[i] == '\n' || (indented && schema.text[i] == ' ');
        if (!indented)
            mcpx_text_add(out, &schema.text[i], 1);
    }
    mcpx_text_puts(out, "\n");
}

static int cmd_contract(const struct arguments *arguments)
{
    bool json = arguments_have(arguments, "--json");
    enum mcpx_contract contract;
    struct mcpx_slice schema;
    struct mcpx_text out = {0};

    if (arguments->operand_count == 0)
        return print_names(json);
    if (!contract_word_read(arguments->operands[0], &contract))
        return STATUS_ABSENT;
    schema = mcpx_contract_schema(contract);
    if (json)
        write_flat(&out, schema);
    else
        mcpx_text_slice(&out, schema);
    return output_print(&out, STATUS_OK);
}

/* ---- digest ---- */

static int cmd_digest(const struct arguments *arguments)
{
    const char *path = arguments->operands[0];
    mx_scoped_text text = {0}, form = {0}, out = {0};
    struct mcpx_fault fault = {"", "", 0};
    char sum[MCPX_SHA256_LEN + 1];

    must(input_read(path, &text));
    if (memory_checked(mcpx_canonical_add(&form, mcpx_text_view(&text), &fault)))
        return fail_at(STATUS_FAILED, input_name(path), 1,
                       (struct mcpx_slice){text.text, fault.offset}, fault.reason);
    memory_checked(mcpx_digest_bytes(mcpx_text_view(&form), sum));
    if (arguments_have(arguments, "--json"))
        mx_format(&out, "{\"sha256\":%q,\"bytes\":%s,\"canonical\":%q}\n", sum, form.len,
                  &form);
    else
        mx_format(&out, "%s\n", sum);
    return output_print(&out, STATUS_OK);
}

/* ---- parity ---- */

/* Two logs, by enum mcpx_parity_side. */
struct logs {
    struct input_lines lines[2];
    struct mcpx_parity parity;
    struct mcpx_text differences;
};

static void list_json(void *context, size_t line, struct mcpx_slice path)
{
    struct logs *logs = (struct logs *)context;

    mx_format(&logs->differences, "%s{\"line\":%s,\"path\":%q}",
              logs->differences.len > 0 ? "," : "", line, path);
}

static void list_text(void *context, size_t line, struct mcpx_slice path)
{
    struct logs *logs = (struct logs *)context;
    struct mcpx_text *out = &logs->differences;
    const size_t *lines = logs->parity.lines;

    text_format(out, "line %s: ", line);
    if (line > lines[MCPX_PARITY_GOLDEN] || line > lines[MCPX_PARITY_NEW])
        text_format(out, "only in %s\n",
                    input_name(logs->lines[line > lines[MCPX_PARITY_GOLDEN]].path));
    else
        text_format(out, "%s differs\n", path.len > 0 ? path : MCPX_SLICE("the whole"));
}

static int print(struct logs *logs, bool json)
{
    const struct mcpx_parity *parity = &logs->parity;
    bool equal = parity->differences == 0;
    size_t golden = parity->lines[MCPX_PARITY_GOLDEN];
    struct mcpx_text out = {0};

    if (json)
        mx_format(&out,
                  "{\"equal\":%s,\"golden_lines\":%s,\"new_lines\":%s,\"differences\":[%s]}\n",
                  equal, golden, parity->lines[MCPX_PARITY_NEW], &logs->differences);
    else if (equal)
        mx_format(&out, "equal: %s line%s\n", golden, golden == 1 ? "" : "s");
    else
        mx_format(&out, "%s", &logs->differences);
    return output_print(&out, equal ? STATUS_OK : STATUS_FAILED);
}

static void compare(struct logs *logs)
{
    struct mcpx_fault fault = {"", "", 0};

    for (;;) {
        struct mcpx_slice lines[2] = {{0}};
        bool is_more = input_lines_next(&logs->lines[0], &lines[0]);

        is_more |= input_lines_next(&logs->lines[1], &lines[1]);
        if (!is_more)
            return;
        if (memory_checked(mcpx_parity_next(&logs->parity, lines, &fault)))
            program_end(
                fail_at(STATUS_USAGE, input_name(logs->lines[logs->parity.side].path),
                        logs->parity.lines[logs->parity.side],
                        (struct mcpx_slice){lines[logs->parity.side].text, fault.offset},
                        fault.reason));
    }
}

static int cmd_parity(const struct arguments *arguments)
{
    bool json = arguments_have(arguments, "--json");
    struct logs logs = {.parity = {.differ = json ? list_json : list_text, .context = &logs}};
    int status;

    if (input_is_standard(arguments->operands[0]) && input_is_standard(arguments->operands[1]))
        return fail_with(STATUS_USAGE, "standard input cannot be both logs");
    for (int i = 0; i < 2; i++)
        must(input_lines_open(arguments->operands[i], &logs.lines[i]));
    compare(&logs);
    status = input_lines_close(&logs.lines[0]);
    must(input_lines_close(&logs.lines[1]));
    must(status);
    status = print(&logs, json);
    mcpx_parity_fini(&logs.parity);
    mcpx_text_fini(&logs.differences);
    return status;
}

/* ---- wrap ---- */

/* Reads the name of an envelope. */
static enum mcpx_form read_form(const char *word)
{
    enum mcpx_contract contract;
    enum mcpx_form form;

    if (mcpx_form_find(mcpx_slice_of(word), &form) && form != MCPX_FORM_AS_IS)
        return form;
    if (contract_word_read(word, &contract))
        fail_of(STATUS_USAGE, mcpx_slice_of(word),
                " is not an envelope of results; mcp.envelope.v0.1 and response.v1 are");
    program_end(STATUS_USAGE);
}

/* Reads the options about the call. An mcp.envelope.v0.1 shows neither tool nor request. */
static struct mcpx_wrap read_call(const struct arguments *arguments)
{
    const char *tool = arguments_value(arguments, "--tool");
    const char *request = arguments_value(arguments, "--request-id");
    const char *version = arguments_value(arguments, "--tool-version");
    bool is_named = tool && *tool && request && *request;
    struct mcpx_wrap call = {.enforce = true,
                             .form = read_form(arguments->operands[0]),
                             .tool_version = mcpx_slice_of(version),
                             .tool = mcpx_slice_of(tool && *tool ? tool : "-"),
                             .request_id = mcpx_slice_of(request && *request ? request : "-"),
                             .duration_ms = arguments_number(arguments, "--duration-ms", 0)};

    if (call.form == MCPX_FORM_RESPONSE && !is_named)
        end_with(STATUS_USAGE, "response.v1 names the tool and the request: "
                               "--tool NAME and --request-id ID");
    if (version && !mx_is_semver(call.tool_version))
        end_with(STATUS_USAGE, "--tool-version needs a version of SemVer 2.0.0, "
                               "such as 1.0.0");
    mcpx_tier_find(mcpx_slice_of(arguments_value(arguments, "--tier")), &call.tier);
    return call;
}

/* Reads the output, as text or as JSON. It may be empty when the program has failed. */
static int read_output(const struct arguments *arguments, struct mcpx_text *text,
                       struct mcpx_output *out)
{
    const char *name = input_name(arguments->operands[1]);
    bool is_text = arguments_have(arguments, "--text");
    struct mcpx_fault fault = {"not UTF-8", "", 0};

    must(input_read(arguments->operands[1], text));
    if (text->len == 0 || (!is_text && strspn(text->text, " \t\r\n") == text->len))
        return out->failure ? STATUS_OK
                            : fail_with(STATUS_USAGE,
                                        "%s: the input is empty; use --exit-code for "
                                        "a failed program",
                                        name);
    if (is_text ? !mx_utf8_is_valid(mcpx_text_view(text), &fault.offset)
                : mcpx_json_check(mcpx_text_view(text), 0, &out->json, &fault) != MCPX_OK)
        return fail_at(STATUS_USAGE, name, 1, (struct mcpx_slice){text->text, fault.offset},
                       fault.reason);
    if (is_text) {
        out->text = mcpx_text_view(text);
        out->text.len -= text->text[text->len - 1] == '\n';
    }
    return STATUS_OK;
}

static int print_envelope(const struct mcpx_wrap *call, const struct mcpx_output *output)
{
    struct mcpx_shelf *shelf = mcpx_shelf_new();
    struct mcpx_contracts *contracts = mcpx_contracts_new(shelf);
    struct mcpx_wrapper *wrapper = mcpx_wrapper_new(contracts);
    struct mcpx_wrapped outcome = {.is_broken = false};
    struct mcpx_text out = {0};

    memory_checked(mcpx_wrap_output(wrapper, call, output, &out, &outcome));
    if (outcome.is_broken)
        complain("the result breaks its contract; the envelope reports a failure");
    mcpx_text_puts(&out, "\n");
    mcpx_wrapper_free(wrapper);
    mcpx_contracts_free(contracts);
    mcpx_shelf_free(shelf);
    return output_print(&out, STATUS_OK);
}

static int cmd_wrap(const struct arguments *arguments)
{
    struct mcpx_failure failure = {.cause = MCPX_CAUSE_FAILED,
                                   .exit_code =
                                       (int)arguments_number(arguments, "--exit-code", 0)};
    struct mcpx_output output = {.failure = failure.exit_code ? &failure : NULL};
    mx_scoped_text text = {0};
    struct mcpx_wrap call = read_call(arguments);

    must(read_output(arguments, &text, &output));
    return print_envelope(&call, &output);
}

const struct command contract_verbs[] = {
    {"contract", "[CONTRACT]", 0, 1, false, "what documents have to be: the contracts",
     "Prints the names of the contracts, or one of them: a JSON Schema of dialect 2020-12 "
     "that is complete by itself. Exits 4 when there is no contract of that name.",
     OPTIONS(JSON_OPTION("print an object for each contract, with the code of a breach; its "
                         "schema on one line")),
     NULL, cmd_contract, "contracts and releases"},
    {"digest", "[FILE]", 0, 1, false, "the SHA-256 of a JSON document",
     "Prints the digest of the document's canonical form, by which equal values have equal "
     "bytes: no white space, members in the order of their names, strings and numbers written "
     "in one way, no digit of a number lost. --json prints that form too. FILE absent or a "
     "single dash is standard input. Exits 1, and says where, when the text is not JSON or "
     "could be read in two ways: a name that stands twice, half a surrogate pair, an exponent "
     "of more than nine digits.",
     ONE_OBJECT_OPTIONS, NULL, cmd_digest, "contracts and releases"},
    {"parity", "GOLDEN NEW", 2, 2, false, "do two logs of an enforcement point say the same?",
     "Compares two logs line by line, such as those of the same calls over two transports, "
     "without what is different in every run: ts, traceId, spanId, requestId, durationMs, "
     "transport and route. The order of lines counts, that of members does not. Says which "
     "member differs in which line. Exits 0 when the logs are equal, 1 when they are not, 2 "
     "when a file, or a line in it, cannot be read.",
     ONE_OBJECT_OPTIONS, NULL, cmd_parity, "contracts and releases"},
    {"wrap", "CONTRACT [FILE]", 1, 2, false, "put a result into an envelope",
     "Prints what a program has returned in an mcp.envelope.v0.1 or a response.v1, as a "
     "bridge does with what a server returns. The bytes of a value stay as they are, and an "
     "envelope that comes ready passes. FILE absent or a single dash is standard input. When "
     "the program has failed, nothing need have come. Exits 2 when the text is not JSON, or "
     "nothing without a failure.",
     OPTIONS(SWITCH("--text",
                    "the input is text, less one newline at its end; else it is a JSON value"),
             OPTION("--exit-code", "N", VALUE_NUMBER, 0,
                    "how the program ended; other than 0 it failed; 0"),
             OPTION("--tool", "NAME", VALUE_TEXT, 0, "the tool, for response.v1"),
             OPTION("--tool-version", "V", VALUE_TEXT, 0, "its version, SemVer 2.0.0; 0.0.0"),
             OPTION("--tier", "community|pro|enterprise", VALUE_CHOICE, 0,
                    "level of service; community"),
             OPTION("--request-id", "ID", VALUE_TEXT, 0,
                    "the request that is answered, for response.v1"),
             OPTION("--duration-ms", "N", VALUE_NUMBER, 0,
                    "how long it took, in milliseconds; 0")),
     NULL, cmd_wrap, "contracts and releases"},
    {.name = NULL},
};
