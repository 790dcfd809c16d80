/*
 * route.c - one message from text to log, or to an answer for its sender. The checks stand in the
 * order of protocol section 1, one function each; the first that fails answers.
 */
#include "lib/base/ident.h"
#include "router/hub/hub_parts.h"
#include <mcpx/json.h>

/*
 * ---- completing kinds. The router never opens a payload, so a short response can only be
 * completed from the kind of its request. The router matches, delivers and keeps the completed
 * kind: see docs/adr/0005.
 */

/* An accepted envelope, in the log or pending. */
struct accepted {
    struct mcpx_slice kind;
    uint32_t sender;                     /* log_sender of its sender */
    const struct entry *entry;           /* in the log; NULL = it is pending */
    const struct submission *submission; /* NULL = it is in the log */
};

/* Finds it by id: in the log first. */
static bool find_accepted(const struct topic *topic, struct mcpx_slice id,
                          struct accepted *out)
{
    const struct pending *pending;
    uint64_t serial;

    if (log_find(&topic->log, id, &serial)) {
        const struct entry *entry = log_entry(&topic->log, serial);

        *out = (struct accepted){entry_kind(entry), entry->sender, entry, NULL};
        return true;
    }
    pending = pending_by_id(topic, id);
    if (pending)
        *out = (struct accepted){pending->submission.kind, pending->sender, NULL,
                                 &pending->submission};
    return pending != NULL;
}

/* True when it is addressed to everyone, or to this participant. */
static bool is_for(const struct accepted *accepted, struct mcpx_slice participant)
{
    const struct submission *submission = accepted->submission;

    if (accepted->entry)
        return entry_is_for(accepted->entry, participant);
    for (size_t i = 0; i < submission->to_count; i++)
        if (mcpx_slice_equal(submission->to[i], participant))
            return true;
    return submission->to_count == 0;
}

/* An answer is addressed to the requester, or to all: else it answers another request. */
static bool is_answer(const struct log *log, const struct accepted *request,
                      const struct mcpx_envelope *envelope)
{
    for (size_t i = 0; i < envelope->to_count; i++)
        if (log_sender(log, envelope->to[i]) == request->sender)
            return true;
    return envelope->to_count == 0;
}

/* Only addressees of a proposal fulfil it, or a sender that addresses only them. Section 9. */
static bool is_fulfilment(const struct accepted *proposal, struct mcpx_slice sender,
                          const struct mcpx_envelope *envelope)
{
    if (is_for(proposal, sender))
        return true;
    for (size_t i = 0; i < envelope->to_count; i++)
        if (!is_for(proposal, envelope->to[i]))
            return false;
    return envelope->to_count > 0;
}

bool derive_kind(const struct topic *topic, struct mcpx_slice sender,
                 struct mcpx_envelope *envelope, struct mcpx_text *text)
{
    struct mcpx_kind *kind = &envelope->kind, original, completed;
    bool answers = mcpx_slice_equal(kind->type, MCPX_SLICE("mcp/response"));
    struct accepted accepted;

    if (!envelope->correlation_id.text || !kind->method.text || kind->context.text ||
        !(answers || mcpx_slice_equal(kind->type, MCPX_SLICE("mcp/request"))) ||
        !find_accepted(topic, envelope->correlation_id, &accepted))
        return false;
    if (mcpx_kind_parse(accepted.kind, &original, NULL) != MCPX_OK ||
        !mcpx_slice_equal(original.type,
                          answers ? MCPX_SLICE("mcp/request") : MCPX_SLICE("mcp/proposal")) ||
        !original.context.text || !mcpx_slice_equal(original.method, kind->method))
        return false;
    if (!(answers ? is_answer(&topic->log, &accepted, envelope)
                  : is_fulfilment(&accepted, sender, envelope)))
        return false;
    mcpx_text_reset(text);
    mcpx_text_slice(text, kind->text);
    mcpx_text_add(text, ":", 1);
    mcpx_text_slice(text, original.context);
    /* "mcp/response" is a byte longer than "mcp/request": the longest request stays short. */
    if (text->failed || mcpx_kind_parse(mcpx_text_view(text), &completed, NULL) != MCPX_OK)
        return false;
    *kind = completed;
    return true;
}

/* ---- the checks ---- */

/* The message being routed, and the results of its checks so far. */
struct message_check {
    struct hub *hub;
    struct peer *peer;
    struct mcpx_slice text;
    struct mcpx_now now;
    struct mcpx_slice kind_sent;
    struct error_notice error;
};

/* The wait for a sender when too much is pending. */
static const int64_t retry_ms = 1000;

static struct mcpx_fault fault_too_big(const struct hub *hub)
{
    return (struct mcpx_fault){"longer than a message may be", "", hub->config.message_bytes};
}

static enum mcpx_err check_size(struct message_check *checked)
{
    size_t max = checked->hub->config.message_bytes;

    if (!max || checked->text.len <= max)
        return MCPX_OK;
    checked->error.fault = fault_too_big(checked->hub);
    return MCPX_ETOOBIG;
}

static enum mcpx_err check_text(struct message_check *checked)
{
    struct hub *hub = checked->hub;
    enum mcpx_err err = mcpx_envelope_parse(checked->text, hub->config.depth, &hub->envelope,
                                            &checked->error.fault);

    checked->error.id = hub->envelope.id;
    if (!err)
        checked->kind_sent = hub->envelope.kind.text;
    return err;
}

static enum mcpx_err check_from(struct message_check *checked)
{
    struct mcpx_slice from = checked->hub->envelope.from;

    return from.text && !mcpx_slice_equal(from, checked->peer->id) ? MCPX_EAUTH : MCPX_OK;
}

static struct mcpx_question question_of(const struct message_check *checked)
{
    const struct mcpx_envelope *envelope = &checked->hub->envelope;

    return (struct mcpx_question){&envelope->kind, envelope->to, envelope->to_count,
                                  checked->now.wall_ms};
}

static enum mcpx_err refuse_kind(struct message_check *checked)
{
    struct mcpx_question question = question_of(checked);

    checked->error.kind = question.kind->text;
    mcpx_capset_explain(checked->peer->grant->capset, &question, &checked->error.decision);
    checked->hub->stats.reasons[checked->error.decision.refusal]++;
    return MCPX_ECAPABILITY;
}

static enum mcpx_err check_reserved(struct message_check *checked)
{
    return mcpx_kind_is_reserved(&checked->hub->envelope.kind) ? refuse_kind(checked)
                                                               : MCPX_OK;
}

static enum mcpx_err check_rate(struct message_check *checked)
{
    struct rates *rates = &checked->peer->account->rates;
    struct bucket before = rates->messages;

    if (bucket_take(&rates->messages, 1, checked->now)) {
        if (bucket_take(&rates->bytes, checked->text.len, checked->now))
            return MCPX_OK;
        rates->messages = before; /* a refused message costs nothing */
        checked->error.wait_ms =
            bucket_wait_ms(&rates->bytes, checked->text.len, checked->now);
    } else {
        checked->error.wait_ms = bucket_wait_ms(&rates->messages, 1, checked->now);
    }
    return MCPX_ERATE;
}

static enum mcpx_err check_id(struct message_check *checked)
{
    const struct topic *topic = checked->peer->topic;
    struct mcpx_slice id = checked->hub->envelope.id;

    return log_knows(&topic->log, id) || pending_by_id(topic, id) ? MCPX_EDUPLICATE : MCPX_OK;
}

/* Fails only without memory: the short kind must not pass a narrow denial then. */
static enum mcpx_err complete_kind(struct message_check *checked)
{
    struct hub *hub = checked->hub;

    mcpx_text_reset(&hub->derived);
    if (hub->config.derive_kinds &&
        derive_kind(checked->peer->topic, checked->peer->id, &hub->envelope, &hub->derived))
        hub->stats.derived++;
    else
        hub->derived.len = 0;
    return hub->derived.failed ? MCPX_ENOMEM : MCPX_OK;
}

void hub_time_matches(struct hub *hub, uint64_t (*clock_ns)(void))
{
    hub->match_ns = clock_ns;
    hub->untimed = 0;
}

static bool time_match(struct hub *hub, struct mcpx_capset *set,
                       const struct mcpx_question *question)
{
    uint64_t began_ns = hub->match_ns();
    bool allowed = mcpx_capset_allows(set, question);

    mx_histogram_add(&hub->stats.match, &stats_match_ns, 1, hub->match_ns() - began_ns);
    hub->untimed = HUB_MATCH_SAMPLE - 1;
    return allowed;
}

static enum mcpx_err check_capability(struct message_check *checked)
{
    struct hub *hub = checked->hub;
    struct mcpx_capset *set = checked->peer->grant->capset;
    struct mcpx_question question = question_of(checked);
    bool is_timed = hub->match_ns && hub->untimed-- == 0;

    if (is_timed ? time_match(hub, set, &question) : mcpx_capset_allows(set, &question))
        return MCPX_OK;
    return refuse_kind(checked);
}

/* ---- accepting ---- */

/* Adds the text before `at` as a piece. */
static void take_until(struct log_message *message, struct mcpx_slice text, size_t *done,
                       size_t at)
{
    message->pieces[message->piece_count++] =
        (struct mcpx_slice){text.text + *done, at - *done};
    *done = at;
}

/* `"from":…,"ts":…,` as far as the sender left them out. */
static struct mcpx_slice stamps(struct message_check *checked)
{
    const struct mcpx_envelope *envelope = &checked->hub->envelope;
    struct mcpx_text *out = &checked->hub->scratch;
    char ts[MX_TIME_LEN + 1];

    mcpx_text_reset(out);
    if (!envelope->from.text) {
        mcpx_json_add_member(out, "from", checked->peer->id);
        mcpx_text_add(out, ",", 1);
    }
    if (!envelope->ts.text) {
        mx_time_format(checked->now.wall_ms, ts);
        mcpx_json_add_member(out, "ts", mcpx_slice_of(ts));
        mcpx_text_add(out, ",", 1);
    }
    return mcpx_text_view(out);
}

/* Submits the message of a hub that needs commits: it is delivered after its commit. */
static enum mcpx_err submit(struct message_check *checked, const struct log_message *message)
{
    struct submission about = {.kind_sent = checked->kind_sent,
                               .correlation_id = checked->hub->envelope.correlation_id};
    struct mcpx_question question = question_of(checked);
    struct mcpx_decision decision;

    if (checked->hub->config.audited) {
        mcpx_capset_explain(checked->peer->grant->capset, &question, &decision);
        about.grant = decision.grant;
    }
    checked->error.wait_ms = retry_ms;
    return pending_message(checked->peer, message, &about);
}

/*
 * The sender's text with at most two splices: the stamps behind the opening brace, and the kind
 * where it was completed. Protocol: section 1, byte fidelity.
 */
static enum mcpx_err accept(struct message_check *checked)
{
    struct hub *hub = checked->hub;
    const struct mcpx_envelope *envelope = &hub->envelope;
    struct mcpx_slice text = checked->text;
    struct mcpx_slice stamped = stamps(checked);
    struct log_message message = {.id = envelope->id,
                                  .kind = envelope->kind.text,
                                  .sender = checked->peer->sender,
                                  .to = envelope->to,
                                  .to_count = envelope->to_count,
                                  .mono_ms = checked->now.mono_ms};
    size_t quoted_at = hub->scratch.len;
    size_t done = 0;

    if (hub->derived.len > 0)
        mcpx_json_add_string(&hub->scratch, envelope->kind.text);
    if (hub->scratch.failed)
        return MCPX_ENOMEM;
    stamped.text = hub->scratch.text; /* quoting may have moved it */
    if (stamped.len > 0) {
        take_until(&message, text, &done, envelope->open_at + 1);
        message.pieces[message.piece_count++] = stamped;
    }
    if (hub->derived.len > 0) {
        take_until(&message, text, &done, envelope->kind_at);
        message.pieces[message.piece_count++] =
            (struct mcpx_slice){hub->scratch.text + quoted_at, hub->scratch.len - quoted_at};
        done += envelope->kind_raw_len;
    }
    take_until(&message, text, &done, text.len);
    return hub->config.needs_commit ? submit(checked, &message)
                                    : topic_append(checked->peer->topic, &message, false);
}

/* ---- refusals: too many end a connection ---- */

/*
 * Bytes of errors that senders may leave unread. Otherwise a sender that never reads would fill
 * the router's memory with refusals. A peer may have 1/64 of the free rest of ANSWERS_ALL, at
 * least ANSWERS_FEW.
 */
enum { ANSWERS_ALL = 67108864, ANSWERS_SHARE = 64, ANSWERS_FEW = 16384 };

static size_t answers_max(const struct hub *hub)
{
    uint64_t held = hub->stats.outbox_bytes;
    uint64_t left = held < ANSWERS_ALL ? ANSWERS_ALL - held : 0;

    return left / ANSWERS_SHARE > ANSWERS_FEW ? (size_t)(left / ANSWERS_SHARE) : ANSWERS_FEW;
}

void answer_sender(struct peer *peer, const struct error_notice *error, struct mcpx_now now)
{
    struct hub *hub = peer->hub;
    enum mcpx_err err = error->err;
    size_t queued = peer->outbox.len;
    struct mcpx_slice text;

    hub->stats.refused[err]++;
    if (!notice_error(peer, error, &text) || !peer_queue(peer, text))
        err = MCPX_ENOMEM;
    peer->answers += peer->outbox.len - queued;
    if (mcpx_error_close(err))
        hub_disconnect(hub, peer, err, now);
    else if ((err != MCPX_EUNAVAILABLE && /* that is not its sender's fault */
              !bucket_take(&peer->account->rates.refusals, 1, now)) ||
             peer->answers > answers_max(hub))
        hub_disconnect(hub, peer, MCPX_EFLOOD, now);
}

/* ---- the order ---- */

static enum mcpx_err (*const checks[])(struct message_check *) = {
    check_size, check_text,    check_from,       check_reserved, check_rate,
    check_id,   complete_kind, check_capability, accept,
};

static void refuse(struct message_check *checked, enum mcpx_err err)
{
    checked->error.err = err;
    answer_sender(checked->peer, &checked->error, checked->now);
}

static void fill_verdict(const struct message_check *checked, enum mcpx_err err,
                         struct verdict *verdict)
{
    *verdict = (struct verdict){.err = err,
                                .id = checked->error.id,
                                .kind_sent = checked->kind_sent,
                                .decision = checked->error.decision};
    if (!checked->kind_sent.text)
        return;
    verdict->kind = checked->hub->envelope.kind.text;
    if (err) {
        verdict->to = checked->hub->envelope.to;
        verdict->to_count = checked->hub->envelope.to_count;
    }
}

void hub_route(struct hub *hub, struct peer *peer, struct mcpx_slice text, struct mcpx_now now,
               struct verdict *verdict)
{
    struct message_check checked = {.hub = hub, .peer = peer, .text = text, .now = now};
    enum mcpx_err err = MCPX_OK;

    *verdict = (struct verdict){.err = MCPX_ECLOSED};
    if (peer->state == PEER_JOINING)
        verdict->err = MCPX_EOPENING;
    if (peer->state != PEER_OPEN)
        return;
    hub->now = now;
    hub->stats.received++;
    hub->stats.received_bytes += text.len;
    for (size_t i = 0; i < sizeof checks / sizeof *checks && !err; i++)
        err = checks[i](&checked);
    if (err) {
        refuse(&checked, err);
    } else if (!hub->config.needs_commit) {
        hub->stats.accepted++;
        topic_tell_position(peer->topic);
    }
    fill_verdict(&checked, err, verdict);
    hub_disconnect_slow(hub);
}

void hub_refuse(struct hub *hub, struct peer *peer, enum mcpx_err err, struct mcpx_now now)
{
    struct message_check checked = {.hub = hub, .peer = peer, .now = now};

    if (peer->state == PEER_JOINING)
        hub_disconnect(hub, peer, err, now); /* a joining peer cannot get answers yet */
    if (peer->state != PEER_OPEN)
        return;
    hub->now = now;
    hub->stats.received++;
    if (err == MCPX_ETOOBIG)
        checked.error.fault = fault_too_big(hub);
    else if (err == MCPX_EBINARY)
        checked.error.fault = (struct mcpx_fault){"expected a text message", "", 0};
    refuse(&checked, err);
    hub_disconnect_slow(hub);
}

void hub_charge(struct hub *hub, struct peer *peer, size_t frames, struct mcpx_now now)
{
    struct message_check checked = {.hub = hub, .peer = peer, .now = now};

    hub->now = now;
    for (; frames > 0 && peer->state == PEER_OPEN; frames--) {
        if (bucket_take(&peer->account->rates.messages, 1, now))
            continue;
        checked.error.wait_ms = bucket_wait_ms(&peer->account->rates.messages, 1, now);
        refuse(&checked, MCPX_ERATE);
    }
    hub_disconnect_slow(hub);
}
