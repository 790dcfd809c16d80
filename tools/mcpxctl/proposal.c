/*
 * proposal.c - what may be decided: a proposal that is retained, open and truthful.
 * Includes proposal.h, chain.h, fetch.h, mcpx/rpc.h only.
 */
#include "tools/mcpxctl/proposal.h"

#include "tools/mcpxctl/chain.h"
#include "tools/mcpxctl/fetch.h"
#include <mcpx/rpc.h>

static int check_state(const char *verb, const struct ledger *ledger,
                       const struct entry *entry)
{
    struct chain chain;
    int status = STATUS_OK;

    if (chain_below(ledger, entry, &chain) != MCPX_OK) {
        complain(verb, "%s", mcpx_strerror(MCPX_ENOMEM));
        return STATUS_FAILED;
    }
    if (chain.state != CHAIN_OPEN) {
        complain(verb, "it is no longer open (%s); mcpxctl chain tells the story",
                 chain_state_name(chain.state));
        status = STATUS_FAILED;
    }
    chain_fini(&chain);
    return status;
}

/* Receivers ignore a proposal that lies, and so does who decides. */
static int check_truth(const char *verb, const struct entry *entry)
{
    static struct mcpx_rpc rpc;
    struct mcpx_fault fault = {"", "", 0};

    if (mcpx_rpc_read(entry->payload, &rpc, &fault) == MCPX_OK &&
        mcpx_rpc_agrees(&rpc, &entry->kind, &fault) == MCPX_OK)
        return STATUS_OK;
    complain(verb, "its kind and its payload do not agree: %s%s%s", fault.field,
             fault.field[0] ? ": " : "", fault.reason);
    return STATUS_FAILED;
}

int proposal_find(const struct arguments *arguments, const struct connection *where,
                  const char *word, struct ledger *ledger, const struct entry **out)
{
    const char *verb = arguments->command->name;
    int status = fetch_history(where, verb, SIZE_MAX, ledger);

    if (status == STATUS_OK)
        status = fetch_find(ledger, verb, word, out);
    if (status != STATUS_OK)
        return status;
    if (!entry_is(*out, "mcp/proposal")) {
        complain(verb, "that envelope is no proposal");
        return STATUS_USAGE;
    }
    status = check_state(verb, ledger, *out);
    return status == STATUS_OK ? check_truth(verb, *out) : status;
}
