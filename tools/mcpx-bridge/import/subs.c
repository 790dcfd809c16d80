/*
 * subs.c - an array in the order of URIs, in which all subscriptions of a resource stand together.
 * A leaving participant may end thousands at once, so no step may search the whole array for each.
 */
#include "tools/mcpx-bridge/import/state.h"

#include "lib/base/ident.h"
#include "lib/base/rows.h"

#include <mcpx/envelope.h>

#include <stdlib.h>

/* Most subscriptions of all participants together. */
enum { SUBS_MAX = 10000 };

void import_subs_fini(struct import_subs *subs)
{
    for (size_t i = 0; i < subs->count; i++)
        free(subs->rows[i]);
    free(subs->rows);
    *subs = (struct import_subs){0};
}

/* The place of the first subscription of a resource, or where it would be. */
static size_t place_of(const struct import_subs *subs, struct mcpx_slice uri)
{
    size_t low = 0, high = subs->count, row;

    MX_SEARCH(low, high, row, mcpx_slice_compare(subs->rows[row]->uri, uri) < 0);
    return low;
}

static bool is_of(const struct import_subs *subs, size_t at, struct mcpx_slice uri)
{
    return at < subs->count && mcpx_slice_equal(subs->rows[at]->uri, uri);
}

/* Finds a subscription. False: none; the place is then behind the last one of the resource. */
static bool find(const struct import_subs *subs, struct mcpx_slice uri, struct bridge_who who,
                 size_t *at)
{
    *at = place_of(subs, uri);
    while (is_of(subs, *at, uri) && !bridge_who_is(subs->rows[*at]->who, who))
        ++*at;
    return is_of(subs, *at, uri);
}

/* True when there is room for one more of that participant. */
static bool has_room(const struct import_subs *subs, struct bridge_who who)
{
    struct mcpx_slice identity = mcpx_identity_of(who.id);
    size_t own = 0;

    for (size_t i = 0; i < subs->count; i++)
        if (subs->rows[i]->who.topic == who.topic &&
            mcpx_slice_equal(mcpx_identity_of(subs->rows[i]->who.id), identity))
            own++;
    return bridge_may_have(own + 1, subs->count + 1, SUBS_MAX);
}

struct import_sub *import_subs_find(const struct import_subs *subs, struct mcpx_slice uri,
                                    struct bridge_who who)
{
    size_t at;

    return find(subs, uri, who, &at) ? subs->rows[at] : NULL;
}

struct import_sub *import_subs_add(struct import_subs *subs, struct mcpx_slice uri,
                                   struct bridge_who who)
{
    struct import_sub *sub;
    size_t at;
    char *text;

    if (find(subs, uri, who, &at))
        return subs->rows[at];
    if (!has_room(subs, who))
        return NULL;
    mx_make_room(&subs->rows, subs->count, &subs->size, sizeof(struct import_sub *));
    sub = bridge_room(sizeof *sub, uri.len + who.id.len, &text);
    sub->uri = mx_keep(&text, uri);
    sub->who = (struct bridge_who){who.topic, mx_keep(&text, who.id)};
    memmove(&subs->rows[at + 1], &subs->rows[at], (subs->count - at) * sizeof *subs->rows);
    subs->rows[at] = sub;
    subs->count++;
    return sub;
}

static void drop(struct import_subs *subs, struct mcpx_slice uri, struct bridge_who who)
{
    size_t at;

    if (!find(subs, uri, who, &at))
        return;
    free(subs->rows[at]);
    subs->count--;
    memmove(&subs->rows[at], &subs->rows[at + 1], (subs->count - at) * sizeof *subs->rows);
}

/* True when another participant has subscribed, too. */
static bool have_others(const struct import_subs *subs, struct mcpx_slice uri,
                        struct bridge_who who)
{
    size_t at = place_of(subs, uri);

    while (is_of(subs, at, uri) && bridge_who_is(subs->rows[at]->who, who))
        at++;
    return is_of(subs, at, uri);
}

bool import_subs_have(const struct import_subs *subs, struct mcpx_slice uri)
{
    return is_of(subs, place_of(subs, uri), uri);
}

void import_subs_add_uris(const struct import_subs *subs, struct mcpx_text *out)
{
    for (size_t i = 0; i < subs->count; i++)
        if (!is_of(subs, i + 1, subs->rows[i]->uri))
            mx_format(out, "%s%q", out->len ? "," : "", subs->rows[i]->uri);
}

/* Nobody watches the resource any more. */
static void end_at_server(struct import *import, struct mcpx_slice uri)
{
    if (import->handshake == IMPORT_MODERN)
        import->listen.due_at = 0;
    else
        import_request_about(import, "resources/unsubscribe", uri);
}

bool import_subs_agreed(struct import *import, const struct bridge_call *call)
{
    struct import_subs *subs = &import->subs;

    if (call->context.text && bridge_is(call->method, "resources/unsubscribe")) {
        drop(subs, call->context, call->who);
        import->listen.due_at = 0; /* at a server of 2026-07-28 */
    }
    if (!call->context.text || !bridge_is(call->method, "resources/subscribe") ||
        import_subs_add(subs, call->context, call->who))
        return true;
    if (!have_others(subs, call->context, call->who))
        end_at_server(import, call->context);
    return false;
}

bool import_subs_left_to_others(const struct import *import, const struct bridge_call *call)
{
    return bridge_is(call->method, "resources/unsubscribe") &&
           have_others(&import->subs, call->context, call->who);
}

void import_subs_ended(struct import *import, struct import_subs *subs, struct bridge_who who)
{
    size_t kept = 0, kept_before = 0;

    for (size_t i = 0; i < subs->count; i++) {
        struct import_sub *sub = subs->rows[i];
        bool is_last = !is_of(subs, i + 1, sub->uri);

        if (sub->who.topic == who.topic &&
            (!who.id.text || mcpx_slice_equal(sub->who.id, who.id))) {
            if (subs == &import->subs && is_last && kept == kept_before &&
                import_is_ready(import))
                end_at_server(import, sub->uri);
            free(sub);
        } else {
            subs->rows[kept++] = sub;
        }
        if (is_last)
            kept_before = kept;
    }
    subs->count = kept;
}

void import_subs_again(struct import *import)
{
    const struct import_subs *subs = &import->subs;

    for (size_t i = 0; import->handshake == IMPORT_LEGACY && i < subs->count; i++)
        if (!is_of(subs, i + 1, subs->rows[i]->uri))
            import_request_about(import, "resources/subscribe", subs->rows[i]->uri);
}

static bool is_part(struct mcpx_slice uri, struct mcpx_slice of)
{
    return uri.len > of.len && memcmp(uri.text, of.text, of.len) == 0;
}

/*
 * Fills `out` with the participants of a topic that get an update, each once. Returns how many
 * there are; more than MCPX_TO_MAX when they did not fit.
 */
static size_t find_readers(const struct import_subs *subs, struct mcpx_slice uri, size_t topic,
                           struct mcpx_slice out[MCPX_TO_MAX])
{
    bool whole = is_of(subs, place_of(subs, uri), uri);
    size_t count = 0;

    for (size_t i = 0; i < subs->count; i++) {
        const struct import_sub *row = subs->rows[i];

        if (row->who.topic != topic ||
            !(whole ? mcpx_slice_equal(row->uri, uri) : is_part(uri, row->uri)) ||
            mx_id_is_among(row->who.id, out, count < MCPX_TO_MAX ? count : MCPX_TO_MAX))
            continue;
        if (count < MCPX_TO_MAX)
            out[count] = row->who.id;
        count++;
    }
    return count;
}

/* To the whole topic when an envelope cannot name that many. */
void import_subs_updated(struct import *import, const struct mcpx_rpc *rpc)
{
    struct mcpx_slice readers[MCPX_TO_MAX];

    for (size_t topic = 0; topic < import->config->topics; topic++) {
        struct mcpx_draft draft = {.to = readers, .payload = rpc->text};
        size_t count = find_readers(&import->subs, rpc->context, topic, readers);

        draft.to_count = count <= MCPX_TO_MAX ? count : 0;
        if (count > 0)
            import_notify_topic(import, topic, &draft);
    }
}
