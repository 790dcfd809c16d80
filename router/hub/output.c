/*
 * output.c - bytes to write to a connection, pulled one run at a time. Private frames (welcome,
 * errors, pings, the close frame) come first, then history, then live traffic. Welcomes and pages
 * of history are composed right before they are written, so a thousand joiners that do not read
 * hold no memory for a thousand lists of names. The file never calls the edge, so lists cannot
 * change during a walk.
 */
#include "router/hub/hub_parts.h"

/* An outbox that once held many answers should not keep their memory for an idle peer. */
enum { OUTBOX_KEPT = 1024 };

/* Bytes of private frames to write next: up to an owed welcome, else all. */
static size_t ready_private(const struct peer *peer)
{
    return peer->owed & OWED_WELCOME ? peer->welcome_at : peer->outbox.len;
}

static void peek_outbox(struct peer *peer, struct output *output)
{
    peer->peeked = PEEK_OUTBOX;
    *output = (struct output){peer->outbox.text, ready_private(peer),
                              peer->state == PEER_DISCONNECTED};
}

/* Lends a frame composed in the scratch; nothing when memory ran out. */
static void lend(struct peer *peer, struct output *output, bool composed,
                 struct mcpx_slice frame)
{
    if (composed) {
        *output = (struct output){frame.text, frame.len, false};
        return;
    }
    hub_disconnect(peer->hub, peer, MCPX_ENOMEM, peer->hub->now);
    peek_outbox(peer, output);
}

/* Its own join goes with its welcome, in one write, when it reads nothing between the two. */
static bool joins_at_once(const struct peer *peer)
{
    return peer->owed & OWED_JOIN && peer->cursor.next >= peer->cursor.joined &&
           peer->outbox.len == 0;
}

/* The first welcome lists the participants; presence has all later changes. */
static void peek_welcome(struct peer *peer, struct output *output)
{
    struct mcpx_slice behind = {0}, frames = {0};

    peer->peeked = PEEK_WELCOME;
    if (joins_at_once(peer)) {
        peer->peeked = PEEK_WELCOME_JOIN;
        behind = mcpx_text_view(&peer->join);
    }
    if (peer->welcome.first)
        presence_reader_join(&peer->topic->presence, &peer->cursor.presence);
    lend(peer, output, notice_welcome(peer, behind, &frames), frames);
}

static void peek_page(struct peer *peer, struct output *output)
{
    struct mcpx_slice page = {0};

    peer->peeked = PEEK_PAGE;
    lend(peer, output, cursor_page(peer, &peer->peeked_next, &peer->peeked_count, &page),
         page);
}

static void peek_run(struct peer *peer, struct output *output)
{
    struct log_run run = cursor_run(peer, &peer->peeked_batch);

    peer->peeked = PEEK_RUN;
    peer->peeked_next = run.next;
    peer->peeked_count = run.count;
    *output = (struct output){run.bytes, run.len, false};
}

/* A disconnected peer without even a close frame is owed its end: an empty run that closes. */
static bool has_output(struct peer *peer)
{
    if (peer->stalled || peer->state >= PEER_SHUT)
        return false;
    return peer->outbox.len > 0 || peer->owed || peer->state == PEER_DISCONNECTED ||
           cursor_has_more(peer) || peer->cursor.presence.batch;
}

/* Lends the welcome, a page or the join, each at its time; false when none is due. */
static bool peek_owed(struct peer *peer, struct output *output)
{
    (void)cursor_has_more(peer); /* skips envelopes for others */
    if (peer->owed & OWED_WELCOME) {
        peek_welcome(peer, output);
    } else if (peer->cursor.next < peer->cursor.replay_end) {
        peek_page(peer, output);
    } else if (peer->cursor.next >= peer->cursor.joined) {
        peer->peeked = PEEK_JOIN;
        *output = (struct output){peer->join.text, peer->join.len, false};
    } else {
        return false;
    }
    return true;
}

bool peer_peek(struct peer *peer, struct output *output)
{
    peer->peeked = PEEK_NOTHING;
    if (!has_output(peer))
        return false;
    if (ready_private(peer) > 0 || peer->state == PEER_DISCONNECTED)
        peek_outbox(peer, output);
    else if (!peer->owed || !peek_owed(peer, output))
        peek_run(peer, output);
    peer->peeked_len = output->len;
    return true;
}

static void pop_outbox(struct peer *peer)
{
    struct mcpx_text *outbox = &peer->outbox;

    outbox->len -= peer->peeked_len;
    peer->welcome_at -= peer->owed & OWED_WELCOME ? peer->peeked_len : 0;
    if (outbox->len > 0)
        memmove(outbox->text, outbox->text + peer->peeked_len, outbox->len);
    if (outbox->len == 0 && outbox->size > OUTBOX_KEPT)
        mcpx_text_fini(outbox);
    peer_count_outbox(peer);
    if (outbox->len == 0)
        peer->answers = 0;
    if (peer->state == PEER_DISCONNECTED && outbox->len == 0)
        peer->state = PEER_SHUT;
}

static void pop_join(struct peer *peer)
{
    peer->owed &= ~(unsigned)OWED_JOIN;
    mcpx_text_fini(&peer->join);
    peer_count_outbox(peer);
    peer->hub->stats.written++;
}

/* The peer may have been disconnected since the peek: then it has only its outbox. */
static void pop(struct peer *peer)
{
    struct stats *stats = &peer->hub->stats;
    bool is_open = peer->state == PEER_OPEN;

    if (peer->peeked == PEEK_OUTBOX) {
        pop_outbox(peer);
    } else if (peer->peeked == PEEK_RUN && is_open) {
        cursor_move(peer, peer->peeked_next);
        if (peer->peeked_batch)
            presence_reader_pass(&peer->topic->presence, &peer->cursor.presence,
                                 peer->peeked_batch);
        stats->written += peer->peeked_count;
    } else if (peer->peeked == PEEK_PAGE && is_open) {
        cursor_move(peer, peer->peeked_next);
        stats->replayed += peer->peeked_count;
    } else if (peer->peeked == PEEK_WELCOME || peer->peeked == PEEK_WELCOME_JOIN) {
        peer->owed &= ~(unsigned)OWED_WELCOME;
        stats->resumed += peer->welcome.resumed;
        if (peer->peeked == PEEK_WELCOME_JOIN && is_open)
            pop_join(peer);
    } else if (peer->peeked == PEEK_JOIN && is_open) {
        pop_join(peer);
    }
}

/* ---- rounds ---- */

/*
 * A participant with many connections gets no more than another with one: after TURN_BYTES its
 * peers wait until all others have been offered. Runs below COUNTED_BYTES do not count.
 */
enum { TURN_BYTES = 1 << 20, COUNTED_BYTES = 16384 };

static void count_turn(struct peer *peer, size_t bytes)
{
    struct usage *usage = peer->usage;

    usage->written = bytes + (usage->round == peer->hub->round ? usage->written : 0);
    usage->round = peer->hub->round;
    peer->hub->postpones |= usage->written >= TURN_BYTES;
}

/* True when the peer's participant has used up TURN_BYTES: the peer comes after all others. */
static bool is_postponed(struct peer *peer)
{
    struct hub *hub = peer->hub;

    if (peer->usage->round != hub->round || peer->usage->written < TURN_BYTES)
        return false;
    list_remove(&peer->in_ready);
    list_append(&hub->postponed, &peer->in_ready);
    return true;
}

/*
 * The next peer of a topic with unread output; NULL when the round is over. A round is circular:
 * the last peer is served even when messages come faster than they can be written.
 */
static struct peer *next_in_round(struct topic *topic)
{
    for (; topic->turns_left > 0; topic->turns_left--) {
        struct peer *peer;

        if (topic->turn >= topic->peer_count) {
            topic->turn = 0;
            delivery_reached(topic, topic->delivery.round);
        }
        peer = topic->peers[topic->turn++];
        if (has_output(peer) && !(peer->hub->postpones && is_postponed(peer))) {
            topic->turns_left--;
            return peer;
        }
    }
    list_remove(&topic->in_dirty);
    delivery_reached(topic, topic->log.head);
    return NULL;
}

/* All peers have been offered: the postponed ones are next. */
static struct peer *begin_round(struct hub *hub)
{
    hub->round++;
    hub->postpones = false;
    if (list_is_empty(&hub->postponed))
        return NULL;
    list_splice(&hub->ready, &hub->postponed);
    return hub_next_ready(hub);
}

struct peer *hub_next_ready(struct hub *hub)
{
    struct peer *peer;

    while (!list_is_empty(&hub->dirty)) {
        peer = next_in_round(LIST_ELEMENT(hub->dirty.next, struct topic, in_dirty));
        if (peer)
            return peer;
    }
    if (hub->pressed)
        log_budget_retry_waiting(hub);
    hub->pressed = false;
    while (!list_is_empty(&hub->ready)) {
        peer = LIST_ELEMENT(hub->ready.next, struct peer, in_ready);
        list_remove(&peer->in_ready);
        if (has_output(peer) && !(hub->postpones && is_postponed(peer)))
            return peer;
    }
    return begin_round(hub);
}

void peer_pop(struct peer *peer)
{
    struct stats *stats = &peer->hub->stats;

    if (peer->peeked != PEEK_NOTHING) {
        pop(peer);
        stats->runs++;
        stats->written_bytes += peer->peeked_len;
        if (peer->peeked_len >= COUNTED_BYTES)
            count_turn(peer, peer->peeked_len);
    }
    peer->peeked = PEEK_NOTHING;
    if (has_output(peer))
        peer_wake(peer);
}
