/*
 * offer.c - words for completion: contexts from the user's file, contracts from the library, the
 * rest from the router that the typed line names. A person waits for them after a key press, so it
 * takes one second at most.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "lib/json/json_write.h"
#include "lib/json/walk.h"
#include "lib/protocol/grammar.h"
#include "tools/common/context.h"
#include "tools/mcpxctl/core/chain.h"
#include "tools/mcpxctl/core/fetch.h"
#include "tools/mcpxctl/core/line.h"

static const char verb[] = "completion";

enum { PATIENCE_MS = 1000, ENVELOPES = 100, AMONG = 1000 };

/* Appends a word and what it is. */
static void add(struct mcpx_text *out, struct mcpx_slice word, struct mcpx_slice about)
{
    mx_format(out, "%s\t%s\n", word, about);
}

/* The strings of a list, or their `member`. */
static void add_items(struct mcpx_text *out, struct mcpx_slice list, const char *member)
{
    MX_JSON_EACH(walk, list) {
        struct mcpx_text plain = {0};

        mcpx_json_add_unescaped(&plain,
                                member ? mcpx_json_get(walk.value, member) : walk.value);
        if (mx_control_find(mcpx_text_view(&plain)) == plain.len)
            add(out, mcpx_text_view(&plain), MCPX_SLICE(""));
        mcpx_text_fini(&plain);
    }
}

/* The same of a list in an answer. */
static void add_list(struct mcpx_text *out, const struct mcpx_text *answer, const char *list,
                     const char *member)
{
    struct mcpx_slice value;

    if (mcpx_json_check(mcpx_text_view(answer), 0, &value, NULL) == MCPX_OK)
        add_items(out, mcpx_json_get(value, list), member);
}

static int add_tools(void *context, struct mcpx_slice from, struct mcpx_slice result)
{
    (void)from;
    add_items(context, mcpx_json_get(result, "tools"), "name");
    return STATUS_OK;
}

static void offer_topics(const struct connection *where, struct mcpx_text *out)
{
    struct mcpx_text answer = {0};

    if (fetch_answer(where, verb, "/v0.1/topics", NULL, &answer) == STATUS_OK)
        add_list(out, &answer, "topics", NULL);
    mcpx_text_fini(&answer);
}

static void offer_participants(const struct connection *where, struct mcpx_text *out)
{
    struct mcpx_text answer = {0};

    if (fetch_about_topic(where, verb, "/participants", &answer) == STATUS_OK)
        add_list(out, &answer, "participants", "id");
    mcpx_text_fini(&answer);
}

static void offer_envelopes(const struct connection *where, struct mcpx_text *out)
{
    struct ledger ledger = {.count = 0};

    if (fetch_history(where, verb, ENVELOPES, &ledger) == STATUS_OK)
        for (size_t i = ledger.count; i-- > 0;)
            add(out, ledger.entries[i]->id, ledger.entries[i]->kind.text);
    ledger_fini(&ledger);
}

static void add_proposal(struct mcpx_text *out, const struct ledger *ledger,
                         const struct entry *entry)
{
    char digest[PROPOSAL_DIGEST_LEN + 1];

    if (!entry_is(entry, "mcp/proposal") || !chain_is_open(ledger, entry))
        return;
    proposal_digest(entry, digest);
    mx_format(out, "%s@%s\t%s\n", entry->id, digest, entry->kind.text);
}

static void offer_proposals(const struct connection *where, struct mcpx_text *out)
{
    struct ledger ledger = {.count = 0};

    if (fetch_history(where, verb, AMONG, &ledger) == STATUS_OK)
        for (size_t i = ledger.count; i-- > 0;)
            add_proposal(out, &ledger, ledger.entries[i]);
    ledger_fini(&ledger);
}

static void offer_contexts(struct mcpx_text *out)
{
    json_t *tree, *context;
    const char *name;

    if (contexts_read(verb, &tree) != STATUS_OK)
        return;
    json_object_foreach(json_object_get(tree, "contexts"), name, context) {
        const char *topic = context_value(tree, name, CONTEXT_TOPIC);

        add(out, mcpx_slice_of(name), mcpx_slice_of(topic ? topic : ""));
    }
    json_decref(tree);
}

/* "schema" stands where a contract may, but not for `contract` itself. */
static void offer_contracts(const struct arguments *line, struct mcpx_text *out)
{
    for (int i = 0; i < MCPX_CONTRACT_COUNT; i++) {
        enum mcpx_contract contract = (enum mcpx_contract)i;

        add(out, mcpx_slice_of(mcpx_contract_name(contract)), MCPX_SLICE(""));
    }
    if (strcmp(line->command->name, "validate") == 0)
        add(out, MCPX_SLICE("schema"), MCPX_SLICE("one from --schema FILE"));
}

static const struct source {
    enum value_type type;
    void (*offer)(const struct connection *where, struct mcpx_text *out);
} sources[] = {
    {VALUE_TOPIC, offer_topics},
    {VALUE_PARTICIPANT, offer_participants},
    {VALUE_ENVELOPE, offer_envelopes},
    {VALUE_PROPOSAL, offer_proposals},
};

static void offer_of_router(const struct arguments *line, const struct source *source,
                            struct mcpx_text *out)
{
    struct connection where;
    int status = connection_read_router(line, &where);

    where.timeout_ms = PATIENCE_MS;
    /*
     * A token lists its topics whatever topic is named. When topics are completed, none is
     * named yet.
     */
    if (!where.client.topic && source->type == VALUE_TOPIC)
        where.client.topic = "topic";
    if (status == STATUS_OK)
        status = connection_authenticate(line, &where);
    if (status == STATUS_OK)
        source->offer(&where, out);
    connection_fini(&where);
}

void offer_live(const struct arguments *line, enum value_type type, struct mcpx_text *out)
{
    if (type == VALUE_TOOL)
        survey_servers(line, listing_find("tools"), PATIENCE_MS, add_tools, out);
    else if (type == VALUE_CONTEXT)
        offer_contexts(out);
    else if (type == VALUE_CONTRACT)
        offer_contracts(line, out);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (sources[i].type == type)
            offer_of_router(line, &sources[i], out);
}
