/*
 * commit.c - takes one answer to each task. The effect depends on the kind of submission, one row
 * each.
 */
#include "router/hub/hub_parts.h"

/* The wait for a sender when the store or audit names none. */
static const int64_t retry_ms = 1000;

/* ---- messages ---- */

static void answer(struct pending *pending, const struct error_notice *error)
{
    struct peer *peer = pending->peer;

    if (peer->state == PEER_OPEN)
        answer_sender(peer, error, peer->hub->now);
    else
        peer->hub->stats.refused[error->err]++;
}

/* Without memory a stored topic is lost: its log must equal the store. */
static void commit_message(struct pending *pending)
{
    const struct submission *submission = &pending->submission;
    struct topic *topic = pending->topic;
    struct log_message message = {.pieces = {submission->text},
                                  .piece_count = 1,
                                  .id = submission->id,
                                  .kind = submission->kind,
                                  .sender = pending->sender,
                                  .to = submission->to,
                                  .to_count = submission->to_count,
                                  .mono_ms = pending->mono_ms};
    enum mcpx_err err = topic->lost ? MCPX_OK : topic_append(topic, &message, true);

    if (err && !topic->hub->config.stored) {
        answer(pending, &(struct error_notice){.err = err, .id = submission->id});
        return;
    }
    topic->hub->stats.accepted++;
    if (err)
        leave_lost_topic(topic);
    else if (!topic->lost)
        topic_tell_position(topic);
}

static void reject_message(struct pending *pending)
{
    const struct rejection *rejection = &pending->submission.rejection;
    struct error_notice error = {.err = rejection->err,
                                 .id = pending->submission.id,
                                 .wait_ms =
                                     rejection->retry_ms ? rejection->retry_ms : retry_ms,
                                 .uncertain = !rejection->certain};

    if (error.err == MCPX_ESHARE) {
        error.cap = cap_setting(CAP_STORED_BYTES);
        hub_note_cap(pending->topic->hub, CAP_STORED_BYTES);
    }
    answer(pending, &error);
}

/* ---- presence: submitted again after a rejection, unless it is outdated ---- */

static void commit_leave(struct pending *leave)
{
    const char *reason = leave->submission.reason.text;

    (void)topic_tell_presence(leave->peer, "leave", reason, NULL);
}

/* A peer that has left needs no update: its leave follows. */
static void commit_update(struct pending *update)
{
    if (update->peer->state == PEER_OPEN)
        (void)topic_tell_presence(update->peer, "update", NULL, NULL);
}

static void reject_update(struct pending *update)
{
    if (update->peer->state == PEER_OPEN)
        pending_retry(update);
}

/* ---- answers ---- */

static const struct outcome {
    void (*commit)(struct pending *);
    void (*reject)(struct pending *);
} outcomes[] = {
    [SUBMIT_MESSAGE] = {commit_message, reject_message},
    [SUBMIT_JOIN] = {admit_commit, admit_reject},
    [SUBMIT_UPDATE] = {commit_update, reject_update},
    [SUBMIT_LEAVE] = {commit_leave, pending_retry},
};

/* `rejection`: NULL = committed. */
static void conclude(struct hub *hub, uint64_t ticket, const struct rejection *rejection,
                     struct mcpx_now now)
{
    struct pending *pending = pending_take(hub, ticket);
    const struct outcome *outcome;
    enum submission_what what;

    hub->now = now;
    if (!pending) {
        topic_load_answered(hub, ticket, !rejection);
        return;
    }
    what = pending->submission.what;
    hub->waits +=
        what == SUBMIT_JOIN || what == SUBMIT_LEAVE; /* others under the same id wait */
    if (rejection)
        pending->submission.rejection = *rejection;
    outcome = &outcomes[what];
    (rejection ? outcome->reject : outcome->commit)(pending);
    pending_done(pending);
    hub_disconnect_slow(hub);
}

void hub_commit(struct hub *hub, uint64_t ticket, struct mcpx_now now)
{
    conclude(hub, ticket, NULL, now);
}

void hub_reject(struct hub *hub, uint64_t ticket, const struct rejection *rejection,
                struct mcpx_now now)
{
    conclude(hub, ticket, rejection, now);
}

uint64_t hub_waits(const struct hub *hub)
{
    return hub->waits;
}
