/*
 * cmd_propose.c - the verbs say, propose, reject and withdraw, and the list of open proposals. A
 * verb sends one envelope, prints its id for later commands, and leaves.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/json/json_write.h"
#include "tools/common/proposal.h"
#include "tools/common/visible.h"
#include "tools/mcpxctl/core/chain.h"
#include "tools/mcpxctl/core/fetch.h"
#include "tools/mcpxctl/core/line.h"
#include "tools/mcpxctl/core/live.h"
#include <mcpx/session.h>

/* ---- open proposals ---- */

static int print_open(const struct arguments *arguments, const struct connection *where,
                      const struct snapshot *snapshot)
{
    char digest[PROPOSAL_DIGEST_LEN + 1];
    struct line_style style = line_style_of(arguments);
    size_t least = style.brief;
    struct mcpx_text out = {0};

    style.digest = digest;
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct entry *entry = snapshot->entries[i];

        if (!entry_is(entry, "mcp/proposal") || !chain_is_open(snapshot, entry))
            continue;
        proposal_digest(entry->text, digest);
        style.until_ms = proposal_expires_ms(entry->text);
        style.brief = snapshot_brief(snapshot, entry, least).len;
        line_write(&out, entry, &style, entry_fault(entry));
    }
    return output_print_list(arguments, where, &out, "no proposal is open");
}

static int cmd_proposals(const struct arguments *arguments)
{
    MX_SCOPED(snapshot_fini) struct snapshot snapshot = {.count = 0};
    MX_SCOPED(connection_fini) struct connection where = {0};

    must(connection_read(arguments, 0, 0, &where));
    must(fetch_history(&where, SIZE_MAX, &snapshot));
    return print_open(arguments, &where, &snapshot);
}

/* ---- sending one envelope ---- */

/* The time limits: for a router that cannot store, and for the list of the tool to pin. */
enum { SETTLE_MS = 15000, PIN_MS = 3000 };

/*
 * Joins, sends the draft, waits until it is delivered or refused, for --timeout or 15 s, leaves,
 * and prints its id: alone, or with --json as {"id": ID}. Only `author` may send this; absent: any.
 * Returns STATUS_OK or an exit code, having complained.
 */
static int deliver(const struct arguments *arguments, const struct mcpx_draft *draft,
                   struct mcpx_slice author)
{
    struct mcpx_text out = {0};
    struct live live;
    int status = live_join(arguments, 0, &live);

    if (status == STATUS_OK && author.text &&
        !mcpx_slice_equal(mcpx_identity_of(mcpx_session_id(mcpx_client_session(live.client))),
                          mcpx_identity_of(author)))
        status = fail_with(STATUS_REFUSED,
                           "only the proposer %.*s may withdraw it; use mcpxctl reject",
                           (int)author.len, author.text);
    if (status == STATUS_OK && arguments_have(arguments, "--to"))
        live_has_all(&live, draft->to, draft->to_count,
                     "the envelope is sent anyway and stays in the history");
    if (status == STATUS_OK)
        status = live_send(&live, draft);
    if (status == STATUS_OK)
        status = live_settle(&live, arguments_ms(arguments, "--timeout", SETTLE_MS));
    if (status == STATUS_OK)
        text_format(&out, arguments_have(arguments, "--json") ? "{\"id\":%q}\n" : "%s\n",
                    &live.sent);
    live_leave(&live);
    return output_print(&out, status);
}

/* Sends a payload to the addressees of --to. */
static int send_to(const struct arguments *arguments, const char *type,
                   const struct mcpx_text *payload)
{
    struct address address;

    must(address_read(arguments, &address));
    return deliver(arguments,
                   &(struct mcpx_draft){.type = type,
                                        .to = address.to,
                                        .to_count = address.count,
                                        .payload = mcpx_text_view(payload)},
                   (struct mcpx_slice){NULL, 0});
}

static int cmd_say(const struct arguments *arguments)
{
    mx_scoped_text payload = mx_formatted("{\"text\":%q}", arguments->operands[0]);

    return send_to(arguments, "chat", &payload);
}

/* Keeps the pin of the proposed tool if it is in the page of its server's list. */
static int take_pin(void *context, struct mcpx_slice from, struct mcpx_slice result)
{
    struct operation *call = context;

    (void)from;
    MCPX_JSON_EACH_WHILE(!call->own_meta.len, walk, mcpx_json_get(result, "tools"))
        if (mcpx_json_equals(mcpx_json_get(walk.value, "name"), call->name)) {
            mcpx_text_puts(&call->own_meta, "{\"" PROPOSAL_PIN "\":");
            proposal_add_pin(&call->own_meta, walk.value);
            mcpx_text_puts(&call->own_meta, "}");
        }
    return STATUS_OK;
}

/* Pins the tool as the one addressee lists it, so that who approves is told if it changes. Returns
 * STATUS_OK, also without a pin, or STATUS_INTERRUPTED. */
static int pin_tool(const struct arguments *arguments, struct operation *call)
{
    bool limits = arguments_ms(arguments, "--timeout", PIN_MS) > 0;
    struct address address;
    int status;

    must(address_read(arguments, &address));
    if (address.count != 1 || !mcpx_slice_equal(call->method, MCPX_SLICE("tools/call")))
        return STATUS_OK;
    status = survey_servers(arguments, LIST_TOOLS, limits ? 0 : PIN_MS, take_pin, call);
    call->meta = mcpx_text_view(&call->own_meta);
    if (!call->meta.len)
        complain("the proposal pins no tool%s",
                 status == STATUS_OK ? ": its addressee lists none of this name" : "");
    return status == STATUS_INTERRUPTED ? status : STATUS_OK;
}

static int cmd_propose(const struct arguments *arguments)
{
    mx_scoped_text payload = {0};
    MX_SCOPED(operation_fini) struct operation operation;

    operation_from(arguments, &operation);
    must(pin_tool(arguments, &operation));
    operation_write_proposal(&payload, &operation);
    return send_to(arguments, "mcp/proposal", &payload);
}

/* ---- ending a proposal ---- */

/* Fills `to` with proposer and addressees. Returns 0, everyone, when there are none or too many. */
static size_t address_all(const struct entry *proposal, struct mcpx_slice to[MCPX_TO_MAX + 1])
{
    if (proposal->to_count == 0 || proposal->to_count == MCPX_TO_MAX)
        return 0;
    to[0] = proposal->from;
    memcpy(to + 1, proposal->to, proposal->to_count * sizeof *to);
    return proposal->to_count + 1;
}

/* The verbs reject and withdraw. */
static int cmd_end(const struct arguments *arguments)
{
    bool withdraw = strcmp(arguments->command->name, "withdraw") == 0;
    const char *reason = arguments_value(arguments, "--reason");
    MX_SCOPED(snapshot_fini) struct snapshot snapshot = {.count = 0};
    MX_SCOPED(connection_fini) struct connection where = {0};
    const struct entry *proposal;
    struct mcpx_slice to[MCPX_TO_MAX + 1], nobody = {NULL, 0};
    mx_scoped_text payload = {0};

    must(connection_read(arguments, 0, 0, &where));
    proposal = proposal_find(&where, arguments->operands[0], &snapshot);
    if (reason)
        mx_format(&payload, "{\"reason\":%q}", reason);
    else
        mcpx_text_puts(&payload, "{}");
    return deliver(arguments,
                   &(struct mcpx_draft){.type = withdraw ? "mcp/withdraw" : "mcp/reject",
                                        .to = withdraw ? proposal->to : to,
                                        .to_count = withdraw ? proposal->to_count
                                                             : address_all(proposal, to),
                                        .payload = mcpx_text_view(&payload),
                                        .correlation_id = proposal->id},
                   withdraw ? proposal->from : nobody);
}

#define DELIVERY_OPTIONS                                                                      \
    OPTION("--timeout", "S", VALUE_SECONDS, 0,                                                \
           "how long to wait until it has its place in the topic, 0 for ever; 15"),           \
        JSON_OPTION("print the id in a JSON object")
#define TO_OPTION                                                                             \
    OPTION("--to", "ID", VALUE_PARTICIPANT, OPTION_REPEATED, "an addressee; else everyone")

const struct command propose_verbs[] = {
    {"proposals", NULL, 0, 0, false, "proposals that wait for a decision",
     "Prints the retained proposals that nobody has fulfilled, rejected or withdrawn and that "
     "have not expired, each as ID@DIGEST: the digest is the beginning of its envelope's "
     "SHA-256 and tells it from any other under that id. With --json an object per line with "
     "id, digest and the envelope as it came. Does not join the topic.",
     LISTING_OPTIONS, connect_options, cmd_proposals, "look"},
    {"propose", "[TOOL] [JSON]", 0, 2, false, "propose what somebody else is to call",
     "Takes the operands of call, sends them as a proposal and prints its id. A single "
     "addressee is first asked for its tools, until --timeout or for 3 s, to pin the tool.",
     OPTIONS(TO_OPTION, METHOD_OPTION, DELIVERY_OPTIONS), connect_options, cmd_propose,
     "propose and decide"},
    {"reject", "ID[@DIGEST]", 1, 1, false, "say no to a proposal",
     "Tells the proposer and whom it was proposed to. ID may be the beginning of an id.",
     OPTIONS(OPTION("--reason", "TEXT", VALUE_TEXT, 0, "why, for the proposer to read"),
             DELIVERY_OPTIONS),
     connect_options, cmd_end, "propose and decide"},
    {"say", "TEXT", 1, 1, false, "send a chat message",
     "Sends TEXT and prints the envelope's id once it has its place in the topic.",
     OPTIONS(TO_OPTION, DELIVERY_OPTIONS), connect_options, cmd_say, "most used"},
    {"withdraw", "ID[@DIGEST]", 1, 1, false, "take a proposal of one's own back",
     "Tells whom it was proposed to that it is no longer wanted. Only its proposer may; "
     "others reject. ID may be the beginning of an id.",
     OPTIONS(OPTION("--reason", "TEXT", VALUE_TEXT, 0, "why, for others to read"),
             DELIVERY_OPTIONS),
     connect_options, cmd_end, "propose and decide"},
    {.name = NULL},
};
