/*
 * cmd_proposals.c - lists the proposals that wait for a decision.
 */
#include "tools/mcpxctl/verbs.h"

#include "lib/core/format.h"
#include "tools/mcpxctl/chain.h"
#include "tools/mcpxctl/fetch.h"
#include "tools/mcpxctl/line.h"
#include "tools/mcpxctl/output.h"
#include "tools/mcpxctl/proposal.h"
#include <mcpx/json.h>

enum { COLUMNS = 100, BRIEF = 8 };

/*
 * The digest is beside the envelope and not in it, where the sender could have put another
 * digest.
 */
static void write_json(struct mcpx_text *out, const struct entry *entry, const char *digest)
{
    mx_format(out, "{\"id\":%q,\"digest\":%q,\"envelope\":", entry->id, digest);
    envelope_write_json(out, entry->text);
    mcpx_text_puts(out, "}\n");
}

static int print(const struct arguments *arguments, const struct connection *where,
                 const struct ledger *ledger)
{
    char digest[PROPOSAL_DIGEST_LEN + 1];
    struct line_style style = {colour_for(arguments), false, COLUMNS, 0, digest, 0};
    bool json = arguments_have(arguments, "--json");
    struct mcpx_text out = {0};

    for (size_t i = 0; i < ledger->count; i++) {
        const struct entry *entry = ledger->entries[i];
        bool open = false;

        if (!entry_is(entry, "mcp/proposal"))
            continue;
        if (chain_is_open(ledger, entry, &open) != MCPX_OK ||
            (open && proposal_digest(entry, digest) != MCPX_OK))
            out.failed = true;
        if (!open || out.failed)
            continue;
        style.until_ms = chain_expires_ms(entry) == INT64_MAX ? 0 : chain_expires_ms(entry);
        style.brief = ledger_brief(ledger, entry, BRIEF).len;
        if (json)
            write_json(&out, entry, digest);
        else
            line_write(&out, entry, &style, entry_fault(entry));
    }
    return output_print_list(arguments, where, &out, "no proposal is open");
}

int cmd_proposals(const struct arguments *arguments)
{
    struct ledger ledger = {.count = 0};
    struct connection where;
    int status = connection_read(arguments, &where);

    if (status == STATUS_OK)
        status = fetch_history(&where, "proposals", SIZE_MAX, &ledger);
    if (status == STATUS_OK)
        status = print(arguments, &where, &ledger);
    ledger_fini(&ledger);
    connection_fini(&where);
    return status;
}
