/*
 * peer.c - what the edge sees of a connection: bytes to write, pulled one run at a time. Private
 * frames (welcome, errors, pings, the close frame) come first, then the log. Nothing here calls
 * the edge, so nothing can be freed while it is being walked.
 * Includes cursor.h, hub_state.h, notice.h.
 */
#include "router/hub/peer.h"

#include "router/hub/cursor.h"
#include "router/hub/hub_state.h"
#include "router/hub/notice.h"

#include <stdlib.h>

/* An outbox that once held a large welcome should not keep its memory for an idle peer. */
enum { OUTBOX_KEPT = 1024 };

void peer_wake(struct peer *peer)
{
    if (!peer->stalled && list_is_empty(&peer->in_ready))
        list_append(&peer->hub->ready, &peer->in_ready);
}

void peer_count_outbox(struct peer *peer)
{
    peer->hub->stats.outbox_bytes += peer->outbox.size - peer->outbox_counted;
    peer->outbox_counted = peer->outbox.size;
}

void peer_free(struct peer *peer)
{
    list_remove(&peer->in_ready);
    list_remove(&peer->in_hub);
    grant_unref(peer->grant);
    mcpx_text_fini(&peer->outbox);
    peer_count_outbox(peer);
    free(peer);
}

static void peek_outbox(struct peer *peer, struct output *output)
{
    peer->peeked = PEEK_OUTBOX;
    *output =
        (struct output){peer->outbox.text, peer->outbox.len, peer->state == PEER_CONDEMNED};
}

static void peek_page(struct peer *peer, struct output *output)
{
    struct mcpx_slice page;

    if (!cursor_page(peer, &peer->peeked_next, &peer->peeked_count, &page)) {
        hub_condemn(peer->hub, peer, MCPX_ENOMEM, peer->hub->now);
        peek_outbox(peer, output);
        return;
    }
    peer->peeked = PEEK_PAGE;
    *output = (struct output){page.text, page.len, false};
}

static void peek_run(struct peer *peer, struct output *output)
{
    struct log_run run = cursor_run(peer);

    peer->peeked = PEEK_RUN;
    peer->peeked_next = run.next;
    peer->peeked_count = run.count;
    *output = (struct output){run.bytes, run.len, false};
}

/* A condemned peer without even a close frame is owed its end: an empty run that closes. */
bool peer_has_output(struct peer *peer)
{
    if (peer->stalled || peer->state == PEER_SHUT)
        return false;
    return peer->outbox.len > 0 || peer->state == PEER_CONDEMNED || cursor_has_more(peer);
}

bool peer_peek(struct peer *peer, struct output *output)
{
    peer->peeked = PEEK_NOTHING;
    if (!peer_has_output(peer))
        return false;
    if (peer->outbox.len > 0 || peer->state == PEER_CONDEMNED)
        peek_outbox(peer, output);
    else if (peer->cursor.next < peer->cursor.replay_end)
        peek_page(peer, output);
    else
        peek_run(peer, output);
    peer->peeked_len = output->len;
    return true;
}

static void pop_outbox(struct peer *peer)
{
    struct mcpx_text *outbox = &peer->outbox;

    outbox->len -= peer->peeked_len;
    if (outbox->len > 0)
        memmove(outbox->text, outbox->text + peer->peeked_len, outbox->len);
    if (outbox->len == 0 && outbox->size > OUTBOX_KEPT)
        mcpx_text_fini(outbox);
    peer_count_outbox(peer);
    if (outbox->len == 0)
        peer->answers = 0;
    if (peer->state == PEER_CONDEMNED && outbox->len == 0)
        peer->state = PEER_SHUT;
}

void peer_pop(struct peer *peer)
{
    struct stats *stats = &peer->hub->stats;

    if (peer->peeked == PEEK_OUTBOX) {
        pop_outbox(peer);
    } else if (peer->peeked != PEEK_NOTHING && peer->state == PEER_OPEN) {
        *(peer->peeked == PEEK_PAGE ? &stats->replayed : &stats->written) +=
            peer->peeked_count;
        cursor_move(peer, peer->peeked_next);
    }
    if (peer->peeked != PEEK_NOTHING) {
        stats->runs++;
        stats->written_bytes += peer->peeked_len;
    }
    peer->peeked = PEEK_NOTHING;
    if (peer_has_output(peer))
        peer_wake(peer);
}

void peer_stall(struct peer *peer)
{
    peer->stalled = true;
    list_remove(&peer->in_ready);
}

void peer_unstall(struct peer *peer, struct mcpx_now now)
{
    peer->stalled = false;
    peer_heard(peer, now);
    peer_wake(peer);
}

void peer_heard(struct peer *peer, struct mcpx_now now)
{
    peer->heard_ms = now.mono_ms;
    peer->pings = 0;
}

size_t peer_private_bytes(const struct peer *peer)
{
    return peer->outbox.len;
}

void *peer_owner(const struct peer *peer)
{
    return peer->owner;
}

bool peer_is_condemned(const struct peer *peer)
{
    return peer->state != PEER_OPEN;
}

const struct grant *peer_grant(const struct peer *peer)
{
    return peer->grant;
}

struct mcpx_slice peer_topic_name(const struct peer *peer)
{
    return peer->topic->name;
}

struct rate_state peer_rate(const struct peer *peer, struct mcpx_now now)
{
    const struct bucket *messages = &peer->rates.messages, *bytes = &peer->rates.bytes;
    int64_t messages_ms = bucket_wait_ms(messages, messages->per_minute, now);
    int64_t bytes_ms = bucket_wait_ms(bytes, bytes->per_minute, now);

    return (struct rate_state){bucket_left(messages, now), bucket_left(bytes, now),
                               messages_ms > bytes_ms ? messages_ms : bytes_ms};
}
