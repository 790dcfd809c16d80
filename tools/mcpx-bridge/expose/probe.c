/*
 * probe.c - finds the servers of the topic. A participant with grants to answer a list is asked
 * "initialize" (its answer has capabilities and instructions) and then for its lists, page by page.
 * People and agents may hold such grants, too, and never answer: the client waits for an answer at
 * most EXPOSE_PATIENCE_MS. A participant that answers later is a server from then on.
 */
#include "tools/mcpx-bridge/expose/state.h"

enum {
    SETTLE_MS = 100,    /* changes of lists in this time are one */
    REST_MS = 1000,     /* between two readings of a list, or two comparisons */
    GRACE_MS = 10000,   /* for others to return after we did */
    COLLECT_MS = 10000, /* for all pages of one list */
    PAGES_MAX = 1000,   /* most pages of one list */
    PAGE_COST = 65536   /* least cost of a page in bytes: each takes a request of the client */
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
static void be_patient(struct expose *x, struct expose_participant *seat)
{
    int64_t until = x->now.mono_ms + EXPOSE_PATIENCE_MS;

    if (!seat->trial_ms || x->now.mono_ms - seat->trial_ms >= COLLECT_MS)
        seat->trial_ms = x->now.mono_ms;
    if (until > seat->trial_ms + EXPOSE_HOLD_MS)
        until = seat->trial_ms + EXPOSE_HOLD_MS;
    seat->patience_ms = until;
}

static void ask_page(struct expose *x, struct expose_items *shelf, struct mcpx_slice cursor)
{
    struct mcpx_text params = {0};
    struct bridge_call *call;

    if (cursor.text)
        mx_format(&params, "{\"cursor\":%s}", cursor);
    call = expose_send_own(x, EXPOSE_FOR_LIST, shelf->seat->id,
                           expose_lists[shelf->list].method, params);
    if (!call) {
        expose_catalog_drop(&x->catalog, shelf, false);
        return;
    }
    call->list = shelf->list;
    if (!shelf->is_open)
        shelf->until_ms = x->now.mono_ms + COLLECT_MS;
    shelf->is_open = true;
    be_patient(x, shelf->seat);
}

/* A participant that refuses "initialize" is hardly a server; asks for its tools to find out. */
static void try_tools(struct expose *x, struct expose_participant *seat)
{
    struct expose_items *shelf = &seat->shelves[EXPOSE_TOOLS];

    seat->is_tried = true;
    if (!shelf->is_open)
        ask_page(x, shelf, (struct mcpx_slice){0});
    if (!shelf->is_open)
        seat->state = EXPOSE_PARTICIPANT_MUTE;
}

/* mono_ms from which a list may be read again, however often it is said to have changed. */
static int64_t rested_ms(const struct expose *x, const struct expose_items *shelf)
{
    struct mcpx_slice owner = mcpx_identity_of(shelf->seat->id);
    int64_t paid = x->now.mono_ms + mx_buckets_wait_ms(&x->reading, owner, 1, x->now.mono_ms);

    return paid > shelf->rest_ms ? paid : shelf->rest_ms;
}

/* True when a list must be read, for the first time or again, and is not being read. */
static bool is_due(const struct expose_items *shelf)
{
    return shelf->again && !shelf->is_open && shelf->seat->state == EXPOSE_PARTICIPANT_LISTED;
}

/* Reads a list that is due and has rested. The first reading requires no rest. */
static void ask_again(struct expose *x, struct expose_items *shelf)
{
    if (!is_due(shelf) || rested_ms(x, shelf) > x->now.mono_ms)
        return;
    shelf->again = false;
    shelf->rest_ms = x->now.mono_ms + (shelf->rest_ms ? REST_MS : 0);
    ask_page(x, shelf, (struct mcpx_slice){0});
}

/* Reads all lists from one on; only those of its capabilities, if it stated any. */
static void ask_lists(struct expose *x, struct expose_participant *seat, size_t first)
{
    bool stated = mcpx_json_get(mcpx_text_view(&seat->hello), "capabilities").text != NULL;

    seat->state = EXPOSE_PARTICIPANT_LISTED;
    seat->is_tried = false;
    for (size_t i = first; i < EXPOSE_LIST_COUNT; i++)
        if (!stated || expose_participant_capability(seat, expose_lists[i].capability).text)
            seat->shelves[i].again = true;
    for (size_t i = first; i < EXPOSE_LIST_COUNT; i++)
        ask_again(x, &seat->shelves[i]);
    expose_watch_renew(x, seat->id);
}

static void ask_hello(struct expose *x, struct expose_participant *seat)
{
    const struct mcpx_text *can = &x->client.capabilities, *info = &x->client.info;
    mx_scoped_text self = expose_self(x);
    struct mcpx_text params = mx_formatted(
        "{\"protocolVersion\":\"" EXPOSE_LEGACY "\",\"capabilities\":%s,\"clientInfo\":%s}",
        can->len ? can->text : "{}", info->len ? info : &self);

    seat->state = EXPOSE_PARTICIPANT_ASKED;
    seat->asked_ms = x->now.mono_ms;
    be_patient(x, seat);
    if (!expose_send_own(x, EXPOSE_FOR_HELLO, seat->id, "initialize", params))
        ask_lists(x, seat, EXPOSE_TOOLS);
}

/* ---- answers ---- */

static void take_hello(struct expose *x, struct expose_participant *seat,
                       const struct mcpx_rpc *rpc)
{
    mcpx_text_reset(&seat->hello);
    if (rpc->form != MCPX_RPC_RESULT) {
        try_tools(x, seat);
        return;
    }
    mcpx_text_slice(&seat->hello, rpc->result);
    expose_send_notice(x, seat->id, "notifications/initialized", (struct mcpx_text){0},
                       (struct mcpx_slice){0});
    ask_lists(x, seat, EXPOSE_TOOLS);
    if (x->client.level.len && expose_participant_capability(seat, "logging").text)
        expose_send_own(x, EXPOSE_FOR_NOBODY, seat->id, "logging/setLevel",
                        mx_formatted("%s", &x->client.level));
}

/* Names the items. Logs once, not at each reading, that there are too many. */
static void name_items(struct expose *x, struct expose_items *shelf)
{
    size_t left_out = expose_list_name(x, shelf);

    if (left_out && !shelf->is_cut)
        expose_note_text(x, "participant %s lists more than %s %s: %s are left out",
                         expose_quoted(shelf->seat->id), EXPOSE_NAMES_MAX,
                         expose_lists[shelf->list].member, left_out);
    shelf->is_cut = left_out > 0;
}

/* Logs, once, that clients would refuse entries. */
static void tell_unfit(struct expose *x, struct expose_items *shelf,
                       const struct expose_unfit *unfit)
{
    if (unfit->count && !shelf->is_unfit)
        expose_note_text(x,
                         "participant %s: clients would refuse %s because of %s of its "
                         "entries; %s",
                         expose_quoted(shelf->seat->id), expose_lists[shelf->list].method,
                         unfit->count, &unfit->first);
    shelf->is_unfit |= unfit->count > 0;
}

/* Drops the pages so far; the former list stays. Logged once. */
static void give_list_up(struct expose *x, struct expose_items *shelf, const char *reason)
{
    expose_catalog_drop(&x->catalog, shelf, false);
    if (!shelf->is_blamed)
        expose_note_text(x, "participant %s: %s was given up, %s",
                         expose_quoted(shelf->seat->id), expose_lists[shelf->list].method,
                         reason);
    shelf->is_blamed = true;
}

/* Drops the longest list of the largest holder; false when the largest holder is `needy`. */
static bool give_way(struct expose *x, const struct expose_items *needy)
{
    struct expose_items *shelf = expose_catalog_largest(&x->catalog);
    bool is_open = shelf && shelf->is_open;

    if (!shelf ||
        mcpx_slice_equal(mcpx_identity_of(shelf->seat->id), mcpx_identity_of(needy->seat->id)))
        return false;
    expose_note_text(x,
                     "participant %s: %s is left out, all lists of all "
                     "participants are longer than 64 MiB and it has most",
                     expose_quoted(shelf->seat->id), expose_lists[shelf->list].method);
    expose_catalog_drop(&x->catalog, shelf, true);
    shelf->is_open = is_open; /* the page under way is beyond the limit */
    shelf->page_count = is_open ? PAGES_MAX : 0;
    expose_touch(x);
    return true;
}

/* Makes room for a page. Returns the reason why it is not taken; NULL: it is. */
static const char *find_room(struct expose *x, const struct expose_items *shelf, size_t bytes)
{
    enum mx_sharing sharing;

    if (shelf->page_count >= PAGES_MAX)
        return "it has more than 1000 pages";
    do {
        sharing = expose_catalog_ask(&x->catalog, shelf, bytes);
    } while (sharing == MX_SHARING_OVER_TOTAL && give_way(x, shelf));
    if (sharing == MX_SHARING_OVER_TOTAL)
        return "all lists of all participants together are longer than 64 MiB";
    return sharing ? "all lists of the participant together are longer than 16 MiB" : NULL;
}

static void add_page(struct expose *x, struct expose_items *shelf, struct mcpx_slice result)
{
    struct mcpx_slice cursor = {0};
    struct expose_unfit unfit = {0};
    const char *excess = find_room(x, shelf, result.len);

    if (!excess && !expose_catalog_add_page(&x->catalog, shelf, result, &unfit, &cursor))
        excess = "its answer has no such list";
    tell_unfit(x, shelf, &unfit);
    mcpx_text_fini(&unfit.first);
    if (!excess && cursor.text && shelf->until_ms <= x->now.mono_ms)
        excess = "its pages take longer than 10 s";
    if (excess)
        give_list_up(x, shelf, excess);
    else if (cursor.text)
        ask_page(x, shelf, cursor);
    else
        name_items(x, shelf);
}

/* `error`: absent without an answer. Logs only servers with such a list. */
static void refuse_list(struct expose *x, struct expose_items *shelf, struct mcpx_slice error)
{
    bool is_server = shelf->seat->hello.len > 0;
    mx_scoped_text why = {0};

    if (!is_server || mcpx_slice_equal(mcpx_json_get(error, "code"), MCPX_SLICE("-32601"))) {
        expose_catalog_drop(&x->catalog, shelf, false);
        shelf->is_known |= is_server;
        return;
    }
    mcpx_text_puts(&why, error.text ? "it answers with an error: " : "it has not answered");
    if (error.text && !mcpx_json_add_unescaped(&why, mcpx_json_get(error, "message")))
        mcpx_text_slice(&why, error);
    give_list_up(x, shelf, why.text);
}

/* `rpc` NULL: no answer came; the participant may still be a server. */
static void take_page(struct expose *x, struct expose_items *shelf, const struct mcpx_rpc *rpc)
{
    struct expose_participant *seat = shelf->seat;
    bool is_list = rpc && rpc->form == MCPX_RPC_RESULT, tried = seat->is_tried;

    if (rpc || tried)
        seat->state = is_list || !tried ? EXPOSE_PARTICIPANT_LISTED : EXPOSE_PARTICIPANT_MUTE;
    if (rpc)
        mx_buckets_spend(&x->reading, mcpx_identity_of(seat->id),
                         rpc->result.len > PAGE_COST ? rpc->result.len : PAGE_COST,
                         x->now.mono_ms);
    if (is_list)
        add_page(x, shelf, rpc->result);
    else
        refuse_list(x, shelf, rpc ? rpc->error : (struct mcpx_slice){0});
    ask_again(x, shelf);
    if (is_list && tried)
        ask_lists(x, seat, EXPOSE_TOOLS + 1);
    if (rpc)
        expose_touch(x);
}

void expose_probe_end(struct expose *x, struct bridge_call *call, const struct mcpx_rpc *rpc,
                      bool was_refused)
{
    struct expose_participant *seat = expose_catalog_find(&x->catalog, call->who.id);
    bool is_hello = call->purpose == EXPOSE_FOR_HELLO;
    unsigned list = call->list;

    bridge_calls_drop(&x->calls, call);
    if (seat && !is_hello)
        take_page(x, &seat->shelves[list], rpc);
    else if (seat && rpc)
        take_hello(x, seat, rpc);
    else if (seat && was_refused) /* lists need no "initialize" before */
        ask_lists(x, seat, EXPOSE_TOOLS);
    else if (seat)
        seat->state = EXPOSE_PARTICIPANT_MUTE;
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

/* Notes in every seat if the roster has it, in one pass over seats and roster. */
static void look_around(struct expose *x)
{
    struct mcpx_slice id;

    EXPOSE_EACH_SEAT(seat, &x->catalog)
        seat->is_here = false;
    for (size_t i = 0; x->view.roster(x->view.user, i, &id); i++) {
        struct expose_participant *seat = expose_catalog_find(&x->catalog, id);

        if (seat)
            seat->is_here = true;
    }
}

static void remove_seat(struct expose *x, struct expose_participant *seat)
{
    expose_names_left(&x->names, seat->id);
    expose_names_left(&x->ids, seat->id);
    expose_ask_end(x, seat->id, NULL);
    expose_catalog_remove(&x->catalog, seat);
    expose_touch(x);
}

/* Ends the calls to a participant that has left. */
static void end_calls(struct expose *x, struct mcpx_slice participant)
{
    mx_scoped_text message =
        mx_formatted("participant %s left the topic", expose_quoted(participant));

    for (struct bridge_call *call = x->calls.first, *next; call; call = next) {
        next = call->next;
        if (mcpx_slice_equal(call->who.id, participant)) {
            expose_want(x, BRIDGE_FORGET, mcpx_text_view(&call->sent_in));
            if (call->stage == EXPOSE_PROPOSED)
                expose_send_withdrawal(x, participant, mcpx_text_view(&call->sent_in),
                                       "the participant it was for left");
            expose_fail(x, call, MCPX_CAUSE_UNAVAILABLE, mcpx_text_view(&message), NULL);
        }
    }
}

void expose_probe_left(struct expose *x, struct mcpx_slice participant)
{
    struct expose_participant *seat = expose_catalog_find(&x->catalog, participant);

    end_calls(x, participant);
    if (seat)
        remove_seat(x, seat);
}

static void probe_one(struct expose *x, struct mcpx_slice participant, bool again)
{
    struct expose_participant *seat = expose_catalog_find(&x->catalog, participant);

    if (!is_candidate(x, participant)) {
        if (seat)
            remove_seat(x, seat);
        return;
    }
    if (!seat)
        seat = expose_catalog_add(&x->catalog, participant);
    else if (!again && !seat->away_ms)
        return;
    seat->away_ms = 0;
    seat->trial_ms = 0;
    ask_hello(x, seat);
}

void expose_probe_missing(struct expose *x)
{
    look_around(x);
    for (size_t i = x->catalog.count; i-- > 0;) {
        struct expose_participant *seat = x->catalog.seats[i];

        if (!seat->is_here && seat->away_ms <= x->now.mono_ms)
            expose_probe_left(x, seat->id);
    }
}

void expose_probe_came(struct expose *x, struct mcpx_slice participant)
{
    if (!x->joined || !x->client.greeted)
        return;
    probe_one(x, participant, false);
    expose_touch(x);
}

void expose_probe_all(struct expose *x, bool again)
{
    struct mcpx_slice id;

    if (!x->joined || !x->client.greeted)
        return;
    expose_probe_missing(x);
    for (size_t i = 0; x->view.roster(x->view.user, i, &id); i++)
        probe_one(x, id, again);
    EXPOSE_EACH_SEAT(seat, &x->catalog)
        for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++)
            seat->shelves[i].is_stale = true;
    expose_touch(x);
}

void expose_probe_rejoined(struct expose *x, bool again)
{
    look_around(x);
    EXPOSE_EACH_SEAT(seat, &x->catalog)
        if (!seat->is_here)
            seat->away_ms = x->now.mono_ms + GRACE_MS;
    expose_probe_all(x, again);
}

void expose_probe_changed(struct expose *x, struct mcpx_slice participant,
                          enum expose_list list)
{
    struct expose_participant *seat = expose_catalog_find(&x->catalog, participant);

    if (!seat || seat->state == EXPOSE_PARTICIPANT_ASKED)
        return;
    if (seat->state == EXPOSE_PARTICIPANT_MUTE && x->now.mono_ms - seat->asked_ms >= REST_MS)
        ask_hello(x, seat);
    if (seat->state != EXPOSE_PARTICIPANT_LISTED)
        return;
    seat->shelves[list].again = true;
    seat->shelves[EXPOSE_TEMPLATES].again |= list == EXPOSE_RESOURCES;
    ask_again(x, &seat->shelves[list]);
    ask_again(x, &seat->shelves[EXPOSE_TEMPLATES]);
}

void expose_probe_tick(struct expose *x)
{
    EXPOSE_EACH_SEAT(seat, &x->catalog)
        for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++)
            ask_again(x, &seat->shelves[i]);
}

int64_t expose_probe_deadline(const struct expose *x, const struct expose_participant *seat)
{
    int64_t due = INT64_MAX;

    for (size_t i = 0; i < EXPOSE_LIST_COUNT; i++) {
        const struct expose_items *shelf = &seat->shelves[i];
        int64_t rested = is_due(shelf) ? rested_ms(x, shelf) : due;

        due = rested < due ? rested : due;
    }
    return due;
}
