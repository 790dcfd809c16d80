/*
 * renew.c - asks on a thread of libuv, because nothing else may wait for a router, or a disk, that
 * does not answer. When to connect again is the client's to say: if its next attempt comes too
 * early, that is one more refusal, and asks again.
 */
#include "tools/mcpx-bridge/edge/renew.h"

enum { ASK_MS = 10000 };

static void ask(uv_work_t *work)
{
    struct renewal *renewal = work->data;

    renewal->status = connection_ask(renewal->where, ASK_MS, &renewal->token);
}

static void on_asked(uv_work_t *work, int status)
{
    struct renewal *renewal = work->data;
    bool is_file = renewal->where->token_file != NULL;

    renewal->busy = false;
    if (renewal->client && !status && renewal->status == STATUS_OK) {
        mcpx_client_renew(renewal->client, renewal->token);
        connection_take(renewal->where, renewal->token);
        renewal->token = NULL;
        complain(renewal->verb,
                 is_file ? "the token file has a new token" : "the router gave a new token");
    } else if (renewal->client && renewal->status == STATUS_ABSENT) {
        mcpx_client_renew(renewal->client, NULL);
        complain(renewal->verb, is_file
                                    ? "the token file has no other token"
                                    : "the router gives no tokens: it runs without --dev now");
    }
    connection_wipe(renewal->token);
    renewal->token = NULL;
}

void renewal_look(struct renewal *renewal, uv_loop_t *loop, const struct mcpx_event *event)
{
    bool renews = renewal->where->client.session.renews_token;

    /* Who was let in with the old token after all may get another one later. */
    if (event->type == MCPX_EVENT_JOINED)
        mcpx_session_renews_token(mcpx_client_session(renewal->client), renews);
    if (!connection_may_ask(renewal->where, event) || renewal->busy)
        return;
    renewal->work.data = renewal;
    renewal->busy = uv_queue_work(loop, &renewal->work, ask, on_asked) == 0;
}
