/*
 * cmd_approve.c - carries out what somebody proposed, exactly that, after a person has seen all of
 * it. What is shown are the bytes that will be sent; nothing is read a second time in between but
 * whether the proposal is still open.
 * Includes verbs.h, address.h, live.h, line.h, operation.h, proposal.h, visible.h only.
 */
#include "tools/mcpxctl/verbs.h"

#include "tools/common/visible.h"
#include "tools/mcpxctl/address.h"
#include "tools/mcpxctl/line.h"
#include "tools/mcpxctl/live.h"
#include "tools/mcpxctl/operation.h"
#include "tools/mcpxctl/proposal.h"

#include <stdio.h>
#include <unistd.h>

enum { TIMEOUT_MS = 60000 };

static void show(const struct entry *proposal, struct mcpx_slice to)
{
    struct mcpx_slice params = mcpx_json_get(proposal->payload, "params");
    struct mcpx_text out = {0};

    mcpx_text_puts(&out, "proposal   ");
    text_visible(&out, proposal->id);
    mcpx_text_puts(&out, "\nby         ");
    text_visible(&out, proposal->from);
    mcpx_text_puts(&out, " at ");
    time_write(&out, proposal->at_ms);
    mcpx_text_puts(&out, "\nto be done ");
    text_visible(&out, mcpx_json_get(proposal->payload, "method"));
    mcpx_text_puts(&out, " by ");
    text_visible(&out, to);
    mcpx_text_puts(&out, "\nparams     ");
    if (params.text)
        text_pretty(&out, params, 11);
    else
        mcpx_text_puts(&out, "none");
    mcpx_text_puts(&out, "\n");
    if (!out.failed)
        fwrite(out.text, 1, out.len, stderr);
    mcpx_text_fini(&out);
}

/* Who is to do it. Returns STATUS_OK or STATUS_USAGE, having complained. */
static int choose(const struct entry *proposal, const struct address *address,
                  struct mcpx_slice *to)
{
    if (address->count == 0 && proposal->to_count == 1) {
        *to = proposal->to[0];
        return STATUS_OK;
    }
    if (address->count != 1) {
        complain("approve", "it was proposed to %s: --to ID says who is to do it",
                 proposal->to_count == 0 ? "everyone" : "several");
        return STATUS_USAGE;
    }
    *to = address->to[0];
    for (size_t i = 0; i < proposal->to_count; i++)
        if (mcpx_slice_equal(proposal->to[i], *to))
            return STATUS_OK;
    if (proposal->to_count == 0)
        return STATUS_OK;
    complain("approve", "it was not proposed to that participant");
    return STATUS_USAGE;
}

/* Returns STATUS_OK for a yes. */
static int confirm(const struct arguments *arguments)
{
    char answer[16] = "";
    bool whole;

    if (arguments_have(arguments, "--yes"))
        return STATUS_OK;
    if (!isatty(STDIN_FILENO)) {
        complain("approve", "nobody can be asked here: --yes approves without asking");
        return STATUS_USAGE;
    }
    fputs("approve? [y/N] ", stderr);
    fflush(stderr);
    whole = fgets(answer, sizeof answer, stdin) != NULL;
    if (whole && (strcmp(answer, "y\n") == 0 || strcmp(answer, "Y\n") == 0 ||
                  strcmp(answer, "yes\n") == 0))
        return STATUS_OK;
    complain("approve", "not approved");
    return STATUS_REFUSED;
}

static int carry_out(const struct arguments *arguments, const struct entry *proposal,
                     struct mcpx_slice to, struct mcpx_text *response)
{
    static const struct live_wishes wishes = {0, false};
    int64_t timeout = arguments_ms(arguments, "--timeout", TIMEOUT_MS);
    struct mcpx_text payload = {0};
    struct mcpx_draft draft = {.type = "mcp/request",
                               .to = &to,
                               .to_count = 1,
                               .correlation_id = proposal->id,
                               .timeout_ms = -1};
    struct live live;
    int status = live_join(arguments, &wishes, &live);

    request_write_as_proposed(&payload, proposal->payload);
    draft.payload = mcpx_text_view(&payload);
    if (status == STATUS_OK && !live_has(&live, to)) {
        complain("approve", "who is to do it is not in the topic; mcpxctl who tells who is");
        status = STATUS_ABSENT;
    }
    if (status == STATUS_OK)
        status = live_send(&live, &draft);
    live.waiting_for = "the result";
    if (status == STATUS_OK)
        status = live_response(&live, &draft, timeout, response);
    live_leave(&live);
    mcpx_text_fini(&payload);
    return status;
}

static int decide(const struct arguments *arguments, const struct connection *where,
                  const struct entry *proposal, struct mcpx_slice to)
{
    struct ledger now = {.count = 0};
    struct mcpx_text response = {0}, id = {0};
    const struct entry *again;
    int status;

    show(proposal, to);
    status = confirm(arguments);
    mcpx_text_slice(&id, proposal->id);
    /* Somebody else may have decided while we were asking. */
    if (status == STATUS_OK && !id.failed)
        status = proposal_find(arguments, where, id.text, &now, &again);
    ledger_fini(&now);
    mcpx_text_fini(&id);
    if (status == STATUS_OK)
        status = carry_out(arguments, proposal, to, &response);
    if (status == STATUS_OK)
        status = response_print(arguments, mcpx_text_view(&response));
    mcpx_text_fini(&response);
    return status;
}

int cmd_approve(const struct arguments *arguments)
{
    struct ledger ledger = {.count = 0};
    const struct entry *proposal = NULL;
    struct connection where = {.api = NULL};
    struct address address;
    struct mcpx_slice to;
    int status = address_read(arguments, &address);

    if (status == STATUS_OK)
        status = connection_read(arguments, &where);
    if (status == STATUS_OK)
        status = proposal_find(arguments, &where, arguments->operands[0], &ledger, &proposal);
    if (status == STATUS_OK)
        status = choose(proposal, &address, &to);
    if (status == STATUS_OK)
        status = decide(arguments, &where, proposal, to);
    ledger_fini(&ledger);
    connection_fini(&where);
    return status;
}
