/*
 * offer.c - words for completion: contexts from the user's file, contracts from the library, the
 * rest from the router that the typed line selects. A person waits for them after a key press, so
 * a call takes one second at most.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/json/json_write.h"
#include "tools/common/context.h"
#include "tools/common/proposal.h"
#include "tools/mcpxctl/core/chain.h"
#include "tools/mcpxctl/core/fetch.h"

enum { PATIENCE_MS = 1000, ENVELOPES = 100, PROPOSALS_AMONG = 1000 };

/* Adds the strings of a list, or one member of its objects. */
static void add_items(struct typing *typing, struct mcpx_slice list, const char *member)
{
    MCPX_JSON_EACH(walk, list) {
        mx_scoped_text plain = {0};

        mcpx_json_add_unescaped(&plain,
                                member ? mcpx_json_get(walk.value, member) : walk.value);
        completion_offer(typing, mcpx_text_view(&plain), MCPX_SLICE(""));
    }
}

static int add_tools(void *context, struct mcpx_slice from, struct mcpx_slice result)
{
    (void)from;
    add_items(context, mcpx_json_get(result, "tools"), "name");
    return STATUS_OK;
}

static void offer_history(const struct connection *where, bool proposals,
                          struct typing *typing)
{
    MX_SCOPED(snapshot_fini) struct snapshot snapshot = {.count = 0};
    char digest[PROPOSAL_DIGEST_LEN + 1];
    int status = fetch_history(where, proposals ? PROPOSALS_AMONG : ENVELOPES, &snapshot);

    for (size_t i = snapshot.count; status == STATUS_OK && i-- > 0;) {
        const struct entry *entry = snapshot.entries[i];

        if (!proposals) {
            completion_offer(typing, entry->id, entry->kind.text);
        } else if (entry_is(entry, "mcp/proposal") && chain_is_open(&snapshot, entry)) {
            mx_scoped_text word = {0};

            proposal_digest(entry->text, digest);
            mx_format(&word, "%s@%s", entry->id, digest);
            completion_offer(typing, mcpx_text_view(&word), entry->kind.text);
        }
    }
}

/* Offers the strings of a list in the answer of a call, or one member of its objects. */
static void offer_list(const struct connection *where, const char *path, const char *list,
                       const char *member, struct typing *typing)
{
    mx_scoped_text answer = {0};
    struct mcpx_slice value;

    if (connection_call(where, (struct http_call){.path = path}, &answer, &value) == STATUS_OK)
        add_items(typing, mcpx_json_get(value, list), member);
}

static void offer_contexts(struct typing *typing)
{
    json_t *tree, *context;
    const char *name;

    if (contexts_read(&tree) != STATUS_OK)
        return;
    json_object_foreach(json_object_get(tree, "contexts"), name, context) {
        const char *topic = context_value(tree, name, CONTEXT_TOPIC);

        completion_offer(typing, mcpx_slice_of(name), mcpx_slice_of(topic ? topic : ""));
    }
    json_decref(tree);
}

/* `validate` takes "schema" in place of a contract; `contract` does not. */
static void offer_contracts(const struct arguments *arguments, struct typing *typing)
{
    for (int i = 0; i < MCPX_CONTRACT_COUNT; i++) {
        enum mcpx_contract contract = (enum mcpx_contract)i;

        completion_offer(typing, mcpx_slice_of(mcpx_contract_name(contract)), MCPX_SLICE(""));
    }
    if (strcmp(arguments->command->name, "validate") == 0)
        completion_offer(typing, MCPX_SLICE("schema"), MCPX_SLICE("one from --schema FILE"));
}

/* Completing a topic works without --topic, because a token lists all its topics. */
static void offer_of_router(const struct arguments *arguments, enum value_type type,
                            struct typing *typing)
{
    unsigned how = type == VALUE_TOPIC ? CONNECTION_ANYWHERE : 0;
    MX_SCOPED(connection_fini) struct connection where = {0};

    if (connection_read(arguments, how, PATIENCE_MS, &where) != STATUS_OK)
        return;
    if (type == VALUE_TOPIC)
        offer_list(&where, "/v0.1/topics", "topics", NULL, typing);
    else if (type == VALUE_PARTICIPANT)
        offer_list(&where, "participants", "participants", "id", typing);
    else if (type == VALUE_ENVELOPE || type == VALUE_PROPOSAL)
        offer_history(&where, type == VALUE_PROPOSAL, typing);
}

void offer_live(const struct arguments *arguments, enum value_type type, struct typing *typing)
{
    if (type == VALUE_TOOL)
        survey_servers(arguments, LIST_TOOLS, PATIENCE_MS, add_tools, typing);
    else if (type == VALUE_CONTEXT)
        offer_contexts(typing);
    else if (type == VALUE_CONTRACT)
        offer_contracts(arguments, typing);
    else
        offer_of_router(arguments, type, typing);
}
