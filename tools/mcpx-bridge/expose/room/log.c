/*
 * log.c - the ring. A client reads texts of others in it, so every one becomes a JSON string
 * as soon as it comes: an object of ours, with what somebody sent as the value of "text".
 *
 * Rejected: keeping envelopes and writing them for each query. A long payload of one participant
 * would be in memory although no result can hold it.
 */
#include "tools/mcpx-bridge/expose/room/room.h"

#include "lib/json/json_write.h"
#include "tools/common/proposal.h"
#include "tools/mcpx-bridge/bridge.h"

#include <mcpx/envelope.h>

/* Bytes of a message besides its JSON, in `held`; and those of a result around the messages. */
enum { OVERHEAD = 256, FRAME = 2048 };

static uint64_t hash_of(const struct room_log *log, struct mcpx_slice id)
{
    return mx_map_hash(log->held.key, id);
}

struct room_said *room_log_find(const struct room_log *log, struct mcpx_slice id)
{
    return mx_map_find(&log->by_id, hash_of(log, id), offsetof(struct room_said, id), id);
}

static void free_said(struct room_log *log, struct room_said *said)
{
    if (log->lost < said->place)
        log->lost = said->place;
    mcpx_text_fini(&said->json);
    free(said);
}

/* Removes the first message of an identity, or (absent) the first of all. */
static void drop(struct room_log *log, struct mcpx_slice identity)
{
    struct room_said **at = &log->first, *previous = NULL, *said;

    while (identity.text && !mcpx_slice_equal(mcpx_identity_of((*at)->from), identity)) {
        previous = *at;
        at = &previous->next;
    }
    said = *at;
    *at = said->next;
    if (log->last == said)
        log->last = previous;
    mx_map_remove(&log->by_id, hash_of(log, said->id), (uintptr_t)said);
    mx_holders_remove(&log->held, mcpx_identity_of(said->from), said->json.len + OVERHEAD);
    log->count--;
    free_said(log, said);
}

void room_log_fini(struct room_log *log)
{
    while (log->first)
        drop(log, (struct mcpx_slice){0});
    mx_holders_fini(&log->held);
    mx_map_fini(&log->by_id);
    log->lost = 0;
}

/* ---- the object of a message ---- */

/* The beginning of a text that is a JSON string of ROOM_TEXT_MAX bytes at most. */
static struct mcpx_slice cut(struct mcpx_slice text)
{
    size_t at = 0, len = 0;

    for (; at < text.len; at++) {
        unsigned char byte = (unsigned char)text.text[at];

        len += byte < 0x20 || byte == 0x7f ? 6 : byte == '"' || byte == '\\' ? 2 : 1;
        if (len > ROOM_TEXT_MAX)
            break;
    }
    while (at < text.len && at > 0 && ((unsigned char)text.text[at] & 0xc0) == 0x80)
        at--;
    return (struct mcpx_slice){text.text, at};
}

/* Adds "text": what the sender wrote for people, else the whole payload. */
static void add_text(struct mcpx_text *out, const struct mcpx_envelope *envelope,
                     struct room_said *said)
{
    const char *member = bridge_is(envelope->kind.type, "chat") ? "text" : "reason";
    mx_scoped_text own = {0};
    struct mcpx_slice whole = envelope->payload, kept;

    if (mcpx_json_add_unescaped(&own, mcpx_json_get(envelope->payload, member)))
        whole = mcpx_text_view(&own);
    kept = cut(whole);
    mcpx_json_add_member(out, "text", kept);
    said->is_cut = kept.len < whole.len;
    if (said->is_cut)
        mx_json_add_bool(out, "cut", true);
}

/* The operation of a proposal or request: its method and context. */
static struct mcpx_text operation_of(const struct mcpx_rpc *rpc)
{
    return mx_formatted("%s%s%s", rpc->method, rpc->context.len ? " " : "", rpc->context);
}

static void describe(struct room_said *said, const struct mcpx_event *event)
{
    const struct mcpx_envelope *envelope = event->envelope;
    struct mcpx_slice expires = mcpx_json_get(envelope->text, "expires");
    struct mcpx_text *out = &said->json;
    mx_scoped_text operation = {0}, quoted = {0};
    char digest[PROPOSAL_DIGEST_LEN + 1];

    mx_format(out, "{\"id\":%q,\"from\":%q", said->id, said->from);
    if (said->to_count)
        mx_json_add_strings(out, "to", said->to, said->to_count);
    mx_json_add_optional(out, "ts", envelope->ts);
    mcpx_json_add_member(out, "kind", envelope->kind.text);
    mx_json_add_optional(out, "about", envelope->correlation_id);
    if (said->is_proposal || said->is_request) {
        operation = operation_of(event->rpc);
        mcpx_json_add_member(out, "operation", mcpx_text_view(&operation));
    }
    if (said->is_proposal) {
        proposal_digest(envelope->text, digest);
        mcpx_json_add_member(out, "digest", mcpx_slice_of(digest));
        said->expires_ms = proposal_expires_ms(envelope->text);
        if (expires.text && said->expires_ms)
            mx_json_add_raw(out, "expires", expires);
    }
    add_text(out, envelope, said);
    mcpx_text_puts(out, "}");
    mcpx_json_add_string(&quoted, mcpx_text_view(out));
    said->cost = out->len + quoted.len + 2; /* and two separators */
}

/* ---- which messages ---- */

static bool is_to(const struct room_said *said, struct mcpx_slice id)
{
    for (size_t i = 0; i < said->to_count; i++)
        if (mcpx_slice_equal(said->to[i], id))
            return true;
    return false;
}

/* True when a request does what was proposed, from or to those it was proposed to: section 9. */
static bool fulfils(const struct mcpx_event *event, const struct room_said *proposal)
{
    const struct mcpx_envelope *envelope = event->envelope;
    mx_scoped_text operation = {0};

    if (!event->rpc || event->rpc->form != MCPX_RPC_REQUEST)
        return false;
    operation = operation_of(event->rpc);
    if (!mcpx_json_equals(room_said_get(proposal, "operation"), mcpx_text_view(&operation)))
        return false;
    if (!proposal->to_count || is_to(proposal, envelope->from))
        return true;
    for (size_t i = 0; i < envelope->to_count; i++)
        if (!mcpx_slice_equal(envelope->to[i], proposal->from) &&
            !is_to(proposal, envelope->to[i]))
            return false;
    return envelope->to_count > 0;
}

/* Sees what the event is; false: nothing that is kept. `about`: what it is about, or NULL. */
static bool classify(const struct mcpx_event *event, struct room_said *about,
                     struct room_said *is)
{
    struct mcpx_slice type = event->envelope->kind.type, from = event->envelope->from;

    if (bridge_is(type, "chat"))
        return true;
    if (bridge_is(type, "mcp/proposal"))
        return is->is_proposal = event->rpc && event->rpc->form == MCPX_RPC_BODY;
    if (!about || about->is_over)
        return false;
    if (bridge_is(type, "mcp/response"))
        return event->rpc && about->is_request && is_to(about, from);
    if (!about->is_proposal)
        return false;
    is->is_request = bridge_is(type, "mcp/request") && fulfils(event, about);
    about->is_over = is->is_request || bridge_is(type, "mcp/reject") ||
                     (bridge_is(type, "mcp/withdraw") &&
                      mcpx_slice_equal(mcpx_identity_of(from), mcpx_identity_of(about->from)));
    return about->is_over;
}

static void keep(struct room_log *log, struct room_said *said)
{
    mx_map_reserve(&log->by_id);
    mx_map_put(&log->by_id, hash_of(log, said->id), (uintptr_t)said);
    mx_holders_add(&log->held, mcpx_identity_of(said->from), said->json.len + OVERHEAD);
    *(log->last ? &log->last->next : &log->first) = said;
    log->last = said;
    log->count++;
    while (log->count > ROOM_SAID_MAX || log->held.held > ROOM_SAID_BYTES)
        drop(log, mx_holders_largest(&log->held));
}

/* A copy of the head of the message. */
static struct room_said *copy_head(const struct room_said *is,
                                   const struct mcpx_envelope *envelope)
{
    size_t len = envelope->id.len + envelope->from.len;
    struct room_said *said;
    struct mcpx_slice *to;
    char *at;

    for (size_t i = 0; i < envelope->to_count; i++)
        len += sizeof *to + envelope->to[i].len;
    said = bridge_room(sizeof *said, len, &at);
    *said = *is;
    said->to = to = (struct mcpx_slice *)(said + 1);
    said->to_count = envelope->to_count;
    at = (char *)(to + said->to_count);
    said->id = mx_keep(&at, envelope->id);
    said->from = mx_keep(&at, envelope->from);
    for (size_t i = 0; i < said->to_count; i++)
        to[i] = mx_keep(&at, envelope->to[i]);
    return said;
}

const struct room_said *room_log_take(struct room_log *log, const struct mcpx_event *event)
{
    const struct mcpx_envelope *envelope = event->envelope;
    struct room_said is = {.expires_ms = INT64_MAX}, *said;

    if (!envelope || event->type < MCPX_EVENT_HISTORY || event->type > MCPX_EVENT_FULFILLING ||
        (event->repeated && event->type == MCPX_EVENT_OBSERVED) || !envelope->id.len ||
        room_log_find(log, envelope->id) ||
        !classify(event, room_log_find(log, envelope->correlation_id), &is))
        return NULL;
    is.place = ++log->place;
    said = copy_head(&is, envelope);
    describe(said, event);
    if (said->cost > ROOM_RESULT_MAX - FRAME) { /* it has too many addressees */
        free_said(log, said);
        return NULL;
    }
    keep(log, said);
    return log->last && log->last->place == log->place ? log->last : NULL;
}

/* ---- written ---- */

bool room_query_fits(const struct room_query *query, const struct room_said *said)
{
    if (said->place <= query->after)
        return false;
    if (query->open_ms)
        return said->is_proposal && !said->is_over && said->expires_ms > query->open_ms;
    return !query->reader.text || (!mcpx_slice_equal(said->from, query->reader) &&
                                   (!said->to_count || is_to(said, query->reader)));
}

struct room_page room_log_write(const struct room_log *log, const struct room_query *query,
                                const char *separator, struct mcpx_text *out)
{
    const struct room_said *fit[ROOM_SAID_MAX];
    struct room_page page = {0};
    size_t count = 0, from, room = ROOM_RESULT_MAX - FRAME;

    for (const struct room_said *said = log->first; said; said = said->next)
        if (room_query_fits(query, said))
            fit[count++] = said;
    for (; page.count < count && page.count < query->limit; page.count++) {
        size_t cost = fit[query->newest ? count - 1 - page.count : page.count]->cost;

        if (cost > room)
            break;
        room -= cost;
    }
    page.left_out = count - page.count;
    from = query->newest ? page.left_out : 0;
    for (size_t i = 0; i < page.count; i++)
        mx_format(out, "%s%s", i ? separator : "", &fit[from + i]->json);
    if (page.count)
        page.last = page.left_out && !query->newest ? fit[page.count - 1]->id : log->last->id;
    return page;
}
