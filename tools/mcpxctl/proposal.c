/*
 * proposal.c - what may be decided: a proposal that is retained and open.
 * Includes proposal.h, chain.h, fetch.h only.
 */
#include "tools/mcpxctl/proposal.h"

#include "tools/mcpxctl/chain.h"
#include "tools/mcpxctl/fetch.h"

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
    return check_state(verb, ledger, *out);
}
