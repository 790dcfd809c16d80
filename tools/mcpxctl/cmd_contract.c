/*
 * cmd_contract.c - prints the contracts: their names, or the schema of one, for any other validator
 * to use.
 */
#include "tools/mcpxctl/verbs.h"

#include "lib/core/format.h"
#include "tools/mcpxctl/contract_word.h"
#include "tools/mcpxctl/output.h"

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
    return output_print(&out, "contract", STATUS_OK);
}

/* A schema on one line. A newline stands between tokens, and so do the blanks behind it. */
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

int cmd_contract(const struct arguments *arguments)
{
    bool json = arguments_have(arguments, "--json");
    enum mcpx_contract contract;
    struct mcpx_slice schema;
    struct mcpx_text out = {0};

    if (arguments->operand_count == 0)
        return print_names(json);
    if (!contract_word_read("contract", arguments->operands[0], &contract))
        return STATUS_ABSENT;
    schema = mcpx_contract_schema(contract);
    if (json)
        write_flat(&out, schema);
    else
        mcpx_text_slice(&out, schema);
    return output_print(&out, "contract", STATUS_OK);
}
