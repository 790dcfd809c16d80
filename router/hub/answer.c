/*
 * answer.c - how much a sender may be answered.
 */
#include "router/hub/answer.h"

#include "router/hub/hub_state.h"

/*
 * Bytes of errors that senders may leave unread. Who writes but never reads would otherwise fill
 * the router's memory, as fast as it may be refused. One may have a share of what is left of the
 * whole: the more is held already, the sooner who holds much is ended; nobody is for a few.
 */
enum { ANSWERS_ALL = 67108864, ANSWERS_SHARE = 64, ANSWERS_FEW = 16384 };

static size_t answers_max(const struct hub *hub)
{
    uint64_t held = hub->stats.outbox_bytes;
    uint64_t left = held < ANSWERS_ALL ? ANSWERS_ALL - held : 0;

    return left / ANSWERS_SHARE > ANSWERS_FEW ? (size_t)(left / ANSWERS_SHARE) : ANSWERS_FEW;
}

/* What could not be stored is not its sender's fault. */
static bool is_one_too_many(struct peer *peer, enum mcpx_err err, struct mcpx_now now)
{
    return err != MCPX_EUNAVAILABLE && !bucket_take(&peer->account->rates.refusals, 1, now);
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
        hub_condemn(hub, peer, err, now);
    else if (is_one_too_many(peer, err, now) || peer->answers > answers_max(hub))
        hub_condemn(hub, peer, MCPX_EFLOOD, now);
}
