/*
 * commit.c - hands out tasks by pull, and takes one answer to each. What an answer does depends on
 * what was submitted, one row each.
 */
#include "router/hub/hub_parts.h"

/* How long a sender is asked to wait when whoever stores does not know. */
static const int64_t retry_ms = 1000;

bool hub_next_task(struct hub *hub, struct task *task)
{
    struct pending *pending;

    if (opening_next_task(hub, task))
        return true;
    pending = pending_hand_out(hub);
    if (!pending)
        return false;
    *task = (struct task){TASK_STORE, pending->submission.ticket, pending->submission.topic,
                          &pending->submission};
    return true;
}

/* ---- messages ---- */

static void answer(struct pending *pending, const struct error_notice *error)
{
    struct peer *peer = pending->peer;

    if (peer->state == PEER_OPEN)
        answer_sender(peer, error, peer->hub->now);
    else
        peer->hub->stats.refused[error->err]++;
}

/* The log is a copy of what is stored, or it is none. */
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
    enum mcpx_err err = topic->lost ? MCPX_OK : topic_commit(topic, &message);

    if (err && !topic->hub->config.stored) {
        answer(pending, &(struct error_notice){.err = err, .id = submission->id});
        return;
    }
    topic->hub->stats.accepted++;
    if (err)
        depart_lose(topic);
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

/* ---- presence: what was rejected is submitted again, as long as it means anything ---- */

static void commit_leave(struct pending *leave)
{
    const char *reason = leave->submission.reason.text;

    (void)topic_tell_presence(leave->peer, (struct change){"leave", reason}, NULL);
}

/* A peer that has left is told of by its leave. */
static void commit_update(struct pending *update)
{
    if (update->peer->state == PEER_OPEN)
        (void)topic_tell_presence(update->peer, (struct change){"update", NULL}, NULL);
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

/* A joining peer waits for a join or leave under the same id. */
static bool is_waited_for(enum submission_what what)
{
    return what == SUBMIT_JOIN || what == SUBMIT_LEAVE;
}

void hub_commit(struct hub *hub, uint64_t ticket, struct mcpx_now now)
{
    struct pending *pending = pending_take(hub, ticket);

    hub->now = now;
    if (!pending) {
        opening_commit(hub, ticket);
        return;
    }
    hub->waits += is_waited_for(pending->submission.what);
    outcomes[pending->submission.what].commit(pending);
    pending_done(pending);
    hub_condemn_slow(hub);
}

void hub_reject(struct hub *hub, uint64_t ticket, const struct rejection *rejection,
                struct mcpx_now now)
{
    struct pending *pending = pending_take(hub, ticket);

    hub->now = now;
    if (!pending) {
        opening_reject(hub, ticket);
        return;
    }
    hub->waits += is_waited_for(pending->submission.what);
    pending->submission.rejection = *rejection;
    outcomes[pending->submission.what].reject(pending);
    pending_done(pending);
    hub_condemn_slow(hub);
}

uint64_t hub_waits(const struct hub *hub)
{
    return hub->waits;
}

size_t hub_pending(const struct hub *hub)
{
    return hub->pendings->count;
}
