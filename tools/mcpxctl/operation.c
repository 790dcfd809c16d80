/*
 * operation.c - operands and output that call, propose and approve share. On a terminal, text
 * is made visible. Into a file or pipe it goes unchanged, because another program may read it.
 */
#include "tools/mcpxctl/operation.h"

#include "tools/common/input.h"
#include "tools/mcpxctl/line.h"
#include "tools/mcpxctl/output.h"

#include <stdio.h>
#include <unistd.h>

static int read_input(const char *verb, struct mcpx_text *input)
{
    int status = input_read(verb, NULL, input);

    if (status == STATUS_OK && input->text && strlen(input->text) != input->len)
        status = fail_with(STATUS_USAGE, verb, "standard input is no JSON: it holds a NUL");
    return status;
}

int operation_from(const struct arguments *arguments, struct mcpx_text *input,
                   struct operation *out)
{
    const char *verb = arguments->command->name;
    const char *method = arguments_value(arguments, "--method");
    const char *words[2] = {arguments->operands[0], arguments->operands[1]};
    size_t last = arguments->operand_count - 1;
    struct mcpx_fault fault = {"", "", 0};
    const char *meta = arguments_value(arguments, "--meta");
    bool is_input = arguments->operand_count > 0 && strcmp(words[last], "-") == 0;
    enum mcpx_err err;

    if (is_input) {
        int status = read_input(verb, input);

        if (status != STATUS_OK)
            return status;
        words[last] = input->text ? input->text : "";
    }
    err = operation_read(method ? method : "tools/call", words, arguments->operand_count, out,
                         &fault);
    if (!err && meta)
        err = operation_read_meta(meta, out, &fault);
    if (!err)
        return STATUS_OK;
    if (strcmp(fault.field, "JSON") == 0 && last < 2)
        complain_at(verb, is_input ? "JSON: standard input" : "JSON: the operand",
                    (struct mcpx_slice){words[last], fault.offset}, fault.reason);
    else if (fault.offset > 0)
        complain(verb, "%s, byte %zu: %s", fault.field, fault.offset, fault.reason);
    else
        complain(verb, "%s: %s", fault.field, fault.reason);
    return STATUS_USAGE;
}

static int print_error(const struct arguments *arguments, struct mcpx_slice error)
{
    struct mcpx_text sentence = {0};
    int status = error_write(&sentence, error);

    complain(arguments->command->name, "%s",
             sentence.failed ? mcpx_strerror(MCPX_ENOMEM) : sentence.text);
    mcpx_text_fini(&sentence);
    return status;
}

int response_print(const struct arguments *arguments, struct mcpx_slice payload)
{
    struct mcpx_slice error = mcpx_json_get(payload, "error");
    struct mcpx_slice result = mcpx_json_get(payload, "result");
    struct mcpx_text out = {0};
    int status = result_is_error(result) ? STATUS_FAILED : STATUS_OK;

    if (error.text)
        status = print_error(arguments, error);
    if (arguments_have(arguments, "--json"))
        line_write_json(&out, payload);
    else if (!error.text)
        result_write(&out, result, !isatty(STDOUT_FILENO));
    if (status == STATUS_FAILED && !error.text)
        complain(arguments->command->name, "the tool says that it failed");
    return output_print(&out, arguments->command->name, status);
}
