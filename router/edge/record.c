/*
 * record.c - a refusal stands in the audit behind all that was accepted before it: the store has
 * its turn first.
 */
#include "router/edge/record.h"

#include "lib/core/ident.h"

static void record(struct edge *edge, struct audit_note *note)
{
    struct mcpx_now now = edge_now(edge);

    note->wall_ms = now.wall_ms;
    store_turn(edge->store, edge->hub, now);
    store_note(edge->store, note);
}

static const char *reason_of(const struct verdict *verdict)
{
    return verdict->err == MCPX_ECAPABILITY ? mcpx_refusal_wire(verdict->decision.refusal)
                                            : mcpx_strerror(verdict->err);
}

void record_message(struct connection *connection, const struct verdict *verdict, size_t bytes)
{
    const struct peer *peer = connection->peer;
    struct audit_note note = {.what = AUDIT_REFUSE, .bytes = bytes};

    if (!record_is_kept(connection->edge) || !peer || verdict->err == MCPX_ECLOSED)
        return;
    note.topic = peer_topic_name(peer);
    note.from = peer_id(peer);
    note.to = verdict->to;
    note.to_count = verdict->to_count;
    note.id = verdict->id;
    note.kind_sent = verdict->kind_sent;
    note.grant = verdict->decision.grant;
    note.error = mcpx_slice_of(mcpx_error_wire(verdict->err));
    note.reason = mcpx_slice_of(reason_of(verdict));
    record(connection->edge, &note);
}

void record_turned_away(struct edge *edge, const struct turned_away *who)
{
    const char *reason = who->reason ? who->reason : mcpx_strerror(who->err);
    struct audit_note note = {.what = AUDIT_TURNED_AWAY};
    char address[ADDRESS_TEXT_SIZE];

    if (!record_is_kept(edge))
        return;
    note.topic = who->topic;
    note.from = who->from;
    note.address = mcpx_slice_of(address_text(who->address, address));
    note.error = mcpx_slice_of(mcpx_error_wire(who->err));
    note.reason = mcpx_slice_of(reason);
    record(edge, &note);
}

void record_keys(struct edge *edge, const char *setting)
{
    struct audit_note note = {.what = AUDIT_KEYS, .reason = mcpx_slice_of(setting)};

    if (record_is_kept(edge))
        record(edge, &note);
}

static void log_change(const struct audit_note *note)
{
    static const char *const change_events[] = {[AUDIT_GRANT] = "granted",
                                                [AUDIT_REVOKE] = "revoked",
                                                [AUDIT_KICK] = "kicked",
                                                [AUDIT_LIFT] = "lifted"};
    char until[MX_TIME_LEN + 1] = "";

    if (note->until)
        mx_time_format(note->until, until);
    LOG(LOG_INFO, change_events[note->what], log_text("participant", note->from),
        log_text("topic", note->topic), log_known("grant", note->grant),
        log_known("until", mcpx_slice_of(until)), log_text("by", note->by),
        log_text("remote", note->address));
}

void record_change(void *edge, const struct audit_note *note, struct mcpx_now now)
{
    struct edge *const own = edge;
    struct audit_note copy = *note;

    log_change(note);
    if (!record_is_kept(own))
        return;
    store_turn(own->store, own->hub, now);
    copy.wall_ms = now.wall_ms;
    store_note(own->store, &copy);
}

void record_reload(struct edge *edge, struct audit_note *note)
{
    if (record_is_kept(edge))
        record(edge, note);
}
