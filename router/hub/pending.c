/*
 * pending.c - submissions, handed out by pull, and their tables. The hub owns the tables, so a
 * quiet topic costs nothing. The topic is part of the hash, so a search for one id used in ten
 * thousand topics stays short.
 *
 * A peer is kept while anything is pending about it, even without a connection: its messages still
 * need answers, and its leave needs its name and grants.
 */
#include "router/hub/hub_parts.h"

#include "lib/base/rows.h"

#include <assert.h>
#include <stdlib.h>

static struct pendings *pendings_of(const struct pending *pending)
{
    return &pending->topic->hub->pendings;
}

/* The same name in two topics has two hashes. */
static uint64_t hash_in(const struct topic *topic, struct mcpx_slice name)
{
    return mx_map_hash(topic->hub->key, name) ^ (uint64_t)(uintptr_t)topic * PENDING_GOLDEN;
}

/* ---- submitting ---- */

static struct pending *pending_new(struct peer *peer, enum submission_what what, size_t more)
{
    struct topic *topic = peer->topic;
    struct pending *pending = malloc(sizeof *pending + more);

    if (!pending)
        return NULL;
    *pending = (struct pending){.topic = topic, .peer = peer, .size = sizeof *pending + more};
    pending->submission.what = what;
    pending->submission.topic = topic->name;
    pending->submission.epoch = (struct mcpx_slice){topic->epoch, TOPIC_EPOCH_LEN};
    pending->submission.from = peer->id;
    list_init(&pending->in_list);
    return pending;
}

/* Makes it pending, in one of the lists. Cannot fail. */
static void enlist(struct pending *pending, struct link *list)
{
    struct pendings *pendings = pendings_of(pending);

    list_init(&pending->submission.link);
    list_append(list, &pending->in_list);
    pendings->count++;
    if (pending->submission.what == SUBMIT_MESSAGE) {
        pendings->bytes += pending->size;
        pending->peer->usage->pending += pending->size;
    }
    pending->topic->pending++;
    pending->peer->pending++;
}

/* Ends its pending state, but frees neither it nor its peer. */
static void delist(struct pending *pending)
{
    struct pendings *pendings = pendings_of(pending);

    list_remove(&pending->in_list);
    pendings->count--;
    if (pending->submission.what == SUBMIT_MESSAGE) {
        pendings->bytes -= pending->size;
        pending->peer->usage->pending -= pending->size;
        usage_close(pending->topic->hub,
                    pending->peer->usage); /* its last connection may be gone */
        mx_map_remove(&pendings->ids, pending->hash, (uintptr_t)pending);
    }
    pending->topic->pending--;
}

static void submit(struct pending *pending)
{
    pending->submission.wall_ms = pending->topic->hub->now.wall_ms;
    pending->mono_ms = pending->topic->hub->now.mono_ms;
    enlist(pending, &pendings_of(pending)->queue);
}

static size_t message_size(const struct log_message *message, const struct submission *about)
{
    size_t size = message->id.len + message->kind.len + about->kind_sent.len +
                  about->correlation_id.len + about->grant.len +
                  message->to_count * sizeof *message->to;

    for (size_t i = 0; i < message->piece_count; i++)
        size += message->pieces[i].len;
    for (size_t i = 0; i < message->to_count; i++)
        size += message->to[i].len;
    return size;
}

/* Copies all of it behind the pending. */
static void write_message(struct pending *pending, const struct log_message *message,
                          const struct submission *about)
{
    struct submission *submission = &pending->submission;
    struct mcpx_slice *to = (struct mcpx_slice *)(pending + 1);
    char *at = (char *)(to + message->to_count);

    for (size_t i = 0; i < message->to_count; i++)
        to[i] = mx_keep(&at, message->to[i]);
    submission->to = to;
    submission->to_count = message->to_count;
    submission->id = mx_keep(&at, message->id);
    submission->kind = mx_keep(&at, message->kind);
    submission->kind_sent = mx_keep(&at, about->kind_sent);
    submission->correlation_id = mx_keep(&at, about->correlation_id);
    submission->grant = mx_keep(&at, about->grant);
    submission->text = (struct mcpx_slice){at, 0};
    for (size_t i = 0; i < message->piece_count; i++)
        submission->text.len += mx_keep(&at, message->pieces[i]).len;
}

/* A message above the bound passes alone, or its sender would retry for ever. */
static bool fits(size_t used, size_t size, size_t max)
{
    return used == 0 || (used <= max && size <= max - used);
}

/* Accepted messages cannot be dropped: at the total all senders wait for the store. */
static bool has_room(const struct peer *peer, size_t size)
{
    size_t max = peer->hub->config.pending_bytes;

    return !max || (fits(peer->hub->pendings.bytes, size, max) &&
                    fits(peer->usage->pending, size, max / PENDING_OWNERS));
}

enum mcpx_err pending_message(struct peer *peer, const struct log_message *message,
                              const struct submission *about)
{
    struct hub *hub = peer->hub;
    struct pendings *pendings = &hub->pendings;
    size_t more = message_size(message, about);
    struct pending *pending;

    if (!has_room(peer, sizeof *pending + more))
        return MCPX_EUNAVAILABLE;
    if (!topic_make_room(peer->topic, message, pendings->bytes))
        return MCPX_ESPACE;
    if (!mx_map_reserve(&pendings->ids))
        return MCPX_ENOMEM;
    pending = pending_new(peer, SUBMIT_MESSAGE, more);
    if (!pending)
        return MCPX_ENOMEM;
    write_message(pending, message, about);
    pending->sender = message->sender;
    pending->hash = hash_in(peer->topic, message->id);
    mx_map_put(&pendings->ids, pending->hash, (uintptr_t)pending);
    submit(pending);
    return MCPX_OK;
}

bool pending_join(struct peer *peer, const struct admission *admission, const char *reason)
{
    struct pendings *pendings = &peer->hub->pendings;
    struct pending *pending;
    struct admission *copy;
    char *at;

    if (!mx_map_reserve(&pendings->presences))
        return false;
    pending = pending_new(peer, SUBMIT_JOIN,
                          sizeof *copy + admission->after.len + admission->epoch.len);
    if (!pending)
        return false;
    copy = (struct admission *)(pending + 1);
    at = (char *)(copy + 1);
    *copy = *admission;
    copy->topic = peer->topic->name;
    copy->after = mx_keep(&at, admission->after);
    copy->epoch = mx_keep(&at, admission->epoch);
    copy->instance_key = (struct mcpx_slice){0}; /* the peer has its hash */
    pending->admission = copy;
    pending->submission.reason = mcpx_slice_of(reason);
    pending->hash = hash_in(peer->topic, peer->id);
    mx_map_put(&pendings->presences, pending->hash, (uintptr_t)pending);
    peer->own_pending = pending;
    submit(pending);
    return true;
}

bool pending_update(struct peer *peer)
{
    struct pending *pending = pending_new(peer, SUBMIT_UPDATE, 0);

    if (!pending)
        return false;
    submit(pending);
    return true;
}

void pending_leave(struct peer *peer, const char *reason)
{
    struct pending *pending = peer->own_pending;

    assert(list_is_empty(&pending->in_list));
    pending->submission.what = SUBMIT_LEAVE;
    pending->submission.reason = mcpx_slice_of(reason);
    submit(pending);
}

/* ---- handing out and taking back ---- */

bool hub_next_task(struct hub *hub, struct task *task)
{
    struct pendings *pendings = &hub->pendings;
    struct pending *pending = LIST_FIRST(&pendings->queue, struct pending, in_list);
    struct submission *submission;

    if (topic_load_next_task(hub, task))
        return true;
    if (!pending || !mx_map_reserve(&pendings->tickets))
        return false;
    list_remove(&pending->in_list);
    list_append(&pendings->handed, &pending->in_list);
    submission = &pending->submission;
    submission->ticket = ++hub->last_ticket;
    mx_map_put(&pendings->tickets, ticket_hash(submission->ticket), (uintptr_t)pending);
    *task = (struct task){TASK_STORE, submission->ticket, submission->topic, submission};
    return true;
}

struct pending *pending_take(struct hub *hub, uint64_t ticket)
{
    size_t at = 0;
    uint64_t hash = ticket_hash(ticket);
    struct pending *pending =
        (struct pending *)(uintptr_t)mx_map_next(&hub->pendings.tickets, hash, &at);

    if (!pending)
        return NULL;
    mx_map_remove(&hub->pendings.tickets, hash, (uintptr_t)pending);
    delist(pending);
    return pending;
}

void pending_retry(struct pending *pending)
{
    enlist(pending, &pendings_of(pending)->again);
}

void pending_retry_all(struct hub *hub)
{
    list_splice(&hub->pendings.queue, &hub->pendings.again);
    mx_map_fit(&hub->pendings.tickets);
    mx_map_fit(&hub->pendings.ids);
    mx_map_fit(&hub->pendings.presences);
}

/* Frees a peer that is gone, with the submission of its leave. */
static void free_if_gone(struct peer *peer)
{
    struct pending *own_pending = peer->own_pending;

    if (peer->state != PEER_GONE || peer->pending > 0)
        return;
    if (own_pending)
        mx_map_remove(&pendings_of(own_pending)->presences, own_pending->hash,
                      (uintptr_t)own_pending);
    free(own_pending);
    grant_unref(peer->grant);
    free(peer);
}

void pending_free_peer(struct peer *peer)
{
    peer_end(peer);
    free_if_gone(peer);
}

void pending_done(struct pending *pending)
{
    struct topic *topic = pending->topic;
    struct peer *peer = pending->peer;

    if (peer->own_pending != pending && list_is_empty(&pending->in_list))
        free(pending);
    peer->pending--;
    free_if_gone(peer);
    topic_settle(topic);
}

void pendings_fini(struct hub *hub)
{
    struct pendings *pendings = &hub->pendings;

    list_splice(&pendings->queue, &pendings->handed);
    list_splice(&pendings->queue, &pendings->again);
    LIST_EACH(link, &pendings->queue) {
        struct pending *pending = LIST_ELEMENT(link, struct pending, in_list);

        delist(pending);
        pending_done(pending);
    }
    mx_map_fini(&pendings->tickets);
    mx_map_fini(&pendings->ids);
    mx_map_fini(&pendings->presences);
}

/* ---- finding ---- */

/* Finds messages by id, or presence by participant. */
static struct pending *find(const struct topic *topic, bool presence, struct mcpx_slice name)
{
    const struct pendings *pendings;
    uint64_t hash, value;
    size_t at = 0;

    if (topic->pending == 0)
        return NULL;
    pendings = &topic->hub->pendings;
    hash = hash_in(topic, name);
    while (
        (value = mx_map_next(presence ? &pendings->presences : &pendings->ids, hash, &at))) {
        struct pending *pending = (struct pending *)(uintptr_t)value;
        const struct submission *of = &pending->submission;

        if (!list_is_empty(&pending->in_list) && pending->topic == topic &&
            mcpx_slice_equal(presence ? of->from : of->id, name))
            return pending;
    }
    return NULL;
}

struct pending *pending_presence(const struct topic *topic, struct mcpx_slice id)
{
    return find(topic, true, id);
}

struct pending *pending_by_id(const struct topic *topic, struct mcpx_slice id)
{
    return find(topic, false, id);
}

size_t hub_pending(const struct hub *hub)
{
    return hub->pendings.count;
}
