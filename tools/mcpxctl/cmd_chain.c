/*
 * cmd_chain.c - shows the chain of a proposal or request, found from any of its envelopes.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/common/colour.h"
#include "tools/mcpxctl/chain_text.h"
#include "tools/mcpxctl/fetch.h"
#include "tools/mcpxctl/output.h"

static int print(const struct arguments *arguments, const struct ledger *ledger,
                 const struct entry *entry)
{
    struct mcpx_text out = {0};
    struct chain chain;

    if (chain_of(ledger, entry, &chain) != MCPX_OK)
        return complain_of_memory("chain");
    if (arguments_have(arguments, "--json"))
        chain_write_json(&out, &chain);
    else
        chain_write(&out, ledger, &chain, colour_for(arguments));
    chain_fini(&chain);
    return output_print(&out, "chain", STATUS_OK);
}

int cmd_chain(const struct arguments *arguments)
{
    struct ledger ledger = {.count = 0};
    const struct entry *entry = NULL;
    struct connection where;
    int status = connection_read(arguments, &where);

    if (status == STATUS_OK)
        status = fetch_history(&where, "chain", SIZE_MAX, &ledger);
    if (status == STATUS_OK)
        status = fetch_find(&where, "chain", &ledger, arguments->operands[0], &entry);
    if (status == STATUS_OK)
        status = print(arguments, &ledger, entry);
    ledger_fini(&ledger);
    connection_fini(&where);
    return status;
}
