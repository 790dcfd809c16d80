/*
 * cmd_reject.c - ends a proposal: another participant rejects it, or its proposer takes it
 * back. The message goes to everybody who got the proposal.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/mcpxctl/deliver.h"
#include "tools/mcpxctl/message.h"
#include "tools/mcpxctl/proposal.h"

/* The proposer and the addressees of the proposal; everyone when it had none. */
static size_t address(const struct entry *proposal, struct mcpx_slice to[MCPX_TO_MAX + 1])
{
    if (proposal->to_count == 0 || proposal->to_count == MCPX_TO_MAX)
        return 0;
    to[0] = proposal->from;
    memcpy(to + 1, proposal->to, proposal->to_count * sizeof *to);
    return proposal->to_count + 1;
}

static int send(const struct arguments *arguments, const struct entry *proposal, bool withdraw)
{
    const char *reason = arguments_value(arguments, "--reason");
    struct mcpx_slice to[MCPX_TO_MAX + 1], nobody = {NULL, 0};
    struct mcpx_text payload = {0};
    struct mcpx_draft draft = {.type = withdraw ? "mcp/withdraw" : "mcp/reject",
                               .to = withdraw ? proposal->to : to,
                               .to_count =
                                   withdraw ? proposal->to_count : address(proposal, to),
                               .correlation_id = proposal->id};
    int status;

    if (reason)
        message_write(&payload, "reason", mcpx_slice_of(reason));
    else
        mcpx_text_puts(&payload, "{}");
    draft.payload = mcpx_text_view(&payload);
    status = deliver(arguments, &draft, withdraw ? proposal->from : nobody);
    mcpx_text_fini(&payload);
    return status;
}

static int find_and_end(const struct arguments *arguments, bool withdraw)
{
    struct ledger ledger = {.count = 0};
    const struct entry *proposal = NULL;
    struct connection where;
    int status = connection_read(arguments, &where);

    if (status == STATUS_OK)
        status = proposal_find(arguments, &where, arguments->operands[0], &ledger, &proposal);
    if (status == STATUS_OK)
        status = send(arguments, proposal, withdraw);
    ledger_fini(&ledger);
    connection_fini(&where);
    return status;
}

int cmd_reject(const struct arguments *arguments)
{
    return find_and_end(arguments, false);
}

int cmd_withdraw(const struct arguments *arguments)
{
    return find_and_end(arguments, true);
}
