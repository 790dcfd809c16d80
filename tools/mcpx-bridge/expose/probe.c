/*
 * probe.c - finds the servers of the topic. A participant with grants to answer a list is asked
 * "initialize" (its answer has capabilities and instructions) and then for its lists, page by page.
 * People and agents may hold such grants, too, and never answer: the client waits for an answer at
 * most EXPOSE_PATIENCE_MS. A participant that answers later is a server from then on.
 */
#include "tools/mcpx-bridge/expose/rounds.h"

enum {
    SETTLE_MS = 100,    /* changes of lists in this time are one */
    REST_MS = 1000,     /* between two readings of a list, or two comparisons */
    GRACE_MS = 10000,   /* for others to return after we did */
    COLLECT_MS = 10000, /* for all pages of one list */
    PAGES_MAX = 1000,   /* most pages of one list */
    PAGE_COST = 65536,  /* least cost of a page in bytes: each takes a request of the client */
    HELLO_MAX = 262144  /* bytes of an answer to initialize: one is kept for each instance */
};

void expose_touch(struct expose *x)
{
    int64_t soon = x->now.mono_ms + SETTLE_MS, rested = x->compared_ms + REST_MS;

    if (x->changed_ms == INT64_MAX)
        x->changed_ms = soon > rested ? soon : rested;
}

/* True when the participant may answer a request for a list, and --only may cover a name. */
static bool is_candidate(struct expose *x, struct mcpx_slice participant)
{
    struct expose_kind kind;

    for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++)
        if (expose_kind_make(&kind, "mcp/response", mcpx_slice_of(expose_lists[i].method),
                             (struct mcpx_slice){0}) &&
            x->view.could(x->view.user, participant, &kind.kind))
            return expose_only_wants(x, participant);
    return false;
}

/* ---- asking ---- */

/*
 * The client waits EXPOSE_PATIENCE_MS for the participant's next answer; but for all its answers
 * within COLLECT_MS, EXPOSE_HOLD_MS at most.
 */
static void be_patient(struct expose *x, struct expose_participant *participant)
{
    int64_t until = x->now.mono_ms + EXPOSE_PATIENCE_MS;

    if (!participant->wait_start_ms ||
        x->now.mono_ms - participant->wait_start_ms >= COLLECT_MS)
        participant->wait_start_ms = x->now.mono_ms;
    if (until > participant->wait_start_ms + EXPOSE_HOLD_MS)
        until = participant->wait_start_ms + EXPOSE_HOLD_MS;
    participant->patience_ms = until;
}

static void ask_page(struct expose *x, struct expose_items *items, struct mcpx_slice cursor)
{
    struct mcpx_text params = {0};
    struct bridge_call *call;

    if (cursor.text)
        mx_format(&params, "{\"cursor\":%s}", cursor);
    call = expose_send_own(x, EXPOSE_FOR_LIST, items->owner->id,
                           expose_lists[items->list].method, params);
    if (!call) {
        expose_catalog_drop(&x->catalog, items, false);
        return;
    }
    call->list = items->list;
    if (!items->is_open)
        items->until_ms = x->now.mono_ms + COLLECT_MS;
    items->is_open = true;
    be_patient(x, items->owner);
}

/* A participant that refuses "initialize" is hardly a server; asks for its tools to find out. */
static void try_tools(struct expose *x, struct expose_participant *participant)
{
    struct expose_items *items = &participant->lists[EXPOSE_TOOLS];

    participant->has_refused = true;
    if (!items->is_open)
        ask_page(x, items, (struct mcpx_slice){0});
    if (!items->is_open)
        participant->state = EXPOSE_PARTICIPANT_MUTE;
}

int64_t expose_probe_due(const struct expose *x, const struct expose_items *items)
{
    struct mcpx_slice owner = mcpx_identity_of(items->owner->id);
    int64_t paid;

    if (!items->again || items->is_open || items->owner->state != EXPOSE_PARTICIPANT_LISTED)
        return INT64_MAX;
    paid = x->now.mono_ms + mx_buckets_wait_ms(&x->reading, owner, 1, x->now.mono_ms);
    return paid > items->rest_ms ? paid : items->rest_ms;
}

/* Reads a list that is due and has rested. The first reading requires no rest. */
static void ask_again(struct expose *x, struct expose_items *items)
{
    if (expose_probe_due(x, items) > x->now.mono_ms)
        return;
    items->again = false;
    items->rest_ms = x->now.mono_ms + (items->rest_ms ? REST_MS : 0);
    ask_page(x, items, (struct mcpx_slice){0});
}

/* Reads all lists from one on; only those of its capabilities, if it stated any. */
static void ask_lists(struct expose *x, struct expose_participant *participant, size_t first)
{
    bool stated =
        mcpx_json_get(mcpx_text_view(&participant->hello), "capabilities").text != NULL;

    participant->state = EXPOSE_PARTICIPANT_LISTED;
    participant->has_refused = false;
    for (size_t i = first; i < EXPOSE_LIST_COUNT; i++)
        if (!stated ||
            expose_participant_capability(participant, expose_lists[i].capability).text)
            participant->lists[i].again = true;
    for (size_t i = first; i < EXPOSE_LIST_COUNT; i++)
        ask_again(x, &participant->lists[i]);
    expose_watch_renew(x, participant->id);
}

static void ask_hello(struct expose *x, struct expose_participant *participant)
{
    const struct mcpx_text *can = &x->client.capabilities, *info = &x->client.info;
    mx_scoped_text self = expose_self(x);
    struct mcpx_text params = mx_formatted(
        "{\"protocolVersion\":\"" EXPOSE_LEGACY "\",\"capabilities\":%s,\"clientInfo\":%s}",
        can->len ? can->text : "{}", info->len ? info : &self);

    participant->state = EXPOSE_PARTICIPANT_ASKED;
    participant->asked_ms = x->now.mono_ms;
    be_patient(x, participant);
    if (!expose_send_own(x, EXPOSE_FOR_HELLO, participant->id, "initialize", params))
        ask_lists(x, participant, EXPOSE_TOOLS);
}

void expose_probe_level(struct expose *x, const struct expose_participant *participant)
{
    if (x->client.log_level && expose_participant_capability(participant, "logging").text)
        expose_send_own(x, EXPOSE_FOR_NOBODY, participant->id, "logging/setLevel",
                        mx_formatted("{\"level\":%q}", bridge_log_name(x->client.log_level)));
}

/* ---- answers ---- */

static void take_hello(struct expose *x, struct expose_participant *participant,
                       const struct mcpx_rpc *rpc)
{
    mcpx_text_reset(&participant->hello);
    if (rpc->result.len > HELLO_MAX)
        expose_note_text(x, "participant %s: its answer to initialize is too long",
                         expose_quoted(participant->id));
    if (rpc->form != MCPX_RPC_RESULT || rpc->result.len > HELLO_MAX) {
        try_tools(x, participant);
        return;
    }
    mcpx_text_slice(&participant->hello, rpc->result);
    expose_send_notice(x, participant->id, "notifications/initialized", (struct mcpx_text){0},
                       (struct mcpx_slice){0});
    ask_lists(x, participant, EXPOSE_TOOLS);
    expose_probe_level(x, participant);
}

/* Names the items. Logs once, not at each reading, that there are too many. */
static void name_items(struct expose *x, struct expose_items *items)
{
    size_t left_out = expose_list_name(x, items);

    if (left_out && !items->is_cut)
        expose_note_text(x, "participant %s lists more than %s %s: %s are left out",
                         expose_quoted(items->owner->id), EXPOSE_NAMES_MAX,
                         expose_lists[items->list].member, left_out);
    items->is_cut = left_out > 0;
}

/* Logs, once, that clients would reject entries. */
static void tell_unfit(struct expose *x, struct expose_items *items,
                       const struct expose_unfit *unfit)
{
    if (unfit->count && !items->is_unfit)
        expose_note_text(x,
                         "participant %s: clients would reject %s because of %s of its "
                         "entries; %s",
                         expose_quoted(items->owner->id), expose_lists[items->list].method,
                         unfit->count, &unfit->first);
    items->is_unfit |= unfit->count > 0;
}

/* Drops the pages so far; the former list stays. Logged once. */
static void give_list_up(struct expose *x, struct expose_items *items, const char *reason)
{
    expose_catalog_drop(&x->catalog, items, false);
    if (!items->is_blamed)
        expose_note_text(x, "participant %s: %s was given up, %s",
                         expose_quoted(items->owner->id), expose_lists[items->list].method,
                         reason);
    items->is_blamed = true;
}

/* Drops the longest list of the largest holder; false when the largest holder is `needy`. */
static bool give_way(struct expose *x, const struct expose_items *needy)
{
    struct expose_items *items = expose_catalog_largest(&x->catalog);
    bool is_open = items && items->is_open;

    if (!items || mcpx_slice_equal(mcpx_identity_of(items->owner->id),
                                   mcpx_identity_of(needy->owner->id)))
        return false;
    expose_note_text(x,
                     "participant %s: the bridge drops its %s, the lists of all participants "
                     "exceed 64 MiB and this one has most",
                     expose_quoted(items->owner->id), expose_lists[items->list].method);
    expose_catalog_drop(&x->catalog, items, true);
    items->is_open = is_open; /* the page under way is beyond the limit */
    items->page_count = is_open ? PAGES_MAX : 0;
    expose_touch(x);
    return true;
}

/* Makes room for a page. Returns the reason why it is not taken; NULL: it is. */
static const char *find_room(struct expose *x, const struct expose_items *items, size_t bytes)
{
    enum mx_sharing sharing;

    if (items->page_count >= PAGES_MAX)
        return "it has more than 1000 pages";
    do {
        sharing = expose_catalog_ask(&x->catalog, items, bytes);
    } while (sharing == MX_SHARING_OVER_TOTAL && give_way(x, items));
    if (sharing == MX_SHARING_OVER_TOTAL)
        return "all lists of all participants together are longer than 64 MiB";
    return sharing ? "all lists of the participant together are longer than 16 MiB" : NULL;
}

static void add_page(struct expose *x, struct expose_items *items, struct mcpx_slice result)
{
    struct mcpx_slice cursor = {0};
    struct expose_unfit unfit = {0};
    const char *excess = find_room(x, items, result.len);

    if (!excess && !expose_catalog_add_page(&x->catalog, items, result, &unfit, &cursor))
        excess = "its answer has no such list";
    tell_unfit(x, items, &unfit);
    mcpx_text_fini(&unfit.first);
    if (!excess && cursor.text && items->until_ms <= x->now.mono_ms)
        excess = "its pages take longer than 10 s";
    if (excess)
        give_list_up(x, items, excess);
    else if (cursor.text)
        ask_page(x, items, cursor);
    else
        name_items(x, items);
}

/* `error`: absent without an answer. Logs only servers with such a list. */
static void refuse_list(struct expose *x, struct expose_items *items, struct mcpx_slice error)
{
    bool is_server = items->owner->hello.len > 0;
    mx_scoped_text why = {0};

    if (!is_server || bridge_is(mcpx_json_get(error, "code"), "-32601")) {
        expose_catalog_drop(&x->catalog, items, false);
        items->is_known |= is_server;
        return;
    }
    mcpx_text_puts(&why, error.text ? "it answers with an error: " : "it has not answered");
    if (error.text && !mcpx_json_add_unescaped(&why, mcpx_json_get(error, "message")))
        mcpx_text_slice(&why, error);
    give_list_up(x, items, why.text);
}

/* `rpc` NULL: no answer came; the participant may still be a server. */
static void take_page(struct expose *x, struct expose_items *items, const struct mcpx_rpc *rpc)
{
    struct expose_participant *participant = items->owner;
    bool is_list = rpc && rpc->form == MCPX_RPC_RESULT, refused = participant->has_refused;

    if (rpc || refused)
        participant->state =
            is_list || !refused ? EXPOSE_PARTICIPANT_LISTED : EXPOSE_PARTICIPANT_MUTE;
    if (rpc)
        mx_buckets_spend(&x->reading, mcpx_identity_of(participant->id),
                         rpc->result.len > PAGE_COST ? rpc->result.len : PAGE_COST,
                         x->now.mono_ms);
    if (is_list)
        add_page(x, items, rpc->result);
    else
        refuse_list(x, items, rpc ? rpc->error : (struct mcpx_slice){0});
    ask_again(x, items);
    if (is_list && refused)
        ask_lists(x, participant, EXPOSE_TOOLS + 1);
    if (rpc)
        expose_touch(x);
}

void expose_probe_end(struct expose *x, struct bridge_call *call, const struct mcpx_rpc *rpc,
                      bool was_refused)
{
    struct expose_participant *participant = expose_catalog_find(&x->catalog, call->who.id);
    bool is_hello = call->purpose == EXPOSE_FOR_HELLO;
    unsigned list = call->list;

    bridge_calls_drop(&x->calls, call);
    if (participant && !is_hello)
        take_page(x, &participant->lists[list], rpc);
    else if (participant && rpc)
        take_hello(x, participant, rpc);
    else if (participant && was_refused) /* lists need no "initialize" before */
        ask_lists(x, participant, EXPOSE_TOOLS);
    else if (participant)
        participant->state = EXPOSE_PARTICIPANT_MUTE;
}

void expose_give_up(struct expose *x, struct bridge_call *call, enum mcpx_cause cause,
                    struct mcpx_slice message)
{
    if (expose_call_is_probe(call))
        expose_probe_end(x, call, NULL, false);
    else
        expose_fail(x, call, cause, message, NULL);
}

/* ---- presence ---- */

static void remove_participant(struct expose *x, struct expose_participant *participant)
{
    expose_names_left(&x->names, participant->id);
    expose_catalog_remove(&x->catalog, participant);
    expose_touch(x);
}

/* Ends the calls to a participant that has left. */
static void end_calls(struct expose *x, struct mcpx_slice participant)
{
    mx_scoped_text message =
        mx_formatted("participant %s left the topic", expose_quoted(participant));

    BRIDGE_EACH_CALL(call, &x->calls) {
        if (call->stage < EXPOSE_SAID && mcpx_slice_equal(call->who.id, participant)) {
            expose_want(x, BRIDGE_FORGET, mcpx_text_view(&call->sent_in));
            if (call->stage == EXPOSE_PROPOSED && !call->payload.len)
                expose_send_withdrawal(x, participant, mcpx_text_view(&call->sent_in),
                                       "the participant it was for left");
            expose_fail(x, call, MCPX_CAUSE_UNAVAILABLE, mcpx_text_view(&message), NULL);
        }
    }
}

void expose_probe_left(struct expose *x, struct mcpx_slice id)
{
    struct expose_participant *participant = expose_catalog_find(&x->catalog, id);

    end_calls(x, id);
    if (participant)
        remove_participant(x, participant);
}

static void probe_one(struct expose *x, struct mcpx_slice id, bool again)
{
    struct expose_participant *participant = expose_catalog_find(&x->catalog, id);

    if (!is_candidate(x, id)) {
        if (participant)
            remove_participant(x, participant);
        return;
    }
    if (!participant)
        participant = expose_catalog_add(&x->catalog, id);
    else if (!again && !participant->away_ms)
        return;
    participant->away_ms = 0;
    participant->wait_start_ms = 0;
    ask_hello(x, participant);
}

void expose_probe_missing(struct expose *x, bool we_were_away)
{
    struct mcpx_slice id;

    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog)
        participant->is_here = false;
    for (size_t i = 0; x->view.roster(x->view.user, i, &id); i++) { /* once: it may be long */
        struct expose_participant *participant = expose_catalog_find(&x->catalog, id);

        if (participant)
            participant->is_here = true;
    }
    for (size_t i = x->catalog.count; i-- > 0;) {
        struct expose_participant *participant = x->catalog.participants[i];

        if (participant->is_here)
            continue;
        if (we_were_away)
            participant->away_ms = x->now.mono_ms + GRACE_MS;
        if (participant->away_ms <= x->now.mono_ms)
            expose_probe_left(x, participant->id);
    }
}

void expose_probe_came(struct expose *x, struct mcpx_slice participant)
{
    if (!x->joined || !x->client.greeted)
        return;
    probe_one(x, participant, false);
    expose_touch(x);
}

void expose_probe_all(struct expose *x, bool again, bool we_were_away)
{
    struct mcpx_slice id;

    if (!x->joined || !x->client.greeted)
        return;
    expose_probe_missing(x, we_were_away);
    for (size_t i = 0; x->view.roster(x->view.user, i, &id); i++)
        probe_one(x, id, again);
    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog)
        for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++)
            participant->lists[i].is_stale = true;
    expose_touch(x);
}

void expose_probe_changed(struct expose *x, struct mcpx_slice id, enum expose_list list)
{
    struct expose_participant *participant = expose_catalog_find(&x->catalog, id);

    if (!participant || participant->state == EXPOSE_PARTICIPANT_ASKED)
        return;
    if (participant->state == EXPOSE_PARTICIPANT_MUTE &&
        x->now.mono_ms - participant->asked_ms >= REST_MS)
        ask_hello(x, participant);
    if (participant->state != EXPOSE_PARTICIPANT_LISTED)
        return;
    participant->lists[list].again = true;
    participant->lists[EXPOSE_TEMPLATES].again |= list == EXPOSE_RESOURCES;
    ask_again(x, &participant->lists[list]);
    ask_again(x, &participant->lists[EXPOSE_TEMPLATES]);
}

void expose_probe_tick(struct expose *x)
{
    EXPOSE_EACH_PARTICIPANT(participant, &x->catalog)
        for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++)
            ask_again(x, &participant->lists[i]);
}
