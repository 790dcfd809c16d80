/*
 * cmd_history.c - shows sent envelopes. history and chain read retained envelopes over HTTP: a
 * second connection would replace the first one of the same participant. watch joins the topic: its
 * session checks each message. It warns of a kind that contradicts the payload, because receivers
 * ignore such messages.
 */
#include "tools/mcpxctl/core/verbs.h"

#include "tools/common/visible.h"
#include "tools/mcpxctl/core/chain.h"
#include "tools/mcpxctl/core/fetch.h"
#include "tools/mcpxctl/core/line.h"
#include "tools/mcpxctl/core/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- history ---- */

enum { LIMIT = 50 };

/* Tells of older lines: a reader may take the fifty lines for the whole history. */
static int print_history(const struct arguments *arguments, const struct connection *where,
                         const struct snapshot *snapshot, const struct filter *filter,
                         size_t end)
{
    size_t limit = (size_t)arguments_number(arguments, "--limit", LIMIT), count = 0, first;
    const struct entry **wanted = malloc((end + 1) * sizeof *wanted);
    struct line_style style = line_style_of(arguments);
    struct mcpx_text out = {0};

    for (size_t i = 0; i < end; i++) {
        const struct entry *entry = snapshot->entries[i];

        if (filter_passes(filter, &entry->kind, entry->from))
            wanted[count++] = entry;
    }
    first = count > limit ? count - limit : 0;
    for (size_t i = first; i < count; i++)
        line_write(&out, wanted[i], &style, entry_fault(wanted[i]));
    if (limit > 0 && first > 0)
        complain("there is more before this: --before %.*s", (int)wanted[first]->id.len,
                 wanted[first]->id.text);
    free(wanted);
    return output_print_list(arguments, where, &out,
                             snapshot->count > 0 ? "nothing that was asked for is retained"
                                                 : "nothing is retained");
}

static int cmd_history(const struct arguments *arguments)
{
    const char *before = arguments_value(arguments, "--before");
    size_t limit = (size_t)arguments_number(arguments, "--limit", LIMIT);
    struct filter filter;
    MX_SCOPED(connection_fini) struct connection where = {0};
    MX_SCOPED(snapshot_fini) struct snapshot snapshot = {.count = 0};
    bool all;

    filter_read(arguments, &filter);
    must(connection_read(arguments, 0, 0, &where));
    all = before || filter.by_kind || filter.from.text;
    must(fetch_history(&where, all ? SIZE_MAX : limit + 1, &snapshot));
    return print_history(arguments, &where, &snapshot, &filter,
                         before ? fetch_find(&where, &snapshot, before)->index
                                : snapshot.count);
}

/* ---- chain ---- */

static int cmd_chain(const struct arguments *arguments)
{
    MX_SCOPED(snapshot_fini) struct snapshot snapshot = {.count = 0};
    MX_SCOPED(chain_fini) struct chain chain = {.count = 0};
    MX_SCOPED(connection_fini) struct connection where = {0};
    struct mcpx_text out = {0};

    must(connection_read(arguments, 0, 0, &where));
    must(fetch_history(&where, SIZE_MAX, &snapshot));
    chain = chain_of(&snapshot, fetch_find(&where, &snapshot, arguments->operands[0]));
    if (arguments_have(arguments, "--json"))
        chain_write_json(&out, &chain);
    else
        chain_write(&out, &snapshot, &chain, colour_for(arguments));
    return output_print(&out, STATUS_OK);
}

/* ---- watch ---- */

enum { LOOK_MS = 1000, HISTORY_MAX = 1000000 };

/*
 * The filter and style of watch; `left` envelopes are still to be shown, negative = all.
 *
 * past_count   number of envelopes put into `past`
 */
struct watch {
    struct filter filter;
    struct line_style style;
    int64_t left;
    /* With a filter: the last `past_max` passing envelopes of the history, in a ring, until the
     * history ends; NULL = the router counts, and all are shown. */
    struct mcpx_text *past;
    size_t past_max, past_count;
};

static void print(struct watch *watch, struct mcpx_text *out)
{
    if (watch->left != 0)
        output_print(out, STATUS_OK);
    mcpx_text_fini(out);
    watch->left -= watch->left > 0;
}

static void print_past(struct watch *watch)
{
    size_t shown = watch->past_count < watch->past_max ? watch->past_count : watch->past_max;

    for (size_t i = watch->past_count - shown; i < watch->past_count; i++)
        print(watch, &watch->past[i % watch->past_max]);
    watch->past_count = 0;
}

static void show_envelope(struct watch *watch, const struct mcpx_event *event)
{
    const struct mcpx_envelope *envelope = event->envelope;
    const char *warning =
        event->type == MCPX_EVENT_VIOLATION ? mcpx_violation_text(event->violation) : NULL;
    struct line_style style = watch->style;
    struct mcpx_text out = {0};
    struct entry *entry;

    if (!envelope || event->repeated ||
        !filter_passes(&watch->filter, &envelope->kind, envelope->from))
        return;
    style.past = event->type == MCPX_EVENT_HISTORY;
    entry = entry_copy(envelope);
    line_write(&out, entry, &style, warning);
    free(entry);
    if (style.past && watch->past) {
        struct mcpx_text *slot = &watch->past[watch->past_count++ % watch->past_max];

        mcpx_text_fini(slot);
        *slot = out;
    } else {
        print(watch, &out);
    }
}

static void show_presence(const struct watch *watch, const struct mcpx_event *event)
{
    static const char *const words[] = {
        [MCPX_PRESENCE_JOIN] = "joins",
        [MCPX_PRESENCE_LEAVE] = "leaves",
        [MCPX_PRESENCE_UPDATE] = "has other grants",
    };
    struct mcpx_text out = {0};

    if (watch->style.json || watch->filter.by_kind ||
        (watch->filter.from.text && !mcpx_slice_equal(watch->filter.from, event->participant)))
        return;
    paint_begin(&out, PAINT_DIM, watch->style.colour);
    time_write(&out, (int64_t)time(NULL) * 1000);
    text_format(&out, "  %s %s", event->participant, words[event->presence]);
    paint_end(&out, PAINT_DIM, watch->style.colour);
    mcpx_text_puts(&out, "\n");
    output_print(&out, STATUS_OK);
}

static void greet(const struct live *live)
{
    struct mcpx_slice id = mcpx_session_id(mcpx_client_session(live->client));

    complain("joined %s as %.*s", live->where.client.topic, (int)id.len, id.text);
}

static void show(struct watch *watch, struct live *live, const struct mcpx_event *event)
{
    switch (event->type) {
    case MCPX_EVENT_JOINED:
        greet(live);
        if (!event->resumed)
            complain("the envelopes in between are no longer retained");
        break;
    case MCPX_EVENT_LEFT: /* live_next has reported it */
        break;
    case MCPX_EVENT_PRESENCE:
        show_presence(watch, event);
        break;
    case MCPX_EVENT_REQUEST:
        show_envelope(watch, event);
        live_decline(live, event);
        break;
    default:
        show_envelope(watch, event);
    }
}

static int watch_topic(struct watch *watch, struct live *live)
{
    struct mcpx_event event;
    int status = STATUS_OK;

    greet(live);
    while (watch->left != 0 && !ferror(stdout)) {
        status = live_next(live, live_now() + LOOK_MS, &event);
        if (status != STATUS_OK || event.type != MCPX_EVENT_HISTORY)
            print_past(watch);
        if (status == STATUS_OK)
            show(watch, live, &event);
        else if (status != STATUS_TIMEOUT || output_is_unread())
            break;
    }
    if (live_is_interrupted())
        return STATUS_INTERRUPTED; /* this may be in the middle of a line */
    return status == STATUS_TIMEOUT ? STATUS_OK : status;
}

static int cmd_watch(const struct arguments *arguments)
{
    struct watch watch = {.style = line_style_of(arguments),
                          .left = arguments_number(arguments, "--count", -1)};
    int64_t history = arguments_number(arguments, "--history", 0);
    struct live live;
    int status;

    filter_read(arguments, &watch.filter);
    if (history > 0 && (watch.filter.by_kind || watch.filter.from.text)) {
        watch.past_max = (size_t)(history < HISTORY_MAX ? history : HISTORY_MAX);
        watch.past = calloc(watch.past_max, sizeof *watch.past);
        history = HISTORY_MAX;
    }
    status = live_join_to_watch(arguments, (int)history, &live);
    if (status == STATUS_OK)
        status = watch_topic(&watch, &live);
    print_past(&watch);
    live_leave(&live);
    free(watch.past);
    return status;
}

const struct command history_verbs[] = {
    {"chain", "ID", 1, 1, false, "what became of a proposal or request",
     "Shows the proposal, who fulfilled or rejected it, whether with the params proposed, and "
     "the response, with the time each took. ID is the id of any envelope of the chain, or "
     "the beginning of one.",
     LISTING_OPTIONS, connect_options, cmd_chain, "look"},
    {"history", NULL, 0, 0, false, "what was said",
     "Prints retained envelopes, oldest first. Does not join the topic.",
     OPTIONS(
         OPTION("--limit", "N", VALUE_NUMBER, 0, "at most so many, the newest; 50"),
         OPTION("--before", "ID", VALUE_ENVELOPE, 0, "only what is older than this envelope"),
         KIND_OPTION, FROM_OPTION, COLOUR_OPTION, JSON_LINES_OPTION),
     connect_options, cmd_history, "look"},
    {"watch", NULL, 0, 0, false, "see what is said, as it is said",
     "Joins the topic and prints a line per envelope: time, beginning of its id, sender, "
     "addressees, kind, and what its payload comes down to. What receivers ignore, because "
     "its kind lies about its payload or it answers what it was not asked, is shown with a "
     "warning. Requests addressed to us are declined. Waits for a router that is not there, "
     "says so every ten seconds, and with --wait exits 5 when none came in time.",
     OPTIONS(KIND_OPTION, FROM_OPTION,
             OPTION("--history", "N", VALUE_NUMBER, 0,
                    "begin with so many retained envelopes that pass, dimmed; 0"),
             OPTION("--count", "N", VALUE_NUMBER, 0,
                    "end after so many envelopes; without it, when interrupted"),
             OPTION("--wait", "S", VALUE_SECONDS, 0,
                    "give up when there was no connection for so long, 0 never; 0"),
             COLOUR_OPTION, JSON_LINES_OPTION),
     connect_options, cmd_watch, "most used"},
    {.name = NULL},
};
