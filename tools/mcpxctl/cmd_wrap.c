/*
 * cmd_wrap.c - what a program has returned in the envelope that callers of tools expect. For
 * programs that are no MCP servers: a server's answers are wrapped by its bridge.
 */
#include "tools/mcpxctl/verbs.h"

#include "lib/contract/semver.h"
#include "lib/core/utf8.h"
#include "tools/common/input.h"
#include "tools/mcpxctl/contract_word.h"
#include "tools/mcpxctl/output.h"

#include <mcpx/json.h>
#include <mcpx/wrap.h>

static const char verb[] = "wrap";

static int complain_of_input(const char *file, const struct mcpx_text *text, size_t offset,
                             const char *reason)
{
    complain_at(verb, input_name(file), (struct mcpx_slice){text->text, offset}, reason);
    return STATUS_USAGE;
}

/* Reads the word that names the envelope. */
static bool read_form(const char *word, enum mcpx_form *out)
{
    enum mcpx_contract contract;

    if (mcpx_form_find(mcpx_slice_of(word), out) && *out != MCPX_FORM_AS_IS)
        return true;
    if (contract_word_read(verb, word, &contract))
        complain_of(verb, mcpx_slice_of(word),
                    " is no envelope of results; mcp.envelope.v0.1 and response.v1 are");
    return false;
}

/* What the options say of the call. An mcp.envelope.v0.1 shows neither tool nor request. */
static int read_call(const struct arguments *arguments, struct mcpx_wrap *out)
{
    const char *tool = arguments_value(arguments, "--tool");
    const char *request = arguments_value(arguments, "--request-id");
    const char *version = arguments_value(arguments, "--tool-version");
    const char *tier = arguments_value(arguments, "--tier");

    *out = (struct mcpx_wrap){.enforce = true, .tool_version = mcpx_slice_of(version)};
    if (!read_form(arguments->operands[0], &out->form))
        return STATUS_USAGE;
    if (out->form == MCPX_FORM_RESPONSE && (!tool || !*tool || !request || !*request))
        return fail_with(STATUS_USAGE, verb,
                         "response.v1 names the tool and the request: --tool NAME and "
                         "--request-id ID");
    if (version && !mx_is_semver(out->tool_version))
        return fail_with(STATUS_USAGE, verb,
                         "--tool-version wants a version of SemVer 2.0.0, such as 1.0.0");
    out->tool = mcpx_slice_of(tool && *tool ? tool : "-");
    out->request_id = mcpx_slice_of(request && *request ? request : "-");
    out->duration_ms = arguments_number(arguments, "--duration-ms", 0);
    mcpx_tier_find(mcpx_slice_of(tier), &out->tier);
    return STATUS_OK;
}

static bool is_blank(const struct mcpx_text *text)
{
    return text->len == 0 || strspn(text->text, " \t\r\n") == text->len;
}

/* What came, as text or as JSON. Nothing at all is enough when the program has failed. */
static int read_output(const struct arguments *arguments, struct mcpx_text *text,
                       struct mcpx_output *out)
{
    const char *file = arguments->operand_count > 1 ? arguments->operands[1] : NULL;
    bool is_text = arguments_have(arguments, "--text");
    struct mcpx_fault fault = {"", "", 0};
    enum mcpx_err err = MCPX_OK;
    size_t offset = 0;

    if (is_text ? text->len == 0 : is_blank(text))
        return out->failure ? STATUS_OK
                            : fail_with(STATUS_USAGE, verb,
                                        "%s: nothing came; what fails says "
                                        "so with --exit-code",
                                        input_name(file));
    if (!is_text)
        err = mcpx_json_check(mcpx_text_view(text), 0, &out->json, &fault);
    if (err)
        return complain_of_input(file, text, fault.offset, fault.reason);
    if (is_text && !mx_utf8_is_valid(mcpx_text_view(text), &offset))
        return complain_of_input(file, text, offset, "not UTF-8");
    if (is_text) {
        out->text = mcpx_text_view(text);
        out->text.len -= text->text[text->len - 1] == '\n';
    }
    return STATUS_OK;
}

static int print_envelope(const struct mcpx_wrap *call, const struct mcpx_output *output)
{
    struct mcpx_shelf *shelf = mcpx_shelf_new();
    struct mcpx_contracts *contracts = shelf ? mcpx_contracts_new(shelf) : NULL;
    struct mcpx_wrapper *wrapper = contracts ? mcpx_wrapper_new(contracts) : NULL;
    struct mcpx_wrapped outcome = {.is_broken = false};
    struct mcpx_text out = {0};

    if (!wrapper || mcpx_wrap_output(wrapper, call, output, &out, &outcome) != MCPX_OK)
        out.failed = true;
    if (outcome.is_broken)
        complain(verb, "what came breaks its contract, so a failure stands in its place");
    mcpx_text_puts(&out, "\n");
    mcpx_wrapper_free(wrapper);
    mcpx_contracts_free(contracts);
    mcpx_shelf_free(shelf);
    return output_print(&out, verb, STATUS_OK);
}

const struct option_row wrap_options[] = {
    {"--text", NULL, VALUE_NONE, 0,
     "the input is text, less one newline at its end; else it is a JSON value"},
    {"--exit-code", "N", VALUE_NUMBER, 0, "how the program ended; other than 0 it failed; 0"},
    {"--tool", "NAME", VALUE_TEXT, 0, "the tool, for response.v1"},
    {"--tool-version", "V", VALUE_TEXT, 0, "its version, SemVer 2.0.0; 0.0.0"},
    {"--tier", "community|pro|enterprise", VALUE_CHOICE, 0, "level of service; community"},
    {"--request-id", "ID", VALUE_TEXT, 0, "the request that is answered, for response.v1"},
    {"--duration-ms", "N", VALUE_NUMBER, 0, "how long it took, in milliseconds; 0"},
    {.name = NULL},
};

int cmd_wrap(const struct arguments *arguments)
{
    const char *file = arguments->operand_count > 1 ? arguments->operands[1] : NULL;
    struct mcpx_failure failure = {.cause = MCPX_CAUSE_FAILED,
                                   .exit_code =
                                       (int)arguments_number(arguments, "--exit-code", 0)};
    struct mcpx_output output = {.failure = failure.exit_code ? &failure : NULL};
    struct mcpx_text text = {0};
    struct mcpx_wrap call;
    int status = read_call(arguments, &call);

    if (status == STATUS_OK)
        status = input_read(verb, file, &text);
    if (status == STATUS_OK)
        status = read_output(arguments, &text, &output);
    if (status == STATUS_OK)
        status = print_envelope(&call, &output);
    mcpx_text_fini(&text);
    return status;
}
